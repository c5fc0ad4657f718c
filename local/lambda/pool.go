package lambda

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// request is one request to a function.
type request struct {
	id      string
	payload []byte
	// deadline is set when a process receives the request.
	deadline time.Time
}

// pool holds the processes of one function.
type pool struct {
	service *Service
	fn      Function
	// version is the number of the version that the processes run, or $LATEST.
	version string
	// slots holds one element for each request that is running.
	slots chan struct{}

	mu sync.Mutex
	// idle has the process used last at its end, so that processes in excess become idle long enough to be ended.
	idle      []*sandbox
	all       map[*sandbox]bool
	closed    bool
	idleTimer *time.Timer
}

func newPool(s *Service, f Function, version string) *pool {
	return &pool{service: s, fn: f, version: version, slots: make(chan struct{}, f.Concurrency),
		all: map[*sandbox]bool{}}
}

// run gives a request to an idle process, or a new one, and returns the result.
func (p *pool) run(r request) Result {
	if p.fn.Endpoint != "" {
		return p.runRemotely(r)
	}
	for {
		box, fresh, err := p.acquire()
		if err != nil {
			return failedResult(r.id, "Runtime.InvalidEntrypoint", err.Error())
		}
		result, answered, lost := box.run(r)
		if lost && !fresh {
			// The idle process ended before it received the request, which may be given to another.
			p.discard(box)
			continue
		}
		if answered {
			p.release(box)
		} else {
			p.discard(box)
		}
		return result
	}
}

// runRemotely sends a request to the Lambda endpoint that runs the function, which is responsible for the function's
// settings and its timeout. The time to wait includes a cold start.
func (p *pool) runRemotely(r request) Result {
	client := http.Client{Timeout: p.fn.Timeout + p.service.cfg.InitTimeout}
	address := strings.TrimSuffix(p.fn.Endpoint, "/") + PathPrefix + url.PathEscape(p.fn.Name) + "/invocations"
	resp, err := client.Post(address, "application/json", bytes.NewReader(r.payload))
	if err != nil {
		return unreachableResult(r, err)
	}
	defer resp.Body.Close()
	payload, err := io.ReadAll(io.LimitReader(resp.Body, MaxPayload+1))
	switch {
	case err != nil:
		return unreachableResult(r, err)
	case len(payload) > MaxPayload:
		return failedResult(r.id, "Function.ResponseSizeTooLarge",
			"Response payload size exceeded maximum allowed payload size (6291456 bytes).")
	case resp.StatusCode != http.StatusOK:
		return failedResult(r.id, "Lambda.ServiceException",
			fmt.Sprintf("%s: %s %.300s", p.fn.Name, resp.Status, payload))
	case len(payload) == 0:
		// `sam local` sends an empty response if a function exceeds its timeout.
		return failedResult(r.id, "Sandbox.Timedout", p.fn.Name+" did not respond.")
	case resp.Header.Get("X-Amz-Function-Error") == "":
		return Result{RequestID: r.id, Payload: payload}
	}
	var failed struct {
		ErrorType string `json:"errorType"`
	}
	_ = json.Unmarshal(payload, &failed) // a failure without a type remains a failure
	return Result{RequestID: r.id, Payload: payload, Failed: true, ErrorType: failed.ErrorType}
}

// unreachableResult returns the result of a request whose endpoint could not be reached or did not respond in time.
func unreachableResult(r request, err error) Result {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return failedResult(r.id, "Sandbox.Timedout", err.Error())
	}
	return failedResult(r.id, "Lambda.ServiceException", err.Error())
}

// acquire returns an idle process, or starts one.
func (p *pool) acquire() (box *sandbox, fresh bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		box = p.idle[n-1]
		p.idle = p.idle[:n-1]
		return box, false, nil
	}
	if box, err = startSandbox(p.service, p.fn, p.version); err != nil {
		return nil, false, fmt.Errorf("start %s: %w", p.fn.Program, err)
	}
	p.all[box] = true
	return box, true, nil
}

