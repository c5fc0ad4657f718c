package intake

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"sluice/shared/batch"
	"sluice/shared/malware"
	"sluice/shared/objects"
)

type opener interface {
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
}

// Patience is how long a scanner that does not answer is asked again: a daemon that starts anew needs a while.
type Patience struct {
	Attempts int           // 0: one
	Pause    time.Duration // before the second attempt; each later one is three times as long
}

// scan reads an object through a scanner. The error is the last attempt's; of one that trying again cannot help,
// malware.ErrUnscannable, objects.ErrDenied and objects.ErrNotFound, the first.
func (p Patience) scan(ctx context.Context, log *slog.Logger, files opener, s Scanner, o batch.Object) (malware.Threat, error) {
	for attempt := 1; ; attempt++ {
		threat, err := once(ctx, files, s, o)
		final := errors.Is(err, malware.ErrUnscannable) || errors.Is(err, objects.ErrDenied) || errors.Is(err, objects.ErrNotFound)
		if err == nil || final || attempt >= p.Attempts || ctx.Err() != nil {
			return threat, err
		}
		log.WarnContext(ctx, "scan failed", "key", o.Key, "error", err)
		_ = p.wait(ctx, attempt) // the next attempt finds out
	}
}

// wait pauses after so many failed attempts.
func (p Patience) wait(ctx context.Context, attempts int) error {
	for range attempts - 1 {
		p.Pause *= 3
	}
	timer := time.NewTimer(p.Pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// look says what a file is: as GuardDuty has told, or as the scanner finds. errPending.
func look(ctx context.Context, told *Results, p Patience, log *slog.Logger, files opener, s Scanner, o batch.Object) (malware.Threat, error) {
	if told != nil {
		return told.verdict(ctx, o)
	}
	return p.scan(ctx, log, files, s, o)
}

// postponed reports whether an error says nothing about the file, so that a later event must ask again.
func postponed(err error) bool {
	return errors.Is(err, errPending) || errors.As(err, new(*unknown))
}

func once(ctx context.Context, files opener, s Scanner, o batch.Object) (malware.Threat, error) {
	body, err := files.Open(ctx, o.Key, o.ETag, 0, -1)
	if err != nil {
		return malware.Threat{}, err
	}
	defer body.Close()
	return s.Scan(ctx, body)
}
