package states

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// maxEvents is how many events the history of an execution may have.
const maxEvents = 25_000

var errHistory = errors.New("the history is full")

// history writes the events of one execution, a line of JSON each. It is safe for concurrent use.
type history struct {
	mu   sync.Mutex
	w    io.Writer
	n    int64
	full func(error) // told when an event did not fit, or could not be written
}

// add writes an event and returns its id. The last place is kept for the end of the execution.
func (h *history) add(previous int64, at time.Time, kind string, details map[string]any) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n >= maxEvents-1 && !strings.HasPrefix(kind, "Execution") {
		h.full(errHistory)
		return h.n
	}
	h.n++
	event := map[string]any{"id": h.n, "previousEventId": previous, "type": kind, "timestamp": seconds(at)}
	if details != nil {
		event[detailsOf(kind)] = details
	}
	text, err := json.Marshal(event)
	if err == nil {
		_, err = h.w.Write(append(text, '\n'))
	}
	if err != nil {
		h.full(err)
	}
	return h.n
}

// detailsOf is the field that holds the details of an event.
func detailsOf(kind string) string {
	for _, end := range []string{"StateEntered", "StateExited"} {
		if strings.HasSuffix(kind, end) {
			return "state" + strings.TrimPrefix(end, "State") + "EventDetails"
		}
	}
	return strings.ToLower(kind[:1]) + kind[1:] + "EventDetails"
}

// seconds is a time as the JSON protocol writes it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
