package lambda

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

// asyncRequest is an asynchronous request, as it is stored in the journal.
type asyncRequest struct {
	ID       string          `json:"id"`
	Function string          `json:"function"`
	Payload  json.RawMessage `json:"payload"`
	// Accepted is when the request was accepted; the zero time in journals of earlier releases.
	Accepted time.Time `json:"accepted,omitzero"`
	// Failure is the last result, set in a dead letter.
	Failure json.RawMessage `json:"failure,omitempty"`

	// attempts counts the failures of the function, throttles its invocations that were throttled.
	attempts, throttles int
}

// queue runs asynchronous requests: each at least once, and again after a failure up to the number of retries of its
// function. A throttled invocation does not count as a failure: it is tried again until the request is too old. AWS
// describes both in "How Lambda handles errors and retries with asynchronous invocation". The minutes of that page are
// seconds here: a failed request waits for 1 and 2 of them, and a throttled one for 1 second and for at most 5 minutes.
type queue struct {
	service    *Service
	ctx        context.Context
	cancel     context.CancelFunc
	wake       chan struct{}
	slots      chan struct{}
	goroutines sync.WaitGroup

	mu      sync.Mutex
	waiting []queuedRequest
}

// queuedRequest is a request that waits for an attempt.
type queuedRequest struct {
	asyncRequest
	// dueAt is when the next attempt may begin; zero means at once.
	dueAt time.Time
}

// maxParallelRequests is the largest number of asynchronous requests that run at a time, over all functions.
const maxParallelRequests = 16

// newQueue starts a queue with the requests in the journal.
func newQueue(ctx context.Context, s *Service) (*queue, error) {
	ctx, cancel := context.WithCancel(ctx)
	q := &queue{
		service: s,
		ctx:     ctx,
		cancel:  cancel,
		wake:    make(chan struct{}, 1),
		slots:   make(chan struct{}, maxParallelRequests),
	}
	for _, dir := range []string{s.cfg.JournalDir, s.cfg.DeadLetterDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			cancel()
			return nil, err
		}
	}
	if err := q.loadJournal(); err != nil {
		cancel()
		return nil, err
	}
	q.goroutines.Add(1)
	go q.dispatch()
	return q, nil
}

// loadJournal queues the requests that an earlier run left unfinished. Temporary files belong to requests that were
// never accepted.
func (q *queue) loadJournal() error {
	files, err := os.ReadDir(q.service.cfg.JournalDir)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(q.service.cfg.JournalDir, f.Name())
		if strings.HasSuffix(f.Name(), ".tmp") {
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var e asyncRequest
		if err := json.Unmarshal(text, &e); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		if e.Accepted.IsZero() {
			e.Accepted = time.Now()
		}
		q.waiting = append(q.waiting, queuedRequest{asyncRequest: e})
	}
	return nil
}

