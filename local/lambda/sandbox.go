package lambda

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sluice/local/process"
)

// sandbox is one process of a function. It handles one request at a time, which the pool ensures.
type sandbox struct {
	id      string
	service *Service
	fn      Function
	version string
	group   *process.Group
	started time.Time
	// idleSince is guarded by the pool's mutex.
	idleSince time.Time

	// requests passes a request to the handler of the Runtime API when the process asks for one, and received passes it
	// back with its deadline.
	requests chan request
	received chan request
	// results has room for one result.
	results  chan Result
	killOnce sync.Once

	// stop is what Config.Interpose returned; nil without it.
	stop func()

	mu sync.Mutex
	// payload is the payload of the latest request that was given to the process.
	payload []byte
	// currentRequest is the ID of the request being handled. Clearing it gives the right to send the result.
	currentRequest string
	// lastRequest holds the ID, a string, to which output is attributed.
	lastRequest atomic.Value
}

// startSandbox starts a process.
func startSandbox(s *Service, f Function, version string) (*sandbox, error) {
	b := &sandbox{id: s.cfg.NewID(), service: s, fn: f, version: version, started: time.Now(),
		requests: make(chan request), received: make(chan request), results: make(chan Result, 1)}
	b.lastRequest.Store("")
	if err := os.MkdirAll(b.tempDir(), 0o700); err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := exec.Command(f.Program)
	cmd.Dir = filepath.Dir(f.Program)
	cmd.Env = b.environment()
	if s.cfg.Interpose != nil {
		variables, stop, err := s.cfg.Interpose(&Process{b})
		if err != nil {
			return nil, errors.Join(err, r.Close(), os.RemoveAll(b.tempDir()))
		}
		cmd.Env, b.stop = append(cmd.Env, variables...), stop
	}
	cmd.Stdout, cmd.Stderr = w, w
	s.sandboxes.add(b)
	if b.group, err = process.Start(cmd); err != nil {
		s.sandboxes.remove(b)
		b.stopInterposed()
		return nil, errors.Join(err, r.Close(), os.RemoveAll(b.tempDir()))
	}
	go b.forwardOutput(r)
	return b, nil
}

// stopInterposed ends what Config.Interpose has started for the process.
func (b *sandbox) stopInterposed() {
	if b.stop != nil {
		b.stop()
	}
}

// tempDir returns the temporary folder of the process.
func (b *sandbox) tempDir() string { return filepath.Join(b.service.cfg.TempDir, b.id) }

// environment returns the variables that AWS sets for every function and those of the template. None are inherited: a
// variable of the developer's shell must not affect a function.
func (b *sandbox) environment() []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + b.service.address + "/" + b.id,
		"AWS_LAMBDA_FUNCTION_NAME=" + b.fn.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=" + b.version,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(b.fn.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + b.fn.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME=" + b.id,
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_REGION=" + b.service.cfg.Region, "AWS_DEFAULT_REGION=" + b.service.cfg.Region,
		"AWS_EC2_METADATA_DISABLED=true",
		"LAMBDA_TASK_ROOT=" + filepath.Dir(b.fn.Program), "_HANDLER=bootstrap",
		"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=en_US.UTF-8", "TZ=:UTC",
		"TMPDIR=" + b.tempDir(),
	}
	for k, v := range b.fn.Environment {
		env = append(env, k+"="+v)
	}
	return env
}

// run gives the process a request and waits for the result. If answered is false, the process must not be used again.
// If lost is true, the process ended before it received the request.
func (b *sandbox) run(r request) (result Result, answered, lost bool) {
	begin := time.Now()
	initLimit := time.NewTimer(b.service.cfg.InitTimeout)
	defer initLimit.Stop()
	b.mu.Lock()
	b.currentRequest, b.payload = r.id, r.payload
	b.mu.Unlock()
	b.lastRequest.Store(r.id)
	select {
	case <-b.group.Done(): // checked first: a handler of its last call may still be waiting for a request
		return b.exitResult(r), false, true
	default:
	}
	select {
	case b.requests <- r:
		r = <-b.received
	case <-b.group.Done():
		return b.exitResult(r), false, true
	case <-initLimit.C:
		return failedResult(r.id, "Sandbox.Timedout", fmt.Sprintf("The function was not ready within %.2f seconds",
			b.service.cfg.InitTimeout.Seconds())), false, false
	}
	result, answered = b.wait(r)
	b.logReport(r, result, time.Since(begin))
	return result, answered, false
}

