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
	"io"
	"time"

	"sluice/shared/screening/watchlist"
)

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
