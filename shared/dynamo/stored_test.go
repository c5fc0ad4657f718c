package dynamo_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/auth"
	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/document"
	"sluice/shared/dynamo"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/property"
	"sluice/shared/transaction"
	"sluice/shared/upload"
)

// The tests of this file pin what is stored: one golden item for each kind of row, with every attribute set. They write through the
// store and compare the items, and they read the golden items through the store and compare the values. A renamed Go field that
// changed a stored name would fail both.

const (
	storedBatch  = batch.ID("0193a0b4-7c00-7000-8000-000000000001")
	storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"
)

func TestStoredBatches(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := dynamo.NewBatches(client, "test-batches")
	b := newBatch(t, storedTenant)
	b.ID, b.Client, b.DigestKey = storedBatch, "client", [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	if err := s.Create(ctx, b); err != nil {
		t.Fatal(err)
	}
	plan := chunk.NewPlan(1000, 100)
	verdict := batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "report", SummaryKey: "summary"}
	var want batch.Batch
	for _, c := range []batch.Change{
		{To: batch.Uploaded, At: at, ReceivedAt: at.Add(time.Second),
			Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: at, Plan: &plan, MaxLineBytes: 4096, MaxTransactions: 9000},
		{To: batch.ValidationFailed, At: at.Add(time.Minute), Verdict: &verdict, ErrorMessage: "2 transactions are invalid."},
	} {
		var err error
		if want, err = s.Move(ctx, b.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	validated := batch.Validated{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "findings", IndexKey: "index"}
	settled := batch.Settled{FirstLine: 11, Accepted: 7, Invalid: 2, AcceptedKey: "accepted", ReportKey: "report", ReportBytes: 12,
		SummaryKey: "summary"}
	ingested := batch.Ingested{Done: true, Offset: 90, Line: 8, Stored: 7}
	if _, err := s.CommitValidated(ctx, b.ID, 3, validated); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitSettled(ctx, b.ID, 3, settled); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(ctx, b.ID, 3, ingested); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CommitMarks(ctx, b.ID, 7, "marks"); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-batches", "batches")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "batches")
	s = dynamo.NewBatches(client, "test-batches")
	got, err := s.Get(ctx, b.ID)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("batch: %v, (-want +got)\n%s", err, diff)
	}
	c, err := s.Chunk(ctx, b.ID, 3)
	wantChunk := batch.Chunk{Index: 3, Validated: &validated, Settled: &settled, Ingested: &ingested}
	if diff := cmp.Diff(wantChunk, c); err != nil || diff != "" {
		t.Errorf("chunk: %v, (-want +got)\n%s", err, diff)
	}
	keys, err := s.Marks(ctx, b.ID)
	if err != nil || keys[7] != "marks" {
		t.Errorf("marks: %v, %v", keys, err)
	}
	// A chunk that is ingested stays so: the condition reads stored names, too.
	furthest, err := s.Advance(ctx, b.ID, 3, batch.Ingested{Line: 9})
	if diff := cmp.Diff(ingested, furthest); err != nil || diff != "" {
		t.Errorf("advance: %v, (-want +got)\n%s", err, diff)
	}
}

func TestStoredUploads(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	now := func() time.Time { return at }
	s := dynamo.NewUploads(client, "test-batches", now)
	object := batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}
	if _, err := s.Arrived(ctx, object, at); err != nil {
		t.Fatal(err)
	}
	failed := upload.Scanned{Event: "event", Key: object.Key, ETag: object.ETag, Version: object.Version, Result: upload.Failed}
	if _, err := s.Scanned(ctx, failed); err != nil {
		t.Fatal(err)
	}
	found := upload.Scanned{Event: "other", Key: object.Key, ETag: object.ETag, Version: object.Version, Result: upload.Threats, Threat: "EICAR"}
	want, err := s.Scanned(ctx, found)
	if err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-batches", "uploads")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-batches", "uploads")
	s = dynamo.NewUploads(client, "test-batches", now)
	got, err := s.Get(ctx, object)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("upload: %v, (-want +got)\n%s", err, diff)
	}
	waiting := 0
	err = s.Waiting(ctx, at.Add(time.Hour), func(upload.Upload) error { waiting++; return nil })
	if err != nil || waiting != 1 {
		t.Errorf("%d uploads wait, want 1; %v", waiting, err)
	}
}

