package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/openapi/wire"
)

// From the creation to a file that can be read, and to the file's end with the last document that has it.
func TestDocumentLifeCycle(t *testing.T) {
	api := begin(t)
	entity := uuid.NewString()
	original := api.createDocument("Straße 1.pdf", entity, `,"journeyId":"j"`)
	v := api.expectDocument(original.ID, "Processing")
	assert(t, v.EntityID == entity && !v.IsVirtual && v.DocumentEntityType.Name == "Entity" &&
		*v.FileName == "Straße 1.pdf", "created: %+v, want a document of %s named Straße 1.pdf", v, entity)
	api.expect(404, "GET", documentQueries+"/signedurl/"+original.ID, "")
	withoutHeaders := original.upload()
	withoutHeaders.RequiredHeaders = nil
	for _, attempt := range []struct {
		name    string
		upload  client.Upload
		content string
		status  int
	}{
		{"without the required header", withoutHeaders, "x", 403},
		{"right", asWebPage(original.upload()), "a bill", 200},
		{"second", original.upload(), "another bill", 412},
	} {
		expectPut(t, attempt.status, attempt.upload, []byte(attempt.content))
	}
	eventually(t, "the scan of the file", func() bool { return api.readDocument(original.ID).Status == "Completed" })

	clone := api.cloneDocument(original.ID, `{"EntityId":"other","DocumentDataKey":"k"}`)
	v = api.expectDocument(clone, "Completed")
	assert(t, v.IsCloned && v.EntityID == "other" && v.JourneyID == "j" &&
		*v.DocumentKey == *api.readDocument(original.ID).DocumentKey,
		"cloned: %+v, want a clone for the entity other with the original's file and journey", v)
	link := api.downloadURL(original.ID)
	_, header, _ := download(t, link)
	for name, want := range map[string]string{
		"Content-Disposition": "attachment; filename*=UTF-8''" + url.PathEscape("Straße 1.pdf"),
		"Content-Type":        "application/pdf", // not text/html, with which it was uploaded
		"Cache-Control":       "no-store",
	} {
		got := header.Get(name)
		assert(t, got == want, "%s is %q, want %q", name, got, want)
	}
	expectFile(t, link, "a bill")
	expectPut(t, 403, client.Upload{URL: link, Method: "PUT"}, []byte("x"))

	api.deleteDocument(original.ID)
	api.expect(404, "GET", documentQueries+"/"+original.ID, "")
	expectFile(t, api.downloadURL(clone), "a bill")
	api.deleteDocument(clone)
	expectNoFile(t, link)
	for _, group := range []string{"/entity/" + entity, "/entity/other", "/entity/other/journey/j"} {
		var left []documentView
		if api.mustCall("GET", documentQueries+group, "", &left); len(left) > 0 {
			t.Errorf("%s lists %+v after the end, want nothing", group, left)
		}
	}
	expectLateUploadIsRefused(t, original.upload())
}

// asWebPage returns an upload that asks storage to send the file as a web page, which may be cached for a year.
func asWebPage(u client.Upload) client.Upload {
	u.RequiredHeaders = maps.Clone(u.RequiredHeaders)
	u.RequiredHeaders["Content-Type"], u.RequiredHeaders["Cache-Control"] = "text/html", "public, max-age=31536000"
	return u
}

// expectLateUploadIsRefused checks that nothing can be uploaded for a document that was deleted: its upload URL
// outlives it, and its key stays in use.
func expectLateUploadIsRefused(t *testing.T, u client.Upload) {
	t.Helper()
	expectPut(t, 412, u, []byte("too late"))
}

func TestUploadForADeletedDocument(t *testing.T) {
	api := begin(t)
	document := api.createDocument("late.txt", uuid.NewString(), "")
	api.deleteDocument(document.ID)
	expectLateUploadIsRefused(t, document.upload())
}

func TestArchiveFileIsADocument(t *testing.T) {
	api := begin(t, builtInCheck)
	const content = "PK\x03\x04 an archive is a document too"
	document, status := api.uploadDocument(uuid.NewString(), content)
	require(t, status == "Completed", "the status is %s, want Completed", status)
	clone := api.cloneDocument(document.ID, "{}")
	link := api.downloadURL(clone)
	api.deleteDocument(document.ID)
	expectFile(t, link, content)
	api.deleteDocument(clone)
	expectNoFile(t, link)
	api.expect(400, "DELETE", documentCommands+"/"+clone, "")
}

