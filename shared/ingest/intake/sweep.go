package intake

import (
	"context"
	"errors"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Sweep finds batches, and files of documents, that nothing moves, every few minutes: the event of their upload was
// lost, their upload never came, their scan was interrupted, or their execution ended without ending them. Each is
// moved on or ended by the same conditional writes as everywhere, so a sweep may run beside every step, and beside
// itself.
type Sweep struct {
	Batches interface {
		// EachUnfinished is as in batch.Store.
		EachUnfinished(ctx context.Context, before time.Time, visit func(batch.ID) error) error
		// Postpone is as in batch.Store.
		Postpone(ctx context.Context, id batch.ID, at time.Time) error
		// AdoptUnfinished is as in batch.Store.
		AdoptUnfinished(ctx context.Context, now time.Time) error
		// EachUnannounced is as in batch.Store.
		EachUnannounced(ctx context.Context, before time.Time, visit func(batch.ID) error) error
		// PostponeAnnouncement is as in batch.Store.
		PostponeAnnouncement(ctx context.Context, id batch.ID, at time.Time) error
		// Statuses is as in batch.Store.
		Statuses(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error)
		// Uncount is as in batch.Store.
		Uncount(ctx context.Context, id batch.ID, uploadBy time.Time) error
		// Backlogs is as in batch.Store.
		Backlogs(ctx context.Context) (map[batch.Status]batch.Backlog, error)
	}
	Announcements interface {
		// AnnounceBatch asks for the announcement of the end of a batch.
		AnnounceBatch(ctx context.Context, id batch.ID) error
	}
	// Slots gives batches their slots.
	Slots interface {
		// Sweep is as in admission.Slots.
		Sweep(ctx context.Context, pool admission.Pool, before time.Time, batches admission.Batches) error
		// LeaveAll is as in admission.Slots.
		LeaveAll(ctx context.Context, b batch.Batch) error
		// Load is as in admission.Slots.
		Load(ctx context.Context, pool admission.Pool, atMost int) (admission.Load, error)
	}
	Uploads interface {
		// Head returns the metadata of the object under a key. It returns objects.ErrNotFound or objects.ErrDenied.
		Head(ctx context.Context, key string) (objects.Info, error)
		// AbortParts is as in objects.Bucket.
		AbortParts(ctx context.Context, key, uploadID string) error
	}
	Machine interface {
		Execution(ctx context.Context, id batch.ID) (ExecutionState, error)
	}
	// Age is how long a batch must not have moved before the sweep looks at it. It is longer than the scan function can
	// run, so that a scan that still runs is not repeated.
	Age time.Duration
	// Patience is how long a batch may wait: for its upload, after its URL has ended; for its scan, after its upload.
	Patience time.Duration
}

// longestPause is the longest time between two looks of the sweep at one batch, besides Sweep.Age.
const longestPause = time.Hour

// waitingAge is the age from which the sweep resolves waiting uploads; the events of younger ones are probably on their
// way.
const waitingAge = time.Minute

// unannouncedAge is the age from which the sweep asks for the announcement of a batch's end, unless Sweep.Age is less:
// the one that ended the batch was killed before it could ask, or its request has failed. announcementPause is the time
// until it asks again, also unless Sweep.Age is less.
const (
	unannouncedAge    = time.Minute
	announcementPause = 10 * time.Minute
)

// sweep resumes stalled batches and uploads, and measures the open ones.
func (in *Intake) sweep(ctx context.Context) error {
	ctx, record := in.Metrics.Begin(ctx, metric.Sweep)
	err := errors.Join(in.sweepAnnouncements(ctx), in.sweepUploads(ctx), in.sweepBatches(ctx), in.sweepSlots(ctx),
		in.sweepFiles(ctx))
	outcome := metric.OK
	if err != nil {
		outcome = metric.Failed
	}
	in.measure(ctx) // after the sweep has resumed them
	record.End(ctx, outcome)
	return err
}

// sweepFiles has the files of documents swept.
func (in *Intake) sweepFiles(ctx context.Context) error {
	if in.Sweep == nil || in.Documents == nil {
		return nil
	}
	return in.Documents.Sweep(ctx, in.scanAgain)
}

// sweepAnnouncements asks for the announcements of batches that have ended and are not announced. One that cannot be
// requested does not keep the others waiting.
func (in *Intake) sweepAnnouncements(ctx context.Context) error {
	if in.Sweep == nil {
		return nil
	}
	var errs []error
	now := in.Now()
	err := in.Sweep.Batches.EachUnannounced(ctx, now.Add(-min(unannouncedAge, in.Sweep.Age)), func(id batch.ID) error {
		in.Log.WarnContext(ctx, "the end of a batch is not announced, or its accepted lines are not exported", "batch",
			id)
		err := in.Sweep.Batches.PostponeAnnouncement(ctx, id, now.Add(min(announcementPause, in.Sweep.Age)))
		if err == nil {
			err = in.Sweep.Announcements.AnnounceBatch(ctx, id)
		}
		errs = append(errs, err)
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}

// sweepUploads resolves the uploads that wait for GuardDuty: the function was interrupted after it recorded a result,
// or no result came in time. An upload that fails does not keep the others waiting.
func (in *Intake) sweepUploads(ctx context.Context) error {
	if in.GuardDuty == nil {
		return nil
	}
	var errs []error
	err := in.GuardDuty.Uploads.EachWaiting(ctx, in.Now().Add(-waitingAge), func(u Upload) error {
		errs = append(errs, in.resolveUpload(ctx, u))
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}

// sweepSlots takes the slots and tickets of batches that do not need them any more, because the function that ended
// them was killed before it could leave them, and assigns those that are free. A pool that fails does not keep the
// others waiting.
func (in *Intake) sweepSlots(ctx context.Context) error {
	if in.Sweep == nil {
		return nil
	}
	var errs []error
	for _, pool := range admission.Pools() {
		errs = append(errs, in.Sweep.Slots.Sweep(ctx, pool, in.Now().Add(-in.Sweep.Age), slotNeeds{in}))
	}
	return errors.Join(errs...)
}

// slotNeeds answers the questions of the sweep of slots about batches.
type slotNeeds struct{ *Intake }

// Ended returns those of some batches that have a terminal status.
func (in slotNeeds) Ended(ctx context.Context, ids []batch.ID) ([]batch.ID, error) {
	statuses, err := in.Sweep.Batches.Statuses(ctx, ids)
	var ended []batch.ID
	for id, status := range statuses {
		if status.IsTerminal() {
			ended = append(ended, id)
		}
	}
	return ended, err
}

// NeedsSlot reports whether a batch needs its slot of a stage: by its status, and because its execution runs.
func (in slotNeeds) NeedsSlot(ctx context.Context, stage admission.Stage, id batch.ID) (bool, error) {
	b, err := in.Batches.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) {
		return false, nil
	}
	if err != nil || !stage.IsNeededBy(b) {
		return false, err
	}
	state, err := in.Sweep.Machine.Execution(ctx, id)
	return err != nil || state == ExecutionRunning, err
}

// sweepBatches looks at the batches that have not moved for a while. A batch that fails does not keep the others
// waiting.
func (in *Intake) sweepBatches(ctx context.Context) error {
	if in.Sweep == nil {
		return nil
	}
	errs := []error{in.Sweep.Batches.AdoptUnfinished(ctx, in.Now())}
	err := in.Sweep.Batches.EachUnfinished(ctx, in.Now().Add(-in.Sweep.Age), func(id batch.ID) error {
		errs = append(errs, in.sweepBatch(ctx, id))
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}

// sweepBatch moves one batch on, or ends it.
func (in *Intake) sweepBatch(ctx context.Context, id batch.ID) error {
	b, err := in.Batches.Get(ctx, id)
	if errors.Is(err, batch.ErrNotFound) || err == nil && b.Status.IsTerminal() {
		return nil // the index is a moment behind
	}
	if err != nil {
		return err
	}
	// The next look is agreed first: a batch that interrupts the function must not be the first one of every sweep. A
	// batch that has waited for long is looked at less often.
	now := in.Now()
	if err := in.Sweep.Batches.Postpone(ctx, id, now.Add(min(now.Sub(b.UpdatedAt)/4, longestPause))); err != nil {
		return err
	}
	if b.Status == batch.AwaitingUpload {
		return in.sweepAwaiting(ctx, b)
	}
	state, err := in.Sweep.Machine.Execution(ctx, id)
	switch {
	case err != nil || state == ExecutionRunning:
		return err
	case state == NoExecution && b.Status == batch.Uploaded:
		return in.sweepUploaded(ctx, b)
	}
	in.Log.ErrorContext(ctx, "batch failed", "batch", id, "error", "nothing moves it", "cause", b.Status)
	if err := in.endBatch(ctx, b, batch.Transition{ErrorMessage: batch.TechnicalFailure}); err != nil {
		return err
	}
	return in.Sweep.Slots.LeaveAll(ctx, b)
}

// sweepAwaiting processes the upload of a batch if it is there, and ends the batch if it did not come in time. What
// arrives after that is refused by Process.
func (in *Intake) sweepAwaiting(ctx context.Context, b batch.Batch) error {
	key := UploadKey(b.Tenant, b.ID)
	found, err := in.Sweep.Uploads.Head(ctx, key)
	switch {
	case err == nil:
		in.Log.WarnContext(ctx, "the event of an upload was lost", "batch", b.ID)
		object := batch.Object{Key: key, ETag: found.ETag, Version: found.Version, Size: found.Size}
		return in.processArrival(ctx, object, receiptOf(b, found))
	case !errors.Is(err, objects.ErrNotFound) && !errors.Is(err, objects.ErrDenied):
		return err
	case in.Now().Before(b.UploadBy.Add(in.Sweep.Patience)):
		if b.CountsAsOpen(in.Now()) {
			return nil
		}
		return in.Sweep.Batches.Uncount(ctx, b.ID, b.UploadBy)
	}
	in.Log.InfoContext(ctx, "the upload did not arrive in time", "batch", b.ID)
	err = in.endBatch(ctx, b, batch.Transition{
		ErrorMessage: batch.NeverUploaded, Expires: in.Now().Add(batch.RowLifetime),
	})
	if err != nil || b.Multipart == nil {
		return err
	}
	// If this fails, the lifecycle of the bucket removes the parts.
	return in.Sweep.Uploads.AbortParts(ctx, key, b.Multipart.UploadID)
}

// receiptOf returns the receipt time of an upload whose event was lost. S3 calls an object that was made of parts
// modified when its upload began, so the time when the client asked for the completion takes its place.
func receiptOf(b batch.Batch, found objects.Info) time.Time {
	if m := b.Multipart; m != nil && m.AskedAt.After(found.Modified) {
		return m.AskedAt
	}
	return found.Modified
}

// sweepUploaded processes an upload that was pinned and not started, because its scan was interrupted. A file whose
// scans fail for as long as the patience lasts counts as not scannable.
func (in *Intake) sweepUploaded(ctx context.Context, b batch.Batch) error {
	if in.Now().Before(b.UpdatedAt.Add(in.Sweep.Patience)) {
		in.Log.WarnContext(ctx, "the scan of an upload was interrupted", "batch", b.ID)
		return in.scanAgain(ctx, b.Source(), b.ReceivedAt)
	}
	// An alarm of template.yaml matches the text of this line.
	in.Log.ErrorContext(ctx, "cannot be scanned", "batch", b.ID, "error", "no scan has ended in time")
	if err := in.refuse(ctx, b, refusal{message: batch.Unscannable}); !errors.Is(err, objects.ErrNotFound) {
		return err
	}
	return in.endBatch(ctx, b, batch.Transition{ErrorMessage: batch.Unscannable}) // the lifecycle has deleted the file
}

// endBatch ends a batch in ERROR unless it has moved since it was read.
func (in *Intake) endBatch(ctx context.Context, b batch.Batch, t batch.Transition) error {
	t.To, t.From, t.At = batch.Failed, b.Status, in.Now()
	_, err := in.Batches.Apply(ctx, b.ID, t)
	if _, ok := errors.AsType[*batch.ConflictError](err); ok {
		return nil
	}
	return err
}
