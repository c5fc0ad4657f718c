// Package deadline leaves time at the end of an invocation to report an error: Lambda ends a function that is late
// without a log line that names the pending call.
package deadline

import (
	"context"
	"time"
)

// Shorten returns a context whose deadline is earlier than the deadline of ctx by margin, or ctx itself if it has none.
// Calling cancel releases the resources of the context.
func Shorten(ctx context.Context, margin time.Duration) (shortened context.Context, cancel context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(-margin))
}
