package documentdb_test

import (
	"testing"
	"time"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/property/propertytest"
)

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

func storedLayers() access.Layers {
	return access.Layers{Geographic: []string{"Europe"}, BusinessRelated: []string{"Retail"}}
}

// TestStoredDocuments pins the stored items: one golden item for each kind of row, with every attribute set. It writes
// through the store and compares the items, and it reads the golden items through the store and compares the values.
// Renaming a Go field so that a stored name changes fails both.
func TestStoredDocuments(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := documentdb.New(client, "test-documents")
	d := document.Document{
		ID: "document", Tenant: storedTenant, EntityType: document.Screening, EntityID: "entity", JourneyID: "journey",
		FileName: "a.pdf",
		Type:     "type", FriendlyName: "friendly", DataKey: "data key", RequirementIDs: []string{"requirement"},
		RequirementModelID: "model", Properties: propertytest.EveryKind(), Metadata: map[string]string{"key": "value"},
		URL: "https://example.com/a.pdf", Virtual: true, FileID: "file",
		State:  document.State{Status: document.Failed, ErrorCode: document.ServerSideError, ErrorMessage: "message"},
		Layers: storedLayers(), PolicyLayers: storedLayers(), ClonedFrom: "original", UploadedBy: "client",
		UploadedByName: "name",
		CreatedAt:      at, UpdatedBy: "other client", UpdatedAt: at.Add(time.Minute), ArchivalReason: "reason",
		BeforeArchival: document.Completed, Version: 1,
		Flags: document.Flags{ForESignature: true, FromESignatureProvider: true, AutomaticClassification: true},
	}
	errtest.Fatal(t, s.Create(ctx, d, false))
	waiting := document.Document{ID: "waiting", Tenant: storedTenant, EntityID: "other entity", FileID: "waiting file",
		CreatedAt: at, UpdatedAt: at}
	errtest.Fatal(t, s.Create(ctx, waiting, false))
	outcome := document.State{Status: document.Infected, ErrorCode: document.InfectedFile, ErrorMessage: "EICAR"}
	errtest.Fatal(t, s.RecordScan(ctx, storedTenant, "file", outcome))
	errtest.Fatal(t, errtest.Of(s.ReleaseFile(ctx, d)))
	errtest.Fatal(t, errtest.Of(s.PagingKey(ctx, []byte("0123456789abcdef0123456789abcdef"))))
	dynamotest.CompareStored(t, client, "test-documents", "documents")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-documents", "documents")
	s = documentdb.New(client, "test-documents")
	got, file, err := s.Get(ctx, storedTenant, "document")
	errtest.Fatal(t, err)
	difftest.Equal(t, "document", d, got)
	difftest.Equal(t, "file", document.File{ID: "file", Tenant: storedTenant, State: outcome, Documents: 1}, file)
	for _, g := range []document.Scope{{EntityID: "entity"}, {JourneyID: "journey"},
		{EntityID: "entity", JourneyID: "journey"}} {
		if found, _, err := s.List(ctx, storedTenant, g, "", 10); err != nil || len(found) != 1 {
			t.Errorf("group %+v: %d documents, want 1; %v", g, len(found), err)
		}
	}
	var files []document.WaitingFile
	errtest.Fatal(t, s.EachWaiting(ctx, at.Add(time.Second), func(f document.WaitingFile) error {
		files = append(files, f)
		return nil
	}))
	difftest.Equal(t, "waiting files", []document.WaitingFile{{Tenant: storedTenant, ID: "waiting file", Since: at}},
		files)
	errtest.Fails(t, "a file that is about to be deleted took the outcome of a scan",
		s.RecordScan(ctx, storedTenant, "file", outcome))
}
