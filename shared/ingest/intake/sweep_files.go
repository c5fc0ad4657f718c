package intake

import (
	"context"
	"errors"
	"time"

	"sluice/shared/ingest/batch"
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

// sweepFiles looks at the files of documents whose scan has had no outcome for a while. A file that fails does not keep
// the others waiting.
func (in *Intake) sweepFiles(ctx context.Context) error {
	if in.Sweep == nil {
		return nil
	}
	var errs []error
	err := in.Sweep.Files.EachWaiting(ctx, in.Now().Add(-in.Sweep.Age), func(f document.WaitingFile) error {
		errs = append(errs, in.sweepFile(ctx, f))
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}

// sweepFile has one file scanned that was uploaded, because the event of its upload was lost or its scan interrupted.
// It ends the waiting for one that has not come, or not been scanned, in time.
func (in *Intake) sweepFile(ctx context.Context, f document.WaitingFile) error {
	// The next look is agreed first, as for batches.
	now := in.Now()
	if err := in.Sweep.Files.Postpone(ctx, f, now.Add(min(now.Sub(f.Since)/4, longestPause))); err != nil {
		return err
	}
	key := document.FilePrefix + f.Tenant + "/" + f.ID
	found, err := in.Sweep.Uploads.Head(ctx, key)
	object := batch.Object{Key: key, ETag: found.ETag, Version: found.Version, Size: found.Size}
	switch {
	case err == nil && now.Before(found.Modified.Add(in.Sweep.Patience)):
		in.Log.WarnContext(ctx, "the scan of a file was lost or interrupted", "key", key)
		return in.scanAgain(ctx, object, found.Modified)
	case err == nil:
		// An alarm of template.yaml matches the text of this line.
		in.Log.ErrorContext(ctx, "cannot be scanned", "key", key, "error", "no scan has ended in time")
		return in.Documents.End(ctx, object, fileUnscannable)
	case !errors.Is(err, objects.ErrNotFound) && !errors.Is(err, objects.ErrDenied):
		return err
	case now.Before(f.Since.Add(longestURL + in.Sweep.Patience)):
		return nil
	}
	in.Log.InfoContext(ctx, "the file of a document did not arrive in time", "key", key)
	return in.Documents.End(ctx, batch.Object{Key: key}, fileNeverUploaded)
}
