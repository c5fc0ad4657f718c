package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/openapi/wire"
)

const (
	documentCommands = "/documentmanagementcommand/api/v2/documentmanagement"
	documentQueries  = "/documentmanagementquery/api/documentmanagement"
)

// eicar is the EICAR test file, which every malware scanner knows.
const eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// documentView is what these tests read of a document.
type documentView struct {
	ID, EntityID, JourneyID, Status                             string
	FileName, FriendlyName, DocumentKey, ErrorCode, DocumentURL *string
	ArchivalReason, PreArchivalStatus, ErrorMessage             *string
	DocumentEntityType                                          struct{ Name string }
	IsVirtual, IsCloned, HasRequiredAccessLayers                bool
}

// createdDocument is the answer to a request that a file can be uploaded for.
type createdDocument struct {
	ID                string
	SignedURLToUpload string `json:"signedUrlToUpload"`
	RequiredHeaders   map[string]string
}

// upload returns the upload of the document's file.
func (c createdDocument) upload() client.Upload {
	return client.Upload{URL: c.SignedURLToUpload, Method: http.MethodPut, RequiredHeaders: c.RequiredHeaders}
}

// createDocument creates a document of an entity, with extra members of its body such as `,"journeyId":"j"`.
func (s *session) createDocument(fileName, entityID, extra string) createdDocument {
	s.t.Helper()
	c := callFor[createdDocument](s, "POST", documentCommands, fmt.Sprintf(`{"data":{"fileName":%q,"entityId":%q%s}}`,
		fileName, entityID, extra))
	return c
}

// newDocument creates a document whose file does not come, and returns its ID.
func (s *session) newDocument(extra string) string {
	s.t.Helper()
	return s.createDocument("a.pdf", "e", extra).ID
}

// uploadDocument creates a document, uploads its file and waits for the status that the scan gives it.
func (s *session) uploadDocument(entityID, content string) (document createdDocument, status string) {
	s.t.Helper()
	document = s.createDocument("a.zip", entityID, "")
	expectPut(s.t, 200, document.upload(), []byte(content))
	eventually(s.t, "the result of the scan", func() bool {
		status = s.readDocument(document.ID).Status
		return status != "Processing"
	})
	return document, status
}

func (s *session) readDocument(id string) documentView {
	s.t.Helper()
	v := callFor[documentView](s, "GET", documentQueries+"/"+id, "")
	return v
}

// expectDocument checks the status of a document and returns the document.
func (s *session) expectDocument(id, status string) documentView {
	s.t.Helper()
	v := s.readDocument(id)
	assert(s.t, v.Status == status, "document %s is %+v, want the status %s", id, v, status)
	return v
}

func (s *session) downloadURL(id string) string {
	s.t.Helper()
	link := callFor[string](s, "GET", documentQueries+"/signedurl/"+id, "")
	return link
}

// cloneDocument clones a document with the given data and returns the clone's ID.
func (s *session) cloneDocument(id, data string) string {
	s.t.Helper()
	c := callFor[struct{ Id string }](s, "PUT", documentCommands+"/"+id+"/clone", `{"data":`+data+`}`)
	return c.Id
}

func (s *session) deleteDocument(id string) {
	s.t.Helper()
	s.expect(http.StatusAccepted, "DELETE", documentCommands+"/"+id, "")
}

// expectFile checks what a download URL gives.
func expectFile(t *testing.T, link, content string) {
	t.Helper()
	code, _, text := download(t, link)
	assert(t, code == 200 && text == content, "download: %d %.200q, want 200 %.200q", code, text, content)
}

