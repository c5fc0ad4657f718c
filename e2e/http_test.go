package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/client"
)

// call sends a raw request with the session's token.
func (s *session) call(method, path, contentType, body string) (int, http.Header, []byte) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.environment.APIURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return send(s.t, req)
}

// expectStatusOf sends a raw request without a body and checks the status of the answer.
func (s *session) expectStatusOf(want int, method, path string) {
	s.t.Helper()
	if status, _, text := s.call(method, path, "", ""); status != want {
		s.t.Errorf("%s %s: %d %s, want %d", method, path, status, text, want)
	}
}

// send sends a request and reads the reply.
func send(t *testing.T, req *http.Request) (status int, header http.Header, body []byte) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, body
}

// put sends a file to a signed URL as curl would, with the upload's method and headers and nothing else.
func put(t *testing.T, u client.Upload, file []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest(u.Method, u.URL, bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range u.RequiredHeaders {
		req.Header.Set(name, value)
	}
	status, _, text := send(t, req)
	return status, text
}

// download fetches a signed URL as a browser would.
func download(t *testing.T, link string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, header, text := send(t, req)
	return status, header, string(text)
}

// decodeReply reads a JSON reply of the wanted status.
func decodeReply(t *testing.T, resp *http.Response, want int, out any) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Fatalf("status %d, want %d: %s", resp.StatusCode, want, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// decodeStrictly decodes a reply that has no key except those of out.
func decodeStrictly(t *testing.T, text []byte, out any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// patience is how long the suite waits for what must happen, on a machine that is busy with other things.
const patience = 3 * time.Minute

// scanPatience is how much longer the suite waits where GuardDuty on AWS scans every upload.
const scanPatience = 10 * time.Minute

// eventually polls until a condition holds, as long as the patience lasts.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !becomesTrue(holds) {
		t.Fatalf("not within %v: %s", patience, what)
	}
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
