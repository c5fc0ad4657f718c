package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// sharedCloud is a local cloud for all tests that need the same other settings. It starts with the first of them and
// ends with the suite. Every test has a tenant of its own in it.
type sharedCloud struct {
	start func() (*Environment, error)
}

var (
	// killingCloud kills functions where a test wants it, and its sweep looks at all that is older than a second.
	killingCloud = newSharedCloud("--kill", "none", "--set", "SweepAge=1")
	// narrowCloud has low limits, scans one upload at a time and waits ten seconds for providers, because the time
	// that a busy machine needs to start the function that asks counts, too.
	narrowCloud = newSharedCloud("--set", fmt.Sprintf("MaxUploadBytes=%d", narrowUpload), "--set",
		fmt.Sprintf("MaxTransactions=%d", narrowTransactions), "--set", fmt.Sprintf("MaxReportBytes=%d", narrowReport),
		"--set", "ChunkBytes=1500", "--set", "ScanConcurrency=1", "--set", "ScreeningPatience=10")
	// largeCloud is for large files: its chunks are as large as on AWS, and its parts as small as S3 allows.
	largeCloud = newSharedCloud("--set", fmt.Sprintf("UploadPartBytes=%d", smallestPart))
	// slotCloud has one slot of each stage, such a sweep, too, and download URLs that end after a second.
	slotCloud = newSharedCloud("--set", "ValidationSlots=1", "--set", "ValidationSlotsPerTenant=1",
		"--set", "IngestionSlots=1", "--set", "IngestionSlotsPerTenant=1", "--set", "SweepAge=1",
		"--set", "DownloadUrlLifetime=1")
	// guardDutyCloud scans by GuardDuty, and clamdCloud by a clamd that this suite plays.
	guardDutyCloud = newSharedCloud("--set", "MalwareScan=guardduty", "--set", "ChunkBytes=8192")
	clamdCloud     = &sharedCloud{start: sync.OnceValues(startClamdCloud)}
)

// Limits of narrowCloud and largeCloud.
const (
	narrowUpload, narrowTransactions, narrowReport = 20_000, 1000, 50_000
	smallestPart                                   = 5 << 20
)

func newSharedCloud(options ...string) *sharedCloud {
	return &sharedCloud{start: sync.OnceValues(func() (*Environment, error) { return startShared(options...) })}
}

// startedClouds are the shared clouds that run.
var startedClouds struct {
	mu     sync.Mutex
	clouds []*Environment
}

func startShared(options ...string) (*Environment, error) {
	data, err := os.MkdirTemp("", "cloud-")
	if err != nil {
		return nil, err
	}
	e, err := startLocalCloud(data, options...)
	if err == nil {
		startedClouds.mu.Lock()
		defer startedClouds.mu.Unlock()
		startedClouds.clouds = append(startedClouds.clouds, e)
	}
	return e, err
}

// stopSharedClouds stops the shared clouds that run, all at once.
func stopSharedClouds() error {
	errs := make([]error, len(startedClouds.clouds))
	var stops sync.WaitGroup
	for i, e := range startedClouds.clouds {
		stops.Go(func() { errs[i] = e.stop() })
	}
	stops.Wait()
	return errors.Join(errs...)
}

// get returns the cloud. It skips a test where there can be none.
func (c *sharedCloud) get(t *testing.T) *Environment {
	t.Helper()
	skipWithout(t, otherSettings)
	return ok(c.start())(t)
}

// begin begins a test, which runs beside others, with a session of a tenant of its own that may use batches and has the
// parties of valid lines.
func (c *sharedCloud) begin(t *testing.T) *session {
	t.Helper()
	t.Parallel()
	return loginBatchTenant(t, c.get(t))
}

// newCloud starts a local cloud for one test, which ends with the test.
func newCloud(t *testing.T, options ...string) *Environment {
	t.Helper()
	skipWithout(t, otherSettings)
	e := ok(startLocalCloud(t.TempDir(), options...))(t)
	stopAtEnd(t, e)
	return e
}

func stopAtEnd(t *testing.T, e *Environment) {
	t.Cleanup(func() {
		if err := e.stop(); err != nil {
			t.Error(err)
		}
	})
}

// startLocalCloud starts a local cloud whose replies are checked.
func startLocalCloud(data string, options ...string) (*Environment, error) {
	e, err := startUncheckedCloud(data, options...)
	if err == nil {
		e.Name = "local"
		contract.watch(e)
	}
	return e, err
}

// startUncheckedCloud starts a local cloud on a data folder and waits until it answers.
func startUncheckedCloud(data string, options ...string) (*Environment, error) {
	program, err := builtProgram("sluice")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(data, "ready.json")
	if err := errors.Join(os.MkdirAll(data, 0o700), os.RemoveAll(ready)); err != nil {
		return nil, err
	}
	args := append([]string{"local", "--data", data, "--ready-file", ready}, options...)
	p, err := startProcess(exec.Command(program, args...))
	if err != nil {
		return nil, err
	}
	var text []byte
	isReady := func() bool {
		text, err = os.ReadFile(ready)
		return !errors.Is(err, os.ErrNotExist)
	}
	if err := p.waitFor(patience, isReady); err != nil {
		return nil, err
	}
	e := &Environment{Data: data, cloud: p}
	if err == nil {
		err = json.Unmarshal(text, e)
	}
	return e, err
}

// builtProgram returns the path of a program that `make build` builds.
func builtProgram(name string) (string, error) {
	path, err := filepath.Abs(filepath.Join("..", "bin", name))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is missing: run `make build` first", path)
	}
	return path, nil
}
