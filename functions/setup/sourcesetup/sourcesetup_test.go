package sourcesetup

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access"
	"sluice/shared/connect/event"
	"sluice/shared/connect/webhook"
	"sluice/shared/connect/webhook/webhookdb"
	"sluice/shared/ingest/find"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/screening"
	"sluice/shared/screening/screeningdb"
)

var (
	now    = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	layers = access.Layers{Geographic: []string{"EU"}, BusinessRelated: []string{access.Enterprise}}
)

// expectFound finds an object by its ID in any case, for its tenant and within reach only, and nothing by other IDs.
func expectFound(t *testing.T, s find.Source, want find.Item, hasLayers, isExact bool) {
	t.Helper()
	get := func(tenant string, layers access.Layers, id string) []find.Item {
		return errtest.Must(s.Find(t.Context(), tenant, layers, id))(t)
	}
	difftest.Equal(t, "found", []find.Item{want}, get("t1", layers, want.ID))
	if !isExact {
		difftest.Equal(t, "found in upper case", []find.Item{want}, get("t1", layers, strings.ToUpper(want.ID)))
	}
	if got := get("t2", layers, want.ID); got != nil {
		t.Errorf("another tenant found %+v", got)
	}
	if got := get("t1", access.Layers{}.OrDefault(), want.ID); hasLayers == (got != nil) {
		t.Errorf("out of reach found %+v", got)
	}
	for _, id := range []string{"x", strings.Repeat("é", 127), uuid.NewString(), "urn:uuid:" + uuid.NewString(),
		errtest.Must(webhook.NewID())(t)} {
		if got := get("t1", layers, id); got != nil {
			t.Errorf("by %s found %+v", id, got)
		}
	}
}

func TestEntities(t *testing.T) {
	db := dynamotest.Start(t)
	store := entitydb.NewProfiles(db, "test-records", "test-entities")
	for _, id := range []string{"shop/1", uuid.NewString()} {
		errtest.Fatal(t, store.Create(t.Context(), "t1", entity.Profile{ID: id, Type: "Company", Role: "Client",
			Layers: layers, Created: now, Version: 1, Revision: 1, BaseStatus: entity.Compliant}))
		expectFound(t, Entities{store}, find.Item{Kind: find.Entity, ID: id, Status: string(entity.Compliant),
			ReceivedAt: now, Href: "/entitydataquery/api/v2/entity/" + strings.ReplaceAll(id, "/", "%2F")}, true,
			id == "shop/1")
	}
}

func TestDocuments(t *testing.T) {
	store := documentdb.New(dynamotest.Start(t), "test-documents")
	id := uuid.NewString()
	errtest.Fatal(t, store.Create(t.Context(), document.Document{ID: id, Tenant: "t1", EntityType: document.Entity,
		EntityID: "e", Virtual: true, URL: "https://x", State: document.State{Status: document.Completed},
		Layers: layers, CreatedAt: now, UpdatedAt: now, Version: 1}, false))
	expectFound(t, Documents{store}, find.Item{Kind: find.Document, ID: id, Status: "Completed", ReceivedAt: now,
		Href: "/documentmanagementquery/api/documentmanagement/" + id}, true, false)
}

func TestDeliveries(t *testing.T) {
	store := webhookdb.New(dynamotest.Start(t), "test-webhooks")
	var d webhook.Delivery
	for range 2 {
		w := webhook.Webhook{ID: errtest.Must(webhook.NewID())(t), Tenant: "t1", Name: "n", URL: "https://x",
			EventTypes: []string{webhook.AllEvents}, Type: webhook.Single, CreatedAt: now, UpdatedAt: now}
		errtest.Fatal(t, store.Create(t.Context(), w))
		d = errtest.Must(webhook.NewDelivery(w, event.Message{ID: "m", Tenant: "t1", Type: event.BatchFailed,
			Payload: []byte("{}"), When: now}, now))(t)
		errtest.Fatal(t, errtest.Of(store.CreateDelivery(t.Context(), d)))
	}
	expectFound(t, Deliveries{store}, find.Item{Kind: find.Event, ID: d.ID, Status: "pending", ReceivedAt: now,
		Href: "/v1/webhooks/" + d.WebhookID + "/deliveries/" + d.ID}, false, false)
}

func TestScreenings(t *testing.T) {
	store := screeningdb.New(dynamotest.Start(t), "test-screenings")
	id := uuid.NewString()
	b := screening.Batch{ID: id, Tenant: "t1", Status: screening.Open, JourneyID: "j", ProcessID: "p", CreatedAt: now}
	errtest.Fatal(t, errtest.Of(store.Create(t.Context(), b, nil)))
	expectFound(t, Screenings{store}, find.Item{Kind: find.Screening, ID: id, Status: string(b.Status),
		ReceivedAt: now, Href: "/screeningquery/api/v4/batch/" + id}, false, false)
}
