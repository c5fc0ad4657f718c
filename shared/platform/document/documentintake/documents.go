// Package documentintake processes the files of documents: it has each scanned as uploads of batches are, and records
// the outcome.
package documentintake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
	"sluice/shared/platform/document"
)

// Documents processes the files of documents, whose keys are documents/<tenant>/<file id>. A file may be of any kind;
// only malware is refused.
type Documents struct {
	Store interface {
		// Measure is as in document.Store.
		Measure(ctx context.Context, tenant, file string, bytes int64) error
		// RecordScan is as in document.Store.
		RecordScan(ctx context.Context, tenant, file string, s document.State) error
		// Uploader is as in document.Store.
		Uploader(ctx context.Context, tenant, file string) (client string, err error)
	}
	// Registry is as in intake.Intake.
	Registry interface {
		MayUpload(ctx context.Context, tenant, client string) (isEnabled, hasFeature bool, err error)
	}
	Files interface {
		intake.Tagger
		// Empty is as in objects.Bucket.
		Empty(ctx context.Context, key string) error
	}
	Scanner intake.Scanner
	// GuardDuty is set, in place of Scanner, where GuardDuty scans.
	GuardDuty *intake.GuardDuty
	// MaxBytes is the size of the largest file allowed.
	MaxBytes int64
	// Retry is for a Scanner that fails; after its attempts, a file counts as unscannable.
	Retry intake.RetryPolicy
	// Waiting looks after files whose scan has no outcome; nil if nothing does.
	Waiting *Waiting
	Log     *slog.Logger
}

// Owns reports whether a key names a file of a document.
func (d *Documents) Owns(key string) bool { return strings.HasPrefix(key, document.FilePrefix) }

// Process scans a file and records the outcome on its document. It can be repeated. Where GuardDuty scans, it returns
// an error for which intake.IsUndecided is true until the result is known.
func (d *Documents) Process(ctx context.Context, object batch.Object) error {
	tenant, file, ok := strings.Cut(strings.TrimPrefix(object.Key, document.FilePrefix), "/")
	if !ok {
		d.Log.WarnContext(ctx, "the object is not a file of a document", "key", object.Key)
		return nil
	}
	if err := d.Store.Measure(ctx, tenant, file, object.Size); err != nil {
		return err
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
		state, err = infected(intake.UnnamedThreatMessage), nil
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
		return intake.MarkRefused(ctx, d.Files, object.Key)
	case errors.Is(err, document.ErrNotFound):
		// The document was deleted while its upload URL was valid. The key stays in use as long as the URL is.
		return d.Files.Empty(ctx, object.Key)
	case errors.Is(err, document.ErrScanRecorded):
		// An earlier delivery of the event had another outcome, which counts: a scanner that fails now does not refuse
		// a file that was found clean, and one that was refused stays so.
		d.Log.WarnContext(ctx, "another outcome was recorded before", "key", object.Key, "now", state.Status)
		if state.Status == document.Completed {
			return intake.MarkRefused(ctx, d.Files, object.Key)
		}
		return nil
	case err == nil && state.Status == document.Failed && object.Size > d.MaxBytes:
		// An empty object takes its place, so that the upload URL cannot store another one.
		metric.Add(ctx, metric.Oversized, 1)
		return d.Files.Empty(ctx, object.Key)
	case err == nil && state.Status == document.Failed:
		return intake.MarkRefused(ctx, d.Files, object.Key)
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

// end records an outcome of a file that no scan has come to, and makes the file unreadable. It changes nothing if an
// outcome was recorded meanwhile, or if the document is gone.
func (d *Documents) end(ctx context.Context, object batch.Object, state document.State) error {
	tenant, file, _ := strings.Cut(strings.TrimPrefix(object.Key, document.FilePrefix), "/")
	err := d.Store.RecordScan(ctx, tenant, file, state)
	switch {
	case errors.Is(err, document.ErrScanRecorded) || errors.Is(err, document.ErrNotFound):
		return nil
	case err != nil || object.ETag == "": // without an ETag there is no object
		return err
	}
	return intake.MarkRefused(ctx, d.Files, object.Key)
}

// tag makes a clean file readable and malware unreadable, before its document names it as scanned.
func (d *Documents) tag(ctx context.Context, object batch.Object, state document.State) error {
	switch state.Status {
	case document.Completed:
		return intake.MarkClean(ctx, d.Files, object)
	case document.Infected:
		return intake.MarkRefused(ctx, d.Files, object.Key)
	}
	return nil
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
	s := intake.Scan{Scanner: d.Scanner, GuardDuty: d.GuardDuty, Retry: d.Retry, Files: d.Files, Log: d.Log}
	threat, err := s.Verdict(ctx, object)
	switch {
	case err == nil && threat.Kind == malware.Clean:
		return document.State{Status: document.Completed}, nil
	case err == nil:
		return infected(intake.ThreatMessage(threat)), nil
	case ctx.Err() != nil, intake.IsUndecided(err), errors.Is(err, objects.ErrNotFound),
		errors.Is(err, objects.ErrChanged):
		return document.State{}, err
	case errors.Is(err, objects.ErrDenied): // an earlier run tagged the file and was interrupted
		return infected(intake.UnnamedThreatMessage), nil
	}
	// An alarm of template.yaml matches the text of this line.
	d.Log.ErrorContext(ctx, "cannot be scanned", "key", object.Key, "error", err)
	return fileUnscannable, nil
}

func infected(message string) document.State {
	return document.State{Status: document.Infected, ErrorCode: document.InfectedFile, ErrorMessage: message}
}
