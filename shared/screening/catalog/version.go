// Package catalog holds the watchlists of an installation: immutable versions of each list, shared by all tenants or
// owned by one tenant, and the pointer to its current version. Package catalog/catalogdb stores versions and pointers;
// entries and indexes are objects.
//
// A function screens names by a Loader, which package screeningsetup makes in one line:
//
//	lists := screeningsetup.NewWatchlists(env) // once, in main; it needs TABLE_WATCHLISTS and BUCKET_WORK
//
//	loaded, err := lists.Current(ctx, tenant, nil)         // the tenant's active lists, or those that are named
//	hits, err := catalog.NewScreener(loaded...).Screen(match.Query{Name: name}, match.Threshold)
//
// The tenant comes from the caller's token. A Loaded has the version, the date of the source and the age of its list.
// Its VersionRef pins the version for a batch: Loader.Open opens the same version again. A Screener is for one
// goroutine at a time; any number of them may share loaded lists. Nothing has to be closed.
//
// The function's policies need dynamodb:GetItem and dynamodb:Query on the table, and s3:GetObject on the objects below
// KeyPrefix of the bucket.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"time"

	"sluice/shared/screening/watchlist"
)

// Shared is the owner of lists for all tenants. All other owners are tenants.
const Shared = "shared"

// KeyPrefix begins the keys of all objects: KeyPrefix<owner>/<list>/<SHA-256 in hex>.idx are indexes,
// .../<version>.entries.gz their entries.
const KeyPrefix = "watchlists/"

var (
	// ErrNotFound means that there is no such list or version.
	ErrNotFound = errors.New("catalog: not found")
	// ErrChanged means that the stored state has changed since it was read, such as the pointer to the current version.
	ErrChanged = errors.New("catalog: changed since it was read")
	// ErrUnknownList means that a tenant does not see a list of its request. It is an *UnknownListError.
	ErrUnknownList = errors.New("catalog: unknown list")
	// ErrNoLists means that a tenant sees no list at all.
	ErrNoLists = errors.New("catalog: there is no list")
)

// UnknownListError has the name of a list that a tenant does not see.
type UnknownListError struct{ List string }

// Error implements error. The text may be shown to the client who gave the name.
func (e *UnknownListError) Error() string { return fmt.Sprintf("There is no list %q.", e.List) }

// Unwrap returns ErrUnknownList.
func (e *UnknownListError) Unwrap() error { return ErrUnknownList }

var listName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckListName returns an error with the rule for names of lists if name breaks it.
func CheckListName(name string) error {
	if !listName.MatchString(name) {
		return fmt.Errorf("the name of a list has 1 to 64 letters, digits, dots, hyphens and underscores, and "+
			"begins with a letter or a digit; %q does not", name)
	}
	return nil
}

// VersionRef names a version of a list. Its JSON form is for storage of pins.
type VersionRef struct {
	// Owner is Shared or a tenant.
	Owner string `json:"owner"`
	List  string `json:"list"`
	// Version is the digest of the list's date and entries, as hits name it: match.Info.
	Version string `json:"version"`
}

// String names the version in logs.
func (r VersionRef) String() string { return r.Owner + "/" + r.List + "/" + r.Version }

// entriesKey is the key of the object with the entries.
func (r VersionRef) entriesKey() string {
	return KeyPrefix + r.Owner + "/" + r.List + "/" + r.Version + ".entries.gz"
}

// indexKey is the key of the object with an index.
func (r VersionRef) indexKey(f IndexFile) string {
	return KeyPrefix + r.Owner + "/" + r.List + "/" + f.SHA256 + ".idx"
}

// Version is one content of a list. It never changes, except for its indexes.
type Version struct {
	VersionRef
	Format watchlist.Format
	// File is the name of the imported file.
	File string
	// SourceDate is the date of the list in the file; zero if it has none.
	SourceDate time.Time
	// ImportedAt and ImportedBy are the last import of this content.
	ImportedAt time.Time
	ImportedBy string
	// Entries counts entries, Names the names that can match, Unmatchable the names that cannot, and Problems the rows
	// that could not be read.
	Entries, Names, Unmatchable, Problems int
	// Indexes are its index files, by match.FileFormat.
	Indexes map[string]IndexFile
	// IsPinned reports that a batch refers to the version, so that it is never removed.
	IsPinned bool
	// CondemnedAt is the time when the version was marked for removal; zero if it was not.
	CondemnedAt time.Time
}

