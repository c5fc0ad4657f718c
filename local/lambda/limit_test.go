package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestLimiter(t *testing.T) {
	t.Parallel()
	l, err := newLimiter(103, []Function{{Name: "free"}, {Name: "a", Reserved: 2}, {Name: "b", Reserved: 1}})
	errtest.Fatal(t, err)
	// take begins requests until one is throttled, and returns their number and the reason.
	take := func(function string) (n int, reason string) {
		for {
			err := l.acquire(function)
			var throttled *ThrottledError
			if errors.As(err, &throttled) {
				return n, throttled.Reason
			}
			n++
		}
	}
	for _, test := range []struct {
		function string
		n        int
		reason   string
	}{
		{"free", 100, reasonAccount}, {"a", 2, reasonReserved}, {"b", 1, reasonReserved}, {"other", 0, reasonAccount},
	} {
		if n, reason := take(test.function); n != test.n || reason != test.reason {
			t.Errorf("%s: %d requests and then %s, want %d and %s", test.function, n, reason, test.n, test.reason)
		}
	}
	l.release("a")
	errtest.Fails(t, "what one function has reserved was given to another one", l.acquire("free"))
	errtest.Is(t, "after the end of a request", l.acquire("a"), nil)
	l.release("free")
	errtest.Is(t, "after the end of a request of another function", l.acquire("other"), nil)
	errtest.Is(t, "without a limit", (*limiter)(nil).acquire("free"), nil)
}

// As on AWS, 100 executions remain unreserved, and in a smaller account all of them.
func TestReservedFloor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		account, reserved int
		ok                bool
	}{
		{1000, 900, true}, {1000, 901, false}, {101, 1, true}, {101, 2, false}, {100, 0, true}, {100, 1, false},
		{10, 0, true}, {10, 1, false}, {1, 0, true}, {0, 5000, true},
	} {
		_, err := newLimiter(test.account, []Function{{Name: "a", Reserved: test.reserved}, {Name: "b"}})
		if (err == nil) != test.ok {
			t.Errorf("%d reserved of %d: %v, want success = %v", test.reserved, test.account, err, test.ok)
		}
	}
}

// holdAll begins n requests that hang, and waits until they run.
func (h *testService) holdAll(t *testing.T, n int) {
	t.Helper()
	for range n {
		go func() { _, _ = h.Invoke(context.Background(), "toy", []byte(`{"Do": "hang"}`)) }()
	}
	waitUntil(t, "requests that hang", func() bool { return len(h.pools["toy"].slots) == n })
}

func TestThrottling(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { c.AccountConcurrency = 2 })
	h.holdAll(t, 2)
	var throttled *ThrottledError
	if _, err := h.Invoke(t.Context(), "toy", []byte(`{}`)); !errors.As(err, &throttled) ||
		throttled.Reason != reasonAccount {
		t.Errorf("a third request of two: %v, want to be throttled for %s", err, reasonAccount)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequest("POST", PathPrefix+"toy/invocations", strings.NewReader("{}")))
	var body struct{ Type, Reason, Message string }
	errtest.Fatal(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	header := recorder.Header()
	if recorder.Code != http.StatusTooManyRequests || header.Get("X-Amzn-ErrorType") != "TooManyRequestsException" ||
		header.Get("Retry-After") == "" || body.Reason != reasonAccount || body.Type != "User" || body.Message == "" {
		t.Errorf("the Invoke API answers %d %v %s, want 429 with its type, Retry-After and the reason", recorder.Code,
			header, recorder.Body)
	}
	difftest.Equal(t, "throttled requests in the log", 2,
		strings.Count(h.log.all(), `{"type":"platform.throttled","reason":"`+reasonAccount+`"}`))
}

