package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

const (
	entityCommand = "/entitydatacommand/api/v2/entity"
	entityQuery   = "/entitydataquery/api/v2"
	lightSearch   = entityQuery + "/drafts-in-scope/search-entity-drafts-light"
)

// platformReply is the answer of a platform endpoint.
type platformReply struct {
	status   int
	header   http.Header
	text     []byte
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

// sendPlatform sends a raw request with a tenant header, "" for none.
func (s *session) sendPlatform(tenantID, method, path, body string) (int, http.Header, []byte) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.environment.APIURL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("X-CORRELATION-ID", "e2e")
	if tenantID != "" {
		req.Header.Set("X-TENANT-ID", tenantID)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return send(s.t, req)
}

// callPlatform calls a platform endpoint for the session's tenant.
func (s *session) callPlatform(method, path, body string) platformReply {
	s.t.Helper()
	var r platformReply
	r.status, r.header, r.text = s.sendPlatform(s.tenantID, method, path, body)
	decodeStrictly(s.t, r.text, &r)
	return r
}

// mustCall makes a platform call that must succeed and decodes its data into out, which may be nil.
func (s *session) mustCall(method, path, body string, out any) {
	s.t.Helper()
	r := s.callPlatform(method, path, body)
	if r.status != http.StatusOK && r.status != http.StatusAccepted {
		s.t.Fatalf("%s %s %.200s: %d %s, want 200 or 202; type of a gateway's error: %q; logs: %s", method, path, body,
			r.status, r.text, r.header.Get("X-Amzn-Errortype"), s.environment.logsOf(requestIDOf(r.header)))
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(r.Data, out); err != nil {
		s.t.Fatalf("%v: %s", err, r.Data)
	}
}

// expectStatus makes a platform call that must be answered with a status.
func (s *session) expectStatus(want int, method, path, body string) {
	s.t.Helper()
	if r := s.callPlatform(method, path, body); r.status != want {
		s.t.Errorf("%s %s %.200s: %d %.300s, want %d", method, path, body, r.status, r.text, want)
	}
}

// callConcurrently makes the same kind of call several times at once and returns how often each status was answered.
func (s *session) callConcurrently(times int, method, path string, body func(i int) string) map[int]int {
	s.t.Helper()
	var mu sync.Mutex
	statuses := map[int]int{}
	var calls sync.WaitGroup
	for i := range times {
		calls.Go(func() {
			status, _, _ := s.sendPlatform(s.tenantID, method, path, body(i))
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	calls.Wait()
	return statuses
}

func TestPlatformCommonRules(t *testing.T) {
	t.Parallel()
	api := login(t, environment)
	path := entityQuery + "/entity/" + uuid.NewString()
	for _, test := range []struct {
		name, tenantID string
		status         int
		content        string
	}{
		{"right tenant", environment.TenantID, 404, "entity_not_found"},
		{"no tenant", "", 400, "MissingTenantHeader"},
		{"other tenant", uuid.NewString(), 403, "TenantMismatch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, header, text := api.sendPlatform(test.tenantID, "GET", path, "")
			if status != test.status || !bytes.Contains(text, []byte(test.content)) {
				t.Errorf("got %d %s, want %d with %q", status, text, test.status, test.content)
			}
			if got := header.Get("X-Correlation-Id"); got != "e2e" {
				t.Errorf("X-Correlation-Id is %q, want %q", got, "e2e")
			}
		})
	}
	for _, body := range []string{`{}`, `{"data":null}`, `{"data":{"type":1}}`, `{"data":{"x":1}}`,
		`{"data":{"type":"` + strings.Repeat("x", 300) + `"}}`, `{`} {
		if r := api.callPlatform("POST", entityCommand, body); r.status != 400 ||
			!bytes.Contains(r.Data, []byte("propertyName")) {
			t.Errorf("%s: %d %s, want 400 with a propertyName", body, r.status, r.text)
		}
	}
	api.token = "x"
	status, _, text := api.sendPlatform(environment.TenantID, "GET", path, "")
	if !environment.isRefusal(status, t.Name()) {
		t.Errorf("with a wrong token: %d %s, want the refusal of a token", status, text)
	}
}

// What is beyond a client's access layers does not exist for the client.
func TestAccessLayersOfEntities(t *testing.T) {
	t.Parallel()
	ireland := loginNewClient(t, "--geographic", "Republic of Ireland")
	spain := loginNewClient(t, "--geographic", "Spain")
	e := ireland.newEntity(`,"accessLayers":{"geographic":["Republic of Ireland"]}`)
	ireland.mustCall("GET", entityQuery+"/entity/"+e, "", nil)
	spain.expectStatus(404, "GET", entityQuery+"/entity/"+e, "")
}
