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
	results, failure := runTogether(ctx, len(items), parallel, func(ctx context.Context, i int) (any, *Failure) {
		return ip.runIteration(ctx, s, i, items[i], input, contextObject)
	})
	return ip.recordTogether("MapState", results, failure)
}

// runParallel runs the branches of a Parallel at the same time, each with the input of the state, and returns their
// outputs in the order of the branches. The first branch that fails interrupts the others, and its failure is that of
// the Parallel.
func (ip *interpreter) runParallel(
	ctx context.Context, s *state, input any, contextObject map[string]any,
) (any, *Failure) {
	ip.addEvent("ParallelStateStarted", nil)
	results, failure := runTogether(ctx, len(s.Branches), len(s.Branches),
		func(ctx context.Context, i int) (any, *Failure) {
			return ip.newInner(s.Branches[i].Definition, contextObject).run(ctx, input)
		})
	return ip.recordTogether("ParallelState", results, failure)
}

// runTogether calls run for each number below n, at most parallel of them at a time, and returns the results. The first
// one that fails interrupts the others.
func runTogether(
	ctx context.Context, n, parallel int, run func(ctx context.Context, i int) (any, *Failure),
) ([]any, *Failure) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		first   sync.Once
		failed  *Failure
		workers sync.WaitGroup
		results = make([]any, n)
		places  = make(chan struct{}, max(parallel, 1))
	)
	for i := 0; i < n && ctx.Err() == nil; i++ {
		places <- struct{}{}
		workers.Go(func() {
			defer func() { <-places }()
			output, failure := run(ctx, i)
			results[i] = output
			if failure != nil && failure != interrupted {
				first.Do(func() { failed = failure })
				cancel(errSibling)
			}
		})
	}
	workers.Wait()
	if failed == nil && ctx.Err() != nil {
		failed = interrupted
	}
	return results, failed
}

// recordTogether adds the event of the end of a Map or a Parallel to the history, and returns its result.
func (ip *interpreter) recordTogether(kind string, results []any, failure *Failure) (any, *Failure) {
	switch failure {
	case nil:
		ip.addEvent(kind+"Succeeded", nil)
		return results, nil
	case interrupted:
	default:
		ip.addEvent(kind+"Failed", nil)
	}
	return nil, failure
}

// mapItems returns the items of a Map.
func (s *state) mapItems(input, contextObject any) ([]any, *Failure) {
	v, failure := s.ItemsPath.selectFrom(input, contextObject, "ItemsPath")
	if failure != nil {
		return nil, failure
	}
	items, ok := v.([]any)
	if !ok {
		return nil, newFailure("States.Runtime", "The items of the state %s are not an array.", s.name)
	}
	return items, nil
}

// mapConcurrency returns the number of iterations of a Map that may run at a time.
func (s *state) mapConcurrency(input, contextObject any) (int, *Failure) {
	if !s.MaxConcurrencyPath.isSet {
		if s.MaxConcurrency > 0 {
			return min(s.MaxConcurrency, maxParallel), nil
		}
		return maxParallel, nil
	}
	v, _ := s.MaxConcurrencyPath.lookup(input, contextObject)
	n, ok := toFloat(v)
	if !ok || n < 0 {
		return 0, newFailure("States.Runtime", "The MaxConcurrencyPath %s does not lead to a number of 0 or more.",
			s.MaxConcurrencyPath.text)
	}
	if n == 0 {
		return maxParallel, nil
	}
	return int(min(n, maxParallel)), nil
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
