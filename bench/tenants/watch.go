package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/client"
)

// tenant is one tenant with its batches.
type tenant struct {
	client        *client.Client
	apiURL, token string
	batches       []*benchBatch
	// whileAllWait is the number of its lines that were stored when, for the last time, every tenant had a batch that waited.
	whileAllWait int64
}

// benchBatch is what is known of a batch.
type benchBatch struct {
	id, status string
	waits      bool
	stored     int64
	// ended is when it ended, after the start.
	ended time.Duration
}

func (b *benchBatch) isEnded() bool { return (client.Status{Status: b.status}).IsTerminal() }

// requestToken asks for a token. It lives for an hour at least.
func requestToken(ctx context.Context, tokenURL, id, secret, scope string) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, tokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var out struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || out.Token == "" {
		return "", fmt.Errorf("no token: %s, %w", resp.Status, err)
	}
	return out.Token, nil
}

// calls records how status calls were answered. It is safe for concurrent use.
type calls struct {
	mu      sync.Mutex
	times   []time.Duration
	answers map[int]int
}

func newCalls() *calls { return &calls{answers: map[int]int{}} }

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
	calls   *calls
	start   time.Time
	// allWaited is when, for the last time, every tenant had a batch that waited.
	allWaited time.Duration
	mu        sync.Mutex
}

// watch uploads the file as all batches and reads the statuses until the end, or until the context ends.
func (w *watcher) watch(ctx context.Context, file string, pollers int) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	uploads, uploadCtx := errgroup.WithContext(ctx)
	for _, t := range w.tenants {
		uploads.Go(func() error { return w.upload(uploadCtx, t, text) })
	}
	var group errgroup.Group
	for i := range pollers {
		group.Go(func() error { w.poll(ctx, i, pollers); return nil })
	}
	err = uploads.Wait()
	if err != nil {
		return err
	}
	return group.Wait()
}

// upload uploads the batches of a tenant, one after the other.
func (w *watcher) upload(ctx context.Context, t *tenant, text []byte) error {
	for _, b := range t.batches {
		u, err := t.client.CreateUpload(ctx, true)
		if err == nil {
			err = t.client.UploadFile(ctx, u, strings.NewReader(string(text)), int64(len(text)), nil)
		}
		if err != nil {
			return err
		}
		w.mu.Lock()
		b.id, b.waits = u.BatchID, true
		w.mu.Unlock()
	}
	return nil
}

// poll reads the statuses of the batches whose numbers are i modulo n, again and again, until all of them have ended.
func (w *watcher) poll(ctx context.Context, i, n int) {
	for open := true; open && ctx.Err() == nil; {
		open = false
		number := 0
		for _, t := range w.tenants {
			for _, b := range t.batches {
				number++
				w.mu.Lock()
				id, isEnded := b.id, b.isEnded()
				w.mu.Unlock()
				if number%n != i || isEnded {
					continue
				}
				open = true
				if id != "" {
					w.readStatus(ctx, t, b, id)
				}
				select {
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// readStatus reads the status of a batch once.
func (w *watcher) readStatus(ctx context.Context, t *tenant, b *benchBatch, id string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.apiURL+"/tm/realtime/api/transactions/batch/status/"+id, nil)
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+t.token)
	began := time.Now()
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		w.calls.add(time.Since(began), 0)
		return
	}
	defer resp.Body.Close()
	var status client.Status
	err = json.NewDecoder(resp.Body).Decode(&status)
	w.calls.add(time.Since(began), resp.StatusCode)
	if err != nil || resp.StatusCode >= 300 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b.status, b.waits = status.Status, status.QueuePosition != nil || status.Status == ""
	if status.Counts.Ingested != nil {
		b.stored = *status.Counts.Ingested
	}
	if b.isEnded() {
		b.ended = time.Since(w.start)
	}
	w.noteWaiting()
}

// noteWaiting notes the lines stored of each tenant, if every one has a batch that waits.
func (w *watcher) noteWaiting() {
	for _, t := range w.tenants {
		if !slices.ContainsFunc(t.batches, func(b *benchBatch) bool { return b.waits || b.id == "" }) {
			return
		}
	}
	w.allWaited = time.Since(w.start)
	for _, t := range w.tenants {
		t.whileAllWait = 0
		for _, b := range t.batches {
			t.whileAllWait += b.stored
		}
	}
}