// InvokeAsync accepts an asynchronous request and returns its ID. When it returns, the request is stored in the
// journal. It runs at least once, even if the program ends in the meantime, and its result is discarded.
func (s *Service) InvokeAsync(name string, payload []byte) (requestID string, err error) {
	if _, ok := s.pools[name]; !ok {
		return "", fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if len(payload) > MaxPayload {
		return "", ErrTooLarge
	}
	deliveries := []time.Duration{0}
	if s.cfg.Deliveries != nil {
		deliveries = s.cfg.Deliveries(name, payload)
	}
	requestID = s.cfg.NewID()
	for i, after := range deliveries {
		e := asyncRequest{ID: requestID, Function: name, Payload: payload, Accepted: time.Now()}
		if i > 0 {
			e.ID = s.cfg.NewID() // of its file in the journal
		}
		if err := writeRequest(s.cfg.JournalDir, e); err != nil {
			return "", err
		}
		s.queue.push(queuedRequest{asyncRequest: e, dueAt: time.Now().Add(after)})
	}
	return requestID, nil
}

// writeRequest stores a request in a folder. Readers see the file complete or not at all.
func writeRequest(dir string, e asyncRequest) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, e.ID+".json")
	if err := os.WriteFile(path+".tmp", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// push queues a request.
func (q *queue) push(d queuedRequest) {
	q.mu.Lock()
	q.waiting = append(q.waiting, d)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// nextDue removes and returns a request that is due, or returns the time until the next one will be.
func (q *queue) nextDue(now time.Time) (d queuedRequest, ok bool, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wait = time.Hour
	for i, candidate := range q.waiting {
		if left := candidate.dueAt.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
		return candidate, true, 0
	}
	return queuedRequest{}, false, wait
}

// dispatch runs requests when they are due, until the queue is closed.
func (q *queue) dispatch() {
	defer q.goroutines.Done()
	for {
		select {
		case q.slots <- struct{}{}:
		case <-q.ctx.Done():
			return
		}
		d, ok, wait := q.nextDue(time.Now())
		if ok {
			q.goroutines.Add(1)
			go func() {
				defer q.goroutines.Done()
				defer func() { <-q.slots }()
				q.runAttempt(d)
			}()
			continue
		}
		<-q.slots
		timer := time.NewTimer(wait)
		select {
		case <-q.wake:
		case <-timer.C:
		case <-q.ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// runAttempt runs a request once and decides what happens to it after that.
func (q *queue) runAttempt(d queuedRequest) {
	cfg := q.service.cfg
	result, err := q.service.invoke(q.ctx, d.Function, d.ID, d.Payload)
	if q.ctx.Err() != nil {
		return // the request remains in the journal for the next start
	}
	journal := filepath.Join(cfg.JournalDir, d.ID+".json")
	if err == nil && !result.Failed {
		_ = os.Remove(journal) // if this fails, the request runs again at the next start
		return
	}
	var throttled *ThrottledError
	switch {
	case errors.As(err, &throttled):
		result = failedResult(d.ID, "Lambda.TooManyRequestsException", err.Error())
	case err != nil:
		result = failedResult(d.ID, "Lambda.Unknown", err.Error())
	}
	if delay, again := q.retryDelay(&d.asyncRequest, throttled != nil); again {
		d.dueAt = time.Now().Add(delay)
		q.push(d)
		return
	}
	d.Failure = result.Payload
	q.storeDeadLetter(d.asyncRequest)
	cfg.Log.WriteLine(d.Function, d.ID, fmt.Appendf(nil,
		`{"type":"platform.deadLetter","attempts":%d,"errorType":%q}`, d.attempts, result.ErrorType))
	_ = os.Remove(journal)
}

// maxThrottleDelays limits the time between two attempts of a request that is throttled, in RetryDelays.
const maxThrottleDelays = 5

// defaultMaxEventAge is how long AWS retries a request unless its function has a setting of its own.
const defaultMaxEventAge = 6 * time.Hour

// retryDelay counts an attempt that failed or was throttled. It returns the time until the next one, and false if there
// is none: the function has failed too often, or the request would be too old by then.
func (q *queue) retryDelay(e *asyncRequest, throttled bool) (delay time.Duration, again bool) {
	retries, maxAge := 0, defaultMaxEventAge
	if p, ok := q.service.pools[e.Function]; ok {
		retries = p.fn.Retries
		if p.fn.MaxEventAge > 0 {
			maxAge = p.fn.MaxEventAge
		}
	}
	unit := q.service.cfg.RetryDelay
	if throttled {
		delay = min(unit<<min(e.throttles, 10), maxThrottleDelays*unit)
		e.throttles++
	} else {
		delay = unit << e.attempts
		if e.attempts++; e.attempts > retries {
			return 0, false
		}
	}
	return delay, time.Since(e.Accepted)+delay < maxAge
}

// storeDeadLetter stores a request whose last attempt has failed. As on AWS, the function's role needs permission to
// send it.
func (q *queue) storeDeadLetter(e asyncRequest) {
	cfg := q.service.cfg
	var err error
	if cfg.AuthorizeDeadLetter != nil {
		err = cfg.AuthorizeDeadLetter(e.Function)
	}
	if err == nil {
		err = writeRequest(cfg.DeadLetterDir, e)
	}
	if err != nil {
		cfg.Log.WriteLine(e.Function, e.ID, fmt.Appendf(nil, "store the dead letter: %v", err))
	}
}

// close stops the queue and waits for the attempts in progress to be interrupted.
func (q *queue) close() {
	q.cancel()
	q.goroutines.Wait()
}
