package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// documentCommand is a command on one document, whose ID replaces %s.
type documentCommand struct {
	name, method, path, body string
	// replayed is the status of the same command when it comes again.
	replayed int
}

// documentCommandsByType are the commands that find a document by its type.
func documentCommandsByType() []documentCommand {
	return []documentCommand{
		{"update", "PUT", "/%s", `{"data":{"friendlyName":"x"}}`, 202},
		{"access layers", "PUT", "/%s/access-layers", `{"data":{"accessLayers":{"geographic":["Global"]}}}`, 202},
		{"clone", "PUT", "/%s/clone", `{"data":{}}`, 202},
		{"requirements", "PUT", "/%s/requirement-ids", `["r"]`, 202},
		{"data key", "PUT", "/%s/datakey", `"k"`, 202},
		{"uploader", "PUT", "/%s/updateDocumentUploadedByUserName", "", 202},
		{"error", "PUT", "/error/%s", "", 202},
		{"custom error", "PUT", "/custom-error/%s", `{"data":{"errorCode":"SERVER_SIDE_ERROR","errorMessage":"m"}}`,
			202},
		{"delete", "DELETE", "/%s", "", 400},
	}
}

func archiveCommands() []documentCommand {
	return []documentCommand{
		{"archive", "POST", "/%s/archive", `{"data":{"archivalReason":"old"}}`, 409},
		{"unarchive", "POST", "/%s/unarchive", "", 409},
	}
}

// at returns the path of the command for a document, on the route of a type of documents.
func (c documentCommand) at(route, id, query string) string {
	return documentCommands + route + fmt.Sprintf(c.path, id) + query
}

// Documents of most types are found on the route of their type, or by the parameter on any route. A Screening document
// has no route of its own: it is found only by the parameter.
func TestDocumentEntityType(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ entityType, ownRoute, otherType string }{
		{"Entity", "", "Deal"},
		{"Product", "/product", "Deal"},
		{"Deal", "/deal", "Product"},
		{"Screening", "none", "Deal"},
	} {
		t.Run(test.entityType, func(t *testing.T) {
			api := begin(t)
			for _, c := range documentCommandsByType() {
				for _, route := range []string{"", "/product", "/deal"} {
					if c.name == "uploader" && route != "" {
						continue // exists on one route only
					}
					api.checkEntityType(c, route, test.entityType, test.otherType, route == test.ownRoute)
				}
			}
		})
	}
}

// checkEntityType checks that a command on a route finds a new document of a type by the right parameter, not by
// another type, and without a parameter only on the type's own route.
func (s *session) checkEntityType(c documentCommand, route, entityType, otherType string, isOwnRoute bool) {
	s.t.Helper()
	notFound := http.StatusNotFound
	if c.method == "DELETE" {
		notFound = http.StatusBadRequest
	}
	id := s.newDocument(`,"requestType":"` + entityType + `"`)
	s.expect(notFound, c.method, c.at(route, id, "?documentEntityType="+otherType), c.body)
	if !isOwnRoute {
		s.expect(notFound, c.method, c.at(route, id, ""), c.body)
	}
	absent := s.callPlatform(c.method, c.at(route, uuid.NewString(), ""), c.body)
	if want := "There is no such document."; !strings.Contains(string(absent.text), want) {
		s.t.Errorf("%s of a document that does not exist: %s, want %q", c.name, absent.text, want)
	}
	s.expect(202, c.method, c.at(route, id, "?documentEntityType="+strings.ToLower(entityType)), c.body)
	if isOwnRoute && c.method != "DELETE" {
		s.expect(202, c.method, c.at(route, id, ""), c.body)
	}
}

func TestReplaysOfDocumentCommands(t *testing.T) {
	api := begin(t)
	id, clone := api.newDocument(""), uuid.NewString()
	for _, c := range append(archiveCommands(), documentCommandsByType()...) {
		if c.name == "clone" {
			c.body, c.replayed = `{"data":{"Id":"`+clone+`"}}`, 409
		}
		api.expect(202, c.method, c.at("", id, ""), c.body)
		api.expect(c.replayed, c.method, c.at("", id, ""), c.body)
	}
	v := api.expectDocument(clone, "Processing")
	assert(t, v.ID == clone, "the clone has the ID %s, want %s", v.ID, clone)
}

