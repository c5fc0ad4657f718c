// Package deadline leaves time at the end of an invocation to report an error: Lambda ends a function that is late
// without a log line on what it was waiting for.
package deadline

import (
	"context"
	"time"
)

// Shorten returns a context whose deadline is earlier than that of ctx by margin, or ctx itself if it has no deadline.
// Calling cancel releases the resources of the context.
func Shorten(ctx context.Context, margin time.Duration) (shortened context.Context, cancel context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-margin))
}
