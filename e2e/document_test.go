package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/client"
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

func valueOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// The commands upload a document, follow it to the end of its scan, list, show and download it. What the scan refuses
// and what the client may not do are told apart by the exit code.
func TestDocumentCommands(t *testing.T) {
	c := beginTenant(t)
	dir := t.TempDir()
	bill := writeFile(t, "bill.pdf", "%PDF-1.4 a bill")
	shown := c.run(0, "document", "upload", bill, "--entity", "e", "--type", "Utility bill")
	name, id, _ := strings.Cut(strings.SplitN(shown, "\n", 2)[0], " ")
	id = strings.TrimSpace(id)
	require(t, name == "document" && len(id) == 36 && strings.Contains(shown, "\nstatus      Completed\n"),
		"document upload printed %s", shown)
	again := c.run(0, "document", "show", id)
	assert(t, again == shown, "document show printed %s, want %s", again, shown)
	list := c.run(0, "document", "list", "e", "--status", "Completed")
	assert(t, strings.Count(list, "\n") == 1 && strings.Contains(list, id+"  Completed  Utility bill  bill.pdf\n"),
		"document list printed %s", list)
	copied := filepath.Join(dir, "copy.pdf")
	c.run(0, "document", "download", id, "-o", copied)
	if text, err := os.ReadFile(copied); err != nil || string(text) != "%PDF-1.4 a bill" {
		t.Errorf("downloaded %q, %v; want the file", text, err)
	}

	for file, want := range map[string]string{
		writeFile(t, "infected.pdf", eicar): "INFECTED_FILE", writeFile(t, "program.exe", "MZ"): "INVALID_MIME_TYPE",
		writeFile(t, "empty.pdf", ""): "",
	} {
		text := c.run(1, "document", "upload", file, "--entity", "e")
		assert(t, strings.Contains(text, "\nbecause ") && strings.Contains(text, want),
			"document upload %s printed %s, want the reason %s", filepath.Base(file), text, want)
	}
	unscanned := strings.TrimSpace(c.run(0, "document", "upload", bill, "--entity", "e 2", "--detach"))
	if text := c.run(0, "document", "list", "e 2", "--json"); !strings.Contains(text, `"id":"`+unscanned+`"`) {
		t.Errorf("document list --json printed %s, want %s", text, unscanned)
	}

	const unknown = "0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01"
	c.run(2, "document", "show", unknown)
	c.run(2, "document", "show", "bill")
	c.run(2, "document", "download", unknown, "-o", filepath.Join(dir, "none"))
	c.run(2, "document", "upload", bill, "--entity", "e", "--name", "a/b.pdf")
	other := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "DocumentManagementAccess"))
	other.run(0, "document", "show", id)
	other.run(2, "document", "upload", bill, "--entity", "e")
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
