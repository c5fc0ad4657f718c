// Package lateend tests what passes requests on. The end of a body may be seen late: on a busy machine, net/http may
// have sent a whole body, and have the answer, before it reads on to see that nothing follows. A server closes the body
// of a request when its answer begins. If a body that is passed on is closed before its end was seen, net/http takes
// that for a failed request and closes the connection, in the middle of the answer. A proxy keeps the body open by
// http.ResponseController.EnableFullDuplex, or reads it first.
package lateend

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Answer answers a request in two parts: the first when it has the body, the second when the other end had time to
// close the connection.
func Answer(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	_, _ = io.WriteString(w, "begin ")
	_ = http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done(): // the connection was closed
	case <-time.After(50 * time.Millisecond):
	}
	_, _ = io.WriteString(w, "end")
}

// Check sends a request with a body of a number of bytes, whose end is seen late, to a proxy that passes it on to
// Answer. It reports an error if the answer is not whole. The request is a POST to the proxy's root, which prepare
// changes to what the proxy passes on.
func Check(t *testing.T, proxy http.Handler, size int, prepare func(*http.Request)) {
	t.Helper()
	answered := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &body{ReadCloser: r.Body, answered: answered}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	prepare(r)
	resp, err := server.Client().Do(r)
	close(answered)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "begin end" {
		t.Errorf("a request of %d bytes is answered with %q and %v, want \"begin end\"", size, text, err)
	}
}

// body is the body of a request. Once it was read to its end, the next Read waits for the answer to begin.
type body struct {
	io.ReadCloser
	answered <-chan struct{}
	isRead   bool
}

func (b *body) Read(p []byte) (int, error) {
	if b.isRead {
		<-b.answered
	}
	n, err := b.ReadCloser.Read(p)
	b.isRead = err == io.EOF
	return n, err
}
