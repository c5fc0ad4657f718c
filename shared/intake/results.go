package intake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/shared/batch"
	"sluice/shared/document"
	"sluice/shared/malware"
	"sluice/shared/upload"
)

// errPending means that the scanner has not told yet.
var errPending = errors.New("intake: no scan result yet")

type rescanner interface {
	// ScanAgain asks for one more scan of an object, whose result comes by an event.
	ScanAgain(ctx context.Context, key, version string) error
}

// Results are what GuardDuty tells, where it scans instead of a Scanner.
type Results struct {
	Store    upload.Store
	Again    rescanner
	Patience Patience      // its attempts are scans that came to nothing, its pause is before the next one
	Wait     time.Duration // for a result, after which an upload counts as unscannable
	Now      func() time.Time
}

// verdict returns what is known of an object, as a Scanner would say it; errPending.
func (r *Results) verdict(ctx context.Context, o batch.Object) (malware.Threat, error) {
	u, err := r.Store.Get(ctx, o)
	if err != nil {
		return malware.Threat{}, &unknown{err}
	}
	switch u.Result {
	case upload.Clean:
		return malware.Threat{}, nil
	case upload.Threats:
		return malware.Threat{Name: u.Threat, Kind: malware.Infected}, nil
	case upload.Unsupported:
		return malware.Threat{}, fmt.Errorf("%w: GuardDuty does not support it", malware.ErrUnscannable)
	}
	switch {
	case u.Failures >= r.Patience.Attempts:
		return malware.Threat{}, fmt.Errorf("GuardDuty failed to scan it %d times", u.Failures)
	case !u.ReceivedAt.IsZero() && r.Now().Sub(u.ReceivedAt) > r.Wait:
		return malware.Threat{}, fmt.Errorf("GuardDuty told no result for %v", r.Wait)
	}
	return malware.Threat{}, errPending
}

// unknown is the error of a store that could not be asked: it says nothing about the file.
type unknown struct{ error }

func (u *unknown) Unwrap() error { return u.error }

// ours tells keys of uploads from whatever else is scanned in the bucket, such as GuardDuty's own test object.
func ours(key string) bool {
	_, ok := idOf(key)
	return ok || strings.HasPrefix(key, document.FilePrefix)
}

// scanned records a result. A scan that came to nothing is asked for again, a few times.
func (in *Intake) scanned(ctx context.Context, event ScanResult) error {
	s, err := event.scanned()
	if err != nil {
		return err
	}
	if !ours(s.Key) {
		in.Log.WarnContext(ctx, "scan result of what is no upload", "key", s.Key)
		return nil
	}
	u, err := in.Results.Store.Scanned(ctx, s)
	if err != nil {
		return err
	}
	if !s.Result.Final() {
		in.Log.WarnContext(ctx, "scan failed", "key", s.Key, "result", s.Result, "reasons", event.Detail.Result.Reasons)
		if u.Result == "" && u.Failures < in.Results.Patience.Attempts {
			if err := in.Results.Patience.wait(ctx, u.Failures); err != nil {
				return err
			}
			return in.Results.Again.ScanAgain(ctx, s.Key, s.Version)
		}
	}
	if u.ReceivedAt.IsZero() {
		return nil // the event of S3, when it comes, knows both
	}
	return in.settle(ctx, u)
}

// settle goes on with an upload as far as what is known allows.
func (in *Intake) settle(ctx context.Context, u upload.Upload) error {
	switch err := in.Take(ctx, u.Object, u.ReceivedAt); {
	case errors.Is(err, errPending):
		return nil
	case err != nil:
		return err
	}
	return in.Results.Store.Settled(ctx, u.Object)
}

// sweepAfter is the age from which the sweep looks after an upload: events of younger ones are likely on their way.
const sweepAfter = time.Minute

// sweep goes on with uploads that still wait: one whose result was recorded when this function was lost, and one whose result
// has not come in time. One that cannot be settled does not keep the others waiting.
func (in *Intake) sweep(ctx context.Context) error {
	var errs []error
	err := in.Results.Store.Waiting(ctx, in.Now().Add(-sweepAfter), func(u upload.Upload) error {
		errs = append(errs, in.settle(ctx, u))
		return ctx.Err()
	})
	return errors.Join(append(errs, err)...)
}
