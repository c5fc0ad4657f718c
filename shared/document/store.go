package document

import "context"

// Group names a list of documents: those of an entity, those of a journey, or those of both.
type Group struct{ EntityID, JourneyID string } // one may be ""

// Store keeps documents and files. Every method is safe for concurrent use; a read sees every acknowledged write.
type Store interface {
	// Create stores a new document and its new File, or one more reference to a File that is there: ErrNotFound if it is not,
	// or is about to go. ErrExists.
	Create(ctx context.Context, d Document, shared bool) error
	// Get reads a document and its file. ErrNotFound.
	Get(ctx context.Context, tenant, id string) (Document, File, error)
	// Save replaces a document of the given Version and counts it up. ErrNotFound, ErrChanged.
	Save(ctx context.Context, d Document) (Document, error)
	// List reads the documents of a group in order of creation, after a Position ("" for the start): at most limit of them, or
	// as many as are read at once. The returned position is "" at the end.
	List(ctx context.Context, tenant string, g Group, after string, limit int) (found []Found, next string, err error)

	// Replace is Save of a document that has got a new File, d.File. Its reference to the file that it had goes as by Delete.
	// ErrChanged, also if it is gone.
	Replace(ctx context.Context, d Document, had string, last bool) (Document, error)

	// Release decides whether the file goes with this document. If so, nobody can share it any more, and true is returned: the
	// caller removes the bytes and then calls Delete. It can be repeated.
	Release(ctx context.Context, d Document) (last bool, err error)
	// Delete removes a document and its reference to the file, whose record goes with the last. ErrChanged, also if it is gone.
	Delete(ctx context.Context, d Document, last bool) error

	// Settle records what the scan found; doing it twice is success. ErrSettled: it is settled otherwise and stays as it is.
	// ErrNotFound, also of a file that is about to go: the caller removes the bytes.
	Settle(ctx context.Context, tenant, file string, s State) error
}

// Found is a document with its file.
type Found struct {
	Document
	Stored   File
	Position string // in the list that it was found in
}
