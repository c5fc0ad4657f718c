package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// command is a document command on one document; %s is its id.
type command struct{ method, path, body string }

// nine are the commands of the requirement's table.
var nine = []command{
	{"PUT", "/%s", `{"data":{"friendlyName":"x"}}`}, {"PUT", "/%s/access-layers", `{"data":{"accessLayers":{"geographic":["Global"]}}}`},
	{"PUT", "/%s/clone", `{"data":{}}`}, {"PUT", "/%s/requirement-ids", `["r"]`}, {"PUT", "/%s/datakey", `"k"`},
	{"PUT", "/%s/updateDocumentUploadedByUserName", ""}, {"PUT", "/error/%s", ""},
	{"PUT", "/custom-error/%s", `{"data":{"errorCode":"SERVER_SIDE_ERROR","errorMessage":"m"}}`}, {"DELETE", "/%s", ""},
}

func (c command) at(route, id, query string) string {
	return documentCommands + route + fmt.Sprintf(c.path, id) + query
}

// A Screening document is found with the parameter and not without it, by every command and every route; documents of the
// other types by their own route, or by the parameter on any.
func TestDocumentEntityType(t *testing.T) {
	d := enter(t, home)
	own := map[string]string{"Entity": "", "Product": "/product", "Deal": "/deal", "Screening": "none"}
	for kind, ownRoute := range own {
		for _, c := range nine {
			for _, route := range []string{"", "/product", "/deal"} {
				if strings.HasSuffix(c.path, "UserName") && route != "" {
					continue // it has no twins
				}
				id := d.newFile(`,"requestType":"` + kind + `"`)
				missing := http.StatusNotFound
				if c.method == "DELETE" {
					missing = http.StatusBadRequest
				}
				other := "Deal"
				if kind == other {
					other = "Product"
				}
				d.ends(missing, c.method, c.at(route, id, "?documentEntityType="+other), c.body)
				if route != ownRoute {
					d.ends(missing, c.method, c.at(route, id, ""), c.body)
				}
				if _, said, data := d.complaint(c.method, c.at(route, uuid.NewString(), ""), c.body); !strings.Contains(said+string(data), "There is no such document.") {
					t.Errorf("%s %s: %s %s", c.method, c.path, said, data)
				}
				d.ends(202, c.method, c.at(route, id, "?documentEntityType="+strings.ToLower(kind)), c.body)
				if route == ownRoute && c.method != "DELETE" {
					d.ends(202, c.method, c.at(route, id, ""), c.body)
				}
			}
		}
	}
}

// What happens when a command comes again.
func TestReplaysOfDocumentCommands(t *testing.T) {
	d := enter(t, home)
	id, copied := d.newFile(""), uuid.NewString()
	replays := map[string]int{"archive": 409, "unarchive": 409, "clone": 409, "delete": 400}
	for _, c := range append([]command{{"POST", "/%s/archive", `{"data":{"archivalReason":"old"}}`}, {"POST", "/%s/unarchive", ""}}, nine...) {
		name, second := c.path[strings.LastIndex(c.path, "/")+1:], 202
		if c.method == "DELETE" {
			name = "delete"
		}
		if name == "clone" {
			c.body = `{"data":{"Id":"` + copied + `"}}`
		}
		if replay, ok := replays[name]; ok {
			second = replay
		}
		d.ends(202, c.method, c.at("", id, ""), c.body)
		d.ends(second, c.method, c.at("", id, ""), c.body)
	}
	if p := d.paper(copied); p.ID != copied || p.Status != "Processing" {
		t.Errorf("%+v", p)
	}
}

// Archived and taken back, a document is what it was; called wrong, it is out of the archive.
func TestArchive(t *testing.T) {
	d := enter(t, home)
	n, _ := d.document(uuid.NewString(), "a bill")
	archive, unarchive := documentCommands+"/"+n.ID+"/archive", documentCommands+"/"+n.ID+"/unarchive"
	d.ends(202, "POST", archive, `{"data":{"archivalReason":"superseded"}}`)
	if p := d.paper(n.ID); p.Status != "Archived" || *p.ArchivalReason != "superseded" || *p.PreArchivalStatus != "Completed" {
		t.Errorf("%+v", p)
	}
	if code, _, text := fetch(t, d.link(n.ID)); code != 200 || text != "a bill" {
		t.Errorf("archived: %d %s", code, text)
	}
	d.ends(202, "POST", unarchive, "")
	if p := d.paper(n.ID); p.Status != "Completed" || p.ArchivalReason != nil || p.PreArchivalStatus != nil {
		t.Errorf("%+v", p)
	}
	d.ends(202, "POST", archive, `{"data":{"archivalReason":"again"}}`)
	d.ends(202, "PUT", documentCommands+"/custom-error/"+n.ID, `{"data":{"errorCode":"NOT_APPLICABLE","errorMessage":"wrong person"}}`)
	if p := d.paper(n.ID); p.Status != "Error" || *p.ErrorCode != "NOT_APPLICABLE" || p.ArchivalReason != nil {
		t.Errorf("%+v", p)
	}
	d.ends(404, "GET", documentQueries+"/signedurl/"+n.ID, "")
	d.ends(409, "POST", unarchive, "")
}

