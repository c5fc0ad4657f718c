package e2e

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// documentPermissions returns the permissions that each operation accepts; nil accepts all.
func documentPermissions() map[string][]string {
	prefixed := func(names ...string) []string {
		for i, name := range names {
			names[i] = "DocumentManagement" + name
		}
		return names
	}
	edit, read, remove := prefixed("Edit"), prefixed("Access"), prefixed("Delete")
	accepted := map[string][]string{}
	for operation, permissions := range map[string][]string{
		"PUT /%s": edit, "DELETE /%s": remove, "PUT /%s/access-layers": edit,
		"PUT /%s/clone":           prefixed("Create", "CreateVirtual", "Link"),
		"PUT /%s/requirement-ids": prefixed("Edit", "Delete"), "PUT /%s/datakey": prefixed("Edit", "Delete"),
		"PUT /%s/updateDocumentUploadedByUserName": edit, "PUT /error/%s": edit, "PUT /custom-error/%s": edit,
		"POST ": prefixed("Create"), "POST /virtual": prefixed("CreateVirtual"), "POST /%s/archive": edit,
		"POST /%s/unarchive": edit, "PUT /updateFile": edit, "PUT /product/%s": edit, "DELETE /deal/%s": remove,
		"POST /deal/virtual": prefixed("CreateVirtual"),
	} {
		method, path, _ := strings.Cut(operation, " ")
		accepted[method+" "+documentCommands+path] = permissions
	}
	for _, operation := range []string{"GET /%s", "GET /journey/%s", "GET /entity/%s", "GET /entity/e/journey/%s",
		"POST /entity/paged", "POST /entity/paged/lite/v2", "GET /signedurl/%s", "GET /mimeTypesAllowed",
		"GET /supportedFileExtensions"} {
		method, path, _ := strings.Cut(operation, " ")
		accepted[method+" "+documentQueries+path] = read
	}
	return accepted
}

// Every operation accepts the permissions that the interface names for it, and no other.
func TestPermissionsOfDocumentOperations(t *testing.T) {
	t.Parallel()
	accepted := documentPermissions()
	permissions := []string{"EntityDataEdit"}
	for _, name := range []string{"Access", "Create", "CreateVirtual", "Link", "Edit", "Delete"} {
		permissions = append(permissions, "DocumentManagement"+name)
	}
	for _, permission := range permissions {
		t.Run(permission, func(t *testing.T) {
			api := loginNewClient(t, "--permission", permission)
			for _, operation := range slices.Sorted(maps.Keys(accepted)) {
				method, path, _ := strings.Cut(operation, " ")
				// A body without data is refused after the permission is checked.
				path = strings.ReplaceAll(path, "%s", uuid.NewString())
				api.checkPermission(permission, method, path, `{}`, accepted[operation])
			}
		})
	}
}

// checkPermission checks that an operation answers 403, and names what it accepts, if and only if it does not accept
// the permission that the client has.
func (s *session) checkPermission(permission, method, path, body string, accepted []string) {
	s.t.Helper()
	if method != "POST" && method != "PUT" {
		body = ""
	}
	r := s.callPlatform(method, path, body)
	isAccepted := accepted == nil || slices.Contains(accepted, permission)
	assert(s.t, isAccepted != (r.status == http.StatusForbidden),
		"%s %s: %d %s; want the permission to be accepted: %v", method, path, r.status, r.text, isAccepted)
	if want := strings.Join(accepted, " or "); !isAccepted && !strings.Contains(r.message(), want) {
		s.t.Errorf("%s %s: the message is %q, want one with %q", method, path, r.message(), want)
	}
}

// Who lacks the access layers of a document sees that it exists and no more, and cannot change it.
func TestAccessLayersOfDocuments(t *testing.T) {
	t.Parallel()
	spain, withoutLayers := loginNewClient(t, "--geographic", "Spain"), login(t, environment)
	entity := uuid.NewString()
	id := spain.createDocument("a.pdf", entity,
		`,"friendlyName":"f","policyEnforcedAccessLayers":{"geographic":["Spain"]}`).ID
	expectVisible := func(name string, v documentView) {
		t.Helper()
		assert(t, v.HasRequiredAccessLayers && valueOrEmpty(v.FriendlyName) == "f",
			"%s: %+v, want a visible document with the friendly name f", name, v)
	}
	expectVisible("created", spain.readDocument(id))
	listed := callFor[[]documentView](withoutLayers, "GET", documentQueries+"/entity/"+entity, "")
	assert(t, len(listed) == 1, "listed: %+v, want one document", listed)
	for _, v := range append(listed, withoutLayers.readDocument(id)) {
		assert(t, !v.HasRequiredAccessLayers && v.FileName == nil && v.FriendlyName == nil && v.DocumentKey == nil &&
			v.Status == "Processing", "out of reach: %+v, want only the status Processing", v)
	}
	for _, c := range append(archiveCommands(), documentCommandsByType()...) {
		withoutLayers.expect(403, c.method, c.at("", id, ""), c.body)
	}
	withoutLayers.expect(403, "GET", documentQueries+"/signedurl/"+id, "")
	withoutLayers.expect(403, "PUT", documentCommands+"/updateFile", `{"data":{"id":"`+id+`","fileName":"a.pdf"}}`)
	// The layers that a policy enforces remain among those of the document, which can only be widened.
	setLayers := func(layer string) {
		t.Helper()
		spain.expect(202, "PUT", documentCommands+"/"+id+"/access-layers",
			`{"data":{"accessLayers":{"geographic":["`+layer+`"]}}}`)
	}
	setLayers("France")
	expectVisible("with France", spain.readDocument(id))
	setLayers("Global")
	expectVisible("with Global", withoutLayers.readDocument(id))
}
