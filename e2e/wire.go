package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"sluice/openapi"
)

// wire is the way of all HTTP of the suite. What comes from an API of a home must be as openapi/sluice.yaml describes it, and so
// must every request that succeeds; anything else fails the call. What goes to storage passes unseen.
type wire struct {
	next http.RoundTripper
	doc  *openapi.Document

	mu     sync.Mutex
	homes  []string
	checks int
	seen   map[string]map[int]bool // statuses by operation id
}

// api is the wire of the suite.
var api *wire

// watched is where the wire is in place of the default client's.
func watched() (*wire, error) {
	doc, err := openapi.Load()
	w := &wire{next: http.DefaultTransport, doc: doc, seen: map[string]map[int]bool{}}
	http.DefaultClient.Transport = w
	return w, err
}

// watch adds the API of a home.
func (w *wire) watch(h *Home) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.homes = append(w.homes, h.APIURL, h.issuer())
}

// path returns the path inside an API, as it is sent.
func (w *wire) path(u *url.URL) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	address := u.Scheme + "://" + u.Host + u.EscapedPath()
	for _, home := range w.homes {
		if path, ok := strings.CutPrefix(address, home); ok && strings.HasPrefix(path, "/") {
			return strings.TrimSuffix(path, "/"), true
		}
	}
	return "", false
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	path, ours := w.path(r.URL)
	if !ours {
		return w.next.RoundTrip(r)
	}
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(got))
	if err := w.check(r, path, sent, resp, got); err != nil {
		return nil, fmt.Errorf("openapi/sluice.yaml: %s %s: %d: %w\nsent: %.500s\ngot: %.2000s", r.Method, path, resp.StatusCode, err, sent, got)
	}
	return resp, nil
}

func (w *wire) check(r *http.Request, path string, sent []byte, resp *http.Response, got []byte) error {
	operation, found := w.doc.Find(r.Method, path)
	if !found && r.Method == http.MethodHead && resp.StatusCode == http.StatusNotFound {
		return nil // whose body nobody sees
	}
	if !found {
		var body map[string]string
		if err := json.Unmarshal(got, &body); err != nil || resp.StatusCode != http.StatusNotFound || len(body) != 1 || body["message"] == "" {
			return fmt.Errorf("the operation is not described")
		}
		return nil
	}
	w.note(operation.ID, resp.StatusCode)
	if err := w.doc.CheckResponse(operation, resp.StatusCode, resp.Header, got); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return nil
	}
	if err := w.doc.CheckRequest(operation, r.URL, r.Header, sent); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	return nil
}

func (w *wire) note(id string, status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.checks++; w.seen[id] == nil {
		w.seen[id] = map[int]bool{}
	}
	w.seen[id][status] = true
}

// summary tells in a line what was checked, and which operations never were.
func (w *wire) summary() (line string, never []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	outcomes := 0
	for _, o := range w.doc.Operations {
		if outcomes += len(w.seen[o.ID]); len(w.seen[o.ID]) == 0 {
			never = append(never, o.String())
		}
	}
	all := len(w.doc.Operations)
	return fmt.Sprintf("OpenAPI: %d responses of %d of %d operations are as described, with %d different outcomes",
		w.checks, all-len(never), all, outcomes), never
}