func TestStoredTransactions(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s, err := dynamo.NewTransactions(client, "test-transactions")
	if err != nil {
		t.Fatal(err)
	}
	want := transaction.Record{
		Tenant: storedTenant, TransactionID: "transaction", Modification: "modification", ReceivedAt: at, Batch: string(storedBatch),
		Line: 42, MainEntity: transaction.Receiver, Text: []byte(`{"transaction_external_id":"transaction"}`),
	}
	if err := s.Put(ctx, []transaction.Record{want}); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-transactions", "transactions")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-transactions", "transactions")
	if s, err = dynamo.NewTransactions(client, "test-transactions"); err != nil {
		t.Fatal(err)
	}
	var got []transaction.Record
	err = s.Versions(ctx, want.Tenant, want.TransactionID, "", func(r transaction.Record) bool { got = append(got, r); return true })
	if diff := cmp.Diff([]transaction.Record{want}, got); err != nil || diff != "" {
		t.Errorf("versions: %v, (-want +got)\n%s", err, diff)
	}
}

func pointer[T any](v T) *T { return &v }

// storedProperties hold a property of each kind, with every field set.
func storedProperties() map[string]property.Property {
	return map[string]property.Property{
		"single": {Type: property.Single, Value: pointer("value"), ValueID: pointer("value id")},
		"collection": {Type: property.Collection, DataGroupID: "group", DataGroupVersionNumber: pointer(int64(2)),
			Collections: map[string]property.Item{"item": {
				Properties:     map[string]*string{"key": pointer("value")},
				PropertiesInfo: map[string]property.Info{"key": {ValueID: pointer("value id")}}, IsValid: pointer(true),
			}}},
		"custom": {Type: property.Custom, CustomTypeID: "custom type",
			Properties: map[string]property.Property{"inner": {Type: property.Single, Value: pointer("inner value")}}},
	}
}

func storedLayers() access.Layers {
	return access.Layers{Geographic: []string{"Europe"}, BusinessRelated: []string{"Retail"}}
}

