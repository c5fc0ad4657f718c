package e2e

import (
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

// A URL that was given out before its client was disabled takes an upload and stores no transaction.
func TestUploadAfterDisabling(t *testing.T) {
	reader := beginBatchTenant(t)
	uploader := newClient(t, environment, reader.tenantID, "--permission", "BatchUpload")
	u := loginAs(t, environment, uploader).newUpload(true)
	must(t, environment.admin(nil, "client", "disable", uploader.ClientID))
	expectPut(t, 200, u, jsonLines(validLine()))
	last := reader.expectEnd("ERROR", u.BatchID)
	equal(t, "the reason", "The client that asked for the upload URL has been disabled.", last.ErrorMessage)
}
