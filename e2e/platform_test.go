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
	if err := json.Unmarshal(r.Data, out); err != nil {
		s.t.Fatalf("%v: %s", err, r.Data)
	}
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

func TestPlatformCommonRules(t *testing.T) {
	api := begin(t)
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
			r := api.call("GET", path, "", "X-Tenant-Id", test.tenantID).expect(t, test.status, test.content)
			if got := r.header.Get("X-Correlation-Id"); got != "e2e" {
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
	api.expectTokenRefused("GET", path)
}

// What is beyond a client's access layers does not exist for the client.
func TestAccessLayersOfEntities(t *testing.T) {
	t.Parallel()
	ireland := loginNewClient(t, "--geographic", "Republic of Ireland")
	spain := loginNewClient(t, "--geographic", "Spain")
	e := ireland.newEntity(`,"accessLayers":{"geographic":["Republic of Ireland"]}`)
	ireland.mustCall("GET", entityQuery+"/entity/"+e, "", nil)
	spain.expect(404, "GET", entityQuery+"/entity/"+e, "")
}
