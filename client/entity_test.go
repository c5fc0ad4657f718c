package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/openapi/wire"
)

const entities = "GET /entitydataquery/api/v2/entity"

// A page of entities is returned with the token of the next one, and each item as it came.
func TestEntities(t *testing.T) {
	const item = `{"id":"e","type":"","name":"Acme","lifecycleStatus":"Compliant","version":3,"new":1.0}`
	c, _ := answering(t,
		answer{entities, 200, `{"data":{"items":[` + item + `],"paginationToken":"+x"},"messages":[]}`},
		answer{entities + "?name=a+b&pageSize=2&paginationToken=%2Bx&status=Compliant", 200,
			`{"data":{"items":[],"paginationToken":null},"messages":[]}`},
	)
	got, next, err := c.Entities(t.Context(), client.EntityQuery{}, "")
	want := []client.ListedEntity{{
		ListedEntity: wire.ListedEntity{ID: "e", Name: "Acme", LifecycleStatus: "Compliant", Version: 3},
		Original:     client.Original{Reply: json.RawMessage(item)},
	}}
	if diff := cmp.Diff(want, got); err != nil || next != "+x" || diff != "" {
		t.Errorf("next %q, error %v (-want +got):\n%s", next, err, diff)
	}
	got, next, err = c.Entities(t.Context(), client.EntityQuery{NamePrefix: "a b", Status: "Compliant", Limit: 2}, next)
	if err != nil || next != "" || len(got) != 0 {
		t.Errorf("the last page: %v, next %q, error %v; want nothing", got, next, err)
	}
}

// An entity is read by an ID of any characters, with all of its members.
func TestEntity(t *testing.T) {
	const reply = `{"id":"a/b ?","type":"Company","role":"Client","lifecycleStatus":"Compliant","status":"Compliant",` +
		`"properties":{"name":{"type":"Single","value":"x"}},"risk":{"riskCategory":"Overall","riskLevel":"High"},` +
		`"created":"2026-11-27T00:00:00Z","deleted":null,"alternateId":null,` +
		`"accessLayers":{"geographic":["Global"],"businessRelated":[]},"version":2,"propertiesVersion":1,` +
		`"inScopeJurisdictions":["Ireland"],"maskedProperties":[],"new":1.0}`
	c, _ := answering(t,
		answer{entities + "/a%2Fb%20%3F", 200, `{"data":` + reply + `,"messages":[]}`},
		answer{entities + "/e", 404,
			`{"data":{},"messages":[{"message":"Entity not found.","type":"Error","errorCode":"entity_not_found"}]}`},
	)
	created := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	want := client.Entity{Original: client.Original{Reply: json.RawMessage(reply)}, Entity: wire.Entity{
		ID: "a/b ?", Type: "Company", Role: "Client", LifecycleStatus: "Compliant", Status: "Compliant",
		Properties: map[string]any{"name": map[string]any{"type": "Single", "value": "x"}},
		Risk:       &client.EntityRisk{RiskCategory: "Overall", RiskLevel: "High"}, Created: &created,
		AccessLayers: client.AccessLayers{Geographic: []string{"Global"}, BusinessRelated: []string{}}, Version: 2,
		PropertiesVersion: 1, InScopeJurisdictions: []string{"Ireland"}, MaskedProperties: []string{},
	}}
	got, err := c.Entity(t.Context(), "a/b ?")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	_, err = c.Entity(t.Context(), "e")
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
		t.Errorf("got %v, want a 404", err)
	}
}
