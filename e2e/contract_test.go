package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"sluice/openapi"
)

// contractTransport carries all HTTP of the suite. What an API of an environment answers must be as openapi/sluice.yaml
// describes it, and so must every request that succeeds; otherwise the round trip fails. Requests to storage are not
// looked at.
type contractTransport struct {
	next     http.RoundTripper
	document *openapi.Document

	mu        sync.Mutex
	addresses []string // of APIs
	checks    int
	// statuses are those that each operation, by its ID, has answered with.
	statuses map[string]map[int]bool
}

// contract is the transport of the suite.
var contract *contractTransport

// installContractTransport makes the default HTTP client check what it receives.
func installContractTransport() (*contractTransport, error) {
	document, err := openapi.Load()
	c := &contractTransport{next: http.DefaultTransport, document: document, statuses: map[string]map[int]bool{}}
	http.DefaultClient.Transport = c
	return c, err
}

// watch begins to check what the API of an environment answers.
func (c *contractTransport) watch(e *Environment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addresses = append(c.addresses, e.APIURL, strings.TrimSuffix(e.TokenURL, tokenPath))
}

// unwatch ends the check of an environment that is about to stop: another server may get its ports.
func (c *contractTransport) unwatch(e *Environment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addresses = slices.DeleteFunc(c.addresses, func(address string) bool {
		return address == e.APIURL || address == strings.TrimSuffix(e.TokenURL, tokenPath)
	})
}

// pathInAPI returns the path inside an API as it is sent, and whether the URL belongs to an API at all.
func (c *contractTransport) pathInAPI(u *url.URL) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	full := u.Scheme + "://" + u.Host + u.EscapedPath()
	for _, address := range c.addresses {
		if path, ok := strings.CutPrefix(full, address); ok && strings.HasPrefix(path, "/") {
			return strings.TrimSuffix(path, "/"), true
		}
	}
	return "", false
}

// RoundTrip implements http.RoundTripper.
func (c *contractTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	path, isAPI := c.pathInAPI(r.URL)
	if !isAPI {
		return c.next.RoundTrip(r)
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
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	received, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(received))
	if err := c.check(r, path, sent, resp, received); err != nil {
		return nil, fmt.Errorf("openapi/sluice.yaml: %s %s: %d: %w\nsent: %.500s\nreceived: %.2000s",
			r.Method, path, resp.StatusCode, err, sent, received)
	}
	return resp, nil
}

func (c *contractTransport) check(
	r *http.Request,
	path string,
	sent []byte,
	resp *http.Response,
	received []byte,
) error {
	if err := checkSecurityHeader(resp.Header); err != nil {
		return err
	}
	operation, found := c.document.Find(r.Method, path)
	if !found {
		return checkUnknownOperation(r.Method, resp.StatusCode, received)
	}
	c.record(operation.ID, resp.StatusCode)
	if err := c.document.CheckResponse(operation, resp.StatusCode, resp.Header, received); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return nil
	}
	if err := c.document.CheckRequest(operation, r.URL, r.Header, sent); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	return nil
}

// checkSecurityHeader checks the header fields that every answer has. SAM's own answers, which have no request ID, lack
// them.
func checkSecurityHeader(h http.Header) error {
	if h.Get("X-Request-Id") == "" {
		return nil
	}
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Strict-Transport-Security") != "max-age=31536000" ||
		len(h.Values("Cache-Control")) != 1 {
		return fmt.Errorf("the answer has the header %v, want nosniff, Strict-Transport-Security and one Cache-Control",
			h)
	}
	return nil
}

// checkUnknownOperation checks the answer to a request for which there is no operation: 404, or 401 without a token,
// with a message, which a reply to HEAD has no body for.
func checkUnknownOperation(method string, status int, received []byte) error {
	isKnown := status == http.StatusNotFound || status == http.StatusUnauthorized
	if method == http.MethodHead && isKnown {
		return nil
	}
	var body map[string]string
	err := json.Unmarshal(received, &body)
	if err != nil || !isKnown || len(body) != 1 || body["message"] == "" {
		return fmt.Errorf("the operation is not described")
	}
	return nil
}

func (c *contractTransport) record(operationID string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checks++
	if c.statuses[operationID] == nil {
		c.statuses[operationID] = map[int]bool{}
	}
	c.statuses[operationID][status] = true
}

// summary returns a line about what was checked, and the operations that were never called.
func (c *contractTransport) summary() (line string, neverCalled []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	outcomes := 0
	for _, o := range c.document.Operations {
		outcomes += len(c.statuses[o.ID])
		if len(c.statuses[o.ID]) == 0 {
			neverCalled = append(neverCalled, o.String())
		}
	}
	all := len(c.document.Operations)
	return fmt.Sprintf("OpenAPI: %d responses of %d of %d operations are as described, with %d different outcomes",
		c.checks, all-len(neverCalled), all, outcomes), neverCalled
}

// Each operation is called once with a request that it accepts, and the transport checks the reply. Other tests check
// what the operations do.
func TestEveryOperationAnswersAsDescribed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		calls func(*session) []platformCall
		// limited means that a tenant has room for what a few runs leave only.
		limited bool
	}{
		{"entities", entityCalls, false},
		{"documents", func(s *session) []platformCall { return append(documentCalls(s, ""), fileCalls(s)...) }, false},
		{"documents of products", func(s *session) []platformCall { return documentCalls(s, "/product") }, false},
		{"external authentication", externalAuthCalls, false},
		{"screening", screeningCalls, false},
		{"evaluations", evaluationCalls, true},
		{"policies", policyCalls, true},
		{"webhooks", webhookCalls, true},
		{"documents of deals", func(s *session) []platformCall { return documentCalls(s, "/deal") }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := login(t, environment)
			if test.limited {
				api = loginNewTenant(t)
			}
			for _, c := range test.calls(api) {
				if r := api.call(c.method, c.path, c.body); r.status != http.StatusAccepted {
					r.expect(t, http.StatusOK)
				}
			}
		})
	}
}

