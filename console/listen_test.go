package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/listener"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// fakeListener stands in for what receives events.
type fakeListener struct {
	// types are those of each start.
	types chan []string
	// requests are passed on, and fail ends it with an error.
	requests chan listener.Request
	fail     chan error
}

// listenTo makes the listener of a console a fake one.
func listenTo(s *Server) *fakeListener {
	f := &fakeListener{make(chan []string, 1), make(chan listener.Request), make(chan error)}
	s.live.run = func(ctx context.Context, types []string, onReady func(string),
		onRequest func(listener.Request)) error {
		f.types <- types
		onReady("https://127.0.0.1:1")
		for {
			select {
			case r := <-f.requests:
				onRequest(r)
			case err := <-f.fail:
				return err
			case <-ctx.Done():
				return nil
			}
		}
	}
	return f
}

// serveListening serves a console that can listen.
func serveListening(t *testing.T) (*Server, *httptest.Server, *http.Cookie) {
	t.Helper()
	service := newFakeService(t)
	server, cookie := serveConsoleWith(t, service, func(c *Config) { c.Listen = &Listen{} })
	return server.Config.Handler.(*Server), server, cookie
}

// follow opens the stream of events after the one with an ID.
func follow(t *testing.T, server *httptest.Server, cookie *http.Cookie, lastID string) *bufio.Scanner {
	t.Helper()
	r := errtest.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/console/events", nil))(t)
	fromServer(r, server, cookie)
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	resp := errtest.Must(server.Client().Do(r))(t)
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the stream answers %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// leaving makes a request one of a browser that has gone, so that its stream ends with what there is.
func leaving(r *http.Request) {
	ctx, leave := context.WithCancel(r.Context())
	leave()
	*r = *r.WithContext(ctx)
}

// requireEvent reads the next event of a stream and requires its ID ("" for none), its name and what its data contain.
func requireEvent(t *testing.T, lines *bufio.Scanner, id, name, data string) {
	t.Helper()
	got := map[string]string{}
	for lines.Scan() && lines.Text() != "" {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		got[key] = value
	}
	if got["id"] != id || got["event"] != name || !strings.Contains(got["data"], data) {
		t.Fatalf("the next event is %v (%v), want %q %s with %s", got, lines.Err(), id, name, data)
	}
}

func TestLiveListener(t *testing.T) {
	s, server, cookie := serveListening(t)
	fake := listenTo(s)
	stream := follow(t, server, cookie, "")
	requireEvent(t, stream, "", "listener", `"state":"off"`)
	w := ask(s, http.MethodPost, "/console/listener", strings.NewReader(`{"event_types":["a:b"]}`), fromPage(cookie),
		atServer(server))
	if w.Code != http.StatusOK || fmt.Sprint(<-fake.types) != "[a:b]" {
		t.Fatalf("starting answers %d %s", w.Code, w.Body)
	}
	for state := ""; state != listenOn; { // it may be seen as it starts
		if !stream.Scan() {
			t.Fatal(stream.Err())
		}
		if data, ok := strings.CutPrefix(stream.Text(), "data: "); ok {
			var l liveState
			errtest.Fatal(t, json.Unmarshal([]byte(data), &l))
			state = l.State
		}
	}
	stream.Scan() // the empty line
	w = ask(s, http.MethodPost, "/console/listener", strings.NewReader(`{}`), fromPage(cookie), atServer(server))
	difftest.Equal(t, "starting again answers", http.StatusConflict, w.Code)
	fake.requests <- listener.Request{At: time.Now(), Body: []byte("{\n \"id\": \"e-1\"\n}")}
	requireEvent(t, stream, "1", "message", `"event":{"id":"e-1"}`)
	fake.requests <- listener.Request{At: time.Now(), Body: []byte("secret"),
		Refused: errors.New("the signature is wrong")}
	requireEvent(t, stream, "2", "message", `"event":null,"refused":"The signature is wrong."`)
	fake.requests <- listener.Request{At: time.Now(), Body: []byte("no\nJSON")}
	requireEvent(t, stream, "3", "message", `"event":"no\nJSON"`)

	later := follow(t, server, cookie, "2") // a page that comes back
	requireEvent(t, later, "", "listener", `"state":"listening"`)
	requireEvent(t, later, "3", "message", `no`)

	w = ask(s, http.MethodDelete, "/console/listener", nil, fromPage(cookie), atServer(server))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"state":"off"`) {
		t.Errorf("stopping answers %d %s", w.Code, w.Body)
	}
	closeServer(t, s)
}

// A listener that fails says why, and can be started again.
func TestListenerFails(t *testing.T) {
	s, server, cookie := serveListening(t)
	fake := listenTo(s)
	start := func() {
		t.Helper()
		w := ask(s, http.MethodPost, "/console/listener", strings.NewReader(`{}`), fromPage(cookie), atServer(server))
		if w.Code != http.StatusOK || fmt.Sprint(<-fake.types) != "[*]" {
			t.Fatalf("starting answers %d %s", w.Code, w.Body)
		}
	}
	start()
	fake.fail <- errors.New("no webhook can be created")
	<-s.live.ended
	w := ask(s, http.MethodGet, "/console/listener", nil, fromPage(cookie), atServer(server))
	if !strings.Contains(w.Body.String(), `"failed"`) ||
		!strings.Contains(w.Body.String(), "No webhook can be created.") {
		t.Errorf("the state is %s", w.Body)
	}
	start()
	closeServer(t, s) // ends it, too
	w = ask(s, http.MethodPost, "/console/listener", strings.NewReader(`{}`), fromPage(cookie), atServer(server))
	difftest.Equal(t, "starting after the end answers", http.StatusConflict, w.Code)
}

// What is held is bounded, and a page that comes back is told what it has missed.
func TestEventsAreBounded(t *testing.T) {
	s, server, cookie := serveListening(t)
	for i := range maxHeldEvents + 10 {
		s.live.add(listener.Request{Body: fmt.Appendf(nil, `{"n":%d}`, i+1)})
	}
	difftest.Equal(t, "events are held", maxHeldEvents, len(s.live.held))
	stream := follow(t, server, cookie, "4")
	requireEvent(t, stream, "", "listener", `"off"`)
	requireEvent(t, stream, "", "missed", `6`)
	requireEvent(t, stream, "11", "message", `{"n":11}`)
	again := ask(s, http.MethodGet, "/console/events?after=509", nil, fromPage(cookie), atServer(server), leaving)
	if text := again.Body.String(); strings.Count(text, "event: message") != 1 || !strings.Contains(text, `{"n":510}`) {
		t.Errorf("a page that comes back after the event 509 gets %.300s", text)
	}
	stream = follow(t, server, cookie, "9999") // of another console
	requireEvent(t, stream, "", "listener", `"off"`)
	requireEvent(t, stream, "11", "message", `{"n":11}`)
	body := []byte(`"` + strings.Repeat("x", maxHeldEventBytes/4) + `"`)
	for range 6 {
		s.live.add(listener.Request{Body: body})
	}
	if s.live.heldBytes > maxHeldEventBytes || len(s.live.held) != 3 {
		t.Errorf("%d bytes in %d events are held, want at most %d", s.live.heldBytes, len(s.live.held),
			maxHeldEventBytes)
	}
}

func TestNoListener(t *testing.T) {
	s, cookie := newConsole(t, newFakeService(t))
	for _, path := range []string{"/console/listener", "/console/events"} {
		if w := ask(s, http.MethodGet, path, nil, fromPage(cookie)); w.Code != http.StatusNotFound {
			t.Errorf("%s answers %d, want 404", path, w.Code)
		}
	}
	s, server, cookie := serveListening(t)
	w := ask(s, http.MethodPost, "/console/listener", strings.NewReader(`[`), fromPage(cookie), atServer(server))
	difftest.Equal(t, "a broken body answers", http.StatusBadRequest, w.Code)
}

// atServer addresses a request to a console that is served.
func atServer(server *httptest.Server) func(*http.Request) {
	return func(r *http.Request) {
		r.Host = server.Listener.Addr().String()
		if r.Header.Get("Origin") != "" {
			r.Header.Set("Origin", server.URL)
		}
	}
}
