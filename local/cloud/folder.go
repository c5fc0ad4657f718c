package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"sluice/internal/localcloud"
)

// Self is what a local cloud says of itself: local.json in the data folder, and the ready file.
type Self struct {
	localcloud.Descriptor
}

func newID() string { return uuid.NewString() }

// takeFolder makes the data folder, keeps any other local cloud out of it and reads what an earlier one left.
func (c *Cloud) takeFolder(context.Context) error {
	if err := os.MkdirAll(c.path("logs"), 0o700); err != nil {
		return fmt.Errorf("the data folder cannot be made: %w", err)
	}
	lock, err := os.OpenFile(c.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return fmt.Errorf("another local cloud runs on the data folder %s: stop it or give another --data", c.options.Data)
	}
	c.lock = lock
	if c.options.ReadyFile != "" {
		if err := os.Remove(c.options.ReadyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	text, err := os.ReadFile(c.path(selfFile))
	if err == nil {
		err = json.Unmarshal(text, &c.self)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be read: %w", c.path(selfFile), err)
	}
	if c.self.AccessKeyID == "" {
		c.self.AccessKeyID, c.self.SecretAccessKey = accessKey()
	}
	c.self.Region = region
	c.log, err = openLog(c.path("logs", "functions.log"), c.options)
	return err
}

const selfFile = "local.json"

func accessKey() (id, secret string) {
	plain := func() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }
	return "LOCAL" + strings.ToUpper(plain()[:15]), plain() + plain()[:8]
}

// tell writes local.json and the ready file, each whole or not at all.
func (c *Cloud) tell(context.Context) error {
	text, err := json.MarshalIndent(c.self, "", "  ")
	if err != nil {
		return err
	}
	for _, path := range []string{c.path(selfFile), c.options.ReadyFile} {
		if path == "" {
			continue
		}
		if err := writeWhole(path, append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func writeWhole(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// functionLog is the one place of what functions print: time, function, request id, line.
type functionLog struct {
	mu   sync.Mutex
	file *os.File
	also io.Writer // nil for nobody
}

// maxLog is the size in bytes above which a start begins a new log and keeps the old one beside it.
const maxLog = 64 << 20

func openLog(path string, o Options) (*functionLog, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &functionLog{file: f}
	if o.Verbose {
		l.also = o.Output
	}
	return l, nil
}

// Line takes a line of a function.
func (l *functionLog) Line(function, requestID string, text []byte) {
	if requestID == "" {
		requestID = "-"
	}
	line := fmt.Appendf(nil, "%s %s %s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), function, requestID, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.file.Write(line) // a full disk shows itself elsewhere
	if l.also != nil {
		_, _ = l.also.Write(line)
	}
}

func (l *functionLog) close() { _ = l.file.Close() }
