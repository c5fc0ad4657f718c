// Package states runs state machines as AWS Step Functions does. It supports what the project's definitions use: Task
// with the Lambda integration, Map, Parallel, Choice, Pass, Wait, Succeed and Fail with paths of fields, Retry, Catch,
// task tokens, history and limits. Anything else is an error when a machine is loaded.
package states

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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

// Machine is a state machine.
type Machine struct {
	Name string
	// ARN has the form arn:aws:states:<region>:<account>:stateMachine:<name>.
	ARN string
	// Definition is in the Amazon States Language.
	Definition []byte
}

// Config describes a Service.
type Config struct {
	Machines  []Machine
	Functions Functions
	// Authorize returns an error if a machine may not invoke a function; nil allows all. The machine is given by its
	// ARN, the function by its ARN or its name.
	Authorize func(machine, function string) error
	// Dir is the folder in which executions and their histories are stored.
	Dir    string
	Region string
	// NewID returns a UUID, used as the name of an execution or as a task token.
	NewID func() string
	Now   func() time.Time
	// Sleep waits, and returns the context's error if the context ends first; nil means real time.
	Sleep func(ctx context.Context, d time.Duration) error
	// OnEnded, if not nil, is called for every execution that has ended.
	OnEnded func(Execution)
}

// Service runs executions. It is safe for concurrent use.
type Service struct {
	cfg     Config
	deps    *deps
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
	// machines holds the machines by their ARNs.
	machines map[string]*machine

	mu sync.Mutex
	// executions holds all executions by their ARNs.
	executions map[string]*execution
	closed     bool
}

// machine is a machine with its parsed definition.
type machine struct {
	Machine
	definition *Definition
	// digest names the definition among those that are stored.
	digest string
}

// Causes that interrupt executions.
var (
	errShutdown = errors.New("the local cloud is stopping")
	errTimedOut = errors.New("the execution exceeded its TimeoutSeconds")
)

// New loads the machines and restarts the executions that were running when the program last ended. These start at
// their first state, with the definition with which they began: every step of a batch can run twice without a further
// effect.
func New(ctx context.Context, cfg Config) (*Service, error) {
	s := &Service{cfg: cfg, machines: map[string]*machine{}, executions: map[string]*execution{}}
	if s.cfg.Authorize == nil {
		s.cfg.Authorize = func(string, string) error { return nil }
	}
	if s.cfg.Sleep == nil {
		s.cfg.Sleep = sleep
	}
	s.deps = &deps{
		functions: cfg.Functions, authorize: s.cfg.Authorize, region: cfg.Region, now: cfg.Now, sleep: s.cfg.Sleep,
		random: rand.Float64, tokens: &taskTokens{newID: cfg.NewID, open: map[string]*taskToken{}},
	}
	for _, m := range cfg.Machines {
		d, err := Parse(m.Definition)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		s.machines[m.ARN] = &machine{m, d, digestOf(m.Definition)}
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	if err := s.loadExecutions(); err != nil {
		s.cancel(nil)
		return nil, err
	}
	if err := s.storeDefinitions(); err != nil {
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

// sleep waits in real time.
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

// Close interrupts all executions and waits for that. The next start restarts them.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(errShutdown)
	s.running.Wait()
}

// executionName matches the valid names of executions.
var executionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,80}$`)

// Start starts an execution and returns it; an empty name means a new UUID. If an execution of that name is
// running with the same input, Start returns it instead. Any other use of an existing name is the error
// ExecutionAlreadyExists.
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
	e := &execution{
		Execution: Execution{
			ARN:        arn,
			MachineARN: m.ARN,
			Name:       name,
			Status:     Running,
			Input:      input,
			Start:      s.cfg.Now(),
			Definition: m.digest,
		},
		dir: s.machineDir(m.Name),
	}
	if err := e.save(); err != nil {
		return Execution{}, err
	}
	started := e.Execution
	if err := s.startRun(e); err != nil {
		return Execution{}, errors.Join(err, os.Remove(e.path(recordSuffix))) // so that it can be started again
	}
	s.executions[arn] = e
	return started, nil
}

// Stop aborts a running execution and waits for its end. It has no effect on one that has ended.
func (s *Service) Stop(arn, name, cause string) (Execution, error) {
	e, err := s.find(arn)
	if err != nil {
		return Execution{}, err
	}
	e.stop(&stopRequest{name, cause})
	<-e.doneChannel()
	return e.snapshot(), nil
}

// stopRequest is the cause that interrupts an execution on request.
type stopRequest struct{ name, cause string }

// Error returns a fixed text.
func (*stopRequest) Error() string { return "the execution was stopped" }

// find returns the execution with an ARN.
func (s *Service) find(arn string) (*execution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.executions[arn]
	if !ok {
		return nil, newAPIError("ExecutionDoesNotExist", "Execution Does Not Exist: '%s'", arn)
	}
	return e, nil
}

// MachineOfToken returns the ARN of the machine of which a task waits, or has waited, for a token, and "" for
// any other text.
func (s *Service) MachineOfToken(token string) string { return machineOfToken(token) }

// Describe returns an execution as it is now.
func (s *Service) Describe(arn string) (Execution, error) {
	e, err := s.find(arn)
	if err != nil {
		return Execution{}, err
	}
	return e.snapshot(), nil
}

// apiError is an error that is sent to the client.
type apiError struct{ errorType, message string }

// Error returns the message.
func (r *apiError) Error() string { return r.message }

// newAPIError returns an error with a formatted message.
func newAPIError(kind, format string, args ...any) error {
	return &apiError{kind, fmt.Sprintf(format, args...)}
}