func TestStoredEntities(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := dynamo.NewRecords(client, "test-records", "test-entities")
	r := entity.Record{
		ID: "entity", Type: "Company", Role: "Client", AlternateID: "alternate", Properties: storedProperties(),
		Jurisdictions: []string{"NL"}, Category: []string{"bank"}, Layers: storedLayers(), Created: at, Version: 1, Revision: 1,
		Changed: map[string]int64{"single": 1}, Settled: entity.Compliant, Open: 0,
	}
	if err := s.Create(ctx, storedTenant, r); err != nil {
		t.Fatal(err)
	}
	c := entity.Begin(r, entity.Compliant, entity.Draft{ID: "draft", ParentID: "parent", JourneyID: "journey", Created: at,
		Changes: map[string]property.Property{"single": {Type: property.Single, Value: pointer("other")}}})
	if err := s.Apply(ctx, storedTenant, c); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PagingKey(ctx, []byte("0123456789abcdef0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-records", "records")
	dynamotest.CompareStored(t, client, "test-entities", "entities")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-records", "records")
	dynamotest.LoadStored(t, client, "test-entities", "entities")
	s = dynamo.NewRecords(client, "test-records", "test-entities")
	got, status, err := s.Entity(ctx, storedTenant, "entity")
	if diff := cmp.Diff(c.Record, got); err != nil || diff != "" || status != entity.MaintenanceInProgress {
		t.Errorf("entity: status %s, %v, (-want +got)\n%s", status, err, diff)
	}
	draft, err := s.Draft(ctx, storedTenant, "draft")
	if diff := cmp.Diff(c.Draft, draft); err != nil || diff != "" {
		t.Errorf("draft: %v, (-want +got)\n%s", err, diff)
	}
	members, _, err := s.Members(ctx, storedTenant, entity.Page{Journey: "journey", Limit: 10})
	if err != nil || len(members) != 1 {
		t.Fatalf("%d members, want 1; %v", len(members), err)
	}
	member := entity.Member{DraftID: "draft", EntityID: "entity", Layers: storedLayers(), Position: members[0].Position}
	if diff := cmp.Diff(member, members[0]); diff != "" {
		t.Errorf("member: (-want +got)\n%s", diff)
	}
	key, err := s.PagingKey(ctx, []byte("another candidate"))
	if err != nil || string(key) != "0123456789abcdef0123456789abcdef" {
		t.Errorf("paging key: %q, %v", key, err)
	}
}

func TestStoredDocuments(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := dynamo.NewDocuments(client, "test-documents")
	d := document.Document{
		ID: "document", Tenant: storedTenant, EntityType: document.Screening, EntityID: "entity", JourneyID: "journey", FileName: "a.pdf",
		Type: "type", FriendlyName: "friendly", DataKey: "data key", RequirementIDs: []string{"requirement"},
		RequirementModel: "model", Properties: storedProperties(), Metadata: map[string]string{"key": "value"},
		URL: "https://example.com/a.pdf", Virtual: true, File: "file",
		State:  document.State{Status: document.Failed, ErrorCode: document.ServerSideError, ErrorMessage: "message"},
		Layers: storedLayers(), PolicyLayers: storedLayers(), ClonedFrom: "original", UploadedBy: "client", UploadedByName: "name",
		CreatedAt: at, UpdatedBy: "other client", UpdatedAt: at.Add(time.Minute), ArchivalReason: "reason",
		BeforeArchival: document.Completed, Version: 1,
		Flags: document.Flags{ForESignature: true, FromESignatureProvider: true, AutomaticClassification: true},
	}
	if err := s.Create(ctx, d, false); err != nil {
		t.Fatal(err)
	}
	outcome := document.State{Status: document.Infected, ErrorCode: document.InfectedFile, ErrorMessage: "EICAR"}
	if err := s.Settle(ctx, storedTenant, "file", outcome); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Release(ctx, d); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PagingKey(ctx, []byte("0123456789abcdef0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-documents", "documents")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-documents", "documents")
	s = dynamo.NewDocuments(client, "test-documents")
	got, file, err := s.Get(ctx, storedTenant, "document")
	if diff := cmp.Diff(d, got); err != nil || diff != "" {
		t.Errorf("document: %v, (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff(document.File{ID: "file", Tenant: storedTenant, State: outcome, Documents: 1}, file); diff != "" {
		t.Errorf("file: (-want +got)\n%s", diff)
	}
	for _, g := range []document.Group{{EntityID: "entity"}, {JourneyID: "journey"}, {EntityID: "entity", JourneyID: "journey"}} {
		if found, _, err := s.List(ctx, storedTenant, g, "", 10); err != nil || len(found) != 1 {
			t.Errorf("group %+v: %d documents, want 1; %v", g, len(found), err)
		}
	}
	if err := s.Settle(ctx, storedTenant, "file", outcome); err == nil {
		t.Error("a file that is about to be deleted took the outcome of a scan")
	}
}

func TestStoredRegistry(t *testing.T) {
	ctx, client := t.Context(), dynamotest.Start(t)
	s := dynamo.NewClients(client, "test-clients")
	tenant := auth.Tenant{ID: storedTenant, BatchEnabled: true, CreatedAt: at,
		Settings: batch.Settings{MaxPast: time.Hour, MaxFuture: 2 * time.Hour, MainEntity: transaction.ByPaymentType}}
	if err := s.CreateTenant(ctx, tenant); err != nil {
		t.Fatal(err)
	}
	c := auth.Client{ID: "client", Tenant: storedTenant, Permissions: []string{"BatchUpload", "BatchRead"}, Layers: storedLayers(),
		Secret: auth.SecretHash{Salt: []byte("salt"), Sum: []byte("sum")}, Disabled: true, CreatedAt: at}
	if err := s.CreateClient(ctx, c); err != nil {
		t.Fatal(err)
	}
	keys := []auth.Key{{ID: "kid", KMSKey: "arn", Public: []byte("public"), ActiveFrom: at, RetireAt: at.Add(time.Hour)}}
	if err := s.SetKeys(ctx, keys, 0); err != nil {
		t.Fatal(err)
	}
	dynamotest.CompareStored(t, client, "test-clients", "clients")

	client = dynamotest.Start(t)
	dynamotest.LoadStored(t, client, "test-clients", "clients")
	s = dynamo.NewClients(client, "test-clients")
	gotTenant, err := s.Tenant(ctx, storedTenant)
	if diff := cmp.Diff(tenant, gotTenant); err != nil || diff != "" {
		t.Errorf("tenant: %v, (-want +got)\n%s", err, diff)
	}
	gotClient, err := s.Client(ctx, "client")
	if diff := cmp.Diff(c, gotClient); err != nil || diff != "" {
		t.Errorf("client: %v, (-want +got)\n%s", err, diff)
	}
	gotKeys, version, err := s.Keys(ctx)
	if diff := cmp.Diff(keys, gotKeys); err != nil || diff != "" || version != 1 {
		t.Errorf("keys: version %d, %v, (-want +got)\n%s", version, err, diff)
	}
}
