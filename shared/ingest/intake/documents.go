package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
)

// Documents processes the files of documents, whose keys are documents/<tenant>/<file id>. A file may be of any kind;
// only malware is refused.
type Documents struct {
	Store interface {
		// RecordScan is that of document.Store.
		RecordScan(ctx context.Context, tenant, file string, s document.State) error
		// Uploader is that of document.Store.
		Uploader(ctx context.Context, tenant, file string) (client string, err error)
	}
	// Registry is that of Intake.
	Registry interface {
		MayUpload(ctx context.Context, tenant, client string) (isEnabled, hasFeature bool, err error)
	}
	Files interface {
		tagger
		// Empty is that of objects.Bucket.
		Empty(ctx context.Context, key string) error
	}
	Scanner Scanner
	// GuardDuty is set, in place of Scanner, where GuardDuty scans.
	GuardDuty *GuardDuty
	// MaxBytes is the size of the largest file allowed.
	MaxBytes int64
	// Retry is for a Scanner that fails; after its attempts, a file counts as unscannable.
	Retry RetryPolicy
	Log   *slog.Logger
}

// Process scans a file and records the outcome on its document. It can be repeated. Where GuardDuty scans, it returns
// errPending until the result is known.
func (d *Documents) Process(ctx context.Context, object batch.Object) error {
	tenant, file, ok := strings.Cut(strings.TrimPrefix(object.Key, document.FilePrefix), "/")
	if !ok {
		d.Log.WarnContext(ctx, "the object is not a file of a document", "key", object.Key)
		return nil
	}
	state, err := d.inspect(ctx, object)
	if err == nil && state.Status == document.Completed {
		state, err = d.checkUploader(ctx, tenant, file)
	}
	if err == nil {
		metric.Add(ctx, metric.Bytes, object.Size)
		err = d.tag(ctx, object, state)
	}
	if state.Status == document.Completed && errors.Is(err, objects.ErrDenied) { // another run has refused the file
		state, err = infected(unnamedThreatMessage), nil
	}
	if errors.Is(err, objects.ErrNotFound) || errors.Is(err, objects.ErrChanged) {
		d.Log.WarnContext(ctx, "the file was deleted before it was scanned", "key", object.Key)
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Store.RecordScan(ctx, tenant, file, state)
	switch {
	case errors.Is(err, document.ErrNotFound) && object.Size == 0:
		// This is the empty object that the deletion of the document has left. The lifecycle deletes it.
		return d.refuse(ctx, object)
	case errors.Is(err, document.ErrNotFound):
		// The document was deleted while its upload URL was valid. The key stays in use as long as the URL is.
		return d.Files.Empty(ctx, object.Key)
	case errors.Is(err, document.ErrScanRecorded):
		// An earlier delivery of the event had another outcome, which counts: a scanner that fails now does not refuse
		// a file that was found clean, and one that was refused stays so.
		d.Log.WarnContext(ctx, "another outcome was recorded before", "key", object.Key, "now", state.Status)
		if state.Status == document.Completed {
			return d.refuse(ctx, object)
		}
		return nil
	case err == nil && state.Status == document.Failed:
		return d.refuse(ctx, object)
	}
	return err
}

// checkUploader returns the state of a clean file: it is refused if its client was disabled after it was given the URL.
func (d *Documents) checkUploader(ctx context.Context, tenant, file string) (document.State, error) {
	completed := document.State{Status: document.Completed}
	client, err := d.Store.Uploader(ctx, tenant, file)
	if errors.Is(err, document.ErrNotFound) || err == nil && client == "" {
		return completed, nil
	}
	if err != nil {
		return completed, err
	}
	isEnabled, _, err := d.Registry.MayUpload(ctx, tenant, client)
	if err == nil && !isEnabled {
		return document.State{Status: document.Failed, ErrorCode: document.ClientSideError,
			ErrorMessage: "The client that asked for the upload URL has been disabled."}, nil
	}
	return completed, err
}

// End records an outcome of a file that no scan has come to, and makes the file unreadable. It changes nothing if an
// outcome was recorded meanwhile, or if the document is gone.
func (d *Documents) End(ctx context.Context, object batch.Object, state document.State) error {
	tenant, file, _ := strings.Cut(strings.TrimPrefix(object.Key, document.FilePrefix), "/")
	err := d.Store.RecordScan(ctx, tenant, file, state)
	switch {
	case errors.Is(err, document.ErrScanRecorded) || errors.Is(err, document.ErrNotFound):
		return nil
	case err != nil || object.ETag == "": // without an ETag there is no object
		return err
	}
	return d.refuse(ctx, object)
}

// tag makes a clean file readable and malware unreadable, before its document names it as scanned.
func (d *Documents) tag(ctx context.Context, object batch.Object, state document.State) error {
	switch state.Status {
	case document.Completed:
		return markClean(ctx, d.Files, object)
	case document.Infected:
		return d.refuse(ctx, object)
	}
	return nil
}

// refuse makes a file unreadable; the lifecycle deletes it.
func (d *Documents) refuse(ctx context.Context, object batch.Object) error {
	err := d.Files.Tag(ctx, object.Key, verdictTag, refusedValue)
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// inspect returns the outcome of the scan of a file.
func (d *Documents) inspect(ctx context.Context, object batch.Object) (document.State, error) {
	if object.Size == 0 {
		return document.State{Status: document.Failed, ErrorCode: document.ClientSideError,
			ErrorMessage: "The file is empty. Replace it by one with content."}, nil
	}
	if object.Size > d.MaxBytes {
		return document.State{Status: document.Failed, ErrorCode: document.ClientSideError,
			ErrorMessage: fmt.Sprintf("The file has %d bytes; at most %d are allowed.", object.Size, d.MaxBytes)}, nil
	}
	s := scan{scanner: d.Scanner, guardDuty: d.GuardDuty, retry: d.Retry, files: d.Files, log: d.Log}
	threat, err := s.verdict(ctx, object)
	switch {
	case err == nil && threat.Kind == malware.Clean:
		return document.State{Status: document.Completed}, nil
	case err == nil:
		return infected(threatMessage(threat)), nil
	case ctx.Err() != nil, isUndecided(err), errors.Is(err, objects.ErrNotFound), errors.Is(err, objects.ErrChanged):
		return document.State{}, err
	case errors.Is(err, objects.ErrDenied): // an earlier run tagged the file and was interrupted
		return infected(unnamedThreatMessage), nil
	}
	// An alarm of template.yaml matches the text of this line.
	d.Log.ErrorContext(ctx, "cannot be scanned", "key", object.Key, "error", err)
	return fileUnscannable, nil
}

func infected(message string) document.State {
	return document.State{Status: document.Infected, ErrorCode: document.InfectedFile, ErrorMessage: message}
}