// IndexFile describes the object of an index.
type IndexFile struct {
	// SHA256 is the digest of the whole file, in hex.
	SHA256 string
	Bytes  int64
}

// objectKeys returns the keys of all objects of the version.
func (v Version) objectKeys() []string {
	keys := []string{v.entriesKey()}
	for _, format := range slices.Sorted(maps.Keys(v.Indexes)) {
		keys = append(keys, v.indexKey(v.Indexes[format]))
	}
	return keys
}

// Age returns the age of the list since the date of its source or, if that is unknown, since its import.
func (v Version) Age(now time.Time) time.Duration {
	from := v.SourceDate
	if from.IsZero() {
		from = v.ImportedAt
	}
	return max(now.Sub(from), 0)
}

// Pointer points to the current version of a list.
type Pointer struct {
	Owner string
	List  string
	// Current is the version for screening, Previous the one before it; nil if there was none.
	Current  Version
	Previous *Version
	// MovedAt and MovedBy are the last change.
	MovedAt time.Time
	MovedBy string
	// Revision is 1 for a new list and grows by one with each change. Writes are conditional on it.
	Revision int64
}

// Reader reads versions and pointers of lists. It is safe for concurrent use; a read sees every acknowledged write.
type Reader interface {
	// Pointers reads the pointers of all lists of an owner, by name.
	Pointers(ctx context.Context, owner string) ([]Pointer, error)
	// Version reads a version. It returns ErrNotFound if there is none.
	Version(ctx context.Context, ref VersionRef) (Version, error)
}

// Store keeps versions and pointers of lists.
type Store interface {
	Reader
	// Pointer reads the pointer of a list. It returns ErrNotFound if there is no such list.
	Pointer(ctx context.Context, owner, list string) (Pointer, error)
	// SavePointer replaces the pointer whose revision is p.Revision - 1. It returns ErrChanged if the stored revision
	// is another one.
	SavePointer(ctx context.Context, p Pointer) error
	// AddVersion stores a version. If it is stored already, its import is replaced by this one, the indexes of both
	// remain, and it is no longer condemned. It returns ErrChanged while its removal goes on.
	AddVersion(ctx context.Context, v Version) error
	// Versions reads all versions of a list, the latest import first.
	Versions(ctx context.Context, owner, list string) ([]Version, error)
	// Owners reads the owners that have or had lists, in the order of their names.
	Owners(ctx context.Context) ([]string, error)
	// Condemn marks a version, which was read, for removal. It returns ErrChanged if it is pinned, or if it
	// was condemned or imported again since.
	Condemn(ctx context.Context, v Version, at time.Time) error
	// BeginRemoval begins the removal of a version that was condemned when it was read. After that it cannot be pinned
	// or imported. Repeating it is success. It returns ErrChanged if it is condemned no longer.
	BeginRemoval(ctx context.Context, v Version) error
	// RemoveVersion ends the removal of a version. Repeating it is success.
	RemoveVersion(ctx context.Context, ref VersionRef) error
}

// Pinner records the versions of batches.
type Pinner interface {
	// Pin records that a batch refers to a version, so that it is never removed. Repeating it is success. It returns
	// ErrNotFound if there is no such version, or if it is about to be removed.
	Pin(ctx context.Context, ref VersionRef) error
}

// Opener reads objects by their keys.
type Opener interface {
	// Open reads the bytes [from, to) of an object, or to its end if to is negative. The etag is "".
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
}

// Files keeps objects.
type Files interface {
	Opener
	// WriteObject stores what write writes as an object, in the place of one that exists, or nothing if write fails.
	WriteObject(ctx context.Context, key string, write func(io.Writer) error) error
}

// Remover removes objects.
type Remover interface {
	// Remove removes an object. Removing one that does not exist is success.
	Remove(ctx context.Context, key string) error
}

// NewPartScreener returns a screener of some entries of a version. It finds the same of these entries as a screener of
// the whole version.
func NewPartScreener(v Version, entries []watchlist.Entry) (*Screener, error) {
	part := v
	part.Version = "" // a part has another digest
	x, err := build(part, entries)
	if err != nil {
		return nil, err
	}
	x.Lists[0].Version = v.Version
	return NewScreener(Loaded{Version: v, index: x}), nil
}
