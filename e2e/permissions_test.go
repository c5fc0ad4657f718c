package e2e

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/openapi"
)

// area is an interface with its permissions.
type area struct {
	name string
	// permissions are those that clients try its operations with, each alone.
	permissions []string
	// operations are its operations by the permissions that they accept, as a refusal names them; "" accepts all.
	// Bodies have no data: they are refused after the permission is checked.
	operations map[string][]string
}

// areas returns the interfaces of which each operation accepts certain permissions, for an entity with a draft.
func areas(entity, draft string) []area {
	id := uuid.NewString()
	const edit, search = "EntityDataEdit or EntityGroupManagementEdit",
		"EntityDataAccessAndSearch or EntityGroupManagementAccessAndSearch"
	ofDraft := "/" + entity + "/draft/" + draft
	return []area{
		{"entities", []string{"EntityDataEdit", "EntityGroupManagementEdit", "EntityDataApprove", "BatchRead",
			"EntityDataAccessAndSearch", "EntityGroupManagementAccessAndSearch"}, map[string][]string{
			edit: {"POST " + entityCommand, "POST " + entityCommand + "/full",
				"POST " + entityCommand + "/" + entity + "/draft",
				"PUT " + entityCommand + ofDraft},
			// A rejected draft is one of another entity, so that a client that may reject does not end this one.
			"EntityDataApprove": {"PUT " + entityCommand + ofDraft + "/verify",
				"PUT " + entityCommand + "/" + id + "/draft/" + draft + "/reject"},
			search: {"GET " + entityQuery + "/entity/" + entity, "GET " + entityQuery + "/entity" + ofDraft,
				"POST " + entityQuery + "/entity/drafts/names", "POST " + entityQuery + "/entity/search-entity-drafts",
				"POST " + entityQuery + "/drafts-in-scope/searchentitydrafts", "POST " + lightSearch},
			"": {"POST " + entityQuery + "/entity/drafts/partial-properties"},
		}},
		{"documents", []string{"EntityDataEdit", "DocumentManagementAccess", "DocumentManagementCreate",
			"DocumentManagementCreateVirtual", "DocumentManagementLink", "DocumentManagementEdit",
			"DocumentManagementDelete"}, map[string][]string{
			"DocumentManagementCreate":        {"POST " + documentCommands},
			"DocumentManagementCreateVirtual": at(documentCommands, "POST /virtual", "POST /deal/virtual"),
			"DocumentManagementCreate or DocumentManagementCreateVirtual or DocumentManagementLink": {
				"PUT " + documentCommands + "/" + id + "/clone"},
			"DocumentManagementEdit or DocumentManagementDelete": at(documentCommands, "PUT /"+id+"/requirement-ids",
				"PUT /"+id+"/datakey"),
			"DocumentManagementDelete": at(documentCommands, "DELETE /"+id, "DELETE /deal/"+id),
			"DocumentManagementEdit": at(documentCommands, "PUT /"+id, "PUT /"+id+"/access-layers", "PUT /error/"+id,
				"PUT /custom-error/"+id, "PUT /"+id+"/updateDocumentUploadedByUserName", "POST /"+id+"/archive",
				"POST /"+id+"/unarchive", "PUT /updateFile", "PUT /product/"+id),
			"DocumentManagementAccess": at(documentQueries, "GET /"+id, "GET /journey/"+id, "GET /entity/"+id,
				"GET /entity/e/journey/"+id, "POST /entity/paged", "POST /entity/paged/lite/v2", "GET /signedurl/"+id,
				"GET /mimeTypesAllowed", "GET /supportedFileExtensions"),
		}},
		{"external authentication", []string{"ExternalAuthenticationAccess", "ExternalAuthenticationCreate",
			"ExternalAuthenticationEdit", "ExternalAuthenticationDelete"}, map[string][]string{
			"ExternalAuthenticationCreate": {"POST " + externalAuthCommands},
			"ExternalAuthenticationEdit":   {"PUT " + externalAuthCommands + "?configurationId=" + id},
			"ExternalAuthenticationDelete": {"DELETE " + externalAuthCommands + "?configurationId=" + id},
			"ExternalAuthenticationAccess": {"GET " + externalAuthQueries + "/" + id,
				"GET " + externalAuthQueries + "/getAll"},
		}},
		{"monitoring", []string{"BatchUpload", "BatchRead", "TransactionRead", "TransactionWrite", "WebhookRead",
			"EntityDataEdit"}, map[string][]string{
			"BatchUpload": {"POST " + uploadPath, "POST " + transactionsPath + "batch/cancel/" + id,
				"POST " + transactionsPath + "batch/upload-url/" + id},
			"BatchRead":                    at(transactionsPath, "GET batch", "GET batch/status/"+id),
			"TransactionRead":              {"GET " + transactionsPath + "x"},
			"TransactionWrite":             {"POST " + singlePath},
			"BatchRead or TransactionRead": {"GET " + findPath + "?id=x"},
			"WebhookRead":                  {"GET " + webhooksPath},
			"WebhookEdit":                  {"POST " + webhooksPath},
		}},
	}
}

