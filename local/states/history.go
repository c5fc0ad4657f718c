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

var errHistoryFull = errors.New("the history is full")

// history writes the events of one execution, a line of JSON each. It is safe for concurrent use.
type history struct {
	mu      sync.Mutex
	w       io.Writer
	count   int64
	onError func(error) // told when an event did not fit, or could not be written
}

// add writes an event and returns its id. The last place is kept for the end of the execution.
func (h *history) add(previous int64, at time.Time, kind string, details map[string]any) int64 {
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
		_, err = h.w.Write(append(text, '\n'))
	}
	if err != nil {
		h.onError(err)
	}
	return h.count
}

// detailsField is the field that holds the details of an event.
func detailsField(kind string) string {
	for _, end := range []string{"StateEntered", "StateExited"} {
		if strings.HasSuffix(kind, end) {
			return "state" + strings.TrimPrefix(end, "State") + "EventDetails"
		}
	}
	return strings.ToLower(kind[:1]) + kind[1:] + "EventDetails"
}

// epochSeconds is a time as the JSON protocol writes it.
func epochSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
