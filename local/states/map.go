package states

import (
	"context"
	"errors"
	"sync"
)

// maxParallel is how many iterations of an inline Map run at once at most.
const maxParallel = 40

var errSibling = errors.New("another iteration failed")

// runMap runs the states of a Map for each item. The first iteration that fails ends the others and is the Map's failure.
func (ip *interpreter) runMap(ctx context.Context, s *state, input any, contextObject map[string]any) (any, *Failure) {
	items, failure := s.mapItems(input, contextObject)
	if failure != nil {
		return nil, failure
	}
	parallel, failure := s.mapConcurrency(input, contextObject)
	if failure != nil {
		return nil, failure
	}
	ip.addEvent("MapStateStarted", map[string]any{"length": len(items)})
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
				output, failure := ip.runIteration(ctx, s, i, items[i], input, contextObject)
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
		ip.addEvent("MapStateFailed", nil)
		return nil, failed
	}
	if ctx.Err() != nil {
		return nil, interrupted
	}
	ip.addEvent("MapStateSucceeded", nil)
	return results, nil
}

func (s *state) mapItems(input, contextObject any) ([]any, *Failure) {
	v := input
	if s.ItemsPath.isSet && !s.ItemsPath.isNull {
		var failure *Failure
		if v, failure = s.ItemsPath.selectFrom(input, contextObject, "ItemsPath"); failure != nil {
			return nil, failure
		}
	}
	items, ok := v.([]any)
	if !ok {
		return nil, newFailure("States.Runtime", "The items of the state %s are no array.", s.name)
	}
	return items, nil
}

func (s *state) mapConcurrency(input, contextObject any) (int, *Failure) {
	n := s.MaxConcurrency
	if s.MaxConcurrencyPath.isSet {
		v, _ := s.MaxConcurrencyPath.lookup(input, contextObject)
		given, ok := toFloat(v)
		if !ok || given < 0 {
			return 0, newFailure("States.Runtime", "The MaxConcurrencyPath %s leads to no number of 0 or more.", s.MaxConcurrencyPath.text)
		}
		n = int(min(given, maxParallel))
	}
	if n == 0 {
		return maxParallel, nil
	}
	return min(n, maxParallel), nil
}

// runIteration runs the states of the Map for one item.
func (ip *interpreter) runIteration(ctx context.Context, s *state, i int, item, input any, contextObject map[string]any) (any, *Failure) {
	inner := &interpreter{deps: ip.deps, machine: ip.machine, history: ip.history, definition: s.ItemProcessor, contextObject: map[string]any{}, lastEvent: ip.lastEvent}
	for k, v := range contextObject {
		inner.contextObject[k] = v
	}
	inner.contextObject["Map"] = map[string]any{"Item": map[string]any{"Index": jsonInt(i), "Value": item}}
	which := map[string]any{"name": s.name, "index": i}
	inner.addEvent("MapIterationStarted", which)
	if s.ItemSelector.isSet {
		var failure *Failure
		if item, failure = s.ItemSelector.fill(input, inner.contextObject); failure != nil {
			inner.addEvent("MapIterationFailed", which)
			return nil, failure
		}
	}
	output, failure := inner.run(ctx, item)
	switch failure {
	case nil:
		inner.addEvent("MapIterationSucceeded", which)
	case interrupted:
		inner.addEvent("MapIterationAborted", which)
	default:
		inner.addEvent("MapIterationFailed", which)
	}
	return output, failure
}
