package lambda

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/kit/errtest"
)

// toyProgram is the path of the executable built from testdata/toy.
var toyProgram string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "toy-")
	if err != nil {
		panic(err)
	}
	toyProgram = filepath.Join(dir, "toy")
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", toyProgram, "./testdata/toy")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// testLog collects the lines that functions print.
type testLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *testLog) WriteLine(function, requestID string, text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, function+" "+requestID+" "+string(text))
}

func (l *testLog) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

type reply struct {
	Text      string
	PID       int
	RequestID string
	Left      time.Duration
}

// testService is a service with the function toy.
type testService struct {
	*Service
	cfg Config
	log *testLog
}

// timeout is what the start of a process and a request may take, on a machine that is busy with other tests, too.
const timeout = time.Minute

// newTestService starts a service after change, if not nil, has adapted its configuration.
func newTestService(t *testing.T, change func(*Function, *Config)) *testService {
	t.Helper()
	dir := t.TempDir()
	f := Function{Name: "toy", ARN: "arn:aws:lambda:eu-west-1:000000000000:function:toy", Program: toyProgram,
		Timeout: timeout, MemoryMB: 128, Concurrency: 2, Environment: map[string]string{"OWN": "value"}}
	log := &testLog{}
	cfg := Config{Region: "eu-west-1", Log: log, NewID: uuid.NewString, RetryDelay: time.Millisecond,
		InitTimeout: timeout, TempDir: dir + "/tmp", JournalDir: dir + "/journal", DeadLetterDir: dir + "/dead"}
	if change != nil {
		change(&f, &cfg)
	}
	cfg.Functions = []Function{f}
	s := errtest.Must(New(t.Context(), cfg))(t)
	t.Cleanup(s.Close)
	return &testService{s, cfg, log}
}

// invokeEvent invokes toy and returns its reply, which is empty if it failed.
func (h *testService) invokeEvent(t *testing.T, event string) (reply, Result) {
	t.Helper()
	result := errtest.Must(h.Invoke(t.Context(), "toy", []byte(event)))(t)
	return replyOf(t, result), result
}

// replyOf returns the reply of toy, which is empty if it failed.
func replyOf(t *testing.T, result Result) reply {
	t.Helper()
	var r reply
	if !result.Failed {
		errtest.Fatal(t, json.Unmarshal(result.Payload, &r))
	}
	return r
}

// waitUntil fails the test unless the condition holds within a minute.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
