// Package intake processes an uploaded object: it pins the object on its batch, has it scanned for malware, and starts
// the state machine for a clean one. It also scans the files of documents, which have no state machine. It may run any
// number of times for one upload, also concurrently.
package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// uploadPrefix begins the key of every batch's upload: uploads/<tenant>/<batch id>.
const uploadPrefix = "uploads/"

// UploadKey returns the object key of a batch's upload.
func UploadKey(tenant string, id batch.ID) string { return uploadPrefix + tenant + "/" + string(id) }

// batchID returns the batch whose upload has the given key.
func batchID(key string) (id batch.ID, ok bool) {
	rest, hasPrefix := strings.CutPrefix(key, uploadPrefix)
	_, name, found := strings.Cut(rest, "/")
	id, err := batch.ParseID(name)
	return id, hasPrefix && found && err == nil
}

// The tag that only the scan function sets. The bucket policy denies everyone else to read an object that is not
// tagged clean, and everyone to read one that is tagged refused, which the lifecycle deletes within days. A new object
// under the same key has no tag.
const (
	verdictTag   = "sluice-verdict"
	cleanValue   = "clean"
	refusedValue = "refused"
)

// Intake processes uploads. Its method Handle is the scan function.
type Intake struct {
	Batches interface {
		Get(ctx context.Context, id batch.ID) (batch.Batch, error)
		Apply(ctx context.Context, id batch.ID, t batch.Transition) (batch.Batch, error)
		CommitContent(ctx context.Context, id batch.ID, packed batch.Encoding, content batch.Object) (batch.Batch,
			error)
	}
	Uploads interface {
		Tagger
		// StoreObject is as in objects.Bucket.
		StoreObject(ctx context.Context, key string, write func(io.Writer) error) (objects.Info, error)
	}
	Scanner Scanner
	// GuardDuty is set, in place of Scanner, where GuardDuty scans.
	GuardDuty *GuardDuty
	Machine   interface {
		// Start starts the state machine of a batch. Repeating it is success.
		Start(ctx context.Context, id batch.ID) error
	}
	// Registry knows which clients may upload: a client may be disabled after it was given a URL.
	Registry interface {
		// MayUpload reports whether a client exists and is not disabled, and whether its tenant has the batch feature.
		MayUpload(ctx context.Context, tenant, client string) (isEnabled, hasFeature bool, err error)
	}
	// Documents are the uploads that are no batches; nil if there are none.
	Documents interface {
		// Owns reports whether a key names a file of a document.
		Owns(key string) bool
		// Process scans a file and records the outcome. It can be repeated. It returns an error for which IsUndecided
		// is true until the outcome is known.
		Process(ctx context.Context, object batch.Object) error
		// Sweep has the files scanned again whose scan has had no outcome for a while. A file that fails does not keep
		// the others waiting.
		Sweep(ctx context.Context, scanAgain ScanAgainFunc) error
	}
	// Sweep resumes stalled batches at the times of the schedule, and has Documents do the same.
	Sweep *Sweep
	// MaxBytes is the size of the largest file allowed, packed and unpacked.
	MaxBytes int64
	// MaxRatio is how many times larger than a packed file the unpacked one may be.
	MaxRatio int64
	// NewAttempt returns a random name for an attempt at unpacking.
	NewAttempt func() string
	// Retry is for a Scanner that fails; after its attempts, a file counts as unscannable. It is also for a file that
	// cannot be read or written while it is unpacked.
	Retry RetryPolicy
	Now   func() time.Time
	Log   *slog.Logger
	// Metrics receives a record of each object that is processed and of each sweep; nil for none.
	Metrics *metric.Log
}

// Process processes an object that was complete at receivedAt. It can be repeated. Where GuardDuty scans, it pins the
// object and returns errPending until the result is known.
func (in *Intake) Process(ctx context.Context, object batch.Object, receivedAt time.Time) error {
	ctx, record := in.Metrics.Begin(ctx, metric.Scan)
	err := in.process(ctx, object, receivedAt)
	outcome := metric.OK
	switch {
	case errors.Is(err, errPending):
		outcome = metric.Pending
	case err != nil:
		outcome = metric.Failed
	}
	record.End(ctx, outcome)
	return err
}

