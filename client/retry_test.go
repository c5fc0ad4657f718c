package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// failFirst answers the first n requests whose path contains path with a status and headers.
func failFirst(s *clienttest.Server, path string, n int, status int, header http.Header) {
	var seen atomic.Int64
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, path) || seen.Add(1) > int64(n) {
			return false
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		fmt.Fprint(w, `{"message":"not now"}`)
		return true
	}
}

func TestTemporaryFailuresAreRetried(t *testing.T) {
	for _, path := range []string{"/oauth2/token", "generate-upload-url"} {
		for _, status := range []int{500, 502, 503, 504} {
			t.Run(fmt.Sprint(path, " ", status), func(t *testing.T) {
				s, c, p := newClient(t)
				failFirst(s, path, 3, status, nil)
				createUpload(t, c)
				want := []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}
				difftest.Equal(t, "pauses", want, p.pauses)
			})
		}
	}
	t.Run("429 with Retry-After", func(t *testing.T) {
		s, c, p := newClient(t)
		failFirst(s, "generate-upload-url", 1, 429, http.Header{"Retry-After": {"7"}})
		createUpload(t, c)
		difftest.Equal(t, "pauses", []time.Duration{7 * time.Second}, p.pauses)
	})
}

// A call waits as long as a limit asks for, says so, and gives up at once if that is too long.
func TestLimitsAreWaitedFor(t *testing.T) {
	for _, path := range []string{"/oauth2/token", "generate-upload-url"} {
		s, c, p := newClient(t)
		failFirst(s, path, 2, 429, http.Header{"Retry-After": {"120"}})
		createUpload(t, c)
		difftest.Equal(t, fmt.Sprintf("%s: pauses", path), []time.Duration{2 * time.Minute, 2 * time.Minute}, p.pauses)
		s, c, p = newClient(t)
		failFirst(s, path, 1, 429, http.Header{"Retry-After": {"121"}})
		if _, err := c.CreateUpload(t.Context(), true); err == nil || len(p.pauses) > 0 {
			t.Errorf("%s: %v after the pauses %v, want the refusal at once", path, err, p.pauses)
		}
	}
}

// A service that says when to try again is busy, and is asked more often.
func TestBusyServiceIsAskedAgain(t *testing.T) {
	for _, path := range []string{"/oauth2/token", "generate-upload-url"} {
		s, c, p := newClient(t)
		failFirst(s, path, 7, 503, http.Header{"Retry-After": {"1"}})
		createUpload(t, c)
		want := []time.Duration{1000, 1000, 1000, 1600, 3200, 6400, 12800}
		for i := range want {
			want[i] *= time.Millisecond
		}
		difftest.Equal(t, fmt.Sprintf("%s: pauses", path), want, p.pauses)
	}
}

// The readings of a status go on while the service is busy, as the batch does, but not for ever.
func TestFollowOutlivesABusyService(t *testing.T) {
	for busy, ends := range map[int]bool{100: true, 100_000: false} {
		var now atomic.Int64
		clock := func() time.Time { return time.Unix(1_800_000_000, now.Load()) }
		s, c, p := newClient(t, func(config *client.Config) {
			pause := config.Pause
			config.Now = clock
			config.Pause = func(ctx context.Context, d time.Duration) error {
				now.Add(int64(d))
				return pause(ctx, d)
			}
		})
		u := createUpload(t, c)
		errtest.Fatal(t, uploadText(t, c, u, good))
		failFirst(s, "/status/", busy, 503, http.Header{"Retry-After": {"1"}})
		last, err := c.Follow(t.Context(), u.BatchID, nil, nil)
		if ends && (err != nil || !last.IsTerminal()) {
			t.Errorf("%d busy answers: %+v, %v; want the end of the batch", busy, last, err)
		}
		var refused *client.Error
		if !ends && (!errors.As(err, &refused) || refused.Status != 503) {
			t.Errorf("a service that stays busy: %v after %d pauses, want its 503", err, len(p.pauses))
		}
	}
}

func TestPermanentFailuresAreReturned(t *testing.T) {
	for status, requests := range map[int]int{403: 1, 404: 1, 422: 1, 503: 4} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s, c, _ := newClient(t)
			failFirst(s, "generate-upload-url", 100, status, nil)
			_, err := c.CreateUpload(t.Context(), true)
			var refused *client.Error
			if !errors.As(err, &refused) || refused.Status != status || refused.Message != "not now" {
				t.Errorf("CreateUpload returned %v, want a %d with the message", err, status)
			}
			if n := countRequests(s, "POST /tm"); n != requests {
				t.Errorf("%d requests, want %d", n, requests)
			}
		})
	}
	s, c, _ := newClient(t)
	_, err := c.Status(t.Context(), "no-uuid")
	if err == nil || !strings.Contains(err.Error(), "path.batch_id: The value must be a UUID.") {
		t.Errorf("an ID that is not a UUID: %v, want the detail of the 422", err)
	}
	s.Close()
	var unreachable *client.UnreachableError
	_, err = c.CreateUpload(t.Context(), true)
	if !errors.As(err, &unreachable) || "http://"+unreachable.Host != s.URL {
		t.Errorf("a server that is gone: %v, want an UnreachableError for %s", err, s.URL)
	}
}

func TestGentlyStaysUnderTheRateLimit(t *testing.T) {
	for start := range 40 {
		var total time.Duration
		for n := start + 1; n <= start+120; n++ {
			total += client.Gently(n)
		}
		if total < time.Minute {
			t.Errorf("120 readings from number %d take %v, want at least a minute", start+1, total)
		}
	}
}

func TestCanceledContextEndsTheCall(t *testing.T) {
	s, c, p := newClient(t)
	failFirst(s, "generate-upload-url", 100, 503, nil)
	ctx, cancel := context.WithCancel(t.Context())
	s.After = func(*http.Request) bool { cancel(); return false }
	if _, err := c.CreateUpload(ctx, true); !errors.Is(err, context.Canceled) {
		t.Errorf("CreateUpload returned %v, want context.Canceled", err)
	}
	if len(p.pauses) > 0 {
		t.Errorf("pauses %v, want none", p.pauses)
	}
}
