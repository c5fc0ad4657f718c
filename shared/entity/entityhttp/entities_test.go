package entityhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/entity/entitydb"
	"sluice/shared/entity/entityhttp"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/permission"
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
	t         *testing.T
	call      func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	records   *entitydb.Profiles
	directory *entitydb.Statuses
	caller    httpapi.Caller
	said      []platform.Message // beside the data of the last reply
}

func newAPI(t *testing.T) *api {
	t.Helper()
	client := dynamotest.Start(t)
	paging, err := platform.NewPaging(platform.NewPagingKey())
	if err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64 // milliseconds since now
	records := entitydb.NewProfiles(client, "test-records", "test-entities")
	s := &entityhttp.Entities{
		Store: records, Paging: paging, NewID: uuid.NewString,
		Now: func() time.Time { return now.Add(time.Duration(clock.Add(1)) * time.Millisecond) },
	}
	return &api{
		t: t, records: records, directory: entitydb.NewStatuses(client, "test-entities"),
		call: httpapi.Lambda(platform.Handler(s.Routes(), slog.New(slog.DiscardHandler), func() time.Time { return now })),
		caller: httpapi.Caller{
			Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{permission.EntityDataEdit, permission.EntityDataApprove, permission.EntityDataAccessAndSearch},
		},
	}
}

// send makes a call and returns its status and data; the messages are in a.said.
func (a *api) send(method, path, body string) (int, json.RawMessage) {
	a.t.Helper()
	status, data, said := a.exchange(method, path, body)
	a.said = said
	return status, data
}