func (in *Intake) process(ctx context.Context, object batch.Object, receivedAt time.Time) error {
	if in.isDocument(object.Key) {
		return in.Documents.Process(ctx, object)
	}
	b, err := in.find(ctx, object, receivedAt)
	if err != nil || b.Status != batch.Uploaded {
		return err
	}
	metric.SetProperty(ctx, "batch", string(b.ID))
	metric.SetProperty(ctx, "tenant", b.Tenant)
	b, refused, err := in.inspect(ctx, b)
	if err == nil && refused == nil {
		refused, err = in.checkUploader(ctx, b)
	}
	if err != nil || b.Status != batch.Uploaded {
		return err
	}
	metric.Add(ctx, metric.Bytes, b.Object.Size+b.Content.Size) // both are scanned
	in.Log.InfoContext(ctx, "upload scanned", "batch", b.ID, "bytes", b.Object.Size, "unpacked", b.Content.Size,
		"clean", refused == nil, "seconds", in.Now().Sub(b.ReceivedAt).Round(time.Millisecond).Seconds())
	if refused != nil {
		return in.refuse(ctx, b, *refused)
	}
	err = in.markClean(ctx, b)
	// another run tagged the file, and was interrupted or is about to fail the batch
	if errors.Is(err, objects.ErrDenied) {
		return in.refuse(ctx, b, refusal{message: UnnamedThreatMessage})
	}
	if err != nil {
		return err
	}
	// The status remains Uploaded until the state machine changes it: if this call is lost, the retry of the event
	// repeats it.
	return in.Machine.Start(ctx, b.ID)
}

// isDocument reports whether a key names a file of a document.
func (in *Intake) isDocument(key string) bool { return in.Documents != nil && in.Documents.Owns(key) }

// find returns the batch of an upload, on which it is pinned, or of the unpacked copy of one. It returns a batch in
// another status than Uploaded, or the zero batch, if nothing remains to be done for the object.
func (in *Intake) find(ctx context.Context, object batch.Object, receivedAt time.Time) (batch.Batch, error) {
	if id, ok := unpackedBatchID(object.Key); ok {
		return in.findByCopy(ctx, id, object)
	}
	id, ok := batchID(object.Key)
	if !ok {
		in.Log.WarnContext(ctx, "the object is not an upload", "key", object.Key)
		return batch.Batch{}, nil
	}
	return in.pin(ctx, id, object, receivedAt)
}

// markClean makes the file of a batch readable for the state machine: the unpacked copy, if there is one. If a
// concurrent run has refused it meanwhile, it stays refused.
func (in *Intake) markClean(ctx context.Context, b batch.Batch) error {
	if err := MarkClean(ctx, in.Uploads, b.Source()); err != nil {
		return err
	}
	current, err := in.Batches.Get(ctx, b.ID)
	if err != nil || current.Status != batch.Failed {
		return err
	}
	return in.Uploads.Tag(ctx, b.Source().Key, verdictTag, refusedValue)
}

