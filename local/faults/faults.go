// Package faults makes things go wrong, so that tests can try what becomes of them. Each process of a function calls
// AWS through a proxy of its own. A Kill kills the process by SIGKILL at one call, before the call goes out, or after
// the service has done what it asks for and before the process learns of it. A Plan strikes the calls that concern one
// batch by faults of many kinds, which follow from a seed, and the asynchronous requests that concern it.
// docs/faults.md describes how the end-to-end suite uses them.
package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// Kill says at which call a function is killed. It happens once.
type Kill struct {
	// Function is the function's name with or without the prefix of the deployment.
	Function string
	// Call is the number of the call, from 1, among those that count: of all processes of the function, in the
	// order in which they are made, since the Kill was armed.
	Call int
	// After means that the service does what the call asks for; otherwise the call does not go out.
	After bool
	// Payload limits the calls that count to those of invocations whose payload contains this text; "" for all.
	Payload string
}

// matches reports whether the calls of an invocation count.
func (k Kill) matches(function string, payload []byte) bool {
	isFunction := function == k.Function || strings.HasSuffix(function, "-"+k.Function)
	return isFunction && bytes.Contains(payload, []byte(k.Payload))
}

// State says what has become of a Kill.
type State struct {
	// Calls is the number of calls that have counted.
	Calls int `json:"calls"`
	// Killed is the call at which the function was killed, such as "DynamoDB_20120810.UpdateItem"; "" if it was not.
	Killed string `json:"killed"`
}

// Injector decides which calls are the last ones of their processes. It is safe for concurrent use.
type Injector struct {
	mu    sync.Mutex
	kills []*armed
	// random chooses one in oneIn calls, the same ones for the same seed and order of calls; nil if chance kills
	// nobody.
	random *rand.Rand
	oneIn  int
	plans  []*followed
	// journal receives a line for each fault of a plan; nil for none.
	journal io.Writer
	// stop stops the execution of a batch; nil if there is nothing to stop.
	stop func(name string)
}

// armed is a Kill with its state.
type armed struct {
	Kill
	State
}

// New returns an injector with the rules of a command line, each of them "FUNCTION:CALL:before", "FUNCTION:CALL:after",
// "random:SEED:ONE_IN", or "none", which kills nobody until Arm is called. Without rules it returns nil.
func New(rules []string) (*Injector, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	in := &Injector{}
	for _, rule := range rules {
		if rule == "none" {
			continue
		}
		parts := strings.Split(rule, ":")
		if len(parts) != 3 {
			return nil, badRule(rule)
		}
		if parts[0] == "random" {
			seed, seedErr := strconv.ParseUint(parts[1], 10, 64)
			oneIn, err := strconv.Atoi(parts[2])
			if errors.Join(seedErr, err) != nil || oneIn < 1 {
				return nil, badRule(rule)
			}
			in.random, in.oneIn = rand.New(rand.NewPCG(seed, 0)), oneIn
			continue
		}
		call, err := strconv.Atoi(parts[1])
		if err != nil || call < 1 || parts[2] != "before" && parts[2] != "after" {
			return nil, badRule(rule)
		}
		in.Arm(Kill{Function: parts[0], Call: call, After: parts[2] == "after"})
	}
	return in, nil
}

func badRule(rule string) error {
	return fmt.Errorf("--kill %s: want FUNCTION:CALL:before, FUNCTION:CALL:after, random:SEED:ONE_IN or none", rule)
}

// Arm adds a Kill, and returns the number by which State finds it.
func (in *Injector) Arm(k Kill) int {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kills = append(in.kills, &armed{Kill: k})
	return len(in.kills) - 1
}

// State returns what has become of the Kill with a number, and false if there is none.
func (in *Injector) State(number int) (State, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if number < 0 || number >= len(in.kills) {
		return State{}, false
	}
	return in.kills[number].State, true
}

// fate says what happens at a call.
type fate int

const (
	passes fate = iota
	killedBefore
	killedAfter
	// answered means that the call has had its answer, or its end, from a plan.
	answered
)

// decide counts a call and returns what happens at it.
func (in *Injector) decide(function string, payload []byte, call string) fate {
	in.mu.Lock()
	defer in.mu.Unlock()
	decided := passes
	for _, k := range in.kills {
		if k.Killed != "" || !k.matches(function, payload) {
			continue
		}
		k.Calls++
		if k.Calls == k.Call && decided == passes {
			k.Killed, decided = call, killedBefore
			if k.After {
				decided = killedAfter
			}
		}
	}
	if decided == passes && in.random != nil && !answersClient(payload) && in.random.IntN(in.oneIn) == 0 {
		decided = killedBefore + fate(in.random.IntN(2))
	}
	return decided
}

// answersClient reports whether an invocation comes from API Gateway. Rules of chance do not kill it, because its
// client would see an error.
func answersClient(payload []byte) bool {
	return bytes.Contains(payload, []byte(`"httpMethod"`)) || bytes.Contains(payload, []byte(`"methodArn"`))
}
