package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// follow streams events as server-sent events: those that are held after the last one that the page has seen, and then
// each as it comes. An event "listener" has the state, "message" an event, and "missed" how many events are held no
// more. A stream that the browser resumes names the last one in a header, one that the page opens anew in ?after=ID.
func (l *live) follow(w http.ResponseWriter, r *http.Request) {
	var seen int64
	last := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	_, _ = fmt.Sscan(last, &seen) // 0 for none, and for what is not a number
	w.Header().Set("Content-Type", "text/event-stream")
	stream := eventStream{w: w, rc: http.NewResponseController(w)}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var told *liveState
	for {
		l.mu.Lock()
		state, changed, closed := l.state, l.changed, l.closed
		if seen > l.last {
			seen = 0 // of a console before this one
		}
		missed := int64(0)
		events := l.held
		if len(events) > 0 && events[0].ID > seen+1 && seen > 0 {
			missed = events[0].ID - seen - 1
		}
		for len(events) > 0 && events[0].ID <= seen {
			events = events[1:]
		}
		l.mu.Unlock()
		if told == nil || told.State != state.State {
			told = &state
			stream.send("listener", 0, state)
		}
		if missed > 0 {
			stream.send("missed", 0, missed)
		}
		for _, e := range events {
			stream.send("message", e.ID, e)
			seen = e.ID
		}
		if stream.flush() != nil || closed {
			return
		}
		select {
		case <-changed:
		case <-beat.C:
			stream.write(": alive\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

// eventStream writes server-sent events.
type eventStream struct {
	w   http.ResponseWriter
	rc  *http.ResponseController
	err error
}

// send writes an event with an ID, 0 for none, and a value as JSON, which has no line breaks.
func (s *eventStream) send(name string, id int64, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		s.err = err
		return
	}
	if id > 0 {
		s.write(fmt.Sprintf("id: %d\n", id))
	}
	s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, text))
}

func (s *eventStream) write(text string) {
	if s.err == nil {
		_, s.err = s.w.Write([]byte(text))
	}
}

// flush sends what is written, and returns the first error of all writes.
func (s *eventStream) flush() error {
	if s.err == nil {
		s.err = s.rc.Flush()
	}
	return s.err
}
