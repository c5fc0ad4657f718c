package states

import (
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

// Execution is one run of a state machine, in the form in which it is stored.
type Execution struct {
	ARN        string    `json:"executionArn"`
	MachineARN string    `json:"stateMachineArn"`
	Name       string    `json:"name"`
	Status     string    `json:"status"`
	Start      time.Time `json:"start"`
	// Stop is zero while the execution runs.
	Stop   time.Time       `json:"stop"`
	Input  json.RawMessage `json:"input"`
	Output json.RawMessage `json:"output,omitempty"`
	// Definition is the digest of the machine's definition when the execution was started; "" in records of earlier
	// releases.
	Definition string `json:"definition,omitempty"`
	// Error and Cause describe why the execution did not succeed.
	Error string `json:"error,omitempty"`
	Cause string `json:"cause,omitempty"`
}

// EndEvent returns the event, as JSON, by which Step Functions tells EventBridge that an execution has ended. id is the
// ID of the event.
func (e Execution) EndEvent(id, region, account string) []byte {
	detail := map[string]any{
		"executionArn": e.ARN, "stateMachineArn": e.MachineARN, "name": e.Name, "status": e.Status,
		"startDate": e.Start.UnixMilli(), "stopDate": e.Stop.UnixMilli(),
		"input": string(e.Input), "inputDetails": map[string]any{"included": true},
		"output": nil, "outputDetails": nil, "error": nil, "cause": nil,
	}
	if e.Status == Succeeded {
		detail["output"], detail["outputDetails"] = string(e.Output), map[string]any{"included": true}
	}
	if e.Error != "" {
		detail["error"] = e.Error
	}
	if e.Cause != "" {
		detail["cause"] = e.Cause
	}
	text, _ := json.Marshal(map[string]any{
		"version": "0", "id": id, "detail-type": "Step Functions Execution Status Change", "source": "aws.states",
		"account": account, "region": region, "time": e.Stop.UTC().Format(time.RFC3339),
		"resources": []string{e.ARN}, "detail": detail,
	})
	return text
}

// execution is an execution together with its run, if it is running.
type execution struct {
	// dir is the folder with its files.
	dir string

	mu sync.Mutex
	Execution
	// cancel is nil while the execution is not running.
	cancel context.CancelCauseFunc
	// done is closed at the end of the run, and nil if there was none since the start of the program.
	done chan struct{}
}

// snapshot returns the execution as it is now.
func (e *execution) snapshot() Execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Execution
}

// stop interrupts a running execution for a reason that runToEnd records.
func (e *execution) stop(reason error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(reason)
	}
}

// closedChannel is the channel of executions that are not running.
var closedChannel = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// doneChannel returns a channel that is closed once the execution is not running.
func (e *execution) doneChannel() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done == nil {
		return closedChannel
	}
	return e.done
}

// The suffixes of the files of an execution.
const historySuffix, recordSuffix = ".history.jsonl", ".execution.json"

// path returns the path of one of the files of the execution.
func (e *execution) path(suffix string) string { return filepath.Join(e.dir, e.Name+suffix) }

// save stores the execution. Readers see the file complete or not at all.
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

// machineDir returns the folder of the executions of a machine.
func (s *Service) machineDir(machine string) string { return filepath.Join(s.cfg.Dir, machine) }

// executionARN returns the ARN of an execution.
func executionARN(machineARN, name string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + name
}

// loadExecutions reads all stored executions.
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
			return fmt.Errorf("read %s: %w", path, err)
		}
		s.executions[e.ARN] = e
	}
	return nil
}

// startRun starts the execution at its first state, with an empty history.
func (s *Service) startRun(e *execution) error {
	file, err := os.Create(e.path(historySuffix))
	if err != nil {
		return err
	}
	m := s.machineOf(e)
	ctx, cancel := context.WithCancelCause(s.ctx)
	e.mu.Lock()
	e.cancel, e.done = cancel, make(chan struct{})
	e.mu.Unlock()
	s.running.Go(func() {
		defer cancel(nil)
		h := &history{file: file, onError: cancel}
		ended := s.runToEnd(ctx, m, e, h)
		_ = file.Close() // nothing is buffered
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

// runToEnd runs the states of an execution and records how it ended. It returns false if the execution was interrupted
// only because the program ends; it will then run again.
func (s *Service) runToEnd(ctx context.Context, m *machine, e *execution, h *history) bool {
	if m.definition.TimeoutSeconds > 0 {
		limit := time.Duration(m.definition.TimeoutSeconds) * time.Second
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimedOut)
		defer cancel()
	}
	input, err := decode(e.Input)
	if err != nil {
		input = map[string]any{} // cannot happen: Start has checked it
	}
	ip := &interpreter{
		deps:       s.deps,
		machine:    m.ARN,
		history:    h,
		definition: m.definition,
		contextObject: map[string]any{
			"Execution": map[string]any{
				"Id":        e.ARN,
				"Name":      e.Name,
				"Input":     input,
				"StartTime": formatTime(e.Start),
				"RoleArn":   "",
			},
			"StateMachine": map[string]any{"Id": m.ARN, "Name": m.Name},
		},
	}
	ip.addEvent("ExecutionStarted", map[string]any{"input": string(e.Input)})
	output, failure := ip.run(ctx, input)
	return s.recordEnd(ctx, e, ip, output, failure)
}

// recordEnd records the end of an execution in its history and stores it. It returns false if the execution is to run
// again.
func (s *Service) recordEnd(ctx context.Context, e *execution, ip *interpreter, output any, failure *Failure) bool {
	end := e.snapshot()
	end.Stop = s.cfg.Now()
	details := map[string]any{}
	switch {
	case failure == interrupted:
		if !end.recordInterruption(context.Cause(ctx)) {
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
	ip.addEvent(map[string]string{
		Succeeded: "ExecutionSucceeded", Failed: "ExecutionFailed", Aborted: "ExecutionAborted",
		TimedOut: "ExecutionTimedOut",
	}[end.Status], details)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Execution = end
	return e.save() == nil // if storing fails, the next start runs the execution again, which changes nothing
}

// recordInterruption records why an execution was interrupted. It returns false if the reason is only the end of the
// program.
func (e *Execution) recordInterruption(reason error) bool {
	var stop *stopRequest
	var unwritten *historyError
	switch {
	case errors.As(reason, &stop):
		e.Status, e.Error, e.Cause = Aborted, stop.name, stop.cause
	case errors.Is(reason, errTimedOut):
		e.Status, e.Error = TimedOut, "States.Timeout"
	case errors.Is(reason, errHistoryFull):
		e.Status, e.Error = Failed, "States.Runtime"
		e.Cause = fmt.Sprintf("The execution reached the maximum number of history events (%d).", maxEvents)
	case errors.As(reason, &unwritten):
		e.Status, e.Error = Failed, "States.Runtime"
		e.Cause = fmt.Sprintf("The history could not be written: %v", unwritten.error)
	default:
		return false
	}
	return true
}
