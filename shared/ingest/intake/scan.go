package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/malware"
	"sluice/shared/kit/objects"
)

// Scanner scans a file. Package malware describes the outcomes.
type Scanner interface {
	// Scan reads r to its end, or until a threat is found.
	Scan(ctx context.Context, r io.Reader) (malware.Threat, error)
}

// RetryPolicy is how often and after which pauses a failed scan is repeated: a daemon that restarts needs a while.
type RetryPolicy struct {
	// Attempts is the number of attempts; 0 means one.
	Attempts int
	// Pause precedes the second attempt. Each later pause is three times as long as the one before.
	Pause time.Duration
}

// wait pauses after a number of failed attempts.
func (p RetryPolicy) wait(ctx context.Context, failed int) error {
	pause := p.Pause
	for range failed - 1 {
		pause *= 3
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Scan is how a file is scanned: by Scanner or, if it is set, by GuardDuty.
type Scan struct {
	Scanner   Scanner
	GuardDuty *GuardDuty
	Retry     RetryPolicy
	Files     opener
	Log       *slog.Logger
}

type opener interface {
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
}

// Tagger is a bucket with the objects to be scanned.
type Tagger interface {
	opener
	// Tag is as in objects.Bucket.
	Tag(ctx context.Context, key, name, value string) error
}

// MarkClean makes an object that was found clean readable. It returns objects.ErrNotFound or objects.ErrChanged if none
// or another one is under its key by now: a tag is set by the key alone.
func MarkClean(ctx context.Context, files Tagger, o batch.Object) error {
	end := int64(1)
	if o.Size == 0 {
		end = -1 // storage refuses a range of an empty object
	}
	body, err := files.Open(ctx, o.Key, o.ETag, 0, end)
	if err != nil {
		return err
	}
	if err := body.Close(); err != nil {
		return err
	}
	return files.Tag(ctx, o.Key, verdictTag, cleanValue)
}

// MarkRefused makes an object unreadable; the lifecycle deletes it. Repeating it is success, even if the object does
// not exist.
func MarkRefused(ctx context.Context, files Tagger, key string) error {
	err := files.Tag(ctx, key, verdictTag, refusedValue)
	if errors.Is(err, objects.ErrNotFound) {
		return nil
	}
	return err
}

// Verdict returns the result of the scan of an object. IsUndecided is true of the error until GuardDuty has reported
// its result.
func (s Scan) Verdict(ctx context.Context, o batch.Object) (malware.Threat, error) {
	if s.GuardDuty != nil {
		return s.GuardDuty.verdict(ctx, o)
	}
	for attempt := 1; ; attempt++ {
		threat, err := s.scanOnce(ctx, o)
		if err == nil || !isRetryable(err) || attempt >= s.Retry.Attempts || ctx.Err() != nil {
			return threat, err
		}
		s.Log.WarnContext(ctx, "scan failed", "key", o.Key, "error", err)
		_ = s.Retry.wait(ctx, attempt) // if the context ends, so does the next attempt
	}
}

func (s Scan) scanOnce(ctx context.Context, o batch.Object) (malware.Threat, error) {
	body, err := s.Files.Open(ctx, o.Key, o.ETag, 0, -1)
	if err != nil {
		return malware.Threat{}, err
	}
	defer body.Close()
	return s.Scanner.Scan(ctx, body)
}

// isRetryable reports whether another attempt may succeed where one failed with err.
func isRetryable(err error) bool {
	return !errors.Is(err, malware.ErrUnscannable) && !errors.Is(err, objects.ErrDenied) &&
		!errors.Is(err, objects.ErrNotFound) && !errors.Is(err, objects.ErrChanged)
}

// errPending means that GuardDuty has not reported a result yet.
var errPending = errors.New("intake: no scan result yet")

// storeError is the error of a store that could not be read. It says nothing about the file.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// IsUndecided reports whether err says nothing about the file, so that a later event must ask again.
func IsUndecided(err error) bool {
	return errors.Is(err, errPending) || errors.As(err, new(*storeError))
}

// GuardDuty is the scan by GuardDuty's Malware Protection for S3, which scans every new object by itself and reports
// the result by an event.
type GuardDuty struct {
	Uploads   UploadStore
	Rescanner interface {
		// ScanAgain requests another scan of an object, whose result comes by an event.
		ScanAgain(ctx context.Context, key, version string) error
	}
	// Retry is for scans without a final result: after its attempts, a file counts as unscannable.
	Retry RetryPolicy
	// MaxWait is the time after which an upload without a result counts as unscannable.
	MaxWait time.Duration
	Now     func() time.Time
}

// verdict returns the result of the scan of an object, as a Scanner would return it, or errPending.
func (g *GuardDuty) verdict(ctx context.Context, o batch.Object) (malware.Threat, error) {
	u, err := g.Uploads.Get(ctx, o)
	if err != nil {
		return malware.Threat{}, &storeError{err}
	}
	switch {
	case u.Result == NoThreatsFound:
		return malware.Threat{}, nil
	case u.Result == ThreatsFound:
		return malware.Threat{Name: u.Threat, Kind: malware.Infected}, nil
	case u.Result == Unsupported:
		return malware.Threat{}, fmt.Errorf("%w: GuardDuty does not support it", malware.ErrUnscannable)
	case u.Failures >= g.Retry.Attempts:
		return malware.Threat{}, fmt.Errorf("GuardDuty failed to scan it %d times", u.Failures)
	case !u.ReceivedAt.IsZero() && g.Now().Sub(u.ReceivedAt) > g.MaxWait:
		return malware.Threat{}, fmt.Errorf("GuardDuty reported no result within %v", g.MaxWait)
	}
	return malware.Threat{}, errPending
}

// recordScan records GuardDuty's result, requests another scan if this one failed, and processes the upload if it has
// arrived.
func (in *Intake) recordScan(ctx context.Context, event ScanEvent) error {
	r, err := event.report()
	if err != nil {
		return err
	}
	if !in.isUpload(r.Key) {
		in.Log.WarnContext(ctx, "scan result of an object that is not an upload", "key", r.Key)
		return nil
	}
	u, err := in.GuardDuty.Uploads.RecordScan(ctx, r)
	if err != nil {
		return err
	}
	if !r.Result.IsFinal() {
		in.Log.WarnContext(ctx, "scan failed", "key", r.Key, "result", r.Result, "reasons", event.Detail.Result.Reasons)
		if u.Result == "" && u.Failures < in.GuardDuty.Retry.Attempts {
			if err := in.GuardDuty.Retry.wait(ctx, u.Failures); err != nil {
				return err
			}
			return in.GuardDuty.Rescanner.ScanAgain(ctx, r.Key, r.Version)
		}
	}
	if u.ReceivedAt.IsZero() {
		return nil // the event of S3 will find the result
	}
	return in.resolveUpload(ctx, u)
}

// isUpload reports whether a key belongs to an upload or to its unpacked copy. GuardDuty also scans other objects, such
// as a test object of its own.
func (in *Intake) isUpload(key string) bool {
	_, isBatch := batchID(key)
	_, isCopy := unpackedBatchID(key)
	return isBatch || isCopy || in.isDocument(key)
}

// ScanAgainFunc has an object scanned that was complete at receivedAt, because the event of its upload was lost or its
// scan interrupted.
type ScanAgainFunc func(ctx context.Context, object batch.Object, receivedAt time.Time) error

// scanAgain processes an upload whose scan has had no outcome for a while. Where GuardDuty scans and has reported
// nothing, it requests another scan: the first one, or the event with its result, may be lost.
func (in *Intake) scanAgain(ctx context.Context, object batch.Object, receivedAt time.Time) error {
	err := in.processArrival(ctx, object, receivedAt)
	if err != nil || in.GuardDuty == nil {
		return err
	}
	if _, err = in.GuardDuty.verdict(ctx, object); !errors.Is(err, errPending) {
		return nil
	}
	in.Log.WarnContext(ctx, "no result of a scan: another one is requested", "key", object.Key)
	return in.GuardDuty.Rescanner.ScanAgain(ctx, object.Key, object.Version)
}

// resolveUpload processes an upload as far as its state allows, and ends its waiting if nothing remains to be done.
func (in *Intake) resolveUpload(ctx context.Context, u Upload) error {
	switch err := in.Process(ctx, u.Object, u.ReceivedAt); {
	case errors.Is(err, errPending):
		return nil
	case err != nil:
		return err
	}
	return in.GuardDuty.Uploads.StopWaiting(ctx, u.Object)
}
