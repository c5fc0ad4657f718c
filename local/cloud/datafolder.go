package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"sluice/internal/figures"
	"sluice/internal/localcloud"
	"sluice/local/iam"
)

// newID returns a UUID.
func newID() string { return uuid.NewString() }

// openDataFolder creates the data folder, locks it against other local clouds and reads the descriptor of an earlier
// run.
func (c *Cloud) openDataFolder(context.Context) error {
	if err := os.MkdirAll(c.path("logs"), 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	lock, err := os.OpenFile(c.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return fmt.Errorf(
			"another local cloud runs on the data folder %s: stop it, or choose another folder with --data",
			c.options.Data,
		)
	}
	c.lock = lock
	if c.options.ReadyFile != "" {
		if err := os.Remove(c.options.ReadyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	c.descriptor, err = localcloud.Read(c.options.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.descriptor.AccessKeyID == "" {
		key := newAccessKey()
		c.descriptor.AccessKeyID, c.descriptor.SecretAccessKey = key.ID, key.Secret
	}
	c.descriptor.Region = region
	c.log, err = openFunctionLog(c.path("logs", "functions.log"), c.path("logs", "audit.jsonl"), c.options)
	return err
}

// newAccessKey returns a random access key of the length that AWS uses.
func newAccessKey() iam.Key {
	random := func() string { return strings.ReplaceAll(uuid.NewString(), "-", "") }
	return iam.Key{ID: "LOCAL" + strings.ToUpper(random()[:15]), Secret: random() + random()[:8]}
}

// writeDescriptor writes the descriptor to local.json in the data folder and to the ready file. Readers see each file
// complete or not at all.
func (c *Cloud) writeDescriptor(context.Context) error {
	text, err := json.MarshalIndent(c.descriptor, "", "  ")
	if err != nil {
		return err
	}
	for _, path := range []string{c.path(localcloud.FileName), c.options.ReadyFile} {
		if path == "" {
			continue
		}
		if err := writeAtomically(path, append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// writeAtomically replaces a file so that readers see either its old or its new text. Only its owner may read it.
func writeAtomically(path string, text []byte) error {
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

// functionLog is the log of everything that functions print. Each line has the time, the function, the request ID and
// the text. The records of the audit trail are in a file of their own as well, as they were printed.
type functionLog struct {
	mu          sync.Mutex
	file, audit *os.File
	// copyTo, if not nil, receives every line as well.
	copyTo io.Writer
	// figures, if not nil, adds up every line. It is set before functions start.
	figures *figures.Figures
}

// maxLogBytes is the size above which a start begins a new log and renames the old one.
const maxLogBytes = 64 << 20

// openFunctionLog opens the log and the audit trail for appending. The audit trail is never removed.
func openFunctionLog(path, auditPath string, o Options) (*functionLog, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	l := &functionLog{file: f}
	if l.audit, err = os.OpenFile(auditPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if o.Verbose {
		l.copyTo = o.Output
	}
	return l, nil
}

// WriteLine logs a line that a function printed while it handled a request; "" means no request.
func (l *functionLog) WriteLine(function, requestID string, text []byte) {
	if requestID == "" {
		requestID = "-"
	}
	now := time.Now().UTC()
	line := fmt.Appendf(nil, "%s %s %s %s\n", now.Format("2006-01-02T15:04:05.000Z"), function, requestID, text)
	if l.figures != nil {
		l.figures.Add(now, function, text)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.file.Write(line) // a full disk is reported elsewhere
	if isAuditRecord(text) {
		_, _ = l.audit.Write(append(bytes.Clone(text), '\n'))
	}
	if l.copyTo != nil {
		_, _ = l.copyTo.Write(line)
	}
}

// isAuditRecord reports whether a line is a record of the audit trail, by its member "record" as the filter of the
// template's subscription does.
func isAuditRecord(text []byte) bool {
	if !bytes.Contains(text, []byte(`"record":`)) {
		return false
	}
	var line struct{ Record string }
	return json.Unmarshal(text, &line) == nil && (line.Record == "audit" || line.Record == "transition")
}

// close closes the files.
func (l *functionLog) close() {
	_ = l.file.Close()
	_ = l.audit.Close()
}

// ServeHTTP serves what the admin commands need of CloudWatch Logs: an event of any stream becomes a line of the log,
// and a record of the audit trail as if a function had printed it. The operator alone may call it.
func (l *functionLog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	switch operation {
	case "CreateLogStream": // streams are not kept apart
	case "PutLogEvents":
		var in struct {
			LogEvents []struct{ Message string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"SerializationException"}`)
			return
		}
		for _, e := range in.LogEvents {
			l.WriteLine("admin", "", []byte(strings.ReplaceAll(e.Message, "\n", " ")))
		}
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"__type":"UnknownOperationException"}`)
		return
	}
	fmt.Fprint(w, "{}")
}
