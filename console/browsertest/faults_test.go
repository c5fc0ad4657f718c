package browsertest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/kit/errtest"
)

// faults stands between a tenant's console and the service and answers some of the requests in the service's place.
type faults struct {
	testing.TB
	mu    sync.Mutex
	rules []*fault
}

// fault is an answer in the service's place.
type fault struct {
	// request is what a request must match: its method, its path and query, and its body, each after a space.
	request *regexp.Regexp
	status  int
	// retryAfter is in seconds; 0 for none.
	retryAfter int
	// times is how often it is given; 0 for always.
	times int

	// given are the times of the requests that were answered, and passed those of the ones that matched later.
	given, passed []time.Time
	isOver        bool
}

// withFaults puts faults between the service and the consoles that the tenant starts from now on.
func (n *tenant) withFaults() *faults {
	n.Helper()
	service := errtest.Must(url.Parse(suite.cloud.APIURL))(n)
	f := &faults{TB: n.TB}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: service.Scheme, Host: service.Host})
		},
		// A page that needs an answer no more ends its request, which is not worth a line.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if fault := f.take(r.Method + " " + r.URL.RequestURI() + " " + string(body)); fault != nil {
			fault.write(w)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	n.Cleanup(server.Close)
	n.apiURL = strings.Replace(suite.cloud.APIURL, service.Scheme+"://"+service.Host, server.URL, 1)
	return f
}

// answer has requests that match a pattern answered with a status.
func (f *faults) answer(pattern string, with fault) *fault {
	with.request = regexp.MustCompile(pattern)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &with)
	return &with
}

// end ends a fault.
func (f *faults) end(fault *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.isOver = true
}

// take returns the fault that a request meets; nil if it passes.
func (f *faults) take(request string) *fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range f.rules {
		if !rule.request.MatchString(request) {
			continue
		}
		if !rule.isOver && (rule.times == 0 || len(rule.given) < rule.times) {
			rule.given = append(rule.given, time.Now())
			return rule
		}
		rule.passed = append(rule.passed, time.Now())
	}
	return nil
}

// write answers as the service does.
func (f *fault) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "request-"+strconv.Itoa(f.status))
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	w.WriteHeader(f.status)
	_, _ = fmt.Fprintf(w,
		`{"data":null,"messages":[{"message":"Refused with %d by the test.","type":"Error"}]}`, f.status)
}

// checkGiven checks that a request has met a fault.
func (f *faults) checkGiven(fault *fault) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(fault.given) == 0 {
		f.Errorf("no request has matched %s", fault.request)
	}
}

// checkPaused checks that the client waited as long as the last answer of the fault asked before it sent the request
// that passed.
func (f *faults) checkPaused(fault *fault) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(fault.given) == 0 || len(fault.passed) == 0 {
		f.Errorf("%s: %d requests were refused and %d passed, want some of each", fault.request, len(fault.given),
			len(fault.passed))
		return
	}
	// A browser's timers may be a few milliseconds early.
	least := time.Duration(fault.retryAfter)*time.Second - 20*time.Millisecond
	if paused := fault.passed[0].Sub(fault.given[len(fault.given)-1]); paused < least {
		f.Errorf("%s was asked again after %v, want at least %v", fault.request, paused, least)
	}
}
