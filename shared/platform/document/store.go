package document

import (
	"context"
	"errors"
	"time"

	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/entityid"
	"sluice/shared/kit/fault"
)

// Scope selects the documents of an entity, of a journey, or of both. One of the IDs may be "".
type Scope struct {
	EntityID  string
	JourneyID string
}

// NewScope returns the scope of an entity and a journey, one of which may be "". IDs that are UUIDs count in any case.
func NewScope(entityID, journeyID string) Scope {
	return Scope{entityid.Normalize(entityID), entityid.Normalize(journeyID)}
}

// Entry is a document in a list, with the file that it has.
type Entry struct {
	Document
	// StoredFile is zero for a virtual document.
	StoredFile File
	// Position is the place of the document in the list, for Store.List.
	Position string
}

// WaitingFile is a file whose scan has no outcome yet.
type WaitingFile struct {
	Tenant, ID string
	// Since is when a document began to expect it.
	Since time.Time
}

// Store keeps documents and files. It is safe for concurrent use; a read sees every acknowledged write. A method that
// changes a document is conditional on the Version that was read.
//
// A document gives up its file in three steps, each of which can be repeated: ReleaseFile decides whether the file is
// deleted with the document, the caller deletes the bytes if so, and Delete or ReplaceFile removes the document's
// reference.
type Store interface {
	// Create stores a new document and its new file or, if shared, one more reference to an existing file. It returns
	// ErrExists if the document's ID is taken, and ErrNotFound if the shared file does not exist or is about to be
	// deleted.
	Create(ctx context.Context, d Document, shared bool) error
	// Get reads a document and its file. It returns ErrNotFound if there is no such document.
	Get(ctx context.Context, tenant, id string) (Document, File, error)
	// Save replaces the stored document of d's Version and returns d with the next Version. It returns ErrNotFound if
	// the document does not exist and ErrChanged if the stored version is another one.
	Save(ctx context.Context, d Document) (Document, error)
	// List reads documents in the order of their creation, beginning after a position ("" for the first page). It
	// returns at most limit documents, and fewer if one read yields fewer. The next position is "" at the end of the
	// list.
	List(ctx context.Context, tenant string, s Scope, after string, limit int) (page []Entry, next string, err error)

	// Count counts the documents of a list after a position ("" for all), up to limit of them, without reading them.
	// The next position is the position of the last document counted, or "" at the end of the list.
	Count(ctx context.Context, tenant string, s Scope, after string, limit int) (count int, next string, err error)

	// ReplaceFile is Save for a document that has got the new file d.FileID in place of the file previous. The
	// reference to the previous file is removed as by Delete. It returns ErrChanged also if the document does not
	// exist.
	ReplaceFile(ctx context.Context, d Document, previous string, last bool) (Document, error)
	// ReleaseFile reports whether d is the last document that uses its file. If so, no other document can share the
	// file from now on: the caller must delete the bytes and then call Delete or ReplaceFile with last.
	ReleaseFile(ctx context.Context, d Document) (last bool, err error)
	// Delete removes a document and its reference to the file; with last, as ReleaseFile returned it, also the record
	// of the file. It returns ErrChanged if the document, or the number of documents that share the file, has changed,
	// and also if the document does not exist.
	Delete(ctx context.Context, d Document, last bool) error

	// CountOpen returns how much of a tenant is open: the files whose scan has no outcome, but for those that have not
	// arrived within OpenFor. It stops counting when one of the numbers of enough that are not
	// 0 is reached. It may miss the latest writes, and leaves out files that an earlier release created.
	CountOpen(ctx context.Context, tenant string, enough Open, now time.Time) (Open, error)

	// Measure sets how many bytes a file counts with in CountOpen, once it is uploaded; it then counts until its scan
	// has an outcome. It changes nothing if there is one. Repeating it changes nothing.
	Measure(ctx context.Context, tenant, file string, bytes int64) error
	// RecordScan stores the outcome of the malware scan of a file. Recording the same outcome again succeeds; another
	// outcome returns ErrScanRecorded and changes nothing. It returns ErrNotFound if the file does not exist or is
	// about to be deleted: the caller then deletes the bytes.
	RecordScan(ctx context.Context, tenant, file string, outcome State) error
	// Uploader returns the client that was given the URL for uploading a file, "" if an earlier release gave it. It
	// returns ErrNotFound if the file does not exist.
	Uploader(ctx context.Context, tenant, file string) (client string, err error)
	// EachWaiting calls visit with files whose scan has no outcome yet and whose time for a look, as Postpone set it,
	// is before the given one. The order is random, and one call need not visit all of them. It stops at the first
	// error of visit and returns it. It may miss the latest writes.
	EachWaiting(ctx context.Context, before time.Time, visit func(WaitingFile) error) error
	// Postpone sets the time before which EachWaiting leaves out a waiting file. It changes nothing and returns nil if
	// the file does not wait any more.
	Postpone(ctx context.Context, f WaitingFile, at time.Time) error
}

// OpenFor is how long a file that is not uploaded counts as open: as long as its upload URL lives at most, and a
// quarter of an hour.
const OpenFor = 75 * time.Minute

// Open is how much of a tenant is open: files that are expected or whose scan has no outcome yet.
type Open struct {
	Files int64
	// Bytes is how many bytes the files have at most: the sum of Document.FileLimit.
	Bytes int64
}

// OpenLimits are the settings of a tenant that CheckOpen reads.
var OpenLimits = []ratelimit.Setting{ratelimit.OpenDocuments, ratelimit.UnscannedBytes}

// OpenCounter is the part of Store that CheckOpen needs.
type OpenCounter interface {
	// CountOpen is as in Store.
	CountOpen(ctx context.Context, tenant string, enough Open, now time.Time) (Open, error)
}

// openRetry is how long a client is told to wait that has too much open. Most scans take less.
const openRetry = 10 * time.Second

// CheckOpen refuses another file of so many bytes at most of a tenant that has as much open as its limits allow. Files
// that are created at the same time may pass together.
func CheckOpen(ctx context.Context, s OpenCounter, tenant string, limits ratelimit.Settings, bytes int64,
	now time.Time) error {
	most := Open{limits.Get(ratelimit.OpenDocuments), limits.Get(ratelimit.UnscannedBytes)}
	if most == (Open{}) {
		return nil
	}
	open, err := s.CountOpen(ctx, tenant, most, now)
	switch {
	case err != nil:
		return err
	case most.Files > 0 && open.Files >= most.Files:
		return fault.Newf(fault.Throttled, "too_many_open_documents",
			"The tenant has as many documents whose file is not uploaded or not scanned as it may have: %d. Upload "+
				"the files, or delete documents whose file will not come; otherwise they count until an hour and a "+
				"quarter after their creation.", most.Files).WithRetryAfter(openRetry)
	case most.Bytes > 0 && open.Bytes+bytes > most.Bytes:
		return fault.Newf(fault.Throttled, "too_many_unscanned_bytes",
			"The file may have %d bytes, and with it the tenant would have more bytes that are not uploaded or not "+
				"scanned than it may have: %d of %d are taken. A file counts with its contentLength or, without one, "+
				"with the size limit: give contentLength, or wait for the scans.", bytes, open.Bytes, most.Bytes).
			WithRetryAfter(openRetry)
	}
	return nil
}

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