// release makes a process available for the next request.
func (p *pool) release(box *sandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	box.idleSince = time.Now()
	p.idle = append(p.idle, box)
	if p.idleTimer == nil {
		p.idleTimer = time.AfterFunc(p.service.cfg.IdleTimeout, p.endIdleProcesses)
	}
}

// discard ends a process that must not be used again.
func (p *pool) discard(box *sandbox) {
	p.mu.Lock()
	delete(p.all, box)
	p.mu.Unlock()
	box.kill()
}

// endIdleProcesses ends the processes that have been idle for the idle timeout, and schedules the next check if any
// remain.
func (p *pool) endIdleProcesses() {
	p.mu.Lock()
	p.idleTimer = nil
	keep := p.idle[:0]
	var old []*sandbox
	for _, box := range p.idle {
		if time.Since(box.idleSince) >= p.service.cfg.IdleTimeout {
			old = append(old, box)
			delete(p.all, box)
		} else {
			keep = append(keep, box)
		}
	}
	p.idle = keep
	if len(keep) > 0 && !p.closed {
		p.idleTimer = time.AfterFunc(p.service.cfg.IdleTimeout, p.endIdleProcesses)
	}
	p.mu.Unlock()
	for _, box := range old {
		box.kill()
	}
}

// close ends all processes.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.idleTimer != nil {
		p.idleTimer.Stop()
	}
	boxes := p.all
	p.all = map[*sandbox]bool{}
	p.mu.Unlock()
	for box := range boxes {
		box.kill()
	}
}

// The reasons for which Lambda throttles a request, as its API reference (Invoke, TooManyRequestsException) names them.
const (
	reasonAccount  = "ConcurrentInvocationLimitExceeded"
	reasonReserved = "ReservedFunctionConcurrentInvocationLimitExceeded"
)

// minUnreserved is what an account must leave to functions without a reservation: 100 executions ("Configuring reserved
// concurrency for a function"), or all of them in an account that has fewer, as a new one has.
const minUnreserved = 100

// ThrottledError is the error of a request that did not run because too many others do. It may be sent again.
type ThrottledError struct {
	// Reason is one of those that the Invoke API names.
	Reason string
}

// Error returns the message of AWS.
func (e *ThrottledError) Error() string { return "Rate Exceeded." }

// limiter counts what an account may still run. It is safe for concurrent use.
type limiter struct {
	mu sync.Mutex
	// unreserved is how many more requests of functions without a reservation may run.
	unreserved int
	// reserved holds how many more requests of a function with a reservation may run, by its name.
	reserved map[string]int
}

// newLimiter returns the limiter of an account, or nil, which is no limit, for 0. Like AWS, it returns an error if the
// functions reserve more than an account can give away.
func newLimiter(account int, functions []Function) (*limiter, error) {
	if account == 0 {
		return nil, nil
	}
	l := &limiter{unreserved: account, reserved: map[string]int{}}
	floor := min(minUnreserved, account)
	for _, f := range functions {
		if f.Reserved == 0 {
			continue
		}
		if l.unreserved -= f.Reserved; l.unreserved < floor {
			return nil, fmt.Errorf("function %s: its ReservedConcurrentExecutions of %d would leave %d of the "+
				"account's %d concurrent executions unreserved; AWS demands %d", f.Name, f.Reserved,
				max(l.unreserved, 0), account,
				floor)
		}
		l.reserved[f.Name] = f.Reserved
	}
	return l, nil
}

// acquire counts a request of a function that begins. It returns a ThrottledError if too many run.
func (l *limiter) acquire(function string) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left, hasReservation := l.reserved[function]
	switch {
	case hasReservation && left == 0:
		return &ThrottledError{reasonReserved}
	case hasReservation:
		l.reserved[function]--
	case l.unreserved == 0:
		return &ThrottledError{reasonAccount}
	default:
		l.unreserved--
	}
	return nil
}

// release counts a request that has ended.
func (l *limiter) release(function string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, hasReservation := l.reserved[function]; hasReservation {
		l.reserved[function]++
	} else {
		l.unreserved++
	}
}
