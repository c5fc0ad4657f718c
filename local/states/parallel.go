package states

import (
	"context"
	"sync"
)

// runParallel runs the branches of a Parallel at the same time, each with the input of the state, and returns their
// outputs in the order of the branches. The first branch that fails interrupts the others, and its failure is that of
// the Parallel.
func (ip *interpreter) runParallel(
	ctx context.Context, s *state, input any, contextObject map[string]any,
) (any, *Failure) {
	if s.Parameters.isSet {
		var failure *Failure
		if input, failure = s.Parameters.fill(input, contextObject); failure != nil {
			return nil, failure
		}
	}
	ip.addEvent("ParallelStateStarted", nil)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		first    sync.Once
		failed   *Failure
		branches sync.WaitGroup
		results  = make([]any, len(s.Branches))
	)
	for i, b := range s.Branches {
		inner := ip.newInner(b.Definition, contextObject)
		branches.Go(func() {
			output, failure := inner.run(ctx, input)
			results[i] = output
			if failure != nil && failure != interrupted {
				first.Do(func() { failed = failure })
				cancel(errSibling)
			}
		})
	}
	branches.Wait()
	if failed != nil {
		ip.addEvent("ParallelStateFailed", nil)
		return nil, failed
	}
	if ctx.Err() != nil {
		return nil, interrupted
	}
	ip.addEvent("ParallelStateSucceeded", nil)
	return results, nil
}
