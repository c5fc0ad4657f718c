package states

import (
	"context"
	"errors"
	"sync"
)

// maxParallel is how many iterations of an inline Map run at once at most.
const maxParallel = 40

var errSibling = errors.New("another iteration failed")

// mapItems runs the states of a Map for each item. The first iteration that fails ends the others and is the Map's failure.
func (f *flow) mapItems(ctx context.Context, s *state, input any, around map[string]any) (any, *Failure) {
	items, failure := s.items(input, around)
	if failure != nil {
		return nil, failure
	}
	parallel, failure := s.parallel(input, around)
	if failure != nil {
		return nil, failure
	}
	f.add("MapStateStarted", map[string]any{"length": len(items)})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		first   sync.Once
		failed  *Failure
		workers sync.WaitGroup
		results = make([]any, len(items))
		next    = make(chan int)
	)
	for range min(parallel, len(items)) {
		workers.Go(func() {
			for i := range next {
				output, failure := f.iteration(ctx, s, i, items[i], input, around)
				results[i] = output
				if failure != nil && failure != interrupted {
					first.Do(func() { failed = failure })
					cancel(errSibling)
				}
			}
		})
	}
	for i := range items {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	if failed != nil {
		f.add("MapStateFailed", nil)
		return nil, failed
	}
	if ctx.Err() != nil {
		return nil, interrupted
	}
	f.add("MapStateSucceeded", nil)
	return results, nil
}

func (s *state) items(input, around any) ([]any, *Failure) {
	v := input
	if s.ItemsPath.set && !s.ItemsPath.null {
		var failure *Failure
		if v, failure = s.ItemsPath.apply(input, around, "ItemsPath"); failure != nil {
			return nil, failure
		}
	}
	items, ok := v.([]any)
	if !ok {
		return nil, fail("States.Runtime", "The items of the state %s are no array.", s.name)
	}
	return items, nil
}

func (s *state) parallel(input, around any) (int, *Failure) {
	n := s.MaxConcurrency
	if s.MaxConcurrencyPath.set {
		v, _ := s.MaxConcurrencyPath.get(input, around)
		given, ok := number(v)
		if !ok || given < 0 {
			return 0, fail("States.Runtime", "The MaxConcurrencyPath %s leads to no number of 0 or more.", s.MaxConcurrencyPath.text)
		}
		n = int(min(given, maxParallel))
	}
	if n == 0 {
		return maxParallel, nil
	}
	return min(n, maxParallel), nil
}

// iteration runs the states of the Map for one item.
func (f *flow) iteration(ctx context.Context, s *state, i int, item, input any, around map[string]any) (any, *Failure) {
	inner := &flow{world: f.world, machine: f.machine, history: f.history, states: s.ItemProcessor, context: map[string]any{}, last: f.last}
	for k, v := range around {
		inner.context[k] = v
	}
	inner.context["Map"] = map[string]any{"Item": map[string]any{"Index": integer(i), "Value": item}}
	which := map[string]any{"name": s.name, "index": i}
	inner.add("MapIterationStarted", which)
	if s.ItemSelector.set {
		var failure *Failure
		if item, failure = s.ItemSelector.fill(input, inner.context); failure != nil {
			inner.add("MapIterationFailed", which)
			return nil, failure
		}
	}
	output, failure := inner.run(ctx, item)
	switch failure {
	case nil:
		inner.add("MapIterationSucceeded", which)
	case interrupted:
		inner.add("MapIterationAborted", which)
	default:
		inner.add("MapIterationFailed", which)
	}
	return output, failure
}
