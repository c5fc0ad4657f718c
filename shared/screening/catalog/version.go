package catalog

import (
	"errors"
	"fmt"
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
