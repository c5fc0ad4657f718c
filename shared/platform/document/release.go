package document

import (
	"context"
	"errors"
)

// ErrStorage means that the bytes of a file could not be deleted.
var ErrStorage = errors.New("document: the file cannot be deleted")

// Emptier deletes the bytes of files.
type Emptier interface {
	// Empty writes an object without bytes under a key, whether there is an object or not.
	Empty(ctx context.Context, key string) error
}

// FileKey returns the key of the document's file in the bucket of uploads.
func (d Document) FileKey() string { return FilePrefix + d.Tenant + "/" + d.FileID }

// ReleaseFile releases the file of a document in a store, and deletes its bytes if no other document shares it. It
// returns whether the document was the last one, for Store.Delete and Store.ReplaceFile, and ErrStorage if the bytes
// could not be deleted. It can be repeated. An empty object takes the place of the bytes and stays there longer than
// the upload URL is valid, so that nobody can upload another file by that URL.
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
