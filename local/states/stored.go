package states

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// maxEvents is the largest number of events in the history of an execution.
const maxEvents = 25_000

// errHistoryFull is the cause that interrupts an execution whose history has maxEvents events.
var errHistoryFull = errors.New("the history is full")

// history writes the events of one execution to a file, one line of JSON for each. It is safe for concurrent use.
type history struct {
	mu    sync.Mutex
	file  io.Writer
	count int64
	// onError is called if an event exceeds the limit or cannot be written.
	onError func(error)
}

// write appends an event and returns its ID. The last place is reserved for the end of the execution.
func (h *history) write(previous int64, at time.Time, kind string, details map[string]any) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= maxEvents-1 && !strings.HasPrefix(kind, "Execution") {
		h.onError(errHistoryFull)
		return h.count
	}
	h.count++
	event := map[string]any{"id": h.count, "previousEventId": previous, "type": kind, "timestamp": epochSeconds(at)}
	if details != nil {
		event[detailsField(kind)] = details
	}
	text, err := json.Marshal(event)
	if err == nil {
		_, err = h.file.Write(append(text, '\n'))
	}
	if err != nil {
		h.onError(&historyError{err})
	}
	return h.count
}

// historyError is the cause that interrupts an execution whose history cannot be written.
type historyError struct{ error }

// detailsField returns the name of the field that holds the details of an event.
func detailsField(kind string) string {
	for _, suffix := range []string{"StateEntered", "StateExited"} {
		if strings.HasSuffix(kind, suffix) {
			return "state" + strings.TrimPrefix(suffix, "State") + "EventDetails"
		}
	}
	return strings.ToLower(kind[:1]) + kind[1:] + "EventDetails"
}

// epochSeconds returns a time as the JSON protocol represents it.
func epochSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// events returns the events of the history, each as JSON.
func (e *execution) events() ([]json.RawMessage, error) {
	file, err := os.Open(e.path(historySuffix))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []json.RawMessage
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events, nil // an incomplete line is still being written
		}
		events = append(events, line)
	}
}

// definitionSuffix ends the names of the files with definitions, which are in the folders of the machines' executions.
const definitionSuffix = ".definition.json"

// digestOf names a definition.
func digestOf(definition []byte) string {
	sum := sha256.Sum256(definition)
	return hex.EncodeToString(sum[:16])
}

// definitionPath returns the path of a stored definition of a machine.
func (s *Service) definitionPath(machine, digest string) string {
	return filepath.Join(s.machineDir(machine), digest+definitionSuffix)
}

// storeDefinitions stores the definition of each machine, and removes those with which no execution runs any more.
func (s *Service) storeDefinitions() error {
	needed := map[string]bool{}
	for _, e := range s.executions {
		if e.Status == Running && e.Definition != "" {
			needed[e.Definition] = true
		}
	}
	for _, m := range s.machines {
		needed[m.digest] = true
		if err := os.MkdirAll(s.machineDir(m.Name), 0o700); err != nil {
			return err
		}
		path := s.definitionPath(m.Name, m.digest)
		if err := os.WriteFile(path+".tmp", m.Definition, 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return err
		}
	}
	stored, err := filepath.Glob(s.definitionPath("*", "*"))
	for _, path := range stored {
		if !needed[strings.TrimSuffix(filepath.Base(path), definitionSuffix)] {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// machineOf returns the machine of an execution with the definition with which it began, as on AWS, where an update of
// a machine changes only the executions that start after it. What cannot be read any more is replaced by the definition
// of now.
func (s *Service) machineOf(e *execution) *machine {
	m := s.machines[e.MachineARN]
	if e.Definition == "" || e.Definition == m.digest {
		return m
	}
	text, err := os.ReadFile(s.definitionPath(m.Name, e.Definition))
	if err != nil {
		return m
	}
	d, err := Parse(text)
	if err != nil {
		return m
	}
	began := *m
	began.Definition, began.definition, began.digest = text, d, e.Definition
	return &began
}

// Definitions returns the definitions with which executions run or will be started.
func (s *Service) Definitions() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out [][]byte
	for _, m := range s.machines {
		out = append(out, m.Definition)
	}
	for _, e := range s.executions {
		if m := s.machines[e.MachineARN]; m != nil && e.snapshot().Status == Running {
			out = append(out, s.machineOf(e).Definition)
		}
	}
	return out
}
