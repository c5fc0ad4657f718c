package client_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
)

// answer makes the server answer calls of a path with a status, a content type and a body.
type answer struct {
	call   string
	status int
	body   string
}

// answering returns a client of a server that gives answers, one for each call in turn, and the bodies that it was
// sent.
func answering(t *testing.T, answers ...answer) (*client.Client, *[]string) {
	t.Helper()
	s, c, _ := newClient(t)
	var bodies []string
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/oauth2/") {
			return false
		}
		if len(answers) == 0 || answers[0].call != r.Method+" "+r.URL.RequestURI() {
			t.Errorf("got %s %s, want %+v", r.Method, r.URL.RequestURI(), answers)
			w.WriteHeader(http.StatusTeapot)
			return true
		}
		if isPlatform := strings.HasPrefix(r.URL.Path, "/policy"); isPlatform &&
			r.Header.Get("X-Tenant-Id") != c.Tenant() {
			t.Errorf("%s without the tenant", r.URL)
		}
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		if answers[0].status >= http.StatusBadRequest {
			w.Header().Set("Content-Type", "application/problem+json")
		}
		w.WriteHeader(answers[0].status)
		_, _ = io.WriteString(w, answers[0].body)
		answers = answers[1:]
		return true
	}
	return c, &bodies
}

// Lists are read page by page, and items are returned as they came.
func TestPolicyPages(t *testing.T) {
	const path = "GET /policyquery/api/v4/policies?PageSize=100"
	c, _ := answering(t,
		answer{path, 200, `{"data": {"paginationToken": "+x", "items": [
			{"entityPolicyId": "a", "status": null, "versionNumber": null, "new": 1}]}}`},
		answer{"GET /policyquery/api/v4/policies?PageSize=100&PaginationToken=%2Bx", 200,
			`{"data": {"items": [{"entityPolicyId": "b", "status": "Draft", "versionNumber": 3}],
				"paginationToken": null}}`},
	)
	list, err := c.Policies(t.Context())
	if err != nil || len(list) != 2 || *list[1].VersionNumber != 3 ||
		!strings.Contains(string(list[0].Reply), `"new": 1`) {
		t.Errorf("got %+v, %v", list, err)
	}
	const fields = "POST /policyquery/api/v4/policies/p/version/2/fields"
	c, bodies := answering(t,
		answer{fields, 200, `{"data": {"items": [{"fieldId": "1", "changeType": "Locked",
			"lockDetails": {"lockedByWorkspaceId": "w"}}], "paginationToken": "x"}}`},
		answer{fields, 200, `{"data": {"items": [], "paginationToken": null}}`},
	)
	all, err := c.PolicyFields(t.Context(), "p", 2)
	if err != nil || len(all) != 1 || all[0].LockDetails == nil || all[0].LockDetails.LockedByWorkspaceID != "w" {
		t.Errorf("got %+v, %v", all, err)
	}
	want := []string{
		`{"data":{"filters":{},"pageSize":100}}`, `{"data":{"filters":{},"pageSize":100,"paginationToken":"x"}}`,
	}
	if diff := cmp.Diff(want, *bodies); diff != "" {
		t.Error(diff)
	}
}

// Problem details have a code, a message and what is wrong with each value.
func TestPolicyErrors(t *testing.T) {
	c, _ := answering(t,
		answer{"GET /policyquery/api/v4/policies/p?workspaceId=w+1", 404,
			`{"title": "Not Found", "status": 404, "detail": "The workspace has no draft.",
			"errorCode": "policy_draft_not_found"}`},
		answer{"PUT /policycommand/api/v2/policies/p/publish?workspaceId=w", 400,
			`{"title": "Bad Request", "status": 400, "detail": "It cannot be published.",
			"errorCode": "VALIDATION_ERROR", "validationErrors": [{"propertyName": "fields.1.name",
			"errorMessage": "Too long.", "validatorType": "LengthValidator"}]}`},
		answer{"DELETE /policycommand/api/v2/policies/p/version/3", 409, `{"title": "Conflict"}`},
	)
	if draft, err := c.FindPolicyDraft(t.Context(), "p", "w 1"); draft != nil || err != nil {
		t.Errorf("got %+v, %v, want that there is no draft", draft, err)
	}
	_, err := c.PublishPolicy(t.Context(), "p", "w")
	refused := new(client.Error)
	const want = "the service answers 400: It cannot be published. fields.1.name: Too long."
	if !errors.As(err, &refused) || refused.Code != "VALIDATION_ERROR" || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	err = c.DiscardPolicyDraft(t.Context(), "p", 3)
	if err == nil || err.Error() != "the service answers 409: Conflict" {
		t.Errorf("got %v", err)
	}
}

// An evaluation is returned as it came.
func TestEvaluatePolicy(t *testing.T) {
	const call = "POST /policyquery/api/v4/policies/p/version/1/fields/evaluate/normalized?explain=true"
	c, bodies := answering(t, answer{call, 200,
		`{"data": {"evaluatedFields": [1.50]}, "messages": []}`})
	reply, err := c.EvaluatePolicy(t.Context(), "p", 1, client.EvaluateNormalized, true, map[string]int{"a": 1})
	if err != nil || string(reply) != `{"evaluatedFields": [1.50]}` || (*bodies)[0] != `{"data":{"a":1}}` {
		t.Errorf("got %s, %v, sent %s", reply, err, *bodies)
	}
}