// Links make documents that are there at once and have no file.
func TestVirtualDocuments(t *testing.T) {
	d := enter(t, home)
	for route, kind := range map[string]string{"": "Entity", "/product": "Product", "/deal": "Deal"} {
		var n newDocument
		long := "https://example.com/" + strings.Repeat("x", 2048-len("https://example.com/"))
		d.take("POST", documentCommands+route+"/virtual", `{"data":{"fileName":"register.html","entityId":"e","documentURL":"`+long+`"}}`, &n)
		if p := d.paper(n.ID); p.Status != "Completed" || !p.IsVirtual || *p.DocumentURL != long || p.DocumentKey != nil || p.DocumentEntityType.Name != kind {
			t.Errorf("%+v", p)
		}
		d.ends(404, "GET", documentQueries+"/signedurl/"+n.ID, "")
		d.ends(202, "PUT", documentCommands+route+"/"+n.ID, `{"data":{"documentURL":"HTTPS://example.com/b"}}`)
		d.ends(202, "PUT", documentCommands+route+"/"+n.ID+"/clone", `{"data":{}}`)
		d.ends(202, "DELETE", documentCommands+route+"/"+n.ID, "")
		d.ends(404, "GET", documentQueries+"/"+n.ID, "")
	}
}

// All kinds of reading leave out what other tenants have, word for word as if it were not there; commands do not find it.
func TestOtherTenantsDocuments(t *testing.T) {
	d, other := enter(t, home), stranger(t)
	entity := uuid.NewString()
	id := d.newFile(`,"journeyId":"` + entity + `"`)
	d.ends(202, "PUT", documentCommands+"/"+id, `{"data":{"friendlyName":"mine"}}`)
	asks := []command{
		{"GET", documentQueries + "/%s", ""}, {"GET", documentQueries + "/signedurl/%s", ""}, {"GET", documentQueries + "/journey/" + entity, ""},
		{"GET", documentQueries + "/entity/e/journey/" + entity, ""}, {"POST", documentQueries + "/entity/paged", `{"data":{"entityId":"e"}}`},
		{"POST", documentQueries + "/entity/paged/lite/v2", `{"data":{"entityId":"e"}}`},
		{"POST", documentCommands + "/%s/archive", `{"data":{"archivalReason":"old"}}`}, {"POST", documentCommands + "/%s/unarchive", ""},
		{"PUT", documentCommands + "/updateFile", `{"data":{"id":"%s","fileName":"a.pdf"}}`},
	}
	for _, c := range nine {
		asks = append(asks, command{c.method, documentCommands + c.path, c.body})
	}
	for _, c := range asks {
		ask := func(id string) (int, string) {
			fill := strings.NewReplacer("%s", id)
			status, _, text := other.platformAs(other.home.TenantID, c.method, fill.Replace(c.path), fill.Replace(c.body))
			return status, strings.ReplaceAll(string(text), id, "ID")
		}
		status, theirs := ask(id)
		if want, nothing := ask(uuid.NewString()); status != want || theirs != nothing || strings.Contains(theirs, id) || strings.Contains(theirs, "mine") {
			t.Errorf("%s %s: %d %s; of what is not there: %s", c.method, c.path, status, theirs, nothing)
		}
	}
	if p := d.paper(id); *p.FriendlyName != "mine" || p.Status != "Processing" {
		t.Errorf("%+v", p)
	}
	// Ids are a tenant's own: the same one can be taken again elsewhere.
	theirs := other.newFile("")
	if copied := other.cloneOf(theirs, `{"Id":"`+id+`"}`); copied != id || other.paper(id).FriendlyName != nil {
		t.Errorf("%s", copied)
	}
}