// pin records which object is the batch's and when it was complete. It returns a batch in another status than Uploaded,
// or the zero batch, if nothing remains to be done for the object.
func (in *Intake) pin(ctx context.Context, id batch.ID, object batch.Object, receivedAt time.Time) (batch.Batch,
	error) {
	b, err := in.Batches.Apply(ctx, id, batch.Transition{
		To: batch.Uploaded, At: in.Now(), Object: &object, ReceivedAt: receivedAt,
	})
	var conflict *batch.ConflictError
	switch {
	case errors.As(err, &conflict) && conflict.Current.Object.ETag == object.ETag &&
		conflict.Current.Object.Key == object.Key:
		return conflict.Current, nil // pinned by an earlier or concurrent run
	case errors.As(err, &conflict) && conflict.Current.Object == (batch.Object{}):
		// The batch ended before its upload arrived. The object is tagged, so that nobody reads it and the lifecycle
		// deletes it.
		in.Log.WarnContext(ctx, "the upload arrived after the end of its batch", "batch", id)
		return batch.Batch{}, in.Uploads.Tag(ctx, object.Key, verdictTag, refusedValue)
	case errors.As(err, &conflict):
		in.Log.WarnContext(ctx, "event of an object that is not the pinned one", "batch", id)
		return batch.Batch{}, nil
	case errors.Is(err, batch.ErrNotFound):
		in.Log.WarnContext(ctx, "upload without a batch", "batch", id)
		return batch.Batch{}, nil
	}
	return b, err
}

// refusal is the decision not to process a file.
type refusal struct {
	// message is for the client.
	message string
	// packed is how the file is packed, if that is known and there is no unpacked copy.
	packed batch.Encoding
}

// Error returns the message.
func (r *refusal) Error() string { return r.message }

// inspect returns the refusal of a file that is too large, not clean, not scannable or cannot be unpacked; nil for one
// that can be read, and the batch with its unpacked copy if it is packed. The batch may have ended meanwhile.
func (in *Intake) inspect(ctx context.Context, b batch.Batch) (batch.Batch, *refusal, error) {
	if b.Content == (batch.Object{}) { // the copy is made once the upload is found clean, and never again
		refused, err := in.inspectUpload(ctx, b)
		if err != nil || refused != nil {
			return b, refused, err
		}
		if b, refused, err = in.unpack(ctx, b); err != nil || refused != nil || b.Content == (batch.Object{}) {
			return b, refused, err
		}
	}
	refused, err := in.inspectCopy(ctx, b)
	return b, refused, err
}

// inspectUpload returns the refusal of a file, as it was uploaded, that is too large, not clean or not scannable.
func (in *Intake) inspectUpload(ctx context.Context, b batch.Batch) (*refusal, error) {
	if b.Object.Size > in.MaxBytes {
		metric.Add(ctx, metric.Oversized, 1)
		return &refusal{message: fmt.Sprintf(
			"The file has %d bytes; at most %d are allowed. Split it into several batches.", b.Object.Size,
			in.MaxBytes)}, nil
	}
	return in.scanFile(ctx, b, b.Object)
}

// scanFile returns the refusal of a file of a batch that is not clean or not scannable; nil for a clean one.
func (in *Intake) scanFile(ctx context.Context, b batch.Batch, file batch.Object) (*refusal, error) {
	s := Scan{Scanner: in.Scanner, GuardDuty: in.GuardDuty, Retry: in.Retry, Files: in.Uploads, Log: in.Log}
	threat, err := s.Verdict(ctx, file)
	switch {
	case err == nil && threat.Kind == malware.Clean:
		return nil, nil
	case err == nil:
		return &refusal{message: ThreatMessage(threat)}, nil
	case ctx.Err() != nil, IsUndecided(err):
		return nil, err
	}
	return in.unscannable(ctx, b, err), nil
}

// unscannable returns the refusal of a file that cannot be scanned, or read, and never will be.
func (in *Intake) unscannable(ctx context.Context, b batch.Batch, err error) *refusal {
	if errors.Is(err, objects.ErrDenied) { // an earlier run tagged the file and was interrupted
		return &refusal{message: UnnamedThreatMessage}
	}
	// An alarm of template.yaml matches the text of this line.
	in.Log.ErrorContext(ctx, "cannot be scanned", "batch", b.ID, "error", err)
	return &refusal{message: batch.Unscannable}
}