// exchange is send for calls that are made at the same time.
func (a *api) exchange(method, path, body string) (int, json.RawMessage, []platform.Message) {
	a.t.Helper()
	r, err := a.call(a.t.Context(), events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {a.caller.Tenant}, "Content-Type": {"application/json"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Authorizer: a.caller.Context()},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	var envelope struct {
		Data     json.RawMessage    `json:"data"`
		Messages []platform.Message `json:"messages"`
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(r.Body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		a.t.Fatalf("%s: %v", r.Body, err)
	}
	return r.StatusCode, envelope.Data, envelope.Messages
}

// must makes a call that works, and reads its data.
func (a *api) must(method, path, body string, into any) {
	a.t.Helper()
	status, data := a.send(method, path, body)
	if status/100 != 2 {
		a.t.Fatalf("%s %s: %d %s", method, path, status, data)
	}
	if err := json.Unmarshal(data, into); into != nil && err != nil {
		a.t.Fatal(err)
	}
}

// refused makes a call that must end with a status.
func (a *api) refused(status int, method, path, body string) {
	a.t.Helper()
	if got, data := a.send(method, path, body); got != status {
		a.t.Errorf("%s %s %s: %d %s, want %d", method, path, body, got, data, status)
	}
}

type id struct {
	ID string `json:"id"`
}

func (a *api) create(extra string) string {
	a.t.Helper()
	var made id
	a.must("POST", command, `{"data":{"type":"Company","targetEntity":"Client",
		"properties":{"legalEntityName":{"type":"Single","value":"ACME"},"city":{"type":"Single","value":"Cork"}}`+extra+`}}`, &made)
	return made.ID
}

func (a *api) draft(entityID string) string {
	a.t.Helper()
	var made id
	a.must("POST", command+"/"+entityID+"/draft", `{"data":{"journeyId":"`+journey+`"}}`, &made)
	return made.ID
}

func (a *api) status(entityID string) entity.LifecycleStatus {
	a.t.Helper()
	var e entityhttp.Entity
	a.must("GET", query+"/entity/"+entityID, "", &e)
	found, err := a.directory.Lookup(a.t.Context(), a.caller.Tenant, []string{entityID})
	if err != nil || found[entityID] != e.LifecycleStatus {
		a.t.Fatalf("the directory says %s, the entity %s; %v", found[entityID], e.LifecycleStatus, err)
	}
	return e.LifecycleStatus
}

func TestFromCreationToVerification(t *testing.T) {
	a := newAPI(t)
	e := a.create("")
	if got := a.status(e); got != entity.Unknown {
		t.Error(got)
	}
	d := a.draft(e)
	if got := a.status(e); got != entity.OnboardingInProgress {
		t.Error(got)
	}
	var updated entityhttp.EntityDraft
	path := command + "/" + e + "/draft/" + d
	change := `{"data":{"properties":{"city":{"type":"Single","value":"Galway"}},"version":%d}}`
	a.must("PUT", path, fmt.Sprintf(change, 1), &updated)
	if updated.Version != 2 || *updated.Properties["city"].Value != "Galway" || *updated.DraftProperties.SingleProperties["legalEntityName"].Value != "ACME" {
		t.Errorf("%+v", updated)
	}
	a.refused(409, "PUT", path, fmt.Sprintf(change, 1))
	a.must("PUT", path, fmt.Sprintf(change, -1), nil)
	a.refused(409, "PUT", path+"/verify", `{"data":{"version":2}}`)
	a.must("PUT", path+"/verify", `{"data":{"version":3}}`, nil)
	if got := a.status(e); got != entity.Compliant {
		t.Error(got)
	}
	var read entityhttp.Entity
	a.must("GET", query+"/entity/"+e, "", &read)
	if *read.Properties["city"].Value != "Galway" || read.Version != 2 {
		t.Errorf("%+v", read)
	}
	a.refused(409, "PUT", path+"/verify", `{"data":{"version":-1}}`) // a replay
	a.refused(409, "PUT", path+"/reject", "")
	a.refused(409, "PUT", path, fmt.Sprintf(change, -1))
	var ended entityhttp.EntityDraft
	a.must("GET", query+"/entity/"+e+"/draft/"+d, "", &ended)
	if ended.Status != entity.Verified {
		t.Error(ended.Status)
	}
	second := a.draft(e)
	if got := a.status(e); got != entity.MaintenanceInProgress {
		t.Error(got)
	}
	a.must("PUT", command+"/"+e+"/draft/"+second+"/reject", "", nil)
	if got := a.status(e); got != entity.Compliant {
		t.Error(got)
	}
	var full entityhttp.Entity
	a.must("POST", command+"/full", `{"data":{"type":"Other","targetEntity":"Related Party","policyJurisdiction":"x"}}`, &full)
	if full.ID == "" || full.LifecycleStatus != entity.Unknown || full.InScopeJurisdictions[0] != "x" || full.AccessLayers.Geographic[0] != "Global" {
		t.Errorf("%+v", full)
	}
}

// What is not kept of a new entity is told.
func TestWarnings(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string][]string{
		`"properties":{"a":{"type":"Single","value":""},"b":{"type":"Single","valueId":"1"}}`: nil,
		`"properties":{"z":{"type":"Single","value":null},"a":{"type":"Single"}}`:             {"properties.a", "properties.z"},
		`"policyJurisdiction":"x"`: nil,
		`"policyJurisdiction":"x","policyJurisdictions":["y"],"properties":{"a":{"type":"Single"}}`: {"properties.a", "policyJurisdiction"},
	} {
		for _, path := range []string{command, command + "/full"} {
			a.must("POST", path, `{"data":{"type":"Company","targetEntity":"Client",`+body+`}}`, nil)
			var got []string
			for _, m := range a.said {
				name, _, _ := strings.Cut(m.Message, " ")
				if got = append(got, name); m.Type != "Warning" || m.ErrorCode != "property_dropped" {
					t.Errorf("%+v", m)
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: %v, want %v", body, got, want)
			}
		}
	}
	var full entityhttp.Entity
	a.must("POST", command+"/full", `{"data":{"type":"Other","targetEntity":"Client","properties":{"a":{"type":"Single"}}}}`, &full)
	if len(full.Properties) != 0 {
		t.Errorf("%+v", full)
	}
}

// Drafts that begin at the same time all count.
func TestConcurrentDrafts(t *testing.T) {
	a := newAPI(t)
	e := a.create("")
	made := make(chan int)
	for range 4 {
		go func() {
			status, _, _ := a.exchange("POST", command+"/"+e+"/draft", `{"data":{"journeyId":"`+journey+`"}}`)
			made <- status
		}()
	}
	for range 4 {
		if status := <-made; status != 202 {
			t.Error(status)
		}
	}
	var drafts []entityhttp.EntityDraft
	a.must("POST", query+"/drafts-in-scope/searchentitydrafts", `{"data":{"journeyId":"`+journey+`"}}`, &drafts)
	for i, d := range drafts {
		if got := a.status(e); got != entity.OnboardingInProgress {
			t.Errorf("before %d: %s", i, got)
		}
		a.must("PUT", command+"/"+e+"/draft/"+d.ID+"/reject", "", nil)
	}
	if got := a.status(e); got != entity.Unknown || len(drafts) != 4 {
		t.Errorf("%s, %d drafts", got, len(drafts))
	}
}

func TestWhatIsNotThere(t *testing.T) {
	a := newAPI(t)
	e := a.create("")
	d := a.draft(e)
	other := a.create("")
	hidden := a.create(`,"accessLayers":{"businessRelated":["Retail"]}`)
	begin, version := `{"data":{"journeyId":"`+journey+`"}}`, `{"data":{"version":-1,"properties":{}}}`
	check := func(e, d string) {
		t.Helper()
		a.refused(404, "GET", query+"/entity/"+e+"/draft/"+d, "")
		a.refused(404, "PUT", command+"/"+e+"/draft/"+d, version)
		a.refused(404, "PUT", command+"/"+e+"/draft/"+d+"/verify", `{"data":{"version":-1}}`)
		a.refused(404, "PUT", command+"/"+e+"/draft/"+d+"/reject", "")
	}
	check(e, uuid.NewString())
	check(e, "x")
	check(other, d)
	a.refused(404, "POST", command+"/"+e+"/draft", `{"data":{"journeyId":"`+journey+`","parentDraftId":"`+uuid.NewString()+`"}}`)
	for _, missing := range []string{hidden, uuid.NewString(), strings.Repeat("x", 256)} {
		a.refused(404, "GET", query+"/entity/"+missing, "")
		a.refused(404, "POST", command+"/"+missing+"/draft", begin)
	}
	a.caller.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"
	check(e, d)
	a.refused(404, "GET", query+"/entity/"+e, "")
	a.refused(404, "POST", command+"/"+e+"/draft", begin)
}
