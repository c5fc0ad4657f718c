package validation

import (
	"context"
	"sync"
)

// inOrder gets items 0 to n-1, as many at the same time as there are workers, and uses them one by one in their order. No
// more than twice as many wait for their turn. The first error ends it; nothing runs on after it has returned.
func inOrder[T any](ctx context.Context, n, workers int, get func(context.Context, int) (T, error),
	use func(int, T) error) error {
	type outcome struct {
		item T
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	workers = max(workers, 1)
	free := make(chan struct{}, workers)
	started, next := make([]chan outcome, n), 0
	for i := range n {
		for ; next < min(n, i+2*workers); next++ {
			c, item := make(chan outcome, 1), next
			started[next] = c
			running.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				got, err := get(ctx, item)
				c <- outcome{got, err}
			})
		}
		got := <-started[i]
		started[i] = nil
		if got.err != nil {
			return got.err
		}
		if err := use(i, got.item); err != nil {
			return err
		}
	}
	return ctx.Err()
}