// platformCall is a request of the platform interface.
type platformCall struct{ method, path, body string }

// inEnvelope returns a body that has data.
func inEnvelope(data string) string { return `{"data":` + data + `}` }

// entityCalls creates an entity with drafts and returns a call of each other operation on entities.
func entityCalls(api *session) []platformCall {
	journey := uuid.NewString()
	e := api.newEntity(`,"properties":{"a":{"type":"Single","value":"x"}}`)
	draft := api.newDraft(e, journey)
	begin := entityCommand + "/" + e + "/draft"
	rejected := callFor[struct{ ID string }](api, "POST", begin,
		inEnvelope(fmt.Sprintf(`{"journeyId":%q,"parentDraftId":%q}`, journey, draft)))
	inJourney := inEnvelope(fmt.Sprintf(`{"journeyId":%q,"entityIds":[%q]}`, journey, e))
	changes := inEnvelope(`{"version":1,"properties":{` +
		`"b":{"type":"Collection","dataGroupId":"` + uuid.NewString() +
		`","collections":{"1":{"properties":{"c":"x"}}}},` +
		`"d":{"type":"Custom","customTypeId":"` + uuid.NewString() + `","properties":{"e":{"type":"Single"}}}}}`)
	return []platformCall{
		{"POST", entityCommand + "/full", inEnvelope(`{"type":"Individual","targetEntity":"Related Party"}`)},
		{"PUT", begin + "/" + draft, changes},
		{"GET", entityQuery + "/entity?name=x&pageSize=1", ""},
		{"GET", entityQuery + "/entity/" + e, ""},
		{"GET", entityQuery + "/entity/" + e + "/draft/" + draft, ""},
		{"POST", entityQuery + "/entity/drafts/partial-properties",
			inEnvelope(fmt.Sprintf(`{"draftIds":[%q],"requestedPropertiesDataKeys":["a","b"]}`, draft))},
		{"POST", entityQuery + "/entity/drafts/names", inJourney},
		{"POST", entityQuery + "/entity/search-entity-drafts", inJourney},
		{"POST", entityQuery + "/drafts-in-scope/searchentitydrafts", inJourney},
		{"POST", lightSearch, inJourney},
		{"PUT", begin + "/" + rejected.ID + "/reject", ""},
		{"PUT", begin + "/" + draft + "/verify", inEnvelope(`{"version":-1,"dataConflictResolutions":null}`)},
	}
}

// documentCalls creates a virtual document on the route of a type and returns a call of each operation that the types
// share.
func documentCalls(api *session, route string) []platformCall {
	entity, journey := uuid.NewString(), uuid.NewString()
	document := callFor[createdDocument](api, "POST", documentCommands+route+"/virtual", inEnvelope(fmt.Sprintf(
		`{"fileName":"a","entityId":%q,"journeyId":%q,"documentURL":"https://example.com/a"}`, entity, journey)))
	base, id := documentCommands+route+"/", document.ID
	calls := []platformCall{
		{"PUT", base + id, inEnvelope(`{"friendlyName":"b","properties":{"a":{"type":"Single","value":"x"}}}`)},
		{"PUT", base + id + "/access-layers", inEnvelope(`{"accessLayers":{"geographic":["Global"]}}`)},
		{"PUT", base + id + "/clone", inEnvelope(`{"DocumentDataKey":"c"}`)},
		{"PUT", base + id + "/requirement-ids", `["a","b"]`},
		{"PUT", base + id + "/datakey", `"c"`},
		{"PUT", base + "error/" + id, ""},
		{"PUT", base + "custom-error/" + id, inEnvelope(`{"errorCode":"NOT_APPLICABLE","errorMessage":"x"}`)},
		{"GET", documentQueries + "/" + id, ""},
		{"GET", documentQueries + "/journey/" + journey, ""},
		{"GET", documentQueries + "/entity/" + entity, ""},
		{"GET", documentQueries + "/entity/" + entity + "/journey/" + journey + "?deduplicationEnabled=true", ""},
		{"POST", documentQueries + "/entity/paged", inEnvelope(fmt.Sprintf(`{"entityId":%q,"pageSize":1}`, entity))},
	}
	if route == "" {
		calls = append(calls,
			platformCall{"PUT", base + id + "/updateDocumentUploadedByUserName", ""},
			platformCall{"POST", base + id + "/archive", inEnvelope(`{"archivalReason":"x"}`)},
			platformCall{"POST", base + id + "/unarchive", ""},
			platformCall{"POST", documentQueries + "/entity/paged/lite/v2",
				inEnvelope(fmt.Sprintf(`{"entityId":%q,"additionalColumns":["metadata"]}`, entity))})
	}
	return append(calls, platformCall{"DELETE", base + id + "?skipStatusReset=true", ""})
}

// fileCalls returns a call of each operation on files.
func fileCalls(api *session) []platformCall {
	return []platformCall{
		{"PUT", documentCommands + "/updateFile",
			inEnvelope(fmt.Sprintf(`{"id":%q,"fileName":"b.pdf"}`, api.newDocument("")))},
		{"GET", documentQueries + "/mimeTypesAllowed", ""},
		{"GET", documentQueries + "/supportedFileExtensions", ""},
	}
}