// Taken out of the archive, a document is as it was. An error that is reported for it takes it out too.
func TestArchive(t *testing.T) {
	api := begin(t)
	document, _ := api.uploadDocument(uuid.NewString(), "a bill")
	archive, unarchive := documentCommands+"/"+document.ID+"/archive", documentCommands+"/"+document.ID+"/unarchive"
	api.expect(202, "POST", archive, `{"data":{"archivalReason":"superseded"}}`)
	v := api.expectDocument(document.ID, "Archived")
	if *v.ArchivalReason != "superseded" || *v.PreArchivalStatus != "Completed" {
		t.Errorf("archived: reason %q, status before %q; want superseded, Completed", *v.ArchivalReason,
			*v.PreArchivalStatus)
	}
	expectFile(t, api.downloadURL(document.ID), "a bill")

	api.expect(202, "POST", unarchive, "")
	v = api.expectDocument(document.ID, "Completed")
	assert(t, v.ArchivalReason == nil && v.PreArchivalStatus == nil,
		"unarchived: %+v, want no reason and no status before", v)

	api.expect(202, "POST", archive, `{"data":{"archivalReason":"again"}}`)
	api.expect(202, "PUT", documentCommands+"/custom-error/"+document.ID,
		`{"data":{"errorCode":"NOT_APPLICABLE","errorMessage":"wrong person"}}`)
	v = api.expectDocument(document.ID, "Error")
	assert(t, *v.ErrorCode == "NOT_APPLICABLE" && v.ArchivalReason == nil,
		"after an error: %+v, want the error code NOT_APPLICABLE and no reason", v)
	api.expect(404, "GET", documentQueries+"/signedurl/"+document.ID, "")
	api.expect(409, "POST", unarchive, "")
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

// Queries leave out what belongs to other tenants, word for word as if it did not exist; commands do not find it.
func TestOtherTenantsDocuments(t *testing.T) {
	t.Parallel()
	owner, other := login(t, environment), loginNewTenant(t)
	journey := uuid.NewString()
	id := owner.newDocument(`,"journeyId":"` + journey + `"`)
	owner.expect(202, "PUT", documentCommands+"/"+id, `{"data":{"friendlyName":"mine"}}`)
	for _, test := range otherTenantsRequests(journey) {
		t.Run(test.name, func(t *testing.T) {
			ask := func(id string) (int, string) {
				fill := strings.NewReplacer("%s", id)
				r := other.call(test.method, fill.Replace(test.path), fill.Replace(test.body))
				return r.status, strings.ReplaceAll(string(r.text), id, "ID")
			}
			status, text := ask(id)
			wantStatus, want := ask(uuid.NewString())
			if status != wantStatus || text != want || strings.Contains(text, id) || strings.Contains(text, "mine") {
				t.Errorf("got %d %s, want %d %s as for a document that does not exist", status, text, wantStatus, want)
			}
		})
	}
	if v := owner.expectDocument(id, "Processing"); *v.FriendlyName != "mine" {
		t.Errorf("the friendly name is %q, want mine", *v.FriendlyName)
	}
	// IDs belong to a tenant: the same one may be used by another.
	clone := other.cloneDocument(other.newDocument(""), `{"Id":"`+id+`"}`)
	if v := other.readDocument(id); clone != id || v.FriendlyName != nil {
		t.Errorf("the other tenant's clone %s is %+v, want the ID %s and no friendly name", clone, v, id)
	}
}

// otherTenantsRequests are requests for a document, whose ID replaces %s, and for lists in which it is.
func otherTenantsRequests(journey string) []documentCommand {
	requests := []documentCommand{
		{"read", "GET", documentQueries + "/%s", "", 0},
		{"download", "GET", documentQueries + "/signedurl/%s", "", 0},
		{"list of a journey", "GET", documentQueries + "/journey/" + journey, "", 0},
		{"list of an entity and a journey", "GET", documentQueries + "/entity/e/journey/" + journey, "", 0},
		{"page", "POST", documentQueries + "/entity/paged", `{"data":{"entityId":"e"}}`, 0},
		{"lite page", "POST", documentQueries + "/entity/paged/lite/v2", `{"data":{"entityId":"e"}}`, 0},
		{"new file", "PUT", documentCommands + "/updateFile", `{"data":{"id":"%s","fileName":"a.pdf"}}`, 0},
	}
	for _, c := range append(archiveCommands(), documentCommandsByType()...) {
		c.path = documentCommands + c.path
		requests = append(requests, c)
	}
	return requests
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
