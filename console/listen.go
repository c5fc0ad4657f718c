package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"sluice/internal/listener"
	"sluice/shared/connect/webhook"
)

// Listen says where the service delivers the events that the console shows live.
type Listen struct {
	// Address is where this machine listens; port 0 takes a free one.
	Address string
	// URL is where the service reaches it, such as a tunnel; "" means that it reaches the address itself.
	URL string
}

// States of the live listener.
const (
	listenOff      = "off"
	listenStarting = "starting"
	listenOn       = "listening"
	listenStopping = "stopping"
	listenFailed   = "failed"
)

const (
	// maxHeldEvents and maxHeldEventBytes are how much of what has come is held, for pages that are opened later.
	maxHeldEvents     = 500
	maxHeldEventBytes = 8 << 20
	// maxEventTypes is how many types of events a request can name.
	maxEventTypes = 100
	// heartbeat is how often a stream without events shows that it lives.
	heartbeat = 20 * time.Second
)

// live is the live listener: it receives the tenant's events, as 'sluice listen' does, and sends them to the pages that
// follow them. It is safe for concurrent use.
type live struct {
	config Listen
	// run receives events until the context ends (listener.Listener.Run).
	run func(ctx context.Context, types []string, onReady func(public string), onRequest func(listener.Request)) error

	mu    sync.Mutex
	state liveState
	// stop ends the listener; nil if none runs.
	stop context.CancelFunc
	// ended is closed when the listener has ended; nil if none ever ran.
	ended chan struct{}
	// held are the latest events, heldBytes their size, and last the number of the last one.
	held      []liveEvent
	heldBytes int
	last      int64
	// changed is closed, and replaced, with each event and each change of the state.
	changed chan struct{}
	closed  bool
}

// liveState is what the page is told of the listener.
type liveState struct {
	State string `json:"state"`
	// EventTypes and URL are those to which it listens, and where.
	EventTypes []string `json:"event_types"`
	URL        string   `json:"url,omitempty"`
	// Problem says why it has failed.
	Problem string `json:"problem,omitempty"`
}

// liveEvent is a request that has come.
type liveEvent struct {
	ID int64     `json:"id"`
	At time.Time `json:"at"`
	// Event is the message; null if the request was refused, and a text if it is not JSON.
	Event json.RawMessage `json:"event"`
	// Refused says why the request is not one of the service; "" if it is.
	Refused string `json:"refused,omitempty"`
}

// newLive returns a listener that does not listen.
func newLive(s *Server, config Listen) *live {
	l := &live{config: config, state: liveState{State: listenOff, EventTypes: []string{}}, changed: make(chan struct{})}
	l.run = func(ctx context.Context, types []string, onReady func(string), onRequest func(listener.Request)) error {
		receiver := listener.Listener{
			Client: s.config.Client, Name: "sluice console", EventTypes: types, OnRequest: onRequest,
		}
		return receiver.Run(ctx, cmp.Or(config.Address, "127.0.0.1:0"), config.URL, onReady)
	}
	return l
}

// register adds the paths of the listener.
func (l *live) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/listener", l.get)
	mux.HandleFunc("POST /console/listener", l.start)
	mux.HandleFunc("DELETE /console/listener", l.end)
	mux.HandleFunc("GET /console/events", l.follow)
}

// update changes the listener, and tells those who follow it.
func (l *live) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

// get answers with the state.
func (l *live) get(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	state := l.state
	l.mu.Unlock()
	writeJSON(w, http.StatusOK, state)
}

// start starts the listener, with {"event_types": [...]}; none means all. Starting it while it runs changes nothing.
func (l *live) start(w http.ResponseWriter, r *http.Request) {
	var in struct {
		EventTypes []string `json:"event_types"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in)
	if err != nil || len(in.EventTypes) > maxEventTypes {
		writeProblem(w, problem{Status: http.StatusBadRequest, Detail: `The body is {"event_types": ["...", ...]}.`})
		return
	}
	if len(in.EventTypes) == 0 {
		in.EventTypes = []string{webhook.AllEvents}
	}
	isFree := true
	l.update(func() {
		if isFree = l.stop == nil && !l.closed; !isFree {
			return
		}
		ctx, stop := context.WithCancel(context.Background())
		l.stop, l.ended = stop, make(chan struct{})
		l.state = liveState{State: listenStarting, EventTypes: in.EventTypes}
		go l.listen(ctx, in.EventTypes, l.ended)
	})
	if !isFree {
		writeProblem(w, problem{Status: http.StatusConflict, Title: "The listener runs already",
			Detail: "Stop it to listen to other events.", ErrorCode: "listening"})
		return
	}
	l.get(w, r)
}

// listen receives events until the context ends.
func (l *live) listen(ctx context.Context, types []string, ended chan struct{}) {
	defer close(ended)
	err := l.run(ctx, types, func(public string) {
		l.update(func() { l.state.State, l.state.URL = listenOn, public })
	}, l.add)
	l.update(func() {
		l.stop()
		l.stop = nil
		l.state = liveState{State: listenOff, EventTypes: []string{}}
		if err != nil {
			l.state.State, l.state.Problem = listenFailed, sentence(err.Error())
		}
	})
}

// add holds an event, and drops the oldest ones beyond the limits.
func (l *live) add(r listener.Request) {
	e := liveEvent{At: r.At.UTC()}
	var body bytes.Buffer
	switch {
	case r.Refused != nil:
		e.Event, e.Refused = json.RawMessage("null"), sentence(r.Refused.Error())
	case json.Compact(&body, r.Body) == nil:
		e.Event = body.Bytes()
	default:
		e.Event, _ = json.Marshal(string(r.Body)) // a string is never refused
	}
	l.update(func() {
		l.last++
		e.ID = l.last
		l.held = append(l.held, e)
		l.heldBytes += len(e.Event)
		for len(l.held) > maxHeldEvents || l.heldBytes > maxHeldEventBytes && len(l.held) > 1 {
			l.heldBytes -= len(l.held[0].Event)
			l.held = l.held[1:]
		}
	})
}

// end stops the listener and answers when its webhook is removed.
func (l *live) end(w http.ResponseWriter, r *http.Request) {
	var ended chan struct{}
	l.update(func() {
		if ended = l.ended; l.stop != nil {
			l.state.State = listenStopping
			l.stop()
		}
	})
	if ended != nil {
		select {
		case <-ended:
		case <-r.Context().Done():
			return
		}
	}
	l.get(w, r)
}

// close stops the listener for good and waits until its webhook is removed.
func (l *live) close() error {
	var ended chan struct{}
	l.update(func() {
		l.closed = true
		if l.stop != nil {
			l.stop()
			ended = l.ended
		}
	})
	if ended == nil {
		return nil
	}
	<-ended
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.State == listenFailed {
		return errors.New("the live listener: " + l.state.Problem)
	}
	return nil
}

// refuseListener answers where the service cannot reach this machine.
func refuseListener(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, problem{Status: http.StatusNotFound, Title: "The service cannot reach this machine",
		Detail:    "Start the console with --listen-url and the address of a tunnel to see events live.",
		ErrorCode: "no_listener"})
}