// expectNoFile checks that a download URL gives nothing any more, where policies say so.
func expectNoFile(t *testing.T, link string) {
	t.Helper()
	if !environment.supports(policies, t.Name()) {
		return
	}
	code, _, text := download(t, link)
	assert(t, code == 403 || code == 404, "download: %d %.200q, want 403 or 404", code, text)
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
		assert(t, v.HasRequiredAccessLayers && wire.OrZero(v.FriendlyName) == "f",
			"%s: %+v, want a visible document with the friendly name f", name, v)
	}
	expectVisible("created", spain.readDocument(id))
	listed := callFor[[]documentView](withoutLayers, "GET", documentQueries+"/entity/"+entity, "")
	assert(t, len(listed) == 1, "listed: %+v, want one document", listed)
	for _, v := range append(listed, withoutLayers.readDocument(id)) {
		assert(t, !v.HasRequiredAccessLayers && v.FileName == nil && v.FriendlyName == nil && v.DocumentKey == nil &&
			v.Status == "Processing", "out of reach: %+v, want only the status Processing", v)
	}
	for _, c := range []platformCall{
		{"PUT", documentCommands + "/" + id, `{"data":{"friendlyName":"x"}}`},
		{"POST", documentCommands + "/" + id + "/archive", `{"data":{"archivalReason":"old"}}`},
		{"POST", documentCommands + "/" + id + "/unarchive", ""},
		{"GET", documentQueries + "/signedurl/" + id, ""},
		{"PUT", documentCommands + "/updateFile", `{"data":{"id":"` + id + `","fileName":"a.pdf"}}`},
	} {
		withoutLayers.expect(403, c.method, c.path, c.body)
	}
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

// A virtual document is a link: it is complete at once and has no file.
func TestVirtualDocuments(t *testing.T) {
	t.Parallel()
	const prefix = "https://example.com/"
	longest := prefix + strings.Repeat("x", 2048-len(prefix))
	for _, test := range []struct{ route, entityType string }{{"", "Entity"}, {"/product", "Product"},
		{"/deal", "Deal"}} {
		t.Run(test.entityType, func(t *testing.T) {
			api := login(t, environment)
			document := callFor[createdDocument](api, "POST", documentCommands+test.route+"/virtual",
				`{"data":{"fileName":"register.html","entityId":"e","documentURL":"`+longest+`"}}`)
			v := api.expectDocument(document.ID, "Completed")
			assert(t, v.IsVirtual && *v.DocumentURL == longest && v.DocumentKey == nil &&
				v.DocumentEntityType.Name == test.entityType,
				"got %+v, want a virtual document of the type %s with its URL", v, test.entityType)
			path := documentCommands + test.route + "/" + document.ID
			api.expect(404, "GET", documentQueries+"/signedurl/"+document.ID, "")
			api.expect(202, "PUT", path, `{"data":{"documentURL":"HTTPS://example.com/b"}}`)
			api.expect(202, "PUT", path+"/clone", `{"data":{}}`)
			api.expect(202, "DELETE", path, "")
			api.expect(404, "GET", documentQueries+"/"+document.ID, "")
		})
	}
}

// Of concurrent edits each is made as a whole or answered with 409.
func TestConcurrentEditsOfADocument(t *testing.T) {
	api := begin(t)
	id := api.newDocument("")
	for range 5 {
		statuses := api.callConcurrently(6, "PUT", documentCommands+"/"+id,
			func(i int) string { return fmt.Sprintf(`{"data":{"friendlyName":"n%d","documentType":"n%d"}}`, i, i) })
		assert(t, statuses[202] != 0 && statuses[202]+statuses[409] == 6,
			"six edits at once: %v, want 202 once or more and otherwise 409", statuses)
		got := callFor[struct{ FriendlyName, DocumentType string }](api, "GET", documentQueries+"/"+id, "")
		assert(t, got.FriendlyName != "" && got.FriendlyName == got.DocumentType,
			"after six edits at once: %+v, want both values of one edit", got)
	}
	clone := documentCommands + "/" + id + "/clone"
	if statuses := api.callConcurrently(5, "PUT", clone,
		func(int) string { return `{"data":{}}` }); statuses[202] != 5 {
		t.Errorf("five clones at once: %v, want 202 for each", statuses)
	}
	cloneID := uuid.NewString()
	statuses := api.callConcurrently(5, "PUT", clone, func(int) string { return `{"data":{"Id":"` + cloneID + `"}}` })
	assert(t, statuses[202] == 1 && statuses[409] == 4,
		"five clones with one ID at once: %v, want one 202 and four 409", statuses)
	statuses = api.callConcurrently(5, "DELETE", documentCommands+"/"+cloneID, func(int) string { return "" })
	assert(t, statuses[202] != 0 && statuses[202]+statuses[400]+statuses[409] == 5,
		"five deletions at once: %v, want 202 once or more and otherwise 400 or 409", statuses)
}
