package openapi_test

import (
	"net/http"
	"net/url"
	"testing"

	"sluice/shared/kit/errtest"
)

const (
	lightSearch = "/entitydataquery/api/v2/drafts-in-scope/search-entity-drafts-light"
	tenantID    = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
)

func TestFindPrefersFixedSegments(t *testing.T) {
	d := load(t)
	for path, want := range map[string]string{
		"/documentmanagementquery/api/documentmanagement/mimeTypesAllowed":       "listMimeTypes",
		"/documentmanagementquery/api/documentmanagement/" + tenantID:            "readDocument",
		"/documentmanagementquery/api/documentmanagement/entity/" + tenantID:     "listEntityDocuments",
		"/documentmanagementquery/api/documentmanagement/entity/a/journey/b%2Fc": "listEntityJourneyDocuments",
		"/documentmanagementquery/api/documentmanagement":                        "",
		"/documentmanagementquery/api/documentmanagement/":                       "",
		"/tm/realtime/api/transactions/batch":                                    "listBatches",
	} {
		if o, _ := d.Find("GET", path); o.ID != want {
			t.Errorf("%s is %q, want %q", path, o.ID, want)
		}
	}
	if o, found := d.Find("PATCH", lightSearch); found {
		t.Errorf("PATCH of a POST operation is %s, want none", o)
	}
}

func TestCheckResponse(t *testing.T) {
	d := load(t)
	o, _ := d.Find("POST", lightSearch)
	asJSON := http.Header{"Content-Type": {"application/json"}}
	const page = `{"data":{"items":[],"paginationToken":null},"messages":[]}`
	for _, test := range []struct {
		name   string
		status int
		header http.Header
		body   string
		valid  bool
	}{
		{"right", 200, asJSON, page, true},
		{"a charset", 200, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, page, true},
		{"a class of status", 504, asJSON, `{"message":"x"}`, true},
		{"another status", 202, asJSON, page, false},
		{"another type", 200, http.Header{"Content-Type": {"text/plain"}}, page, false},
		{"no type", 200, http.Header{}, page, false},
		{"no body", 200, asJSON, "", false},
		{"not JSON", 200, asJSON, page[1:], false},
		{"one more key", 200, asJSON, `{"data":{"items":[],"paginationToken":null},"messages":[],"x":1}`, false},
		{"one more key inside", 200, asJSON, `{"data":{"items":[],"paginationToken":null,"x":1},"messages":[]}`, false},
		{"one key less", 200, asJSON, `{"data":{"items":[]},"messages":[]}`, false},
		{"another value", 200, asJSON, `{"data":{"items":[{"EntityId":"a","EntityDraftId":"a"}],` +
			`"paginationToken":null},"messages":[]}`, false},
		{"no bearer header", 401, asJSON, `{"message":"Unauthorized"}`, false},
		{"a bearer header", 401, http.Header{"Content-Type": {"application/json"}, "Www-Authenticate": {"Bearer"}},
			`{"message":"Unauthorized"}`, true},
		{"no Retry-After", 429, asJSON, `{"message":"x"}`, false},
		{"a Retry-After", 429, http.Header{"Content-Type": {"application/json"}, "Retry-After": {"1"}},
			`{"message":"x"}`, true},
		{"a Retry-After that is not a number", 429, http.Header{"Content-Type": {"application/json"},
			"Retry-After": {"soon"}}, `{"message":"x"}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := d.CheckResponse(o, test.status, test.header, []byte(test.body))
			if (err == nil) != test.valid {
				t.Errorf("got %v, want it to be valid: %v", err, test.valid)
			}
		})
	}
}

func TestCheckRequest(t *testing.T) {
	d := load(t)
	const documents = "/documentmanagementcommand/api/v2/documentmanagement/"
	tenant := http.Header{"X-Tenant-Id": {tenantID}, "Content-Type": {"application/json"}}
	for _, test := range []struct {
		name, method, path string
		header             http.Header
		body               string
		valid              bool
	}{
		{"right", "PUT", documents + tenantID, tenant, `{"data":{}}`, true},
		{"a parameter", "PUT", documents + tenantID + "?documentEntityType=sCreening", tenant, `{"data":{}}`, true},
		{"another parameter", "PUT", documents + tenantID + "?documentEntityType=Nothing", tenant, `{"data":{}}`,
			false},
		{"no tenant", "PUT", documents + tenantID, http.Header{"Content-Type": {"application/json"}}, `{"data":{}}`,
			false},
		{"not an ID", "PUT", documents + "7", tenant, `{"data":{}}`, false},
		{"no body", "PUT", documents + tenantID, tenant, ``, false},
		{"no envelope", "PUT", documents + tenantID, tenant, `{}`, false},
		{"one more key", "PUT", documents + tenantID, tenant, `{"data":{"x":1}}`, false},
		{"a boolean", "DELETE", documents + tenantID + "?skipStatusReset=false", tenant, ``, true},
		{"not a boolean", "DELETE", documents + tenantID + "?skipStatusReset=no", tenant, ``, false},
		{"a body where none is described", "DELETE", documents + tenantID, tenant, `{}`, false},
		{"a form", "POST", "/oauth2/token", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
			"grant_type=client_credentials&client_id=" + tenantID + "&client_secret=x&scope=tenant/x", true},
		{"a form without a scope", "POST", "/oauth2/token",
			http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
			"grant_type=client_credentials&client_id=" + tenantID + "&client_secret=x", false},
		{"a repeated parameter", "GET", "/tm/realtime/api/transactions/batch?status=ERROR&status=PROCESSED", nil, ``,
			true},
		{"a repeated parameter with another value", "GET", "/tm/realtime/api/transactions/batch?status=ERROR&status=x",
			nil, ``, false},
		{"an optional body", "POST", "/tm/realtime/api/transactions/batch/generate-upload-url", nil, ``, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			u, err := url.Parse("http://example.com" + test.path)
			errtest.Fatal(t, err)
			o, _ := d.Find(test.method, u.EscapedPath())
			err = d.CheckRequest(o, u, test.header, []byte(test.body))
			if (err == nil) != test.valid {
				t.Errorf("got %v, want it to be valid: %v", err, test.valid)
			}
		})
	}
}