// at returns operations below a path.
func at(path string, operations ...string) []string {
	for i, o := range operations {
		operations[i] = strings.Replace(o, " ", " "+path, 1)
	}
	return operations
}

// Every operation accepts the permissions that the interface names for it, and no other: otherwise the answer is 403
// and names what it accepts.
func TestPermissions(t *testing.T) {
	api := begin(t)
	e := api.newEntity("")
	for _, a := range areas(e, api.newDraft(e, uuid.NewString())) {
		for _, permission := range a.permissions {
			t.Run(a.name+" "+permission, func(t *testing.T) {
				client := loginNewClient(t, "--permission", permission)
				for _, accepted := range slices.Sorted(maps.Keys(a.operations)) {
					isAccepted := accepted == "" || slices.Contains(strings.Split(accepted, " or "), permission)
					for _, operation := range a.operations[accepted] {
						client.expectPermission(operation, accepted, isAccepted)
					}
				}
			})
		}
	}
	// One token serves both interfaces.
	both := loginNewClient(t, "--permission", "BatchUpload", "--permission", "EntityDataAccessAndSearch")
	both.expect(http.StatusOK, "POST", uploadPath, "")
	both.mustCall("GET", entityQuery+"/entity/"+e, "", nil)
	loginNewTenant(t).expect(http.StatusForbidden, "POST", uploadPath, "", "batch feature")
}

func (s *session) expectPermission(operation, accepted string, isAccepted bool) {
	s.t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	body := ""
	if method == "POST" || method == "PUT" {
		body = `{}`
	}
	r := s.call(method, path, body)
	assert(s.t, isAccepted && r.status != 403 || !isAccepted && r.is(403, accepted),
		"%s: %d %s; want it accepted: %t, else 403 with %q", r.request, r.status, r.text, isAccepted, accepted)
}

// Every operation on entities requires the header with the token's tenant. Every answer has the correlation ID of its
// request, and the refusal of a body names the property.
func TestTenantHeader(t *testing.T) {
	api := begin(t)
	path := entityQuery + "/entity/" + uuid.NewString()
	for _, r := range []reply{api.expect(404, "GET", path, "", "entity_not_found"),
		api.call("GET", path, "", "X-Tenant-Id", ""), api.call("GET", path, "", "X-Tenant-Id", uuid.NewString())} {
		equal(t, r.request, correlationID, r.header.Get("X-Correlation-Id"))
	}
	for _, body := range []string{`{}`, `{"data":null}`, `{"data":{"type":1}}`, `{"data":{"x":1}}`,
		`{"data":{"type":` + quoted(300) + `}}`, `{`} {
		api.expect(400, "POST", entityCommand, body, "propertyName")
	}
	badToken := api.in(t)
	badToken.token = "x"
	badToken.expectTokenRefused("GET", path)
	e := api.newEntity("")
	for _, operations := range areas(e, api.newDraft(e, uuid.NewString()))[0].operations {
		for _, operation := range operations {
			method, path, _ := strings.Cut(operation, " ")
			api.call(method, path, "", "X-Tenant-Id", "").expect(t, 400, "MissingTenantHeader")
			api.call(method, path, "", "X-Tenant-Id", uuid.NewString()).expect(t, 403, "TenantMismatch")
		}
	}
}

