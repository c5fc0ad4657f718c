// Package states runs state machines as AWS Step Functions does, as far as the project's definitions go: Task, Map, Choice,
// Pass, Wait, Succeed and Fail with JSONPath, Retry, Catch, task tokens, history and limits. Anything else is refused when
// a machine is loaded.
package states

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"
)

// Statuses of an execution.
const (
	Running   = "RUNNING"
	Succeeded = "SUCCEEDED"
	Failed    = "FAILED"
	TimedOut  = "TIMED_OUT"
	Aborted   = "ABORTED"
)

// Machine is a state machine to be run.
type Machine struct {
	Name       string
	ARN        string // arn:aws:states:<region>:<account>:stateMachine:<name>
	Definition []byte
}

// Config is what a Service needs.
type Config struct {
	Machines  []Machine
	Functions Functions
	// Authorize returns why a machine may not call a function, and nil if it may; nil for no restriction. Both are named by ARN,
	// the function perhaps by its name alone.
	Authorize func(machine, function string) error
	Dir       string // executions and their histories are kept here
	Region    string
	NewID     func() string // UUIDs: names of executions and task tokens
	Now       func() time.Time
	// Sleep waits and returns the context's error if that ends first; nil for real time.
	Sleep func(ctx context.Context, d time.Duration) error
	// OnEnded is told of every execution that has ended; nil for nobody.
	OnEnded func(Execution)
}

// Service runs executions. It is safe for concurrent use.
type Service struct {
	cfg      Config
	deps     *deps
	ctx      context.Context
	cancel   context.CancelCauseFunc
	running  sync.WaitGroup
	machines map[string]*machine // by ARN

	mu         sync.Mutex
	executions map[string]*execution // by ARN
	closed     bool
}

type machine struct {
	Machine
	definition *Definition
}

var (
	errShutdown = errors.New("the local cloud is being stopped")
	errTimedOut = errors.New("the execution took too long")
)

// New loads the machines and takes up the executions that were running when the program last ended. Those start again from
// their first state: every step of a batch can run twice, and what it had done is found done.
func New(ctx context.Context, cfg Config) (*Service, error) {
	s := &Service{cfg: cfg, machines: map[string]*machine{}, executions: map[string]*execution{}}
	if s.cfg.Authorize == nil {
		s.cfg.Authorize = func(string, string) error { return nil }
	}
	if s.cfg.Sleep == nil {
		s.cfg.Sleep = sleep
	}
	s.deps = &deps{functions: cfg.Functions, authorize: s.cfg.Authorize, region: cfg.Region, now: cfg.Now, sleep: s.cfg.Sleep, random: rand.Float64,
		tokens: &taskTokens{newID: cfg.NewID, open: map[string]*taskToken{}}}
	for _, m := range cfg.Machines {
		d, err := Parse(m.Definition)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		s.machines[m.ARN] = &machine{m, d}
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if err := s.loadExecutions(); err != nil {
		s.cancel(nil)
		return nil, err
	}
	for _, e := range s.executions {
		if e.Status == Running && s.machines[e.MachineARN] != nil {
			if err := s.startRun(e); err != nil {
				s.Close()
				return nil, err
			}
		}
	}
	return s, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close interrupts all executions; the next start takes them up.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errShutdown)
	s.running.Wait()
}

var executionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,80}$`)

// Start starts an execution. With a name that an open execution has it returns that one, if the input is the same; any other
// use of a taken name is ExecutionAlreadyExists.
func (s *Service) Start(machineARN, name string, input []byte) (Execution, error) {
	m, ok := s.machines[machineARN]
	if !ok {
		return Execution{}, newAPIError("StateMachineDoesNotExist", "State Machine Does Not Exist: '%s'", machineARN)
	}
	if name == "" {
		name = s.cfg.NewID()
	}
	if !executionName.MatchString(name) {
		return Execution{}, newAPIError("InvalidName", "Invalid Name: '%s'", name)
	}
	if len(input) == 0 {
		input = []byte("{}")
	}
	if _, err := decode(input); err != nil || len(input) > MaxPayload {
		return Execution{}, newAPIError("InvalidExecutionInput", "Invalid State Machine Execution Input")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Execution{}, errShutdown
	}
	arn := executionARN(m.ARN, name)
	if old, taken := s.executions[arn]; taken {
		e := old.snapshot()
		if e.Status == Running && bytes.Equal(e.Input, input) {
			return e, nil
		}
		return Execution{}, newAPIError("ExecutionAlreadyExists", "Execution Already Exists: '%s'", arn)
	}
	e := &execution{Execution: Execution{ARN: arn, MachineARN: m.ARN, Name: name, Status: Running, Input: input, Start: s.cfg.Now()},
		dir: s.machineDir(m.Name)}
	if err := e.save(); err != nil {
		return Execution{}, err
	}
	started := e.Execution
	s.executions[arn] = e
	return started, s.startRun(e)
}

// Stop aborts an execution that runs; one that has ended stays as it is.
func (s *Service) Stop(arn, name, cause string) (Execution, error) {
	e, err := s.find(arn)
	if err != nil {
		return Execution{}, err
	}
	e.stop(&stopRequest{name, cause})
	<-e.doneChannel()
	return e.snapshot(), nil
}

// stopRequest is why a context ended when somebody asked for it.
type stopRequest struct{ name, cause string }

func (*stopRequest) Error() string { return "the execution was stopped" }

func (s *Service) find(arn string) (*execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.executions[arn]
	if !ok {
		return nil, newAPIError("ExecutionDoesNotExist", "Execution Does Not Exist: '%s'", arn)
	}
	return e, nil
}

// MachineOfToken returns the ARN of the machine whose task waits for a token; "" if none does.
func (s *Service) MachineOfToken(token string) string { return s.deps.tokens.machineOf(token) }

// Describe returns an execution as it is now.
func (s *Service) Describe(arn string) (Execution, error) {
	e, err := s.find(arn)
	if err != nil {
		return Execution{}, err
	}
	return e.snapshot(), nil
}

// apiError is an error that a client gets to see.
type apiError struct{ errorType, message string }

func (r *apiError) Error() string { return r.message }

func newAPIError(kind, format string, args ...any) error {
	return &apiError{kind, fmt.Sprintf(format, args...)}
}