// The file goes with its last document, also when all are deleted at once.
func TestFilesGoWithTheirLastDocument(t *testing.T) {
	api := begin(t)
	document, status := api.uploadDocument(uuid.NewString(), "a bill")
	require(t, status == "Completed", "the status is %s, want Completed", status)
	ids := []string{document.ID}
	for range 3 {
		ids = append(ids, api.cloneDocument(ids[len(ids)-1], "{}"))
	}
	link := api.downloadURL(ids[2])
	expectFile(t, link, "a bill")
	var deletions sync.WaitGroup
	for _, id := range ids {
		deletions.Go(func() { api.deleteDocument(id) })
	}
	deletions.Wait()
	expectNoFile(t, link)
	for _, id := range ids {
		api.expect(404, "GET", documentQueries+"/"+id, "")
		api.expect(400, "DELETE", documentCommands+"/"+id, "")
	}
}

// The document's status is what the scan finds, and only a clean file can be read.
func TestStatusesOfFiles(t *testing.T) {
	api := narrowCloud.begin(t)
	for _, test := range []struct{ name, content, status, errorCode string }{
		{"below the limit", strings.Repeat("x", narrowUpload-1), "Completed", ""},
		{"at the limit", strings.Repeat("x", narrowUpload), "Completed", ""},
		{"above the limit", strings.Repeat("x", narrowUpload+1), "Error", "CLIENT_SIDE_ERROR"},
		{"malware", eicar, "Infected", "INFECTED_FILE"},
		{"empty", "", "Error", "CLIENT_SIDE_ERROR"},
		{"an executable's first bytes", "MZ", "Completed", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			api := api.in(t)
			document, _ := api.uploadDocument(uuid.NewString(), test.content)
			v := api.expectDocument(document.ID, test.status)
			got := wire.OrZero(v.ErrorCode)
			assert(t, got == test.errorCode, "the error code is %q, want %q", got, test.errorCode)
			if test.status != "Completed" {
				api.expect(404, "GET", documentQueries+"/signedurl/"+document.ID, "")
				return
			}
			expectFile(t, api.downloadURL(document.ID), test.content)
		})
	}
	t.Run("a type of file that is not accepted", func(t *testing.T) {
		api := api.in(t)
		r := api.callPlatform("POST", documentCommands, `{"data":{"fileName":"setup.exe","entityId":"e"}}`)
		var document createdDocument
		must(t, json.Unmarshal(r.Data, &document))
		if len(r.Messages) != 1 || r.Messages[0].Type != "Warning" || r.Messages[0].ErrorCode != "INVALID_MIME_TYPE" {
			t.Errorf("the messages are %+v, want the warning INVALID_MIME_TYPE", r.Messages)
		}
		for _, when := range []string{"before", "after"} {
			if v := api.expectDocument(document.ID, "Error"); wire.OrZero(v.ErrorCode) != "INVALID_MIME_TYPE" {
				t.Errorf("the error code is %q %s the upload, want INVALID_MIME_TYPE", wire.OrZero(v.ErrorCode), when)
			}
			put(t, document.upload(), []byte("x"))
		}
		api.expect(404, "GET", documentQueries+"/signedurl/"+document.ID, "")
	})
}

// A download URL, whose lifetime is a second, gives the file and then ends.
func TestDownloadURLExpires(t *testing.T) {
	api := slotCloud.begin(t)
	document, _ := api.uploadDocument(uuid.NewString(), "x")
	link := ""
	eventually(t, "a download before its URL ends", func() bool {
		link = api.downloadURL(document.ID)
		code, _, text := download(t, link)
		return code == 200 && text == "x"
	})
	eventually(t, "the end of a download URL", func() bool {
		code, _, _ := download(t, link)
		return code == 403
	})
}

// A refused or wrong file can be replaced; clones keep theirs.
func TestReplacedFile(t *testing.T) {
	api := begin(t)
	document, _ := api.uploadDocument(uuid.NewString(), eicar)
	clone := api.cloneDocument(document.ID, "{}")
	replacement := callFor[createdDocument](api, "PUT", documentCommands+"/updateFile",
		`{"data":{"id":"`+document.ID+`","fileName":"b.pdf"}}`)
	assert(t, replacement.ID == document.ID, "the replacement has the ID %s, want %s", replacement.ID, document.ID)
	api.expectDocument(document.ID, "Processing")
	api.expectDocument(clone, "Infected")
	expectPut(t, 200, replacement.upload(), []byte("a clean bill"))
	eventually(t, "the scan of the new file",
		func() bool { return api.readDocument(document.ID).Status == "Completed" })
	link := api.downloadURL(document.ID)
	expectFile(t, link, "a clean bill")

	statuses := api.callConcurrently(3, "PUT", documentCommands+"/updateFile",
		func(i int) string { return fmt.Sprintf(`{"data":{"id":%q,"fileName":"%d.pdf"}}`, document.ID, i) })
	assert(t, statuses[202] != 0 && statuses[202]+statuses[409] == 3,
		"three replacements at once: %v, want 202 once or more and otherwise 409", statuses)
	api.expectDocument(document.ID, "Processing")
	expectNoFile(t, link)
	expectLateUploadIsRefused(t, replacement.upload())
}