// Every operation lets in the permissions that the contract names for it, and no other.
func TestPermissionsOfDocumentOperations(t *testing.T) {
	prefixed := func(names ...string) []string {
		for i, name := range names {
			names[i] = "DocumentManagement" + name
		}
		return names
	}
	edit, read := prefixed("Edit"), prefixed("Access")
	allowed := map[string][]string{
		"PUT /%s": edit, "DELETE /%s": prefixed("Delete"), "PUT /%s/access-layers": edit, "PUT /%s/clone": prefixed("Create", "CreateVirtual", "Link"),
		"PUT /%s/requirement-ids": prefixed("Edit", "Delete"), "PUT /%s/datakey": prefixed("Edit", "Delete"), "PUT /%s/updateDocumentUploadedByUserName": nil,
		"PUT /error/%s": edit, "PUT /custom-error/%s": edit, "POST ": prefixed("Create"), "POST /virtual": prefixed("CreateVirtual"),
		"POST /%s/archive": edit, "POST /%s/unarchive": edit, "PUT /updateFile": edit, "PUT /product/%s": edit, "DELETE /deal/%s": prefixed("Delete"),
		"POST /deal/virtual": prefixed("CreateVirtual"),
	}
	queries := []string{"GET /%s", "GET /journey/%s", "GET /entity/%s", "GET /entity/e/journey/%s", "POST /entity/paged", "POST /entity/paged/lite/v2",
		"GET /signedurl/%s", "GET /mimeTypesAllowed", "GET /supportedFileExtensions"}
	try := func(d *door, permission, operation, prefix string, names []string) {
		t.Helper()
		method, path, _ := strings.Cut(operation, " ")
		body := ""
		if method == "POST" || method == "PUT" {
			body = `{}`
		}
		status, said, _ := d.complaint(method, prefix+strings.ReplaceAll(path, "%s", uuid.NewString()), body)
		may := names == nil || slices.Contains(names, permission)
		if may == (status == http.StatusForbidden) || !may && !strings.Contains(said, strings.Join(names, " or ")) {
			t.Errorf("%s with %s: %d %s", operation, permission, status, said)
		}
	}
	for _, permission := range append(prefixed("Access", "Create", "CreateVirtual", "Link", "Edit", "Delete"), "EntityDataEdit") {
		d := enterNew(t, home.TenantID, "--permission", permission)
		for operation, names := range allowed {
			try(d, permission, operation, documentCommands, names)
		}
		for _, operation := range queries {
			try(d, permission, operation, documentQueries, read)
		}
	}
}

// Who lacks the layers of a document reads that it is there and no more, and can do nothing with it.
func TestLayersOfDocuments(t *testing.T) {
	spain, all := enterNew(t, home.TenantID, "--geographic", "Spain"), enter(t, home)
	entity := uuid.NewString()
	var n newDocument
	spain.take("POST", documentCommands, `{"data":{"fileName":"a.pdf","entityId":"`+entity+`","friendlyName":"f","policyEnforcedAccessLayers":{"geographic":["Spain"]}}}`, &n)
	if p := spain.paper(n.ID); !p.HasRequiredAccessLayers || *p.FriendlyName != "f" {
		t.Errorf("%+v", p)
	}
	var listed []paper
	all.take("GET", documentQueries+"/entity/"+entity, "", &listed)
	for _, p := range append(listed, all.paper(n.ID)) {
		if p.HasRequiredAccessLayers || p.FileName != nil || p.FriendlyName != nil || p.DocumentKey != nil || p.Status != "Processing" {
			t.Errorf("out of reach: %+v", p)
		}
	}
	if len(listed) != 1 {
		t.Errorf("listed: %+v", listed)
	}
	for _, c := range append([]command{{"POST", "/%s/archive", `{"data":{"archivalReason":"old"}}`}}, nine...) {
		all.ends(403, c.method, c.at("", n.ID, ""), c.body)
	}
	all.ends(403, "GET", documentQueries+"/signedurl/"+n.ID, "")
	all.ends(403, "PUT", documentCommands+"/updateFile", `{"data":{"id":"`+n.ID+`","fileName":"a.pdf"}}`)
	// The policy's layers stay among those of the document, which can only be widened.
	spain.ends(202, "PUT", documentCommands+"/"+n.ID+"/access-layers", `{"data":{"accessLayers":{"geographic":["France"]}}}`)
	if p := spain.paper(n.ID); !p.HasRequiredAccessLayers {
		t.Errorf("%+v", p)
	}
	spain.ends(202, "PUT", documentCommands+"/"+n.ID+"/access-layers", `{"data":{"accessLayers":{"geographic":["Global"]}}}`)
	if p := all.paper(n.ID); !p.HasRequiredAccessLayers || *p.FriendlyName != "f" {
		t.Errorf("widened: %+v", p)
	}
}

// Of edits at once every one is made whole or answered with 409.
func TestConcurrentEditsOfADocument(t *testing.T) {
	d := enter(t, home)
	id := d.newFile("")
	for range 5 {
		got := d.together(6, "PUT", documentCommands+"/"+id, func(i int) string { return fmt.Sprintf(`{"data":{"friendlyName":"n%d","documentType":"n%d"}}`, i, i) })
		if got[202] == 0 || got[202]+got[409] != 6 {
			t.Errorf("%v", got)
		}
		var p struct{ FriendlyName, DocumentType string }
		if d.take("GET", documentQueries+"/"+id, "", &p); p.FriendlyName == "" || p.FriendlyName != p.DocumentType {
			t.Errorf("%+v", p)
		}
	}
	if got := d.together(5, "PUT", documentCommands+"/"+id+"/clone", func(int) string { return `{"data":{}}` }); got[202] != 5 {
		t.Errorf("clones: %v", got)
	}
	taken := uuid.NewString()
	if got := d.together(5, "PUT", documentCommands+"/"+id+"/clone", func(int) string { return `{"data":{"Id":"` + taken + `"}}` }); got[202] != 1 || got[409] != 4 {
		t.Errorf("clones of one id: %v", got)
	}
	if got := d.together(5, "DELETE", documentCommands+"/"+taken, func(int) string { return "" }); got[202] == 0 || got[202]+got[400]+got[409] != 5 {
		t.Errorf("deleted: %v", got)
	}
}
