package faults

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of fault.
type Kind string

// The kinds of faults. All but those of events strike calls: of a function to AWS, or of a state machine to a function.
const (
	// KillBefore kills the function before its call goes out, KillAfter when the service has done what the call asks
	// for.
	KillBefore Kind = "kill-before"
	KillAfter  Kind = "kill-after"
	// Throttle refuses the call as the service does when there are too many. Calls of many items are also answered as
	// if each item were throttled.
	Throttle Kind = "throttle"
	// Error answers the call with an internal error of the service; nothing is done.
	Error Kind = "error"
	// Reset closes the connection; nothing is done.
	Reset Kind = "reset"
	// Drop does what the call asks for and closes the connection instead of answering.
	Drop Kind = "drop"
	// Cut closes the connection in the middle of the answer.
	Cut Kind = "cut"
	// Delay keeps the call waiting.
	Delay Kind = "delay"
	// Stop stops the execution of the batch, and then lets the call pass.
	Stop Kind = "stop"

	// Twice delivers an asynchronous request two times, the second one later; Late delivers it late, after requests
	// that came after it; Lost does not deliver it, which happens to notifications of storage only.
	Twice Kind = "event-twice"
	Late  Kind = "event-late"
	Lost  Kind = "event-lost"
)

// Kinds returns all kinds, in the order of a summary.
func Kinds() []Kind {
	return []Kind{KillBefore, KillAfter, Throttle, Error, Reset, Drop, Cut, Delay, Stop, Twice, Late, Lost}
}

// isOfEvents reports whether a kind strikes asynchronous requests.
func (k Kind) isOfEvents() bool { return k == Twice || k == Late || k == Lost }

// Plan says by which faults the calls are struck that concern one thing, such as a batch. Which ones they are follows
// from the seed, the name, the function, the part of the work and the number of the call, and from nothing else: not
// from time, and not from what happens to other things.
type Plan struct {
	Seed uint64
	// Name is that of the thing in the plan of the seed, such as "batch 3".
	Name string
	// Match is a text that the payload of an invocation contains if it concerns the thing, such as the ID of a batch;
	// of an invocation of a schedule, a call itself contains it.
	Match string
	// Clients says that invocations which answer clients are struck, and others are not.
	Clients bool
	// OneIn says that one in so many calls is struck.
	OneIn int
	// EventsOneIn says that one in so many asynchronous requests is struck.
	EventsOneIn int
	// Kinds are the kinds of faults; none means all but Stop.
	Kinds []Kind
}

// check returns an error for a plan that cannot be followed.
func (p *Plan) check() error {
	if p.Name == "" || len(p.Match) < 8 || p.OneIn < 1 || p.EventsOneIn < 1 {
		return fmt.Errorf("plan %q for %q: want a name, a text of 8 bytes or more, and numbers from 1", p.Name, p.Match)
	}
	for _, k := range p.Kinds {
		if !slices.Contains(Kinds(), k) {
			return fmt.Errorf("plan %q: there is no kind %q", p.Name, k)
		}
	}
	return nil
}

// kinds returns the kinds of faults of calls or those of events.
func (p *Plan) kinds(ofEvents bool) (found []Kind) {
	for _, k := range Kinds() {
		isWanted := slices.Contains(p.Kinds, k) || len(p.Kinds) == 0 && k != Stop
		if isWanted && k.isOfEvents() == ofEvents {
			found = append(found, k)
		}
	}
	return found
}

// random returns the source of everything that is decided about one call or request.
func (p *Plan) random(what string, number int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%s\n%d", p.Name, what, number)
	return rand.New(rand.NewPCG(p.Seed, h.Sum64()))
}

// strike is a fault that strikes a call.
type strike struct {
	Kind Kind
	// pause is that of a Delay.
	pause time.Duration
	// variant chooses between forms of one kind.
	variant int
}

// bursts are the numbers of calls one after another that one fault strikes, by how likely they are. The last one is
// more than the SDK repeats.
var bursts = []int{1, 1, 1, 1, 1, 1, 2, 2, 3, 7}

// longestBurst is the longest of bursts.
const longestBurst = 7

// invocations begins the labels of functions that a state machine invokes.
const invocations = "invoke "

// maxPause is the longest Delay.
const maxPause = 150 * time.Millisecond

// strikeOf returns the fault of a call, nil for none. label names the function and the part of its work; calls are
// counted from 1.
func (p *Plan) strikeOf(label string, call int) *strike {
	for first := max(1, call-longestBurst+1); first <= call; first++ {
		if s, length := p.burstAt(label, first); s != nil && call < first+length {
			return s
		}
	}
	return nil
}

// burstAt returns the fault that begins at a call, and how many calls it strikes.
func (p *Plan) burstAt(label string, call int) (*strike, int) {
	r := p.random(label, call)
	kinds := p.kinds(false)
	if r.IntN(p.OneIn) != 0 || len(kinds) == 0 {
		return nil, 0
	}
	s := &strike{Kind: kinds[r.IntN(len(kinds))], variant: r.IntN(2)}
	s.pause = time.Duration(r.Int64N(int64(maxPause)))
	length := bursts[r.IntN(len(bursts))]
	switch {
	case s.Kind != Throttle && s.Kind != Error && s.Kind != Reset:
		return s, 1
	case strings.HasPrefix(label, invocations): // a state machine repeats few errors, and one more fails the batch
		return s, min(length, 3)
	}
	return s, length
}

// Deliveries of asynchronous requests that are struck come up to latest later.
const latest = 3 * time.Second

// deliveries returns after which times a request is delivered, and the fault that this is, "" for none.
func (p *Plan) deliveries(function string, number int, mayBeLost bool) ([]time.Duration, Kind) {
	r := p.random("event for "+function, number)
	kinds := p.kinds(true)
	if !mayBeLost {
		kinds = slices.DeleteFunc(kinds, func(k Kind) bool { return k == Lost })
	}
	if r.IntN(p.EventsOneIn) != 0 || len(kinds) == 0 {
		return []time.Duration{0}, ""
	}
	later := time.Duration(r.Int64N(int64(latest)))
	switch k := kinds[r.IntN(len(kinds))]; k {
	case Lost:
		return nil, k
	case Late:
		return []time.Duration{later}, k
	default:
		return []time.Duration{0, later}, k
	}
}

// partOf returns the part of a work that an invocation is for: the chunk or the partitions of a step, "" for others.
// Steps for parts of a batch run at the same time, so that the calls of each part are numbered by themselves.
func partOf(payload []byte) string {
	if len(payload) > 512 {
		return ""
	}
	var part struct {
		Chunk      *int            `json:"chunk"`
		Partitions json.RawMessage `json:"partitions"`
	}
	if json.Unmarshal(payload, &part) != nil {
		return ""
	}
	if part.Chunk != nil {
		return fmt.Sprintf("chunk %d", *part.Chunk)
	}
	return strings.TrimSpace(string(part.Partitions))
}
