package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/client"
)

// reply is the answer to a request.
type reply struct {
	// request is the beginning of the request, for messages.
	request string
	status  int
	header  http.Header
	text    []byte
}

// call sends a request with the session's token, for the session's tenant. A body is JSON. Other header fields are
// given as pairs of a name and a value; "" leaves a field out.
func (s *session) call(method, path, body string, fields ...string) reply {
	s.t.Helper()
	req := s.newRequest(method, path, body)
	for pair := range slices.Chunk(fields, 2) {
		if req.Header.Set(pair[0], pair[1]); pair[1] == "" {
			req.Header.Del(pair[0])
		}
	}
	r := reply{request: fmt.Sprintf("%s %s %.200s", method, path, body)}
	r.status, r.header, r.text = send(s.t, req)
	return r
}

// newRequest returns the request that call sends.
func (s *session) newRequest(method, path, body string) *http.Request {
	req, err := http.NewRequest(method, s.environment.APIURL+path, strings.NewReader(body))
	if err != nil {
		panic(err) // the path is the test's own
	}
	req.Header.Set("X-Correlation-Id", correlationID)
	if s.tenantID != "" {
		req.Header.Set("X-Tenant-Id", s.tenantID)
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// correlationID is that of all requests of the suite that name none.
const correlationID = "e2e"

// is reports whether a reply has a status and a text with parts.
func (r reply) is(status int, parts ...string) bool {
	return r.status == status && !slices.ContainsFunc(parts, func(part string) bool {
		return !strings.Contains(string(r.text), part)
	})
}

// expect makes a call that must be answered with a status, and with a text that has parts.
func (s *session) expect(status int, method, path, body string, parts ...string) reply {
	s.t.Helper()
	return s.call(method, path, body).expect(s.t, status, parts...)
}

// expect checks the status of a reply and that its text has parts.
func (r reply) expect(t testing.TB, status int, parts ...string) reply {
	t.Helper()
	assert(t, r.is(status, parts...), "%s: %d %.500s, want %d with %q", r.request, r.status, r.text, status, parts)
	return r
}

// expectReply makes a call that must be answered with a status, and decodes the reply into out, which may be nil.
func (s *session) expectReply(status int, method, path, body string, out any) {
	s.t.Helper()
	r := s.call(method, path, body)
	var err error
	if out != nil {
		err = json.Unmarshal(r.text, out)
	}
	require(s.t, err == nil && r.status == status, "%s: %d %s, %v; want %d", r.request, r.status, r.text, err, status)
}

// send sends a request and reads the reply.
func send(t testing.TB, req *http.Request) (status int, header http.Header, body []byte) {
	t.Helper()
	resp := ok(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	return resp.StatusCode, resp.Header, ok(io.ReadAll(resp.Body))(t)
}

// expectRefused checks that a call of package client was refused with a status.
func expectRefused(t testing.TB, status int, err error) {
	t.Helper()
	var refused *client.Error
	assert(t, errors.As(err, &refused) && refused.Status == status, "got %v, want a refusal with %d", err, status)
}

// expectPut sends a file to a signed URL, which must be answered with a status. What should be stored and is not ends
// the test.
func expectPut(t testing.TB, status int, u client.Upload, file []byte) {
	t.Helper()
	if code, text := put(t, u, file); code != status {
		t.Errorf("%s %s: %d %s, want %d", u.Method, u.URL, code, text, status)
		if status == http.StatusOK {
			t.FailNow()
		}
	}
}

// put sends a file to a signed URL as curl would, with the upload's method and headers and nothing else.
func put(t testing.TB, u client.Upload, file []byte) (int, []byte) {
	t.Helper()
	req := ok(http.NewRequest(u.Method, u.URL, bytes.NewReader(file)))(t)
	for name, value := range u.RequiredHeaders {
		req.Header.Set(name, value)
	}
	status, _, text := send(t, req)
	return status, text
}

// download fetches a signed URL as a browser would.
func download(t testing.TB, link string) (int, http.Header, string) {
	t.Helper()
	req := ok(http.NewRequest(http.MethodGet, link, nil))(t)
	status, header, text := send(t, req)
	return status, header, string(text)
}

// decodeReply reads a JSON reply of the wanted status.
func decodeReply(t *testing.T, resp *http.Response, want int, out any) {
	t.Helper()
	defer resp.Body.Close()
	text := ok(io.ReadAll(resp.Body))(t)
	require(t, resp.StatusCode == want, "status %d, want %d: %s", resp.StatusCode, want, text)
	err := json.Unmarshal(text, out)
	require(t, err == nil, "%v: %s", err, text)
}

// decodeStrictly decodes a reply that has no key except those of out.
func decodeStrictly(t *testing.T, text []byte, out any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(out)
	require(t, err == nil, "%v: %s", err, text)
}

// patience is how long the suite waits for what must happen, on a machine that is busy with other things.
const patience = 3 * time.Minute

// scanPatience is how much longer the suite waits where GuardDuty on AWS scans every upload.
const scanPatience = 10 * time.Minute

// eventually polls until a condition holds, as long as the patience lasts.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require(t, becomesTrue(holds), "not within %v: %s", patience, what)
}

// becomesTrue polls until a condition holds, and reports false if the patience ends before that. It pauses between the
// polls, the longer the more there were, so that many tests that wait leave the processors to what they wait for.
func becomesTrue(holds func() bool) bool {
	deadline := time.Now().Add(patience)
	if environment != nil && environment.MalwareScan == "guardduty" {
		deadline = deadline.Add(scanPatience)
	}
	for n := 1; !holds(); n++ {
		if time.Now().After(deadline) {
			return false
		}
		<-time.After(pollingPace(n))
	}
	return true
}

const (
	entityCommand = "/entitydatacommand/api/v2/entity"
	entityQuery   = "/entitydataquery/api/v2"
	lightSearch   = entityQuery + "/drafts-in-scope/search-entity-drafts-light"
)

// platformReply is the answer of a platform endpoint.
type platformReply struct {
	reply
	Data     json.RawMessage `json:"data"`
	Messages []struct {
		Message   string `json:"message"`
		Type      string `json:"type"`
		ErrorCode string `json:"errorCode"`
	} `json:"messages"`
}

// message returns the text of the first message, "" without one.
func (r platformReply) message() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[0].Message
}

// callPlatform calls a platform endpoint for the session's tenant.
func (s *session) callPlatform(method, path, body string) platformReply {
	s.t.Helper()
	r := platformReply{reply: s.call(method, path, body)}
	decodeStrictly(s.t, r.text, &r)
	return r
}

// mustCall makes a platform call that must succeed and decodes its data into out, which may be nil.
func (s *session) mustCall(method, path, body string, out any) {
	s.t.Helper()
	r := s.callPlatform(method, path, body)
	require(s.t, r.status == http.StatusOK || r.status == http.StatusAccepted,
		"%s: %d %s, want 200 or 202; type of a gateway's error: %q; logs: %s", r.request, r.status, r.text,
		r.header.Get("X-Amzn-Errortype"), s.environment.logsOf(requestIDOf(r.header)))
	if out == nil {
		return
	}
	err := json.Unmarshal(r.Data, out)
	require(s.t, err == nil, "%v: %s", err, r.Data)
}

// callFor is mustCall for data of a type.
func callFor[V any](s *session, method, path, body string) (v V) {
	s.t.Helper()
	s.mustCall(method, path, body, &v)
	return v
}

// callConcurrently makes the same kind of call several times at once and returns how often each status was answered.
func (s *session) callConcurrently(times int, method, path string, body func(i int) string) map[int]int {
	s.t.Helper()
	return atOnce(times, func(i int) int { return s.call(method, path, body(i)).status })
}

// atOnce makes calls at the same time and returns how often each status was answered.
func atOnce(times int, call func(i int) (status int)) map[int]int {
	var mu sync.Mutex
	statuses := map[int]int{}
	var calls sync.WaitGroup
	for i := range times {
		calls.Go(func() {
			status := call(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	calls.Wait()
	return statuses
}

// expectTokenRefused checks that the session's token is refused.
func (s *session) expectTokenRefused(method, path string) {
	s.t.Helper()
	if r := s.call(method, path, ""); !s.environment.isRefusal(r.status, s.t.Name()) {
		s.t.Errorf("%s: %d %s, want the refusal of a token", r.request, r.status, r.text)
	}
}
