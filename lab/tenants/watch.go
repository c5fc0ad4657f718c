package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/client"
)

// tenant is one tenant with its batches.
type tenant struct {
	client  *client.Client
	batches []*benchBatch
	// text is the file of each of its batches, which has so many lines.
	text  []byte
	lines int64
}

// ids returns the IDs of the batches that were created.
func (t *tenant) ids() []string {
	var out []string
	for _, b := range t.batches {
		if b.id != "" {
			out = append(out, b.id)
		}
	}
	return out
}

// benchBatch is what is known of a batch.
type benchBatch struct {
	id string
	// status is the latest one that was read; "" if none was.
	status, message string
}

// calls records how requests for statuses were answered, each attempt on its own. It is safe for concurrent use.
type calls struct {
	mu      sync.Mutex
	times   []time.Duration
	answers map[int]int
}

func newCalls() *calls { return &calls{answers: map[int]int{}} }

// RoundTrip implements http.RoundTripper.
func (c *calls) RoundTrip(request *http.Request) (*http.Response, error) {
	began := time.Now()
	resp, err := http.DefaultTransport.RoundTrip(request)
	if strings.Contains(request.URL.Path, "/batch/status/") && request.Context().Err() == nil {
		code := 0
		if err == nil {
			code = resp.StatusCode
		}
		c.add(time.Since(began), code)
	}
	return resp, err
}

func (c *calls) add(d time.Duration, code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times = append(c.times, d)
	c.answers[code]++
}

func (c *calls) count() int { return len(c.times) }

// quantile returns the time below which a share of the calls was answered.
func (c *calls) quantile(share float64) time.Duration {
	if len(c.times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(c.times))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// watcher uploads the batches of all tenants and reads their statuses until all have ended.
type watcher struct {
	tenants []*tenant
	// small is the tenant with small batches; nil if there is none.
	small *tenant
	calls *calls
	start time.Time
	// uploaded is when the last upload had been accepted; 0 if one is missing.
	uploaded time.Duration
	mu       sync.Mutex
}

// all returns all tenants.
func (w *watcher) all() []*tenant {
	if w.small == nil {
		return w.tenants
	}
	return append(slices.Clone(w.tenants), w.small)
}

// watch uploads all batches and reads the statuses until the end, or until the context ends.
func (w *watcher) watch(ctx context.Context, pollers int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	uploads := new(errgroup.Group)
	for _, t := range w.tenants {
		uploads.Go(func() error { return w.upload(ctx, t, false) })
	}
	var group errgroup.Group
	for i := range pollers {
		group.Go(func() error { w.poll(ctx, i, pollers); return nil })
	}
	err := uploads.Wait()
	if err == nil {
		w.uploaded = time.Since(w.start)
		if w.small != nil {
			err = w.upload(ctx, w.small, true)
		}
	}
	switch {
	case err == nil:
	case ctx.Err() == nil:
		cancel() // a refusal that no repetition mends
	default:
		err = nil // patience has ended: what there is, is the result
	}
	return errors.Join(err, group.Wait())
}

// upload uploads the batches of a tenant, one after the other, or each after the one before has ended. What is refused
// for the time being is repeated until the context ends: the client's own repetitions are those of somebody in a hurry.
func (w *watcher) upload(ctx context.Context, t *tenant, inTurn bool) error {
	for i, b := range t.batches {
		for inTurn && i > 0 && !w.hasEnded(t.batches[i-1]) {
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
		var u client.Upload
		err := patiently(ctx, func() (err error) { u, err = t.client.CreateUpload(ctx, true); return err })
		if err == nil {
			err = patiently(ctx, func() error {
				err := t.client.UploadFile(ctx, u, bytes.NewReader(t.text), int64(len(t.text)), nil)
				if errors.Is(err, client.ErrAlreadyUploaded) {
					return nil // by the attempt before, whose answer was lost
				}
				return err
			})
		}
		if err != nil {
			return err
		}
		w.mu.Lock()
		b.id = u.BatchID
		w.mu.Unlock()
	}
	return nil
}

// patiently repeats a call until it succeeds, the context ends, or the answer is one that repeating does not change.
func patiently(ctx context.Context, call func() error) error {
	for {
		err := call()
		after, again := pauseAfter(err)
		if !again || pause(ctx, after) != nil {
			return err
		}
	}
}

// pause waits for a time, or returns an error once the context has ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pauseAfter returns how long to wait before a call that failed is repeated, and false if that makes no sense.
func pauseAfter(err error) (time.Duration, bool) {
	var refused *client.Error
	var token *client.TokenError
	var storage *client.StorageError
	var unreachable *client.UnreachableError
	status, after := 0, time.Duration(0)
	switch {
	case errors.As(err, &refused):
		status, after = refused.Status, refused.RetryAfter
	case errors.As(err, &token):
		status, after = token.Status, token.RetryAfter
	case errors.As(err, &storage):
		status = storage.Status
	case errors.As(err, &unreachable):
		status = http.StatusServiceUnavailable
	}
	return max(after, time.Second), status == http.StatusTooManyRequests || status >= 500
}

// poll reads the statuses of the batches whose numbers are i modulo n, again and again, until all of them have ended.
func (w *watcher) poll(ctx context.Context, i, n int) {
	for open := true; open && ctx.Err() == nil; {
		open = false
		number := 0
		for _, t := range w.all() {
			for _, b := range t.batches {
				number++
				if number%n != i || w.hasEnded(b) {
					continue
				}
				open = true
				w.readStatus(ctx, t, b)
				if pause(ctx, 50*time.Millisecond) != nil {
					return
				}
			}
		}
	}
}

// hasEnded reports whether a batch is known to have ended.
func (w *watcher) hasEnded(b *benchBatch) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return client.IsTerminal(b.status)
}

// readStatus reads the status of a batch that was created, as a client does that is asked to wait.
func (w *watcher) readStatus(ctx context.Context, t *tenant, b *benchBatch) {
	w.mu.Lock()
	id := b.id
	w.mu.Unlock()
	if id == "" {
		return
	}
	status, err := t.client.Status(ctx, id)
	if err != nil {
		return // it was recorded, and is read again
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b.status, b.message = status.Status, status.ErrorMessage
}
