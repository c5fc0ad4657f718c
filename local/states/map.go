package states

import (
	"context"
	"errors"
	"maps"
	"sync"
)

// maxParallel is the largest number of iterations of an inline Map that run at a time.
const maxParallel = 40

// errSibling is the cause that interrupts the iterations of a Map, or the branches of a Parallel, of which one has
// failed.
var errSibling = errors.New("another iteration or branch failed")

// runMap runs the states of a Map for each item. The first iteration that fails interrupts the others, and its failure
// is that of the Map.
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

// mapItems returns the items of a Map.
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
		return nil, newFailure("States.Runtime", "The items of the state %s are not an array.", s.name)
	}
	return items, nil
}

// mapConcurrency returns the number of iterations of a Map that may run at a time.
func (s *state) mapConcurrency(input, contextObject any) (int, *Failure) {
	n := s.MaxConcurrency
	if s.MaxConcurrencyPath.isSet {
		v, _ := s.MaxConcurrencyPath.lookup(input, contextObject)
		given, ok := toFloat(v)
		if !ok || given < 0 {
			return 0, newFailure("States.Runtime", "The MaxConcurrencyPath %s does not lead to a number of 0 or more.",
				s.MaxConcurrencyPath.text)
		}
		n = int(min(given, maxParallel))
	}
	if n == 0 {
		return maxParallel, nil
	}
	return min(n, maxParallel), nil
}

// runIteration runs the states of a Map for one item, the one with the index i.
func (ip *interpreter) runIteration(
	ctx context.Context, s *state, i int, item, input any, contextObject map[string]any,
) (any, *Failure) {
	inner := ip.newInner(s.ItemProcessor, contextObject)
	inner.contextObject["Map"] = map[string]any{"Item": map[string]any{"Index": jsonInt(i), "Value": item}}
	details := map[string]any{"name": s.name, "index": i}
	inner.addEvent("MapIterationStarted", details)
	if s.ItemSelector.isSet {
		var failure *Failure
		if item, failure = s.ItemSelector.fill(input, inner.contextObject); failure != nil {
			inner.addEvent("MapIterationFailed", details)
			return nil, failure
		}
	}
	output, failure := inner.run(ctx, item)
	switch failure {
	case nil:
		inner.addEvent("MapIterationSucceeded", details)
	case interrupted:
		inner.addEvent("MapIterationAborted", details)
	default:
		inner.addEvent("MapIterationFailed", details)
	}
	return output, failure
}

// newInner returns an interpreter of a definition inside a state, which begins with the context object of that state.
func (ip *interpreter) newInner(d *Definition, contextObject map[string]any) *interpreter {
	return &interpreter{
		deps: ip.deps, machine: ip.machine, history: ip.history, definition: d,
		contextObject: maps.Clone(contextObject), lastEvent: ip.lastEvent,
	}
}
