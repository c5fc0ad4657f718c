// Package lambda runs functions as AWS Lambda does. Each function has processes of its own, which fetch one request at
// a time from the Runtime API. Time, memory and sizes are limited, and a process that fails is replaced.
package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// MaxPayload is the largest size in bytes of a request to a function and of its response.
const MaxPayload = 6 << 20

// Function describes a function.
type Function struct {
	Name string
	ARN  string
	// Program is the path of the function's executable.
	Program string
	// Versions holds the paths of the executables of the function's versions, by their numbers, and Aliases the number
	// of the version that an alias names. Both are run as NAME:NUMBER or NAME:ALIAS. Only the executables differ.
	Versions map[string]string
	Aliases  map[string]string
	// Endpoint is the URL of a Lambda endpoint that runs the function instead of Program; "" for none.
	Endpoint string
	// Environment is added to the variables that every function has.
	Environment map[string]string
	// Timeout limits the duration of a request. The time in which its process starts does not count.
	Timeout time.Duration
	// MemoryMB limits the resident memory of a process, in MiB.
	MemoryMB int
	// Concurrency is the largest number of processes at a time. Further requests wait.
	Concurrency int
	// Reserved is the part of the account's concurrency that only this function uses, and its limit; 0 for none. It has
	// a meaning only with Config.AccountConcurrency.
	Reserved int
	// Retries is the number of times that a failed asynchronous request is run again.
	Retries int
	// MaxEventAge is how long an asynchronous request is retried; 0 means 6 hours.
	MaxEventAge time.Duration
}

// Result is the outcome of a request that reached its function.
type Result struct {
	RequestID string
	// Payload is the JSON that the function returned. If it failed, this is an object with errorType and errorMessage.
	Payload []byte
	// Failed is set if the function returned an error, ended, or exceeded a limit.
	Failed bool
	// ErrorType is the type of a failure, such as Runtime.ExitError; "" if the function named none.
	ErrorType string
	// Version is the number of the version that ran, or $LATEST.
	Version string
}

// Errors of requests that did not reach a function.
var (
	ErrNotFound = errors.New("function not found")
	ErrTooLarge = fmt.Errorf("request must be smaller than %d bytes", MaxPayload)
	ErrClosed   = errors.New("the functions are being stopped")
)

// Config describes a Service.
type Config struct {
	Functions []Function
	// AccountConcurrency is the number of requests that may run at a time, over all functions; further ones are
	// throttled. 0 means no limit: further requests wait.
	AccountConcurrency int
	Region             string
	// TempDir is the folder in which each process has a temporary folder of its own.
	TempDir string
	// JournalDir is the folder in which asynchronous requests are stored until they are done.
	JournalDir string
	// DeadLetterDir is the folder in which asynchronous requests are stored after their last attempt has failed.
	DeadLetterDir string
	// AuthorizeDeadLetter returns an error if a function may not send dead letters; nil allows all.
	AuthorizeDeadLetter func(function string) error
	// Log receives what functions print.
	Log Log
	// Interpose, if not nil, is called for each process before it starts. It returns variables that replace those of
	// the function, and a function that is called when the process has ended.
	Interpose func(*Process) (environment []string, stop func(), err error)
	// Deliveries, if not nil, returns the delays of the deliveries of an asynchronous request: several for one that is
	// delivered more than once, none for one that is lost. Without it each request is delivered once, without delay.
	Deliveries func(function string, payload []byte) []time.Duration
	// NewID returns a UUID, used as the ID of a request or a process.
	NewID func() string
	// InitTimeout limits the time until a new process asks for its first request; 0 means 10 seconds.
	InitTimeout time.Duration
	// IdleTimeout is the time after which an idle process is ended; 0 means 5 minutes.
	IdleTimeout time.Duration
	// RetryDelay is the time before the first retry of an asynchronous request, doubled for each further one; 0 means
	// 1 second. A request that was throttled waits for five of them at most.
	RetryDelay time.Duration
}

// Log receives the lines that functions print. Calls may overlap.
type Log interface {
	// WriteLine logs a line, without its line feed, that a function printed while it handled a request; "" means
	// the time before its first request.
	WriteLine(function, requestID string, text []byte)
}

// Service runs functions. It is safe for concurrent use.
type Service struct {
	cfg     Config
	runtime *http.Server
	address string
	// pools holds the processes of each function by its name, and of its versions by NAME:NUMBER and NAME:ALIAS.
	pools     map[string]*pool
	limiter   *limiter
	sandboxes sandboxRegistry
	queue     *queue
	closed    chan struct{}
	closing   sync.Once
}

