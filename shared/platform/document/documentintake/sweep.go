package documentintake

import (
	"context"
	"errors"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
)

// The state of a document whose file was never stored, or never scanned to the end.
var (
	fileNeverUploaded = document.State{Status: document.Failed, ErrorCode: document.ClientSideError,
		ErrorMessage: "The file did not arrive in time. Give the document another one."}
	fileUnscannable = document.State{Status: document.Failed, ErrorCode: document.ServerSideError,
		ErrorMessage: "The file could not be scanned for malware. Upload it again as a new document."}
)

// longestURL is the longest life of an upload URL.
const longestURL = time.Hour

// longestPause is the longest time between two looks at one file, besides Waiting.Age.
const longestPause = time.Hour

// Waiting looks after the files whose scan has no outcome.
type Waiting struct {
	Files interface {
		// EachWaiting is as in document.Store.
		EachWaiting(ctx context.Context, before time.Time, visit func(document.WaitingFile) error) error
		// Postpone is as in document.Store.
		Postpone(ctx context.Context, f document.WaitingFile, at time.Time) error
	}
	Uploads interface {
		// Head returns the metadata of the object under a key. It returns objects.ErrNotFound or objects.ErrDenied.
		Head(ctx context.Context, key string) (objects.Info, error)
	}
	// Age is how long a file must have waited before it is looked at. It is longer than the scan function can run, so
	// that a scan that still runs is not repeated.
	Age time.Duration
	// Patience is how long a file may wait: for its upload, after its URL has ended; for its scan, after its upload.
	Patience time.Duration
	Now      func() time.Time
}

// Sweep looks at the files of documents whose scan has had no outcome for a while. A file that fails does not keep the
// others waiting.
func (d *Documents) Sweep(ctx context.Context, scanAgain intake.ScanAgainFunc) error {
	if d.Waiting == nil {
		return nil
	}
	var errs []error
	before := d.Waiting.Now().Add(-d.Waiting.Age)
	err := d.Waiting.Files.EachWaiting(ctx, before, func(f document.WaitingFile) error {
		errs = append(errs, d.sweepFile(ctx, f, scanAgain))
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}

// sweepFile has one file scanned that was uploaded, because the event of its upload was lost or its scan interrupted.
// It ends the waiting for one that has not come, or not been scanned, in time.
func (d *Documents) sweepFile(ctx context.Context, f document.WaitingFile, scanAgain intake.ScanAgainFunc) error {
	// The next look is agreed first, as for batches.
	now := d.Waiting.Now()
	if err := d.Waiting.Files.Postpone(ctx, f, now.Add(min(now.Sub(f.Since)/4, longestPause))); err != nil {
		return err
	}
	key := document.FilePrefix + f.Tenant + "/" + f.ID
	found, err := d.Waiting.Uploads.Head(ctx, key)
	object := batch.Object{Key: key, ETag: found.ETag, Version: found.Version, Size: found.Size}
	switch {
	case err == nil && now.Before(found.Modified.Add(d.Waiting.Patience)):
		d.Log.WarnContext(ctx, "the scan of a file was lost or interrupted", "key", key)
		return scanAgain(ctx, object, found.Modified)
	case err == nil:
		// An alarm of template.yaml matches the text of this line.
		d.Log.ErrorContext(ctx, "cannot be scanned", "key", key, "error", "no scan has ended in time")
		return d.end(ctx, object, fileUnscannable)
	case !errors.Is(err, objects.ErrNotFound) && !errors.Is(err, objects.ErrDenied):
		return err
	case now.Before(f.Since.Add(longestURL + d.Waiting.Patience)):
		return nil
	}
	d.Log.InfoContext(ctx, "the file of a document did not arrive in time", "key", key)
	return d.end(ctx, batch.Object{Key: key}, fileNeverUploaded)
}
