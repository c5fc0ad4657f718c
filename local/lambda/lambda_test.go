package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestInvoke(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	r, result := h.invokeEvent(t, `{"Text": "hello"}`)
	if r.Text != "hello" || r.RequestID != result.RequestID || r.Left <= 0 || r.Left > timeout {
		t.Errorf("got %+v, request %s: %s", r, result.RequestID, result.Payload)
	}
	again, _ := h.invokeEvent(t, `{}`)
	if again.PID != r.PID {
		t.Errorf("process %d handled the second request, want %d again", again.PID, r.PID)
	}
	for name, want := range map[string]string{"OWN": "value", "AWS_REGION": "eu-west-1",
		"AWS_LAMBDA_FUNCTION_NAME": "toy", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128", "HOME": ""} {
		if got, _ := h.invokeEvent(t, fmt.Sprintf(`{"Do": "env", "Text": %q}`, name)); got.Text != want {
			t.Errorf("%s is %q, want %q", name, got.Text, want)
		}
	}
	errtest.Is(t, "unknown function", errtest.Of(h.Invoke(t.Context(), "other", nil)), ErrNotFound)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	first, _ := h.invokeEvent(t, `{}`)
	tests := []struct {
		event, errorType string
		survives         bool
	}{
		{`{"Do": "fail", "Text": "no"}`, "errorString", true},
		{`{"Do": "fail by type"}`, "Transient", true},
		{`{"Do": "exit", "N": 2}`, "Runtime.ExitError", false},
		{`{"Do": "panic", "Text": "oh"}`, "string", false},
		{`{"Do": "hold", "N": 200}`, "Runtime.ExitError", false},
		{`{"Do": "big", "N": 6291457}`, "Function.ResponseSizeTooLarge", false},
	}
	for _, test := range tests {
		_, result := h.invokeEvent(t, test.event)
		difftest.Equal(t, test.event+": failed", []any{true, test.errorType}, []any{result.Failed, result.ErrorType})
		next, _ := h.invokeEvent(t, `{}`)
		difftest.Equal(t, test.event+": process survived", test.survives, next.PID == first.PID)
		first = next
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { f.Timeout = 500 * time.Millisecond })
	var first reply
	waitUntil(t, "a first request that is answered", func() bool {
		r, result := h.invokeEvent(t, `{}`)
		first = r
		return !result.Failed
	})
	if _, result := h.invokeEvent(t, `{"Do": "hang"}`); !result.Failed || result.ErrorType != "Sandbox.Timedout" {
		t.Errorf("failed = %v with %q, want true with Sandbox.Timedout", result.Failed, result.ErrorType)
	}
	// The process of the request that timed out is killed: the next request gets another one.
	waitUntil(t, "another request that is answered", func() bool {
		r, result := h.invokeEvent(t, `{}`)
		if !result.Failed && r.PID == first.PID {
			t.Errorf("process %d survived a request that timed out", r.PID)
		}
		return !result.Failed
	})
}

// The time that a process needs to start is not the function's. Whether a reply says so depends on the machine, too:
// one of some must.
func TestStartTakesNoTimeOfTheFunction(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { f.Environment["AT_START"] = "late" })
	waitUntil(t, "a request with more time than is left after the start", func() bool {
		r, result := h.invokeEvent(t, `{}`)
		if result.Failed {
			t.Fatalf("the request failed: %s", result.Payload)
		}
		h.invokeEvent(t, `{"Do": "exit"}`) // so that the next request starts another process
		return r.Left > timeout-100*time.Millisecond
	})
}

func TestSizes(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	quotes := len(`{"Text":""}`)
	for n, ok := range map[int]bool{MaxPayload - 1: true, MaxPayload: true, MaxPayload + 1: false} {
		payload := `{"Text":"` + strings.Repeat(" ", n-quotes) + `"}`
		// The response is longer than the request, so that the text must not be returned.
		payload = strings.Replace(payload, "Text", "Else", 1)
		_, err := h.Invoke(t.Context(), "toy", []byte(payload))
		if ok != (err == nil) || !ok && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d bytes: %v, want success = %v", n, err, ok)
		}
	}
	_, result := h.invokeEvent(t, `{"Do": "big"}`)
	rest := len(result.Payload) + 8 // numbers in the response vary in length
	if _, result = h.invokeEvent(t, fmt.Sprintf(`{"Do": "big", "N": %d}`, MaxPayload-rest)); result.Failed {
		t.Errorf("response below the limit: %s, want success", result.ErrorType)
	}
}

func TestStartFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		atStart, errorType string
		initTimeout        time.Duration
	}{
		{"exit", "Runtime.ExitError", timeout},
		{"hang", "Sandbox.Timedout", 200 * time.Millisecond},
	} {
		t.Run(test.atStart, func(t *testing.T) {
			h := newTestService(t, func(f *Function, c *Config) {
				f.Environment["AT_START"] = test.atStart
				c.InitTimeout = test.initTimeout
			})
			if _, result := h.invokeEvent(t, `{}`); result.ErrorType != test.errorType {
				t.Errorf("error type %q, want %q", result.ErrorType, test.errorType)
			}
		})
	}
	h := newTestService(t, func(f *Function, c *Config) { f.Program = "/does/not/exist" })
	if _, result := h.invokeEvent(t, `{}`); result.ErrorType != "Runtime.InvalidEntrypoint" {
		t.Errorf("missing program: %q, want Runtime.InvalidEntrypoint", result.ErrorType)
	}
}

func TestEndOfIdleProcessFailsNoRequest(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	for range 5 {
		if _, result := h.invokeEvent(t, `{"Do": "exit later", "N": 1}`); result.Failed {
			// It may end before it has sent its response, which is a failure of this request.
			continue
		}
		waitUntil(t, "the end of the process", func() bool {
			h.pools["toy"].mu.Lock()
			defer h.pools["toy"].mu.Unlock()
			for box := range h.pools["toy"].all {
				select {
				case <-box.group.Done():
				default:
					return false
				}
			}
			return true
		})
		if _, result := h.invokeEvent(t, `{}`); result.Failed {
			t.Errorf("next request failed: %s", result.Payload)
		}
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	met := fmt.Appendf(nil, `{"Do": "meet", "Text": %q, "N": 2}`, t.TempDir())
	var mu sync.Mutex
	pids := map[int]bool{}
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			result, err := h.Invoke(t.Context(), "toy", met)
			var r reply
			if err := errors.Join(err, json.Unmarshal(result.Payload, &r)); err != nil || result.Failed {
				t.Errorf("got %s, %v; want a reply", result.Payload, err)
			}
			mu.Lock()
			defer mu.Unlock()
			pids[r.PID] = true
		})
	}
	wg.Wait()
	difftest.Equal(t, "processes", 2, len(pids))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	errtest.Is(t, "Invoke with a timeout", errtest.Of(h.Invoke(ctx, "toy", []byte(`{"Do": "hang"}`))),
		context.DeadlineExceeded)
}

func TestIdleProcessesEnd(t *testing.T) {
	t.Parallel()
	h := newTestService(t, func(f *Function, c *Config) { c.IdleTimeout = 10 * time.Millisecond })
	h.invokeEvent(t, `{"Do": "temp"}`)
	waitUntil(t, "removal of the process and its folder", func() bool {
		left, err := os.ReadDir(h.cfg.TempDir)
		return err == nil && len(left) == 0
	})
	h.invokeEvent(t, `{}`)
}

func TestLogs(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	r, _ := h.invokeEvent(t, `{"Do": "print", "Text": "a line"}`)
	waitUntil(t, "the line in the log",
		func() bool { return strings.Contains(h.log.all(), "toy "+r.RequestID+" a line") })
	if log := h.log.all(); !strings.Contains(log, `"platform.report"`) || strings.Contains(log, `"maxMemoryUsedMB":0`) {
		t.Errorf("log without a report of the memory: %s", log)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	h := newTestService(t, nil)
	result := make(chan error, 1)
	go func() {
		_, err := h.Invoke(context.Background(), "toy", []byte(`{"Do": "hang"}`))
		result <- err
	}()
	waitUntil(t, "the start of the process", func() bool { return h.pools["toy"].count() == 1 })
	h.pools["toy"].mu.Lock()
	var groups []*sandbox
	for box := range h.pools["toy"].all {
		groups = append(groups, box)
	}
	h.pools["toy"].mu.Unlock()
	h.Close()
	errtest.Is(t, "request in progress", <-result, ErrClosed)
	for _, box := range groups {
		<-box.group.Done()
	}
	errtest.Is(t, "request after Close", errtest.Of(h.Invoke(t.Context(), "toy", nil)), ErrClosed)
}

// count returns the number of processes.
func (p *pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

func BenchmarkWarm(b *testing.B) {
	dir := b.TempDir()
	s := errtest.Must(New(
		b.Context(),
		Config{
			NewID:         uuid.NewString,
			Log:           &testLog{},
			TempDir:       dir + "/t",
			JournalDir:    dir + "/j",
			DeadLetterDir: dir + "/d",
			Functions:     []Function{{Name: "toy", Program: toyProgram, Timeout: 10 * time.Second, Concurrency: 2}},
		},
	))(b)
	defer s.Close()
	for b.Loop() {
		errtest.Fatal(b, errtest.Of(s.Invoke(b.Context(), "toy", []byte(`{}`))))
	}
}
