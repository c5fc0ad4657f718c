package repotest

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// machine is what these tests read of the definition of a state machine, of the states that a Map runs for each item,
// or of a branch of a Parallel.
type machine struct {
	TimeoutSeconds int
	StartAt        string
	States         map[string]machineState
}

// machineState is one state of a machine.
type machineState struct {
	Type, TimeoutSecondsPath, ItemsPath string

	TimeoutSeconds int
	ItemProcessor  *machine
	Branches       []machine
	// Catch has entries whose bounds are zero.
	Retry, Catch []machineRetry
	Choices      []struct{ Next string }
	Next         string
	End          bool
}

// machineRetry says how a state is repeated after some errors.
type machineRetry struct {
	ErrorEquals     []string
	IntervalSeconds float64
	BackoffRate     float64
	MaxAttempts     int
	MaxDelaySeconds float64
	JitterStrategy  string
}

// machineFiles are the state machines.
var machineFiles = []string{"batch", "delivery", "resolution", "screening"}

func loadMachine(t *testing.T, name string) machine {
	t.Helper()
	var m machine
	errtest.Fatal(t, json.Unmarshal(readFile(t, "statemachine/"+name+".asl.json"), &m))
	return m
}

// states calls visit for each state of a machine, those of its maps and branches included.
func (m machine) states(visit func(name string, s machineState)) {
	for name, s := range m.States {
		visit(name, s)
		if s.ItemProcessor != nil {
			s.ItemProcessor.states(visit)
		}
		for _, b := range s.Branches {
			b.states(visit)
		}
	}
}

// tasks calls visit for each task of a machine, of which there must be some.
func (m machine) tasks(t *testing.T, visit func(name string, s machineState)) {
	t.Helper()
	tasks := 0
	m.states(func(name string, s machineState) {
		if s.Type == "Task" {
			tasks++
			visit(name, s)
		}
	})
	if tasks == 0 {
		t.Error("the state machine has no task")
	}
}

// retryAfter returns what is done after an error: Step Functions takes the first entry that names it, or all of them.
func (s machineState) retryAfter(failed string) (machineRetry, bool) {
	i := slices.IndexFunc(s.Retry, func(r machineRetry) bool {
		return slices.Contains(r.ErrorEquals, failed) || slices.Contains(r.ErrorEquals, "States.ALL")
	})
	if i < 0 {
		return machineRetry{}, false
	}
	return s.Retry[i], true
}

// seconds returns how long the retries take before they are over, on average: with full jitter, a delay is anything
// between nothing and its length.
func (r machineRetry) seconds() float64 {
	share := 1.0
	if r.JitterStrategy == "FULL" {
		share = 0.5
	}
	sum := 0.0
	for n := range r.MaxAttempts {
		sum += share * min(r.IntervalSeconds*math.Pow(r.BackoffRate, float64(n)), r.MaxDelaySeconds)
	}
	return sum
}

// ownErrors are the errors of functions that tasks have entries of their own for, by the names of the tasks.
var ownErrors = map[string][]string{
	"Notify": {"NotStored", "Unreachable"}, "Ask": {"Unreachable"},
	"Plan": {"WatchlistsUnavailable"}, "ScreenPartitions": {"WatchlistsUnavailable"},
}

// A task that gets no answer is repeated, unless its state says for how long an answer is waited for. One that Lambda
// throttles is repeated for longer than other stacks, or many batches at once, use up the concurrency of the account.
// No entry leaves its bounds to the defaults of Step Functions.
func TestTasksAreRepeatedAndEnd(t *testing.T) {
	const longestThrottling = 50 * 60 // seconds
	for _, file := range machineFiles {
		t.Run(file, func(t *testing.T) {
			m := loadMachine(t, file)
			if m.TimeoutSeconds == 0 {
				t.Error("the execution has no TimeoutSeconds")
			}
			m.tasks(t, func(name string, s machineState) {
				if s.TimeoutSeconds == 0 && s.TimeoutSecondsPath == "" {
					t.Errorf("%s has no TimeoutSeconds", name)
				}
				for _, r := range s.Retry {
					if r.IntervalSeconds == 0 || r.BackoffRate == 0 || r.MaxAttempts == 0 || r.MaxDelaySeconds == 0 {
						t.Errorf("%s repeats after %v with bounds that are not written down: %+v", name, r.ErrorEquals,
							r)
					}
				}
				if _, ok := s.retryAfter("States.Timeout"); !ok && s.TimeoutSecondsPath == "" {
					t.Errorf("%s is not repeated after States.Timeout", name)
				}
				for _, failed := range []string{
					"Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
					"Lambda.ClientExecutionTimeoutException", "Lambda.Unknown", "Runtime.ExitError", "Sandbox.Timedout",
				} {
					if _, ok := s.retryAfter(failed); !ok {
						t.Errorf("%s is not repeated after %s", name, failed)
					}
				}
				for _, failed := range ownErrors[name] {
					if r, _ := s.retryAfter(failed); !slices.Contains(r.ErrorEquals, failed) {
						t.Errorf("%s is not repeated after %s", name, failed)
					}
				}
				r, _ := s.retryAfter("Lambda.TooManyRequestsException")
				if !slices.Equal(r.ErrorEquals, []string{"Lambda.TooManyRequestsException"}) ||
					r.JitterStrategy != "FULL" || r.seconds() < longestThrottling {
					t.Errorf("%s is repeated after Lambda.TooManyRequestsException by %+v for %.0f s, "+
						"want an entry of its own with full jitter and at least %d s", name, r, r.seconds(),
						longestThrottling)
				}
			})
		})
	}
}

