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
	"time"

	"sluice/internal/testcloud"
	"sluice/shared/kit/errtest"
)

// sharedCloud is a local cloud for all tests that need the same other settings. It starts with the first of them and
// ends with the suite. Every test has a tenant of its own in it.
type sharedCloud struct {
	start func() (*Environment, error)
}

var (
	// killingCloud kills functions where a test wants it, its sweep looks at all that is older than a second, and a
	// line is a chunk.
	killingCloud = newSharedCloud("--kill", "none", "--set", "SweepAge=1", "--set", "ChunkBytes=800")
	// narrowCloud has low limits, scans one upload at a time and waits ten seconds for providers, because the time
	// that a busy machine needs to start the function that asks counts, too.
	narrowCloud = newSharedCloud("--set", fmt.Sprintf("MaxUploadBytes=%d", narrowUpload), "--set",
		fmt.Sprintf("MaxTransactions=%d", narrowTransactions), "--set", fmt.Sprintf("MaxReportBytes=%d", narrowReport),
		"--set", "ChunkBytes=1500", "--set", "RoundChunks=8", "--set", "SmallBatchBytes=0",
		"--set", "ScanConcurrency=1", "--set", "ScreeningPatience=10")
	// largeCloud is for large files: its chunks are as large as on AWS, and its parts as small as S3 allows.
	largeCloud = newSharedCloud("--set", fmt.Sprintf("UploadPartBytes=%d", smallestPart))
	// slotCloud has one slot of each stage for batches of more than two bytes, chunks that are shorter than a line, the
	// same sweep, and download URLs that end after a second.
	slotCloud = newSharedCloud("--set", "ValidationSlots=1", "--set", "ValidationSlotsPerTenant=1",
		"--set", "IngestionSlots=1", "--set", "IngestionSlotsPerTenant=1", "--set", "SmallBatchBytes=2",
		"--set", "ChunkBytes=500", "--set", "SweepAge=1", "--set", "DownloadUrlLifetime=1")
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
		errtest.Is(t, "stop", e.stop(), nil)
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

// process is a program that was started for an environment or by a test. It ends with the suite.
type process struct {
	*exec.Cmd
	// output is what the program has printed. If the command says where standard output goes, it is that of standard
	// error only.
	output *outputBuffer
	// exited receives the error of Wait once.
	exited chan error
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{Cmd: cmd, output: &outputBuffer{}, exited: make(chan error, 1)}
	cmd.Stderr = p.output
	if cmd.Stdout == nil {
		cmd.Stdout = p.output
	}
	if err := startWithSuite(cmd); err != nil {
		return nil, err
	}
	go func() { p.exited <- cmd.Wait() }()
	return p, nil
}

// programs are those that startWithSuite has started.
var programs struct {
	mu      sync.Mutex
	started []*exec.Cmd
}

// startWithSuite starts a program that ends with the suite, on Linux also if that is killed.
func startWithSuite(cmd *exec.Cmd) error {
	err := testcloud.StartProgram(cmd)
	if err == nil {
		programs.mu.Lock()
		defer programs.mu.Unlock()
		programs.started = append(programs.started, cmd)
	}
	return err
}

// killPrograms kills what startWithSuite has started and what has not ended.
func killPrograms() {
	programs.mu.Lock()
	defer programs.mu.Unlock()
	for _, cmd := range programs.started {
		_ = cmd.Process.Kill() // an error means that it has ended
	}
}

func (p *process) name() string { return filepath.Base(p.Args[0]) + " " + p.Args[1] }

// waitFor waits until a condition holds. It is an error if the process exits, or the timeout passes, before that.
func (p *process) waitFor(timeout time.Duration, holds func() bool) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(timeout); ; {
		select {
		case err := <-p.exited:
			p.exited <- err
			return fmt.Errorf("%s ended (%v):\n%s", p.name(), err, p.output)
		case <-deadline:
			return errors.Join(fmt.Errorf("%s is not ready after %v:\n%s", p.name(), timeout, p.output),
				p.Process.Kill())
		case <-tick.C:
			if holds() {
				return nil
			}
		}
	}
}

// stopPatience is how long a process may take to exit, on a machine that is busy with other things.
const stopPatience = 2 * time.Minute

// stop sends a signal. It is an error if the process fails, or does not exit in time.
func (p *process) stop(signal os.Signal) error {
	if err := p.Process.Signal(signal); err != nil {
		return err
	}
	select {
	case err := <-p.exited:
		if err != nil {
			return fmt.Errorf("%s ended with %w:\n%s", p.name(), err, p.output)
		}
		return nil
	case <-time.After(stopPatience):
		return errors.Join(fmt.Errorf("%s does not end after %v:\n%s", p.name(), signal, p.output), p.Process.Kill())
	}
}

// outputBuffer keeps what a program prints. It may be read while the program runs.
type outputBuffer struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (b *outputBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *outputBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