// New starts the Runtime API. Processes are started when their functions are first invoked. Asynchronous requests that
// an earlier run did not finish are resumed. The service runs until Close; the end of the context only stops
// asynchronous requests.
func New(ctx context.Context, cfg Config) (*Service, error) {
	if cfg.InitTimeout == 0 {
		cfg.InitTimeout = 10 * time.Second
	}
	if cfg.IdleTimeout == 0 {
		cfg.IdleTimeout = 5 * time.Minute
	}
	if cfg.RetryDelay == 0 {
		cfg.RetryDelay = time.Second
	}
	limiter, err := newLimiter(cfg.AccountConcurrency, cfg.Functions)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, address: listener.Addr().String(), pools: map[string]*pool{}, limiter: limiter,
		closed: make(chan struct{})}
	for _, f := range cfg.Functions {
		if f.Concurrency < 1 {
			return nil, fmt.Errorf("function %s has a concurrency below 1", f.Name)
		}
		s.addPools(f)
	}
	s.runtime = &http.Server{Handler: http.HandlerFunc(s.serveRuntime)}
	go func() { _ = s.runtime.Serve(listener) }() // returns ErrServerClosed
	if s.queue, err = newQueue(ctx, s); err != nil {
		_ = s.runtime.Close()
		return nil, err
	}
	return s, nil
}

// latest is the version of a function that is not one of its published versions.
const latest = "$LATEST"

// addPools adds the processes of a function and of its versions.
func (s *Service) addPools(f Function) {
	s.pools[f.Name] = newPool(s, f, latest)
	s.pools[f.Name+":"+latest] = s.pools[f.Name]
	for number, program := range f.Versions {
		version := f
		version.Program, version.ARN = program, f.ARN+":"+number
		s.pools[f.Name+":"+number] = newPool(s, version, number)
	}
	for alias, number := range f.Aliases {
		if p := s.pools[f.Name+":"+number]; p != nil {
			s.pools[f.Name+":"+alias] = p
		}
	}
}

// Close ends all processes. Requests in progress fail with ErrClosed; asynchronous ones are resumed by the next start.
func (s *Service) Close() {
	s.closing.Do(func() {
		s.queue.close() // first, so that no asynchronous request counts as failed
		close(s.closed)
		for _, p := range s.pools {
			p.close()
		}
		_ = s.runtime.Close()
	})
}

// Invoke runs a function, or one of its versions, and waits for its result. The error, if any, is ErrNotFound,
// ErrTooLarge, ErrClosed, a ThrottledError or the context's. A function that has begun to handle the request continues
// even if the context ends, as on AWS.
func (s *Service) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	return s.invoke(ctx, name, s.cfg.NewID(), payload)
}

// invoke is Invoke with a given request ID.
func (s *Service) invoke(ctx context.Context, name, requestID string, payload []byte) (Result, error) {
	p, ok := s.pools[name]
	if !ok {
		return Result{}, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if len(payload) > MaxPayload {
		return Result{}, ErrTooLarge
	}
	// These are checked first because select chooses at random if a slot is free, too.
	if s.isClosed() {
		return Result{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if err := s.limiter.acquire(p.fn.Name); err != nil {
		s.cfg.Log.WriteLine(p.fn.Name, requestID, fmt.Appendf(nil, `{"type":"platform.throttled","reason":%q}`,
			err.(*ThrottledError).Reason))
		return Result{}, err
	}
	if err := s.waitForProcess(ctx, p); err != nil {
		s.limiter.release(p.fn.Name)
		return Result{}, err
	}
	result := make(chan Result, 1)
	go func() {
		defer func() {
			<-p.slots
			s.limiter.release(p.fn.Name)
		}()
		result <- p.run(request{id: requestID, payload: payload})
	}()
	select {
	case r := <-result:
		if r.Failed && s.isClosed() { // Close may have ended the process
			return Result{}, ErrClosed
		}
		r.Version = p.version
		return r, nil
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-s.closed:
		return Result{}, ErrClosed
	}
}

// waitForProcess waits until a function may use one more process. The error is ErrClosed or the context's.
func (s *Service) waitForProcess(ctx context.Context, p *pool) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closed:
		return ErrClosed
	}
}

// isClosed reports whether Close has begun to end the processes.
func (s *Service) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// failedResult returns the result of a request that its function did not answer.
func failedResult(requestID, errorType, message string) Result {
	payload, _ := json.Marshal(map[string]string{
		"errorType": errorType, "errorMessage": fmt.Sprintf("RequestId: %s Error: %s", requestID, message),
	})
	return Result{RequestID: requestID, Payload: payload, Failed: true, ErrorType: errorType}
}

// readLimited reads a body. It returns ErrTooLarge for more than MaxPayload bytes.
func readLimited(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxPayload+1))
	if err == nil && len(body) > MaxPayload {
		return nil, ErrTooLarge
	}
	return body, err
}