// A task of a batch that gets no answer is repeated long before the execution itself ends, but not while the function
// may still run. No task of a screening waits for ever, not even the one that waits for the answer of an adapter; when
// its retries are over, a task leads to the one that gives up.
func TestTasksEndInTime(t *testing.T) {
	const longestFunction = 900 // seconds, a limit of Lambda
	m := loadMachine(t, "batch")
	m.tasks(t, func(name string, s machineState) {
		if s.TimeoutSeconds <= longestFunction || s.TimeoutSeconds*8 > m.TimeoutSeconds {
			t.Errorf("%s has TimeoutSeconds %d, want more than %d and at most an eighth of the execution's %d", name,
				s.TimeoutSeconds, longestFunction, m.TimeoutSeconds)
		}
	})
	loadMachine(t, "screening").tasks(t, func(name string, s machineState) {
		if (s.TimeoutSeconds < 60 || s.TimeoutSeconds > 1000) && s.TimeoutSecondsPath == "" {
			t.Errorf("%s has TimeoutSeconds %d, want 60 to 1000", name, s.TimeoutSeconds)
		}
		if len(s.Catch) == 0 && !strings.HasPrefix(name, "GiveUp") {
			t.Errorf("%s has no Catch", name)
		}
	})
}

// mostChunks and mostPartitions are how many items the maps of a batch have at most (maxChunks of
// shared/ingest/pipeline/plan.go); the widest map runs maxWidth at once.
const (
	mostChunks     = 512
	mostPartitions = 16
	// fewestInRound is the MinValue of the parameter RoundChunks.
	fewestInRound = 8
	maxWidth      = 40
)

// events returns how many events of the history some runs through the states take, by the number of items of each map,
// those of a map within another one in all.
func (m machine) events(runs int, items map[string]int) int {
	total := 0
	for _, s := range m.States {
		switch s.Type {
		case "Task":
			total += 5 * runs // entered, scheduled, started, succeeded, exited
		case "Map":
			// Entered, started, succeeded, exited; and of each item, started and succeeded.
			n := items[s.ItemsPath]
			total += 4*runs + 2*n + s.ItemProcessor.events(n, items)
		case "Parallel":
			total += 4 * runs // entered, started, succeeded, exited
			for _, b := range s.Branches {
				total += b.events(runs, items)
			}
		default:
			total += 2 * runs
		}
	}
	return total
}

// Step Functions ends an execution with more than 25,000 events, and no Catch sees it. A batch of the most chunks stays
// below it even if all items that one map runs at once are throttled until their retries are over.
func TestHistoryOfABatchHasRoom(t *testing.T) {
	const limit = 25_000
	m := loadMachine(t, "batch")
	plain := m.events(1, map[string]int{"$.chunks": mostChunks, "$.partitions": mostPartitions,
		"$.screening": mostPartitions, "$.rounds": mostChunks / fewestInRound})
	worst := 0
	m.tasks(t, func(_ string, s machineState) {
		r, _ := s.retryAfter("Lambda.TooManyRequestsException")
		worst = max(worst, maxWidth*r.MaxAttempts*3) // scheduled, started, failed
	})
	t.Logf("%d events without retries, %d with the longest throttling of one map, of %d", plain, plain+worst, limit)
	if plain < 12_000 || plain+worst >= limit {
		t.Errorf("%d events without retries and %d with them, want at least 12,000 and fewer than %d", plain,
			plain+worst, limit)
	}
}

// transitions are how many transitions of states an execution takes that goes well: a fixed number, and so many for
// each item of a map.
type transitions struct {
	fixed   int
	perItem map[string]int
}

// countTransitions follows a machine from its first state to its end. A choice goes where its first rule leads.
func countTransitions(t *testing.T, m machine) transitions {
	t.Helper()
	out := transitions{perItem: map[string]int{}}
	for name := m.StartAt; ; {
		s, ok := m.States[name]
		if !ok || out.fixed > 100 {
			t.Fatalf("the state machine leads to %q, after %d states", name, out.fixed)
		}
		out.fixed++
		if s.ItemProcessor != nil {
			inner := countTransitions(t, *s.ItemProcessor)
			out.perItem[s.ItemsPath] += inner.fixed
			for items, n := range inner.perItem {
				out.perItem[items] += n
			}
		}
		for _, b := range s.Branches {
			inner := countTransitions(t, b)
			out.fixed += inner.fixed
			for items, n := range inner.perItem {
				out.perItem[items] += n
			}
		}
		switch {
		case s.End || s.Type == "Succeed":
			return out
		case s.Type == "Choice":
			name = s.Choices[0].Next
		default:
			name = s.Next
		}
	}
}

var documentedTransitions = regexp.MustCompile(`\((\d+)c \+ r \+ s \+ (\d+)i \+ (\d+)\) × 0\.000025`)

// The formula of the costs counts the transitions that the definition has.
func TestTransitionsAreThoseOfTheFormula(t *testing.T) {
	want := countTransitions(t, loadMachine(t, "batch"))
	got := documentedTransitions.FindSubmatch(readFile(t, "docs/cost.md"))
	if got == nil {
		t.Fatalf("docs/cost.md has no formula of the form %s", documentedTransitions)
	}
	perChunk, _ := strconv.Atoi(string(got[1]))
	perRound, _ := strconv.Atoi(string(got[2]))
	fixed, _ := strconv.Atoi(string(got[3]))
	if perChunk != want.perItem["$.chunks"] || perRound != want.perItem["$.rounds"] || fixed != want.fixed ||
		want.perItem["$.partitions"] != 1 || want.perItem["$.screening"] != 1 {
		t.Errorf("docs/cost.md counts %dc + r + s + %di + %d transitions, the definition has %d and, for each "+
			"item, %v; internal/cost/cost.go has the same numbers",
			perChunk, perRound, fixed, want.fixed, want.perItem)
	}
}
