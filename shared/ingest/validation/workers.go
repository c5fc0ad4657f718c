package validation

import (
	"context"
	"sync"
)

// forEachInOrder calls produce for 0 to n-1, as many at the same time as there are workers, and passes each result to
// consume, one by one and in order. No more than twice as many results as workers wait for their turn. The first error
// ends it and is returned, or else the error of ctx. When it returns, no call is running any more.
func forEachInOrder[T any](ctx context.Context, n, workers int, produce func(context.Context, int) (T, error),
	consume func(int, T) error) error {
	if workers <= 1 {
		return forEachSequentially(ctx, n, produce, consume)
	}
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	slots := make(chan struct{}, workers)
	outcomes, started := make([]chan outcome, n), 0
	for i := range n {
		for ; started < min(n, i+2*workers); started++ {
			c, j := make(chan outcome, 1), started
			outcomes[started] = c
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				value, err := produce(ctx, j)
				c <- outcome{value, err}
			})
		}
		o := <-outcomes[i]
		outcomes[i] = nil
		if o.err != nil {
			return o.err
		}
		if err := consume(i, o.value); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// forEachSequentially is forEachInOrder for one worker, without goroutines, each of which would have a stack to grow.
func forEachSequentially[T any](ctx context.Context, n int, produce func(context.Context, int) (T, error),
	consume func(int, T) error) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		value, err := produce(ctx, i)
		if err == nil {
			err = consume(i, value)
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// pool lends objects, one to each worker. It keeps up to a number of them for reuse.
type pool[T any] struct {
	idle    chan T
	newItem func() T
}

func newPool[T any](size int, newItem func() T) *pool[T] {
	return &pool[T]{make(chan T, size), newItem}
}

func (p *pool[T]) get() T {
	select {
	case v := <-p.idle:
		return v
	default:
		return p.newItem()
	}
}

func (p *pool[T]) put(v T) {
	select {
	case p.idle <- v:
	default:
	}
}
