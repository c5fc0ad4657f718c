package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// Every answer has the ID of its request and the caller's own, also those of the gateway itself.
func TestEveryAnswerNamesItsRequest(t *testing.T) {
	skipWithout(t, responses)
	t.Parallel()
	good, bad := login(t, environment), login(t, environment)
	bad.token = "x"
	for _, test := range []struct {
		name    string
		session *session
		path    string
		status  int
	}{
		{"a batch that does not exist", good, transactionsPath + "batch/status/" + uuid.NewString(), 404},
		{"an entity that does not exist", good, entityQuery + "/entity/" + uuid.NewString(), 404},
		{"the published keys", good, "/.well-known/jwks.json", 200},
		{"a wrong token", bad, transactionsPath + "x", 401},
		{"an unknown path", good, "/nowhere", 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			header := test.session.expect(test.status, "GET", test.path, "").header
			_, err := uuid.Parse(header.Get("X-Request-Id"))
			assert(t, err == nil, "X-Request-Id is %q, want a UUID", header.Get("X-Request-Id"))
			got := header.Get("X-Correlation-Id")
			assert(t, got == "e2e", "X-Correlation-Id is %q, want e2e", got)
		})
	}
}

// A correlation ID of 128 bytes comes back; a longer one is refused, on every interface.
func TestLongCorrelationIDIsRefused(t *testing.T) {
	api := begin(t)
	for _, path := range []string{entityQuery + "/entity/" + uuid.NewString(), transactionsPath + "x",
		"/.well-known/jwks.json"} {
		for length, wantRefusal := range map[int]bool{128: false, 129: true} {
			id := strings.Repeat("x", length)
			r := api.call("GET", path, "", "X-Correlation-Id", id)
			if r.is(http.StatusBadRequest) != wantRefusal || !wantRefusal && r.header.Get("X-Correlation-Id") != id {
				t.Errorf("%s, %d bytes: %d %s; want it to be refused: %v", path, length, r.status, r.text, wantRefusal)
			}
		}
	}
}

// A reply lists 100 validation errors and says how many more there are, however many there are.
func TestListsOfErrorsAreBounded(t *testing.T) {
	api := begin(t)
	properties := func(n int, value string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"k%d":%s`, i, value))
		}
		return `{"data":{"type":"Company","targetEntity":"Client","properties":{` + strings.Join(all, ",") + `}}}`
	}
	for n, want := range map[int]int{100: 100, 101: 101, 40_000: 101} {
		r := api.callPlatform("POST", entityCommand, properties(n, `{"type":"Other"}`))
		var list []struct{ ErrorMessage, ErrorCode string }
		if err := json.Unmarshal(r.Data, &list); err != nil || r.status != 400 || len(list) != want {
			t.Errorf("%d errors: %d with %d of them, want 400 with %d", n, r.status, len(list), want)
			continue
		}
		if last := list[len(list)-1]; n > 100 && (last.ErrorCode != "errors_left_out" ||
			!strings.Contains(last.ErrorMessage, fmt.Sprintf("%d more error", n-100))) {
			t.Errorf("%d errors: the last one is %+v, want one that says how many more there are", n, last)
		}
	}
	r := api.callPlatform("POST", entityCommand, properties(30_000, `{"type":"Single"}`))
	assert(t, r.status == 202 && len(r.Messages) == 101,
		"30,000 dropped properties: %d with %d messages, want 202 with 101", r.status, len(r.Messages))
}

// A tenant that has lost the batch feature begins no batch and still reads those that it has.
func TestBatchesStayReadableWithoutTheFeature(t *testing.T) {
	api := beginBatchTenant(t)
	id := api.newUpload(true).BatchID
	must(t, environment.admin(nil, "tenant", "disable-batch", api.tenantID))
	api.expect(403, "POST", uploadPath, "")
	api.expect(202, "GET", transactionsPath+"batch/status/"+id, "")
	api.expect(202, "GET", transactionsPath+"batch/validation-result/"+id, "")
}

// A misspelt parameter of a list is refused and not left out in silence.
func TestUnknownParametersAreRefused(t *testing.T) {
	api := begin(t)
	api.expect(400, "GET", entityQuery+"/entity?nmae=acme", "")
	api.expect(422, "GET", transactionsPath+"x?aftr=y", "")
	api.expect(422, "GET", strings.TrimSuffix(transactionsPath, "/")+"?transaction_external_id=x&limit=1", "")
}

// A URL that was given out before its client was disabled, or before its tenant lost the batch feature, takes an upload
// and stores no transaction.
func TestUploadAfterDisabling(t *testing.T) {
	t.Parallel()
	onboardEntities(t, environment)
	for _, test := range []struct {
		name, message string
		disable       func(api *session, c clientCredentials) error
	}{
		{"the client", "The client that asked for the upload URL has been disabled.",
			func(_ *session, c clientCredentials) error {
				return environment.admin(nil, "client", "disable", c.ClientID)
			}},
		{"the tenant's feature", "The batch feature has been disabled for this tenant.",
			func(api *session, _ clientCredentials) error {
				return environment.admin(nil, "tenant", "disable-batch", api.tenantID)
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tenant := newTenant(t, environment, "limits=none")
			uploader := newClient(t, environment, tenant, "--permission", "BatchUpload")
			reader := loginAs(t, environment, newClient(t, environment, tenant, "--permission", "BatchRead"))
			reader.enableBatches()
			u := loginAs(t, environment, uploader).newUpload(true)
			must(t, test.disable(reader, uploader))
			expectPut(t, 200, u, jsonLines(validLine()))
			if last, _ := reader.follow(u.BatchID); last.Status != "ERROR" || last.ErrorMessage != test.message {
				t.Errorf("the batch ended with %s (%q), want ERROR (%q)", last.Status, last.ErrorMessage, test.message)
			}
		})
	}
}
