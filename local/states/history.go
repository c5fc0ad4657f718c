package states

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
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
