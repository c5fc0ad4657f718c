package validation

import (
	"context"
	"sync"
)

// inOrder gets items 0 to n-1, as many at the same time as there are workers, and uses them one by one in their order. No
// more than twice as many wait for their turn. The first error ends it; nothing runs on after it has returned.
func inOrder[T any](ctx context.Context, n, workers int, get func(context.Context, int) (T, error),
	use func(int, T) error) error {
	if workers <= 1 {
		return oneByOne(ctx, n, get, use)
	}
	type outcome struct {
		item T
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

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

// oneByOne is inOrder with one worker, which needs no goroutines, each with a stack to grow.
func oneByOne[T any](ctx context.Context, n int, get func(context.Context, int) (T, error), use func(int, T) error) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		item, err := get(ctx, i)
		if err == nil {
			err = use(i, item)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
