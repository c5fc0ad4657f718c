package states

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Execution is one run of a state machine.
type Execution struct {
	ARN        string          `json:"executionArn"`
	MachineARN string          `json:"stateMachineArn"`
	Name       string          `json:"name"`
	Status     string          `json:"status"`
	Start      time.Time       `json:"start"`
	Stop       time.Time       `json:"stop"` // zero while it runs
	Input      json.RawMessage `json:"input"`
	Output     json.RawMessage `json:"output,omitempty"`
	Error      string          `json:"error,omitempty"`
	Cause      string          `json:"cause,omitempty"`
}

type execution struct {
	dir string

	mu sync.Mutex
	Execution
	cancel context.CancelCauseFunc // nil when it does not run
	done   chan struct{}
}

func (e *execution) snapshot() Execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Execution
}

func (e *execution) stop(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(why)
	}
}

var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (e *execution) doneChannel() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done == nil {
		return closedChannel
	}
	return e.done
}

func (e *execution) path(end string) string { return filepath.Join(e.dir, e.Name+end) }

const historySuffix, recordSuffix = ".history.jsonl", ".execution.json"

// save writes the execution so that it is there whole or not at all.
func (e *execution) save() error {
	text, err := json.Marshal(e.Execution)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return err
	}
	temporary := e.path(".tmp")
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, e.path(recordSuffix))
}

func (s *Service) machineDir(machine string) string { return filepath.Join(s.cfg.Dir, machine) }

func executionARN(machineARN, name string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + name
}

// loadExecutions reads all executions that were ever started.
func (s *Service) loadExecutions() error {
	files, err := filepath.Glob(filepath.Join(s.cfg.Dir, "*", "*"+recordSuffix))
	if err != nil {
		return err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		e := &execution{dir: filepath.Dir(path)}
		if err := json.Unmarshal(text, &e.Execution); err != nil {
			return fmt.Errorf("%s cannot be read: %w", path, err)
		}
		s.executions[e.ARN] = e
	}
	return nil
}

// startRun starts the execution with an empty history.
func (s *Service) startRun(e *execution) error {
	file, err := os.Create(e.path(historySuffix))
	if err != nil {
		return err
	}
	m := s.machines[e.MachineARN]
	ctx, cancel := context.WithCancelCause(s.ctx)
	e.mu.Lock()
	e.cancel, e.done = cancel, make(chan struct{})
	e.mu.Unlock()
	s.running.Go(func() {
		defer cancel(nil)
		h := &history{w: file, onError: cancel}
		ended := s.runToEnd(ctx, m, e, h)
		_ = file.Close() // every event was written by a call of its own
		e.mu.Lock()
		e.cancel = nil
		close(e.done)
		e.mu.Unlock()
		if ended && s.cfg.OnEnded != nil {
			s.cfg.OnEnded(e.snapshot())
		}
	})
	return nil
}

// runToEnd runs the states and records how they ended; false when they were interrupted and are to run again.
func (s *Service) runToEnd(ctx context.Context, m *machine, e *execution, h *history) bool {
	if m.definition.TimeoutSeconds > 0 {
		limit := time.Duration(m.definition.TimeoutSeconds) * time.Second
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimedOut)
		defer cancel()
	}
	input, err := decode(e.Input)
	if err != nil {
		input = map[string]any{} // was checked when it came
	}
	ip := &interpreter{deps: s.deps, machine: m.ARN, history: h, definition: m.definition, contextObject: map[string]any{
		"Execution":    map[string]any{"Id": e.ARN, "Name": e.Name, "Input": input, "StartTime": formatTime(e.Start), "RoleArn": ""},
		"StateMachine": map[string]any{"Id": m.ARN, "Name": m.Name},
	}}
	ip.addEvent("ExecutionStarted", map[string]any{"input": string(e.Input)})
	output, failure := ip.run(ctx, input)

	end := e.snapshot()
	end.Stop = s.cfg.Now()
	details := map[string]any{}
	switch {
	case failure == interrupted:
		if why := context.Cause(ctx); !end.recordInterruption(why) {
			return false
		}
	case failure != nil:
		end.Status, end.Error, end.Cause = Failed, failure.Error, failure.Cause
	default:
		end.Status, end.Output = Succeeded, encode(output)
		details["output"] = string(end.Output)
	}
	if end.Status != Succeeded {
		details["error"], details["cause"] = end.Error, end.Cause
	}
	ip.addEvent(map[string]string{Succeeded: "ExecutionSucceeded", Failed: "ExecutionFailed", Aborted: "ExecutionAborted",
		TimedOut: "ExecutionTimedOut"}[end.Status], details)
	e.mu.Lock()
	e.Execution = end
	err = e.save()
	e.mu.Unlock()
	if err != nil {
		return false // it runs again after the next start, which changes nothing
	}
	return true
}

// recordInterruption records why an execution was interrupted; false when that was only the end of the program.
func (e *Execution) recordInterruption(why error) bool {
	var stop *stopRequest
	switch {
	case errors.As(why, &stop):
		e.Status, e.Error, e.Cause = Aborted, stop.name, stop.cause
	case errors.Is(why, errTimedOut):
		e.Status, e.Error = TimedOut, "States.Timeout"
	case errors.Is(why, errHistoryFull):
		e.Status, e.Error = Failed, "States.Runtime"
		e.Cause = fmt.Sprintf("The execution reached the maximum number of history events (%d).", maxEvents)
	default:
		return false
	}
	return true
}

// events returns the lines of the history.
func (e *execution) events() ([]json.RawMessage, error) {
	file, err := os.Open(e.path(historySuffix))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []json.RawMessage
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events, nil // what is not a whole line is being written
		}
		events = append(events, line)
	}
}
