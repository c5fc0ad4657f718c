package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

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
