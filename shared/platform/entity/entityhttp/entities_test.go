package entityhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entityhttp"
)

const (
	tenant  = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	journey = "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10"
	command = "/entitydatacommand/api/v2/entity"
	query   = "/entitydataquery/api/v2"
	light   = query + "/drafts-in-scope/search-entity-drafts-light"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// api is the entity endpoints on a real store.
type api struct {
	t        *testing.T
	call     func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	profiles *entitydb.Profiles
	// contended is the store that the endpoints have, on profiles.
	contended *contendedStore
	statuses  *entitydb.Statuses
	db        *dynamodb.Client
	caller    httpapi.Caller
	// hidden are the data keys that are hidden from callers without layers of their own.
	hidden []string
	// messages are the messages of the last reply.
	messages []platform.Message
}

// contendedStore is a store whose entities others change first, a number of times.
type contendedStore struct {
	entity.Store
	contentions int
}

func (s *contendedStore) ApplyUpdate(ctx context.Context, tenant string, u entity.Update) error {
	if s.contentions > 0 {
		s.contentions--
		return entity.ErrChanged
	}
	return s.Store.ApplyUpdate(ctx, tenant, u)
}

func newAPI(t *testing.T) *api {
	t.Helper()
	client := dynamotest.Start(t)
	paging := errtest.Must(platform.NewPaging(platform.NewPagingKey()))(t)
	var clock atomic.Int64 // milliseconds since now
	profiles := entitydb.NewProfiles(client, "test-records", "test-entities")
	contended := &contendedStore{Store: profiles}
	s := &entityhttp.Entities{
		Store: contended, Paging: paging, NewID: uuid.NewString,
		Now: func() time.Time { return now.Add(time.Duration(clock.Add(1)) * time.Millisecond) },
	}
	a := &api{
		t: t, profiles: profiles, contended: contended, statuses: entitydb.NewStatuses(client, "test-entities"),
		db: client,
		call: httpapi.Lambda(platform.Handler(s.Routes(), nil, nil, slog.New(slog.DiscardHandler),
			func() time.Time { return now })),
		caller: httpapi.Caller{
			Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{permission.EntityDataEdit, permission.EntityDataApprove,
				permission.EntityDataAccessAndSearch},
		},
	}
	s.Sensitive = a
	return a
}

// HiddenFrom implements entityhttp.SensitiveKeys.
func (a *api) HiddenFrom(_ context.Context, _ string, caller access.Layers) ([]string, error) {
	if len(caller.BusinessRelated) > 0 && caller.BusinessRelated[0] != access.Enterprise {
		return nil, nil
	}
	return slices.Clone(a.hidden), nil
}

// send sends a request and returns the status and the data of the reply; its messages are in a.messages.
func (a *api) send(method, path, body string) (int, json.RawMessage) {
	a.t.Helper()
	r := errtest.Must(a.call(a.t.Context(), httpapitest.NewPlatformRequest(a.t, a.caller, method, path, body)))(a.t)
	var envelope struct {
		Data     json.RawMessage    `json:"data"`
		Messages []platform.Message `json:"messages"`
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(r.Body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		a.t.Fatalf("%s: %v", r.Body, err)
	}
	a.messages = envelope.Messages
	return r.StatusCode, envelope.Data
}

// succeed sends a request that must succeed, and decodes the data of the reply.
func (a *api) succeed(method, path, body string, into any) {
	a.t.Helper()
	status, data := a.send(method, path, body)
	if status/100 != 2 {
		a.t.Fatalf("%s %s: got %d %s, want success", method, path, status, data)
	}
	if err := json.Unmarshal(data, into); into != nil && err != nil {
		a.t.Fatal(err)
	}
}

// expectStatus sends a request that must be answered with a status.
func (a *api) expectStatus(status int, method, path, body string) {
	a.t.Helper()
	difftest.Reply(a.t, fmt.Sprintf("%s %s %s", method, path, body), status)(a.send(method, path, body))
}

// createEntity creates an entity, with more JSON in its data, and returns its ID.
func (a *api) createEntity(extra string) string {
	a.t.Helper()
	var created struct {
		ID string `json:"id"`
	}
	a.succeed("POST", command, `{"data":{"type":"Company","targetEntity":"Client",
		"properties":{"legalEntityName":{"type":"Single","value":"ACME"},
		"city":{"type":"Single","value":"Cork"}}`+extra+`}}`, &created)
	return created.ID
}

// createDraft creates a draft of an entity in the journey and returns its ID.
func (a *api) createDraft(entityID string) string {
	a.t.Helper()
	var created struct {
		ID string `json:"id"`
	}
	a.succeed("POST", command+"/"+entityID+"/draft", `{"data":{"journeyId":"`+journey+`"}}`, &created)
	return created.ID
}

// readStatus reads the lifecycle status of an entity, which its profile and the status store must agree about.
func (a *api) readStatus(entityID string) entity.LifecycleStatus {
	a.t.Helper()
	var e entityhttp.Entity
	a.succeed("GET", query+"/entity/"+entityID, "", &e)
	found, err := a.statuses.Lookup(a.t.Context(), a.caller.Tenant, []string{entityID})
	if err != nil || found[entityID] != entity.LifecycleStatus(e.LifecycleStatus) {
		a.t.Fatalf("the status store has %s, %v, the reply %s", found[entityID], err, e.LifecycleStatus)
	}
	return entity.LifecycleStatus(e.LifecycleStatus)
}

func TestLifecycle(t *testing.T) {
	a := newAPI(t)
	e := a.createEntity("")
	a.expectLifecycle(e, entity.Unknown)
	d := a.createDraft(e)
	a.expectLifecycle(e, entity.OnboardingInProgress)
	var updated entityhttp.EntityDraft
	path := command + "/" + e + "/draft/" + d
	change := `{"data":{"properties":{"city":{"type":"Single","value":"Galway"}},"version":%d}}`
	a.succeed("PUT", path, fmt.Sprintf(change, 1), &updated)
	if updated.Version != 2 || *updated.Properties["city"].Value != "Galway" ||
		*updated.DraftProperties.SingleProperties["legalEntityName"].Value != "ACME" {
		t.Errorf("got %+v, want version 2 with Galway and ACME", updated)
	}
	a.expectStatus(409, "PUT", path, fmt.Sprintf(change, 1))
	a.succeed("PUT", path, fmt.Sprintf(change, -1), nil)
	a.expectStatus(409, "PUT", path+"/verify", `{"data":{"version":2}}`)
	a.succeed("PUT", path+"/verify", `{"data":{"version":3}}`, nil)
	a.expectLifecycle(e, entity.Compliant)
	var read entityhttp.Entity
	a.succeed("GET", query+"/entity/"+e, "", &read)
	if *read.Properties["city"].Value != "Galway" || read.Version != 2 {
		t.Errorf("got %+v, want version 2 with Galway", read)
	}
	a.expectStatus(409, "PUT", path+"/verify", `{"data":{"version":-1}}`) // a replay
	a.expectStatus(409, "PUT", path+"/reject", "")
	a.expectStatus(409, "PUT", path, fmt.Sprintf(change, -1))
	var ended entityhttp.EntityDraft
	a.succeed("GET", query+"/entity/"+e+"/draft/"+d, "", &ended)
	if ended.Status != string(entity.Verified) {
		t.Errorf("got the draft status %s, want %s", ended.Status, entity.Verified)
	}
	second := a.createDraft(e)
	a.expectLifecycle(e, entity.MaintenanceInProgress)
	a.succeed("PUT", command+"/"+e+"/draft/"+second+"/reject", "", nil)
	a.expectLifecycle(e, entity.Compliant)
	var full entityhttp.Entity
	a.succeed("POST", command+"/full", `{"data":{"type":"Other","targetEntity":"Related Party",`+
		`"policyJurisdiction":"x"}}`, &full)
	if full.ID == "" || full.LifecycleStatus != string(entity.Unknown) || full.InScopeJurisdictions[0] != "x" ||
		full.AccessLayers.Geographic[0] != "Global" {
		t.Errorf("got %+v, want an ID, Unknown, the jurisdiction x and the layer Global", full)
	}
}

// expectLifecycle checks the lifecycle status of an entity.
func (a *api) expectLifecycle(entityID string, want entity.LifecycleStatus) {
	a.t.Helper()
	difftest.Equal(a.t, "lifecycle status", want, a.readStatus(entityID))
}

// A new entity is answered with a warning for each part of it that is not stored.
func TestWarnings(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string][]string{
		`"properties":{"a":{"type":"Single","value":""},"b":{"type":"Single","valueId":"1"}}`: nil,
		`"properties":{"z":{"type":"Single","value":null},"a":{"type":"Single"}}`: {"properties.a",
			"properties.z"},
		`"policyJurisdiction":"x"`: nil,
		`"policyJurisdiction":"x","policyJurisdictions":["y"],"properties":{"a":{"type":"Single"}}`: {"properties.a",
			"policyJurisdiction"},
	} {
		for _, path := range []string{command, command + "/full"} {
			a.succeed("POST", path, `{"data":{"type":"Company","targetEntity":"Client",`+body+`}}`, nil)
			var got []string
			for _, m := range a.messages {
				property, _, _ := strings.Cut(m.Message, " ")
				if got = append(got, property); m.Type != "Warning" || m.ErrorCode != "property_dropped" {
					t.Errorf("got %+v, want a Warning property_dropped", m)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: got warnings about %v, want %v", body, got, want)
			}
		}
	}
	var full entityhttp.Entity
	a.succeed("POST", command+"/full", `{"data":{"type":"Other","targetEntity":"Client","properties":{"a":{`+
		`"type":"Single"}}}}`, &full)
	if len(full.Properties) != 0 {
		t.Errorf("got %+v, want no properties", full)
	}
}

// Drafts and entities that do not exist, are another entity's or tenant's, or are out of reach, are not found.
func TestNotFound(t *testing.T) {
	a := newAPI(t)
	e := a.createEntity("")
	d := a.createDraft(e)
	other := a.createEntity("")
	a.caller.Layers = access.Layers{BusinessRelated: []string{"Retail"}}
	hidden := a.createEntity(`,"accessLayers":{"businessRelated":["Retail"]}`)
	a.caller.Layers = access.Layers{}
	begin, version := `{"data":{"journeyId":"`+journey+`"}}`, `{"data":{"version":-1,"properties":{}}}`
	expectNoDraft := func(e, d string) {
		t.Helper()
		a.expectStatus(404, "GET", query+"/entity/"+e+"/draft/"+d, "")
		a.expectStatus(404, "PUT", command+"/"+e+"/draft/"+d, version)
		a.expectStatus(404, "PUT", command+"/"+e+"/draft/"+d+"/verify", `{"data":{"version":-1}}`)
		a.expectStatus(404, "PUT", command+"/"+e+"/draft/"+d+"/reject", "")
	}
	expectNoDraft(e, uuid.NewString())
	expectNoDraft(e, "x")
	expectNoDraft(other, d)
	a.expectStatus(404, "POST", command+"/"+e+"/draft",
		`{"data":{"journeyId":"`+journey+`","parentDraftId":"`+uuid.NewString()+`"}}`)
	for _, missing := range []string{hidden, uuid.NewString(), strings.Repeat("x", 256)} {
		a.expectStatus(404, "GET", query+"/entity/"+missing, "")
		a.expectStatus(404, "POST", command+"/"+missing+"/draft", begin)
	}
	a.caller.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"
	expectNoDraft(e, d)
	a.expectStatus(404, "GET", query+"/entity/"+e, "")
	a.expectStatus(404, "POST", command+"/"+e+"/draft", begin)
}

// A draft that meets other writers is computed anew for as many times as there are attempts, and then refused.
func TestContendedDrafts(t *testing.T) {
	a := newAPI(t)
	id := a.createEntity("")
	a.contended.contentions = 7
	a.createDraft(id)
	a.contended.contentions = 8
	a.expectStatus(409, "POST", command+"/"+id+"/draft", `{"data":{"journeyId":"`+journey+`"}}`)
	difftest.Equal(t, "the entity", entity.OnboardingInProgress, a.readStatus(id))
}
