package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const (
	documentCommands = "/documentmanagementcommand/api/v2/documentmanagement"
	documentQueries  = "/documentmanagementquery/api/documentmanagement"
)

// A document is created, its file stored, scanned and read again; once deleted, it is not there.
func TestDocument(t *testing.T) {
	_, c, _ := newClient(t)
	created, err := c.CreateDocument(t.Context(), client.NewDocument{FileName: "a.pdf", EntityID: "e"})
	errtest.Fatal(t, err)
	const content = "the file"
	err = c.UploadFile(t.Context(), created.Upload, strings.NewReader(content), int64(len(content)), nil)
	errtest.Fatal(t, err)
	var refused *client.Error
	if _, err := c.OpenDocument(t.Context(), created.ID); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("before the scan: %v, want a 404", err)
	}
	for _, want := range []string{client.DocumentProcessing, client.DocumentCompleted} {
		if d, err := c.Document(t.Context(), created.ID); err != nil || d.Status != want {
			t.Errorf("got %s, %v; want %s", d.Status, err, want)
		}
	}
	file, err := c.OpenDocument(t.Context(), created.ID)
	errtest.Fatal(t, err)
	defer file.Close()
	if text, err := io.ReadAll(file); err != nil || string(text) != content {
		t.Errorf("downloaded %q, %v; want %q", text, err, content)
	}
	if err := c.DeleteDocument(t.Context(), created.ID); err != nil {
		t.Error(err)
	}
	if err := c.DeleteDocument(t.Context(), created.ID); !errors.As(err, &refused) ||
		refused.Status != http.StatusBadRequest {
		t.Errorf("deleted again: %v, want a 400", err)
	}
}

// Requests about documents have what the interface asks for, and replies are kept as they came.
func TestDocumentCalls(t *testing.T) {
	const item = `{"id":"d/1","entityId":"e","fileName":null,"status":"Error","errorCode":"INFECTED_FILE",` +
		`"uploadedOn":"2026-11-27T00:00:00Z","hasRequiredAccessLayers":true,"new":1.0}`
	c, bodies := answering(t,
		answer{"POST " + documentCommands, 202, `{"data":{"id":"d","signedUrlToUpload":"https://s/x",` +
			`"requiredHeaders":{"If-None-Match":"*"}},"messages":[]}`},
		answer{"GET " + documentQueries + "/d%2F1", 200, `{"data":` + item + `,"messages":[]}`},
		answer{"POST " + documentQueries + "/entity/paged/lite/v2", 200,
			`{"data":{"items":[` + item + `],"nextPageToken":"n"},"messages":[]}`},
		answer{"POST " + documentQueries + "/entity/paged/lite/v2", 200,
			`{"data":{"items":[],"nextPageToken":null},"messages":[]}`},
		answer{"DELETE " + documentCommands + "/d%2F1", 202, `{"data":{},"messages":[]}`},
	)
	created, err := c.CreateDocument(t.Context(), client.NewDocument{FileName: "a.pdf", EntityID: "e", JourneyID: "j"})
	wantCreated := client.DocumentUpload{ID: "d", Upload: client.Upload{URL: "https://s/x", Method: http.MethodPut,
		RequiredHeaders: map[string]string{"If-None-Match": "*"}}}
	if diff := cmp.Diff(wantCreated, created); err != nil || diff != "" {
		t.Errorf("created: error %v (-want +got):\n%s", err, diff)
	}
	want := client.Document{
		Document: wire.Document{ID: "d/1", EntityID: "e", Status: client.DocumentError, ErrorCode: new("INFECTED_FILE"),
			UploadedOn: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), HasRequiredAccessLayers: true},
		Original: client.Original{Reply: json.RawMessage(item)},
	}
	got, err := c.Document(t.Context(), "d/1")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("read: error %v (-want +got):\n%s", err, diff)
	}
	page, next, err := c.Documents(t.Context(), client.DocumentQuery{EntityID: "e"}, "")
	if diff := cmp.Diff([]client.Document{want}, page); err != nil || next != "n" || diff != "" {
		t.Errorf("list: next %q, error %v (-want +got):\n%s", next, err, diff)
	}
	page, next, err = c.Documents(t.Context(), client.DocumentQuery{EntityID: "e", Status: "Error", Limit: 2}, "n")
	if err != nil || next != "" || len(page) != 0 {
		t.Errorf("the last page: %v, next %q, error %v; want nothing", page, next, err)
	}
	if err := c.DeleteDocument(t.Context(), "d/1"); err != nil {
		t.Error(err)
	}
	wantBodies := []string{
		`{"data":{"fileName":"a.pdf","entityId":"e","journeyId":"j"}}`, "", `{"data":{"entityId":"e"}}`,
		`{"data":{"entityId":"e","status":"Error","pageSize":2,"paginationToken":"n"}}`, "",
	}
	difftest.Equal(t, "bodies", wantBodies, *bodies)
}