// checkUploader returns the refusal of a file whose client or tenant may not upload any more; nil if they may. It is
// called after the scan, which can take long.
func (in *Intake) checkUploader(ctx context.Context, b batch.Batch) (*refusal, error) {
	isEnabled, hasFeature, err := in.Registry.MayUpload(ctx, b.Tenant, b.Client)
	switch {
	case err != nil:
		return nil, err
	case !isEnabled:
		return &refusal{message: "The client that asked for the upload URL has been disabled."}, nil
	case !hasFeature:
		return &refusal{message: "The batch feature has been disabled for this tenant."}, nil
	}
	return nil, nil
}

// UnnamedThreatMessage is the message for the client if the threat has no name.
const UnnamedThreatMessage = "The malware scan refused the file."

// ThreatMessage is the message to the client about a file in which a threat was found.
func ThreatMessage(t malware.Threat) string {
	if t.Name == "" {
		return UnnamedThreatMessage
	}
	return fmt.Sprintf("The malware scan refused the file (%s).", t.Name)
}

// refuse makes the file unreadable, and its unpacked copy if there is one, and then fails the batch. It does not delete
// the upload: as long as the object exists, the signed URL cannot put another one in its place. It does nothing if a
// concurrent run has found the file clean and started the batch.
func (in *Intake) refuse(ctx context.Context, b batch.Batch, r refusal) error {
	current, err := in.Batches.Get(ctx, b.ID)
	if err != nil || current.Status != batch.Uploaded {
		return err
	}
	if current.Content != (batch.Object{}) {
		r.packed = "" // it is known
		err := in.Uploads.Tag(ctx, current.Content.Key, verdictTag, refusedValue)
		if err != nil && !errors.Is(err, objects.ErrNotFound) {
			return err
		}
	}
	if err := in.Uploads.Tag(ctx, b.Object.Key, verdictTag, refusedValue); err != nil {
		return err
	}
	_, err = in.Batches.Apply(ctx, b.ID, batch.Transition{
		To: batch.Failed, From: batch.Uploaded, At: in.Now(), ErrorMessage: r.message, Encoding: r.packed,
	})
	if _, ok := errors.AsType[*batch.ConflictError](err); ok {
		return nil // a concurrent run was first
	}
	return err
}

// Machine is the state machine of batches in Step Functions.
type Machine struct {
	client *sfn.Client
	arn    string
}

// NewMachine returns the state machine with the given ARN.
func NewMachine(client *sfn.Client, arn string) *Machine { return &Machine{client, arn} }

// Start starts the execution that is named after the batch. It is idempotent: its input is made from the ID alone, so a
// repeated call is the same request, which succeeds while the execution runs; after that, Step Functions answers
// ExecutionAlreadyExists, which is success, too.
func (m *Machine) Start(ctx context.Context, id batch.ID) error {
	input, err := json.Marshal(map[string]batch.ID{"batch_id": id})
	if err != nil {
		return err
	}
	_, err = m.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &m.arn, Name: aws.String(string(id)), Input: aws.String(string(input)),
	})
	var exists *types.ExecutionAlreadyExists
	if err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("start batch %s: %w", id, err)
	}
	return nil
}

// ExecutionState says whether a batch has an execution that moves it.
type ExecutionState int

const (
	// NoExecution means that the state machine was not started, or so long ago that Step Functions has forgotten it.
	NoExecution ExecutionState = iota
	// ExecutionRunning means that the execution runs.
	ExecutionRunning
	// ExecutionEnded means that the execution has ended, successfully or not.
	ExecutionEnded
)

// Execution returns the state of the execution of a batch.
func (m *Machine) Execution(ctx context.Context, id batch.ID) (ExecutionState, error) {
	arn := strings.Replace(m.arn, ":stateMachine:", ":execution:", 1) + ":" + string(id)
	out, err := m.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	var missing *types.ExecutionDoesNotExist
	switch {
	case errors.As(err, &missing):
		return NoExecution, nil
	case err != nil:
		return NoExecution, fmt.Errorf("describe the execution of batch %s: %w", id, err)
	case out.Status == types.ExecutionStatusRunning || out.Status == types.ExecutionStatusPendingRedrive:
		return ExecutionRunning, nil
	}
	return ExecutionEnded, nil
}
