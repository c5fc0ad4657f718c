// Package intake takes an uploaded object in: it pins the object on its batch, has it scanned, and starts the state
// machine of a clean one. It may run any number of times for one upload, also at the same time.
package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"sluice/shared/batch"
	"sluice/shared/document"
	"sluice/shared/malware"
	"sluice/shared/objects"
)

// Prefix is where uploads lie in their bucket: uploads/<tenant>/<batch id>.
const Prefix = "uploads/"

// Key returns the object key of a batch's upload.
func Key(tenant string, id batch.ID) string { return Prefix + tenant + "/" + string(id) }

// Refused is the tag of an upload that the bucket policy keeps from everyone and the lifecycle soon deletes.
const (
	VerdictTag = "sluice-verdict"
	Refused    = "refused"
)

type batches interface {
	Get(ctx context.Context, id batch.ID) (batch.Batch, error)
	Apply(ctx context.Context, id batch.ID, c batch.Transition) (batch.Batch, error)
}

type uploads interface {
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
	Tag(ctx context.Context, key, name, value string) error
}

// Scanner reads a file to its end and says what it is. See package malware for the outcomes.
type Scanner interface {
	Scan(ctx context.Context, r io.Reader) (malware.Threat, error)
}

// starter starts the state machine of a batch. Doing it twice is success.
type starter interface {
	Start(ctx context.Context, id batch.ID) error
}

// Intake is the scan function.
type Intake struct {
	Batches   batches
	Uploads   uploads
	Scanner   Scanner
	Results   *Results // in place of Scanner, where GuardDuty scans
	Machine   starter
	Documents interface { // takes in what lies under document.FilePrefix
		Take(ctx context.Context, object batch.Object) error
	}
	MaxBytes int64    // a larger file is refused
	Patience Patience // with the scanner, before the file counts as unscannable
	Now      func() time.Time
	Log      *slog.Logger
}

// Take takes in one object that was complete at receivedAt. Where the scan is not ours, it is pinned at once, and the error is
// errPending until its result is known.
func (in *Intake) Take(ctx context.Context, object batch.Object, receivedAt time.Time) error {
	if strings.HasPrefix(object.Key, document.FilePrefix) {
		return in.Documents.Take(ctx, object)
	}
	id, ok := idOf(object.Key)
	if !ok {
		in.Log.WarnContext(ctx, "not an upload", "key", object.Key)
		return nil
	}
	b, err := in.pin(ctx, id, object, receivedAt)
	if err != nil || b.Status != batch.Uploaded {
		return err
	}
	if refusal, err := in.inspect(ctx, b); err != nil {
		return err
	} else if refusal != "" {
		return in.refuse(ctx, b, refusal)
	}
	// The status stays until the state machine moves it: if this call is lost, the event's retry comes here again.
	return in.Machine.Start(ctx, b.ID)
}

func idOf(key string) (batch.ID, bool) {
	rest, ok := strings.CutPrefix(key, Prefix)
	_, name, found := strings.Cut(rest, "/")
	id, err := batch.ParseID(name)
	return id, ok && found && err == nil
}

// pin records which object is the batch's and when it came. It returns a batch in another state than Uploaded, or the zero
// batch, when there is nothing left to do for this object.
func (in *Intake) pin(ctx context.Context, id batch.ID, object batch.Object, receivedAt time.Time) (batch.Batch, error) {
	b, err := in.Batches.Apply(ctx, id, batch.Transition{
		To: batch.Uploaded, At: in.Now(), Object: &object, ReceivedAt: receivedAt,
	})
	var moved *batch.ConflictError
	switch {
	case errors.As(err, &moved) && moved.Current.Object.ETag == object.ETag && moved.Current.Object.Key == object.Key:
		return moved.Current, nil // an earlier delivery of this event, or its twin
	case errors.As(err, &moved):
		in.Log.WarnContext(ctx, "event for an object that is not the pinned one", "batch", id)
		return batch.Batch{}, nil
	case errors.Is(err, batch.ErrNotFound):
		in.Log.WarnContext(ctx, "upload without a batch", "batch", id)
		return batch.Batch{}, nil
	}
	return b, err
}

// inspect returns why the file cannot be taken, "" for a clean one.
func (in *Intake) inspect(ctx context.Context, b batch.Batch) (string, error) {
	if b.Object.Size > in.MaxBytes {
		return fmt.Sprintf("The file has %d bytes; at most %d are taken. Split it into several batches.",
			b.Object.Size, in.MaxBytes), nil
	}
	threat, err := look(ctx, in.Results, in.Patience, in.Log, in.Uploads, in.Scanner, b.Object)
	switch {
	case err == nil:
		return refusal(threat), nil
	case ctx.Err() != nil, postponed(err):
		return "", err
	case errors.Is(err, objects.ErrDenied): // an earlier run has tagged it and was lost before it could say so
		return unnamedRefusal, nil
	}
	in.Log.ErrorContext(ctx, "cannot be scanned", "batch", b.ID, "error", err)
	return "The file could not be scanned for malware. Upload it again as a new batch.", nil
}

// unnamedRefusal is all that can be said where no threat has a name.
const unnamedRefusal = "The malware scan refused the file."

func refusal(t malware.Threat) string {
	switch t.Kind {
	case malware.Clean:
		return ""
	case malware.Executable:
		return fmt.Sprintf("The file is an executable (%s), not JSON Lines.", t.Name)
	case malware.Archive:
		return fmt.Sprintf("The file is an archive (%s); upload the JSON Lines unpacked.", t.Name)
	}
	if t.Name == "" {
		return unnamedRefusal
	}
	return fmt.Sprintf("The malware scan refused the file (%s).", t.Name)
}

// refuse makes the object unreadable before the batch says so. The object itself stays until the lifecycle deletes it: as
// long as it is there, the signed URL cannot put another one in its place.
//
// A twin of this run may have found the file clean meanwhile and started the batch: then nothing is refused any more.
func (in *Intake) refuse(ctx context.Context, b batch.Batch, why string) error {
	now, err := in.Batches.Get(ctx, b.ID)
	if err != nil || now.Status != batch.Uploaded {
		return err
	}
	if err := in.Uploads.Tag(ctx, b.Object.Key, VerdictTag, Refused); err != nil {
		return err
	}
	_, err = in.Batches.Apply(ctx, b.ID, batch.Transition{To: batch.Failed, From: batch.Uploaded, At: in.Now(), ErrorMessage: why})
	var moved *batch.ConflictError
	if errors.As(err, &moved) {
		return nil // the twin of this run was first
	}
	return err
}
