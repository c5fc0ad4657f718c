package main

import (
	"fmt"
	"strings"
)

// run is one run of a machine for a batch: of its execution, of an item of a Map, or of a branch.
type run struct {
	*simulation
	b       *batchRun
	machine *machine
	parent  *run
	// isOver means that the run, or the Map or Parallel for which it stands, has ended.
	isOver bool
	// done goes on with the output, or after an error.
	done func(output any, failure string)
}

// hasEnded reports whether the run or one around it has ended.
func (r *run) hasEnded() bool { return r != nil && (r.isOver || r.parent.hasEnded()) }

func (r *run) end(output any, failure string) {
	r.isOver = true
	r.done(output, failure)
}

// enter enters a state, which takes the time of a transition.
func (r *run) enter(name string, input any) {
	st := r.machine.States[name]
	r.after(r.Transition, func() {
		if r.hasEnded() {
			return
		}
		r.result.note(r.now, func(u *use) { u.transitions++ })
		r.work(st, input)
	})
}

// work does what a state does, and leaves it.
func (r *run) work(st *state, input any) {
	leave := func(result any, failure string) { r.leave(st, input, result, failure) }
	switch st.Type {
	case "Task":
		r.task(st, input, leave)
	case "Map":
		items := lookUp(st.ItemsPath, input, nil).([]any)
		width := st.MaxConcurrency
		if width == 0 {
			width = lookUp(st.MaxConcurrencyPath, input, nil).(int)
		}
		r.runAll(len(items), width, func(i int) (*machine, any) {
			item := contextObject{"Map.Item.Value": items[i], "Map.Item.Index": i}
			return st.ItemProcessor, fill(st.ItemSelector, input, item)
		}, leave)
	case "Parallel":
		branch := func(i int) (*machine, any) { return st.Branches[i], input }
		r.runAll(len(st.Branches), len(st.Branches), branch, leave)
	case "Choice":
		next := st.Default
		for _, c := range st.Choices {
			if lookUp(c.Variable, input, nil) == c.BooleanEquals {
				next = c.Next
				break
			}
		}
		r.enter(next, input)
	case "Pass":
		leave(fill(st.Result, input, nil), "")
	case "Succeed":
		r.end(input, "")
	case "Fail":
		r.end(nil, st.Error)
	default:
		panic("the simulation knows no state of the type " + st.Type)
	}
}

// leave goes from a state to the next one, or after an error to the one that catches it.
func (r *run) leave(st *state, input, result any, failure string) {
	if failure != "" {
		for _, c := range st.Catch {
			if matches(c.ErrorEquals, failure) {
				r.enter(c.Next, withResult(c.ResultPath, input, map[string]any{"Error": failure}))
				return
			}
		}
		r.end(nil, failure)
		return
	}
	output := withResult(st.ResultPath, input, fill(st.ResultSelector, result, nil))
	if st.OutputPath != "" {
		output = lookUp(st.OutputPath, output, nil)
	}
	if st.End {
		r.end(output, "")
		return
	}
	r.enter(st.Next, output)
}

// runAll runs a number of parts, some at a time, and goes on with all outputs. If one fails, the others end.
func (r *run) runAll(n, width int, part func(i int) (*machine, any), then func(output any, failure string)) {
	group := &run{parent: r}
	outputs, next, left := make([]any, n), 0, n
	var start func()
	start = func() {
		if next == n {
			return
		}
		i := next
		next++
		m, input := part(i)
		item := &run{simulation: r.simulation, b: r.b, machine: m, parent: group}
		item.done = func(output any, failure string) {
			outputs[i] = output
			if left--; left > 0 && failure == "" {
				start()
				return
			}
			group.isOver = true
			then(outputs, failure)
		}
		item.enter(m.StartAt, input)
	}
	if n == 0 {
		then(outputs, "")
	}
	for range min(width, n) {
		start()
	}
}

// task invokes a function, again after errors as the state says. With a task token, it waits until that is returned.
func (r *run) task(st *state, input any, then func(result any, failure string)) {
	entered, retries, counts := r.timeAt(r.now), 0, make([]float64, len(st.Retry))
	var try func()
	try = func() {
		r.number++
		token, isTried := fmt.Sprint(r.number), false
		end := func(result any, failure string) {
			if isTried || r.hasEnded() {
				return
			}
			isTried = true
			delete(r.tokens, token)
			if pause, again := st.pause(failure, counts, r.rng.Float64); again {
				retries++
				r.after(pause, try)
				return
			}
			then(result, failure)
		}
		isWaiting := strings.HasSuffix(st.Resource, ".waitForTaskToken")
		if isWaiting {
			r.tokens[token] = waitingTask{r.b, func() { end(map[string]any{}, "") }}
			r.result.longestQueue = max(r.result.longestQueue, len(r.tokens))
			r.after(st.TimeoutSeconds, func() { end(nil, "States.Timeout") })
		}
		parameters := fill(st.Parameters, input, contextObject{
			"Task.Token": token, "State.EnteredTime": entered, "State.RetryCount": retries,
		}).(map[string]any)
		r.invoke(r.b, parameters["FunctionName"].(string), parameters["Payload"].(map[string]any),
			func(payload any, failure string) {
				if failure != "" || !isWaiting {
					end(map[string]any{"Payload": payload}, failure)
				}
			})
	}
	try()
}