// A request that waits for a process counts; one that is given up while it waits does not any more.
func TestWaitingRequestsCount(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { c.AccountConcurrency = 3 })
	h.holdAll(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error, 1)
	go func() {
		_, err := h.Invoke(ctx, "toy", []byte(`{}`))
		waits <- err
	}()
	waitUntil(t, "a third request", func() bool { return h.limiter.left() == 0 })
	cancel()
	errtest.Is(t, "the request that was given up", <-waits, context.Canceled)
	difftest.Equal(t, "executions are left", 1, h.limiter.left())
}

// left returns the number of unreserved executions that may begin.
func (l *limiter) left() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unreserved
}

// An asynchronous request that is throttled does not count as failed: it runs when it can, however few retries its
// function has.
func TestThrottledAsynchronousRequests(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { c.AccountConcurrency = 1 })
	dir := t.TempDir()
	held := make(chan error, 1)
	go func() {
		_, err := h.Invoke(t.Context(), "toy", fmt.Appendf(nil, `{"Do": "meet", "Text": %q, "N": 2}`, dir))
		held <- err
	}()
	waitUntil(t, "the first request", func() bool { return countFiles(t, dir) == 1 })
	errtest.Fatal(t, errtest.Of(h.InvokeAsync("toy", []byte(`{}`))))
	waitUntil(t, "more attempts than a failing request gets", func() bool {
		return strings.Count(h.log.all(), "platform.throttled") > 10
	})
	difftest.Equal(t, "dead letters while the request is throttled", 0, countFiles(t, h.cfg.DeadLetterDir))
	errtest.Fatal(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	errtest.Fatal(t, <-held)
	waitUntil(t, "an empty journal", func() bool { return countFiles(t, h.cfg.JournalDir) == 0 })
	difftest.Equal(t, "dead letters", 0, countFiles(t, h.cfg.DeadLetterDir))
}

func TestEventAge(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) {
		c.AccountConcurrency = 1
		f.MaxEventAge = 20 * time.Millisecond
	})
	h.holdAll(t, 1)
	id := errtest.Must(h.InvokeAsync("toy", []byte(`{}`)))(t)
	waitUntil(t, "an empty journal", func() bool { return countFiles(t, h.cfg.JournalDir) == 0 })
	text, err := os.ReadFile(filepath.Join(h.cfg.DeadLetterDir, id+".json"))
	if err != nil || !strings.Contains(string(text), "Rate Exceeded") {
		t.Errorf("dead letter %s, %v; want one that was throttled until it was too old", text, err)
	}
}

func TestRetryDelays(t *testing.T) {
	t.Parallel()
	q := &queue{service: &Service{cfg: Config{RetryDelay: time.Second}, pools: map[string]*pool{
		"f": {fn: Function{Retries: 2}}, "young": {fn: Function{Retries: 2, MaxEventAge: time.Minute}},
	}}}
	for _, test := range []struct {
		name      string
		function  string
		age       time.Duration
		throttled []bool
		want      string
	}{
		{"failures", "f", 0, []bool{false, false, false}, "[1s 2s end]"},
		{"throttled", "f", 0, slices.Repeat([]bool{true}, 12), "[1s 2s 4s 5s 5s 5s 5s 5s 5s 5s 5s 5s]"},
		{"both", "f", 0, []bool{true, false, true, false, true, false}, "[1s 1s 2s 2s 4s end]"},
		{"before the end of the age", "f", 6*time.Hour - time.Second - 1, []bool{true}, "[1s]"},
		{"at the end of the age", "f", 6*time.Hour - time.Second, []bool{true}, "[end]"},
		{"a failure at the end of the age", "f", 6*time.Hour - time.Second, []bool{false}, "[end]"},
		{"the age of the function", "young", time.Minute - time.Second, []bool{true}, "[end]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // no time passes
				e := asyncRequest{Function: test.function, Accepted: time.Now().Add(-test.age)}
				var got []string
				for _, throttled := range test.throttled {
					delay, again := q.retryDelay(&e, throttled)
					if !again {
						got = append(got, "end")
						break
					}
					got = append(got, delay.String())
				}
				if fmt.Sprint(got) != test.want {
					t.Errorf("got %v, want %s", got, test.want)
				}
			})
		})
	}
}