// anyUUID matches the IDs in calls and replies.
var anyUUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// What belongs to another tenant is answered word for word like what does not exist, and stays as it was.
func TestObjectsOfOtherTenants(t *testing.T) {
	t.Parallel()
	owner, other := loginNewTenant(t), loginNewTenant(t)
	calls := slices.Concat(entityCalls(owner), documentCalls(owner, ""), fileCalls(owner), externalAuthCalls(owner),
		policyCalls(owner))
	for _, c := range calls {
		if !anyUUID.MatchString(c.path + c.body) {
			continue // it names no object
		}
		ask := func(ids func(string) string) (int, string) {
			r := other.call(c.method, ids(c.path), ids(c.body))
			return r.status, anyUUID.ReplaceAllString(string(r.text), "ID")
		}
		status, got := ask(func(text string) string { return text })
		wantStatus, want := ask(func(text string) string {
			return anyUUID.ReplaceAllStringFunc(text, func(string) string { return uuid.NewString() })
		})
		assert(t, status == wantStatus && got == want, "%s %s: got %d %s, want %d %s", c.method, c.path, status, got,
			wantStatus, want)
	}
	for _, c := range calls {
		r := owner.call(c.method, c.path, c.body)
		assert(t, r.status/100 == 2, "after the calls of another tenant: %s: %d %s, want 2xx", r.request, r.status,
			r.text)
	}
	// IDs belong to a tenant: the same one may be used by another.
	id := owner.newDocument("")
	clone := other.cloneDocument(other.newDocument(""), `{"Id":"`+id+`"}`)
	assert(t, clone == id, "the other tenant's clone has the ID %s, want %s", clone, id)
}

// addedOperations are the operations of the platform that the original interface does not have. Of the monitoring
// interface, all are added but originalOperations. Sets of keys ignore parameters, as any program may read them.
var (
	addedOperations = []string{"GET /entitydataquery/api/v2/entity", "POST /screeningquery/api/v4/match-name",
		"POST /externalauthenticationquery/api/configuration/check", "POST /screeningreceptor/api/receptor/upload-url",
		"POST /screeningcommand/api/v3/configuration/provider/{providerId}/test"}
	originalOperations = []string{"POST /tm/realtime/api/transactions/batch/generate-upload-url",
		"GET /tm/realtime/api/transactions/batch/status/{batch_id}",
		"GET /tm/realtime/api/transactions/batch/validation-result/{batch_id}",
		"POST /tm/realtime/event/transaction/v3"}
)

// Operations of the original interface ignore query parameters that they do not know; all others refuse them.
func TestUnknownQueryParameters(t *testing.T) {
	api := beginTenant(t)
	document, err := openapi.Load()
	must(t, err)
	for _, o := range document.Operations {
		path := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(o.Path, uuid.NewString())
		isAdded := slices.Contains(addedOperations, o.String())
		for _, prefix := range []string{"/tm/", "/v1/"} {
			isAdded = isAdded || strings.HasPrefix(o.Path, prefix) && !slices.Contains(originalOperations, o.String())
		}
		body := ""
		if o.Method == "POST" || o.Method == "PUT" {
			body = "{}"
		}
		r := api.call(o.Method, path+"?workspaceId=w&foo=1", body)
		isRefused := strings.Contains(string(r.text), "This parameter is not known here.") &&
			strings.Contains(string(r.text), "foo") && (r.status == 400 || r.status == 422)
		assert(t, isRefused == isAdded, "%s: got %d %s, want the parameter refused: %t", r.request, r.status, r.text,
			isAdded)
	}
}