// memoryCheckInterval is the time between two checks of a busy process's memory.
const memoryCheckInterval = 100 * time.Millisecond

// wait returns the result of the request that the process has received. answered is false if the process did not send
// it.
func (b *sandbox) wait(r request) (result Result, answered bool) {
	timeout := time.NewTimer(time.Until(r.deadline))
	defer timeout.Stop()
	tick := time.NewTicker(memoryCheckInterval)
	defer tick.Stop()
	for {
		select {
		case result = <-b.results:
			return result, true
		case <-b.group.Done():
			result, _ = b.resultOr(b.exitResult(r))
			return result, false
		case <-timeout.C:
			return b.resultOr(failedResult(r.id, "Sandbox.Timedout",
				fmt.Sprintf("Task timed out after %.2f seconds", b.fn.Timeout.Seconds())))
		case <-tick.C:
			if used := memoryUsage(b.group.PID(), "VmRSS:"); used > int64(b.fn.MemoryMB)<<20 {
				return failedResult(r.id, "Runtime.ExitError", "Runtime exited with error: signal: killed"), false
			}
		}
	}
}

// resultOr returns the result that the process has sent just before its end or the end of its time, which counts, or
// the given failure if there is none.
func (b *sandbox) resultOr(failure Result) (result Result, answered bool) {
	select {
	case result = <-b.results:
		return result, true
	default:
		return failure, false
	}
}

// exitResult returns the result of a request whose process has ended.
func (b *sandbox) exitResult(r request) Result {
	status := "exit status 0"
	if err := b.group.Err(); err != nil {
		status = err.Error()
	}
	return failedResult(r.id, "Runtime.ExitError", "Runtime exited with error: "+status)
}

// deliver passes on the result of a request. It returns false if the process is not handling that request.
func (b *sandbox) deliver(r Result) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.currentRequest == "" || b.currentRequest != r.RequestID {
		return false
	}
	b.currentRequest = ""
	b.results <- r
	return true
}

// kill ends the process and removes what belongs to it. Further calls do nothing.
func (b *sandbox) kill() {
	b.killOnce.Do(func() {
		b.group.Kill()
		b.service.sandboxes.remove(b)
		b.stopInterposed()
		_ = os.RemoveAll(b.tempDir()) // what remains is removed at the next start
	})
}

// forwardOutput logs what the process prints, line by line.
func (b *sandbox) forwardOutput(r io.ReadCloser) {
	defer r.Close()
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if text := bytes.TrimRight(line, "\r\n"); len(text) > 0 {
			id, _ := b.lastRequest.Load().(string)
			b.service.cfg.Log.WriteLine(b.fn.Name, id, text)
		}
		// A line longer than the buffer is logged in pieces.
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// logReport logs what AWS logs after every request. The memory is the largest amount that the process has ever used.
func (b *sandbox) logReport(r request, result Result, took time.Duration) {
	status := "success"
	if result.Failed {
		status = "error"
	}
	b.service.cfg.Log.WriteLine(b.fn.Name, r.id, fmt.Appendf(
		nil,
		`{"type":"platform.report","status":%q,"errorType":%q,"durationMs":%.1f,"memorySizeMB":%d,`+
			`"maxMemoryUsedMB":%d}`,
		status,
		result.ErrorType,
		float64(took.Microseconds())/1000,
		b.fn.MemoryMB,
		memoryUsage(b.group.PID(), "VmHWM:")>>20,
	))
}

// memoryUsage returns the resident memory of a process in bytes: the current one for the field "VmRSS:", the largest so
// far for "VmHWM:". It returns 0 where the system does not report it.
func memoryUsage(pid int, field string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte(field))
	var kilobytes int64
	_, _ = fmt.Sscan(string(rest[:min(len(rest), 32)]), &kilobytes)
	return kilobytes << 10
}

// Process is a process of a function as Config.Interpose sees it.
type Process struct{ box *sandbox }

// FunctionName returns the name of the function.
func (p *Process) FunctionName() string { return p.box.fn.Name }

// Payload returns the payload of the request that the process handles, or of the one that it handled last.
func (p *Process) Payload() []byte {
	p.box.mu.Lock()
	defer p.box.mu.Unlock()
	return p.box.payload
}

// Kill kills the process at once, and returns when it has ended. The request that it handles fails.
func (p *Process) Kill(reason string) {
	b := p.box
	id, _ := b.lastRequest.Load().(string)
	b.service.cfg.Log.WriteLine(b.fn.Name, id, fmt.Appendf(nil, `{"type":"platform.killed","at":%q}`, reason))
	b.group.Kill()
}
