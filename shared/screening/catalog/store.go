package catalog

import (
	"context"
	"io"
	"time"
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
