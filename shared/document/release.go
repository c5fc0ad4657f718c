package document

import (
	"context"
	"errors"
)

// ErrStorage means that the bytes of a file could not be deleted.
var ErrStorage = errors.New("document: the file cannot be deleted")

// Emptier deletes the bytes of files.
type Emptier interface {
	// Empty puts an object without bytes in the place of an object, or of none.
	Empty(ctx context.Context, key string) error
}

// FileKey returns the key of the document's file in the bucket of uploads.
func (d Document) FileKey() string { return FilePrefix + d.Tenant + "/" + d.FileID }

// ReleaseFile releases the file of a document in a store, and deletes its bytes if no other document shares it. An
// empty object stays in their place longer than the upload URL is valid, so that the URL cannot put another file there.
// It returns whether the document was the last, for Store.Delete and Store.ReplaceFile, and ErrStorage if the bytes are
// still there. Repeating it is success.
func ReleaseFile(ctx context.Context, s Store, files Emptier, d Document) (last bool, err error) {
	last, err = s.ReleaseFile(ctx, d)
	if err != nil || !last {
		return last, err
	}
	if err := files.Empty(ctx, d.FileKey()); err != nil {
		return last, errors.Join(ErrStorage, err)
	}
	return last, nil
}
