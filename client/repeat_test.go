package client_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// Attempts at one call have one key, so that lost answers create no second batch; calls have different ones.
func TestAttemptsHaveOneKey(t *testing.T) {
	s, c, _ := newClient(t)
	var mu sync.Mutex // requests whose answers are lost come on connections of their own
	keys := map[string]int{}
	const path = "/tm/realtime/api/transactions/batch/generate-upload-url"
	s.After = func(r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Idempotency-Key")
		keys[key]++
		return keys[key] < 3 // the answer is lost
	}
	ids := map[string]bool{}
	for range 2 {
		u, err := c.CreateUpload(t.Context(), true)
		errtest.Fatal(t, err)
		ids[u.BatchID] = true
	}
	first, err := c.CreateUploadWith(t.Context(), client.UploadOptions{IdempotencyKey: "mine"})
	second, err2 := c.CreateUploadWith(t.Context(), client.UploadOptions{IdempotencyKey: "mine"})
	if err != nil || err2 != nil || first.BatchID != second.BatchID {
		t.Errorf("two calls with one key: got %v and %v, errors %v and %v; want one batch", first.BatchID,
			second.BatchID, err, err2)
	}
	mu.Lock()
	defer mu.Unlock()
	if keys["mine"] != 4 || len(keys) != 3 || len(ids) != 2 || ids[first.BatchID] {
		t.Errorf("got the keys %v and the batches %v, want 3 keys, of which two make a batch each", keys, ids)
	}
}

// A call waits for an earlier attempt of its own, which the service still carries out or which was killed.
func TestEarlierAttemptIsRunning(t *testing.T) {
	s, c, p := newClient(t)
	attempts := 0
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/tm/realtime/event/transaction/v3" {
			return false
		}
		switch attempts++; {
		case attempts == 1:
			w.WriteHeader(http.StatusBadGateway)
		case attempts <= 12:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusConflict)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{}`))
		}
		return true
	}
	if _, err := c.SendTransaction(t.Context(), []byte(`{}`), client.SendOptions{}); err != nil || attempts != 13 {
		t.Errorf("got error %v after %d attempts, want none after 13", err, attempts)
	}
	var waited time.Duration
	for _, pause := range p.pauses {
		waited += pause
	}
	if waited < 30*time.Second || waited > 40*time.Second {
		t.Errorf("the call waited %v for the earlier attempt, want a little longer than that can take: %v", waited,
			p.pauses)
	}
	attempts = 1
	s.SetBefore(func(w http.ResponseWriter, _ *http.Request) bool {
		attempts++
		w.WriteHeader(http.StatusConflict)
		return true
	})
	if _, err := c.SendTransaction(t.Context(), []byte(`{}`), client.SendOptions{}); err == nil || attempts != 2 {
		t.Errorf("a conflict without Retry-After: got error %v after %d attempts, want one after 1", err, attempts-1)
	}
}
