// Package lambda runs functions as AWS Lambda does: each as processes of its own that ask the Runtime API for one request at
// a time, with limits on time and size, and a fresh process after a crash.
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

// MaxPayload is the most bytes that a request to a function and its answer may have.
const MaxPayload = 6 << 20

// Function is what there is to know about a function.
type Function struct {
	Name        string
	ARN         string
	Program     string            // path of its binary
	Endpoint    string            // a Lambda endpoint, a URL, that runs it instead; "" for Program
	Environment map[string]string // beside what every function gets
	Timeout     time.Duration
	MemoryMB    int
	Concurrency int // processes at once; further requests wait
	Retries     int // of an asynchronous invocation that failed
}

// Result is the answer of a function.
type Result struct {
	RequestID string
	Payload   []byte // JSON; for a failed function an object with errorType and errorMessage
	Failed    bool   // the function itself failed, or died, or took too long
	ErrorType string // of a failed function, such as Runtime.ExitError; "" if it named none
}

// Errors of an invocation that did not reach the function.
var (
	ErrNotFound = errors.New("function not found")
	ErrTooLarge = fmt.Errorf("request must be smaller than %d bytes", MaxPayload)
	ErrClosed   = errors.New("the functions are being stopped")
)

// Config is what a Service needs.
type Config struct {
	Functions           []Function
	Region              string
	TempDir             string                      // each process gets a folder of its own in it
	JournalDir          string                      // asynchronous requests are kept here until they are done
	DeadLetterDir       string                      // and here when all their attempts failed
	AuthorizeDeadLetter func(function string) error // tells whether a function may leave a dead letter; nil if all may
	Log                 Log                         // what functions print
	NewID               func() string               // request ids, UUIDs
	InitTimeout         time.Duration               // until a process asks for its first request; 0 for 10 s
	IdleTimeout         time.Duration               // after which an unused process is ended; 0 for 5 minutes
	RetryDelay          time.Duration               // before the first retry of an asynchronous request, doubled for each further; 0 for 1 s
}

// Log takes the lines that functions print. It is called from many goroutines.
type Log interface {
	// WriteLine takes one line, without its end, of a function and the request it was working on ("" before the first).
	WriteLine(function, requestID string, text []byte)
}

// Service runs functions. It is safe for concurrent use.
type Service struct {
	cfg       Config
	runtime   *http.Server
	address   string
	pools     map[string]*pool // by function name
	sandboxes sandboxRegistry
	queue     *queue
	closed    chan struct{}
	closing   sync.Once
}

// New starts the Runtime API. Functions are started when they are first invoked. Asynchronous requests that an earlier
// run did not finish are taken up. The service lives until Close; the end of the context only stops asynchronous requests.
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, address: listener.Addr().String(), pools: map[string]*pool{}, closed: make(chan struct{})}
	for _, f := range cfg.Functions {
		if f.Concurrency < 1 {
			return nil, fmt.Errorf("function %s may not run at all", f.Name)
		}
		s.pools[f.Name] = newPool(s, f)
	}
	s.runtime = &http.Server{Handler: http.HandlerFunc(s.serveRuntime)}
	go func() { _ = s.runtime.Serve(listener) }() // ends with ErrServerClosed
	if s.queue, err = newQueue(ctx, s); err != nil {
		_ = s.runtime.Close()
		return nil, err
	}
	return s, nil
}

// Close ends all processes. Requests under way fail; asynchronous ones are taken up by the next start.
func (s *Service) Close() {
	s.closing.Do(func() {
		s.queue.close() // first, so that no asynchronous request is taken for failed
		close(s.closed)
		for _, p := range s.pools {
			p.close()
		}
		_ = s.runtime.Close()
	})
}

// Invoke runs a function and waits for its answer. The error is one of the Err values or the context's; then, as on AWS, a
// function that already works on the request goes on with it.
func (s *Service) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	return s.invoke(ctx, name, s.cfg.NewID(), payload)
}

func (s *Service) invoke(ctx context.Context, name, requestID string, payload []byte) (Result, error) {
	p, ok := s.pools[name]
	if !ok {
		return Result{}, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if len(payload) > MaxPayload {
		return Result{}, ErrTooLarge
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-s.closed:
		return Result{}, ErrClosed
	}
	answer := make(chan Result, 1)
	go func() {
		defer func() { <-p.slots }()
		answer <- p.run(request{id: requestID, payload: payload})
	}()
	select {
	case r := <-answer:
		return r, nil
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-s.closed:
		return Result{}, ErrClosed
	}
}

// failedResult is the payload of a request that its function never answered.
func failedResult(requestID, errorType, message string) Result {
	payload, _ := json.Marshal(map[string]string{
		"errorType": errorType, "errorMessage": fmt.Sprintf("RequestId: %s Error: %s", requestID, message),
	})
	return Result{RequestID: requestID, Payload: payload, Failed: true, ErrorType: errorType}
}

// readLimited reads a body of at most MaxPayload bytes; more gives ErrTooLarge.
func readLimited(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxPayload+1))
	if err == nil && len(body) > MaxPayload {
		return nil, ErrTooLarge
	}
	return body, err
}
