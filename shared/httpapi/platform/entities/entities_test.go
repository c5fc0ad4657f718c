package entities_test

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

	"sluice/shared/access"
	"sluice/shared/dynamo"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/httpapi/platform/entities"
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
	directory *dynamo.Entities
	caller    httpapi.Caller
}

func newAPI(t *testing.T) *api {
	t.Helper()
	client := dynamotest.Start(t)
	paging, err := platform.NewPaging(platform.NewPagingKey())
	if err != nil {
		t.Fatal(err)
	}
	var clock atomic.Int64 // milliseconds since now
	s := &entities.Entities{
		Store: dynamo.NewRecords(client, "test-records", "test-entities"), Paging: paging, NewID: uuid.NewString,
		Now: func() time.Time { return now.Add(time.Duration(clock.Add(1)) * time.Millisecond) },
	}
	return &api{
		t: t, directory: dynamo.NewEntities(client, "test-entities"),
		call: httpapi.Lambda(platform.Handler(s.Routes(), slog.New(slog.DiscardHandler), func() time.Time { return now })),
		caller: httpapi.Caller{
			Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{entities.Edit, entities.Approve, entities.Search},
		},
	}
}

// send makes a call and returns its status and data.
func (a *api) send(method, path, body string) (int, json.RawMessage) {
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
	return r.StatusCode, envelope.Data
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
	var e entities.Entity
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
	var updated entities.EntityDraft
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
	var read entities.Entity
	a.must("GET", query+"/entity/"+e, "", &read)
	if *read.Properties["city"].Value != "Galway" || read.Version != 2 {
		t.Errorf("%+v", read)
	}
	a.refused(409, "PUT", path+"/verify", `{"data":{"version":-1}}`) // a replay
	a.refused(409, "PUT", path+"/reject", "")
	a.refused(409, "PUT", path, fmt.Sprintf(change, -1))
	var ended entities.EntityDraft
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
	var full entities.Entity
	a.must("POST", command+"/full", `{"data":{"type":"Other","targetEntity":"Related Party","policyJurisdiction":"x"}}`, &full)
	if full.ID == "" || full.LifecycleStatus != entity.Unknown || full.InScopeJurisdictions[0] != "x" || full.AccessLayers.Geographic[0] != "Global" {
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
			status, _ := a.send("POST", command+"/"+e+"/draft", `{"data":{"journeyId":"`+journey+`"}}`)
			made <- status
		}()
	}
	for range 4 {
		if status := <-made; status != 202 {
			t.Error(status)
		}
	}
	var drafts []entities.EntityDraft
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

func TestLightSearch(t *testing.T) {
	a := newAPI(t)
	a.caller.Layers = access.Layers{Geographic: []string{"Ireland"}}
	var want, owners []string
	for i := range 7 {
		layer := []string{"", `,"accessLayers":{"geographic":["Ireland"]}`, `,"accessLayers":{"geographic":["Spain"]}`}[i%3]
		a.caller.Layers.Geographic = []string{"Ireland", "Spain"}
		e := a.create(layer)
		d := a.draft(e)
		if a.caller.Layers.Geographic = []string{"Ireland"}; i%3 != 2 {
			want, owners = append(want, d), append(owners, e)
		}
	}
	body := func(options string) string { return `{"data":{"journeyId":"` + journey + `"` + options + `}}` }
	walk := func(size int, order int) []string {
		var got []string
		for token := "null"; ; {
			var page entities.LightReply
			a.must("POST", light, body(fmt.Sprintf(`,"pageOptions":{"pageSize":%d,"sortOrder":%d,"paginationToken":%s}`, size, order, token)), &page)
			for _, m := range page.Items {
				got = append(got, m.EntityDraftID)
			}
			if page.PaginationToken == nil {
				return got
			}
			token = `"` + *page.PaginationToken + `"`
		}
	}
	for _, size := range []int{1, 2, 7, 8, 500} {
		if got := walk(size, 0); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%d at a time: %v, want %v", size, got, want)
		}
	}
	if got := walk(2, 1); len(got) != len(want) || got[0] != want[len(want)-1] {
		t.Errorf("backwards: %v", got)
	}
	var raw struct {
		Items []map[string]string `json:"items"`
		Token *string             `json:"paginationToken"`
	}
	a.must("POST", light, body(`,"entityIds":["`+strings.ToUpper(owners[1])+`"]`), &raw)
	if len(raw.Items) != 1 || raw.Items[0]["EntityId"] != owners[1] || raw.Items[0]["EntityDraftId"] != want[1] || len(raw.Items[0]) != 2 {
		t.Errorf("%+v", raw)
	}
	a.must("POST", light, body(`,"pageOptions":{"pageSize":1}`), &raw)
	next := func(extra string) string {
		return body(extra + `,"pageOptions":{"pageSize":1,"paginationToken":"` + *raw.Token + `"}`)
	}
	a.must("POST", light, next(""), nil)
	a.refused(400, "POST", light, next(`,"entityIds":["`+owners[0]+`"]`))
	a.refused(400, "POST", light, body(`,"pageOptions":{"sortOrder":1,"paginationToken":"`+*raw.Token+`"}`))
	a.refused(400, "POST", light, strings.Replace(next(""), journey, owners[0], 1))
	a.refused(400, "POST", light, body(`,"pageOptions":{"paginationToken":"x"}`))
	a.caller.Tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b12"
	a.refused(400, "POST", light, next(""))
	if got := walk(500, 0); got != nil {
		t.Errorf("another tenant sees %v", got)
	}
}

func TestOtherSearches(t *testing.T) {
	a := newAPI(t)
	open := a.create("")
	half := a.create(`,"accessLayers":{"geographic":["Spain"]}`)
	a.caller.Layers = access.Layers{Geographic: []string{"Spain"}, BusinessRelated: []string{"Retail"}}
	none := a.create(`,"accessLayers":{"geographic":["Spain"],"businessRelated":["Retail"]}`)
	drafts := map[string]string{open: a.draft(open), half: a.draft(half), none: a.draft(none)}
	a.caller.Layers = access.Layers{}
	search := `{"data":{"journeyId":"` + journey + `"}}`
	var reach entities.ReachReply
	a.must("POST", query+"/entity/search-entity-drafts", search, &reach)
	if len(reach.Accessible) != 1 || len(reach.Inaccessible) != 1 || len(reach.Forbidden) != 1 ||
		reach.Accessible[0].ID != drafts[open] || reach.Inaccessible[0].Name != "ACME" || reach.Forbidden[0].ID != drafts[none] {
		t.Errorf("%+v", reach)
	}
	var all []entities.EntityDraft
	a.must("POST", query+"/drafts-in-scope/searchentitydrafts", search, &all)
	if len(all) != 1 || all[0].ID != drafts[open] {
		t.Errorf("%+v", all)
	}
	var names entities.NamesReply
	a.must("POST", query+"/entity/drafts/names", `{"data":{"journeyId":"`+journey+`","entityIds":["`+open+`","`+half+`"]}}`, &names)
	if n := names.EntityDraftNames; len(n) != 1 || n[0] != (entities.DraftName{EntityID: open, EntityDraftID: drafts[open], Type: "Company", Name: "ACME", Version: 1}) {
		t.Errorf("%+v", names)
	}
	a.caller.Permissions = []string{"BatchRead"} // partial properties are for everyone
	var partial entities.PartialReply
	ids := `["` + drafts[open] + `","` + drafts[half] + `","` + uuid.NewString() + `"]`
	a.must("POST", query+"/entity/drafts/partial-properties", `{"data":{"draftIds":`+ids+`,"requestedPropertiesDataKeys":["city","x"]}}`, &partial)
	if len(partial.Items) != 1 || len(partial.Items[0].PartialProperties) != 1 || *partial.Items[0].PartialProperties["city"].Value != "Cork" {
		t.Errorf("%+v", partial)
	}
	var bare entities.PartialReply
	a.must("POST", query+"/entity/drafts/partial-properties", `{"data":{"draftIds":`+ids+`,"requestedPropertiesDataKeys":null}}`, &bare)
	if len(bare.Items) != 1 || len(bare.Items[0].PartialProperties) != 0 {
		t.Errorf("%+v", bare)
	}
	a.refused(403, "POST", query+"/entity/search-entity-drafts", search)
	a.refused(403, "GET", query+"/entity/"+open, "")
	a.refused(403, "POST", command, `{"data":{}}`)
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

func TestBadRequests(t *testing.T) {
	a := newAPI(t)
	e := a.create("")
	d := command + "/" + e + "/draft/" + a.draft(e)
	long := strings.Repeat("x", 256)
	many := func(n int) string { return `["` + strings.Repeat(journey+`","`, n-1) + journey + `"]` }
	entityBody := func(field string) string { return `"type":"Company","targetEntity":"Client",` + field }
	j := `"journeyId":"` + journey + `"`
	for _, tt := range []struct{ method, path, data string }{
		{"POST", command, ``},
		{"POST", command, `"type":null,"targetEntity":"Client"`},
		{"POST", command, `"type":"company","targetEntity":"Client"`},
		{"POST", command, `"type":"Company"`},
		{"POST", command, entityBody(`"more":1`)},
		{"POST", command, entityBody(`"alternateId":1`)},
		{"POST", command, entityBody(`"alternateId":"` + long + `"`)},
		{"POST", command, entityBody(`"category":"a"`)},
		{"POST", command, entityBody(`"category":["` + long + `"]`)},
		{"POST", command, entityBody(`"dataSources":[]`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"None"}}`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"Single","value":1}}`)},
		{"POST", command, entityBody(`"properties":{"a":{"type":"Single","value":"` + strings.Repeat("x", 10_001) + `"}}`)},
		{"POST", command, entityBody(`"accessLayers":{"geographic":[""]}`)},
		{"POST", command + "/full", ``},
		{"POST", command + "/" + e + "/draft", ``},
		{"POST", command + "/" + e + "/draft", `"journeyId":null`},
		{"POST", command + "/" + e + "/draft", `"journeyId":"x"`},
		{"POST", command + "/" + e + "/draft", j + `,"parentDraftId":"x"`},
		{"PUT", d, `"version":1`},
		{"PUT", d, `"properties":{}`},
		{"PUT", d, `"properties":{},"version":0`},
		{"PUT", d, `"properties":{},"version":"1"`},
		{"PUT", d, `"properties":{},"version":1.5`},
		{"PUT", d + "/verify", ``},
		{"PUT", d + "/verify", `"version":-2`},
		{"PUT", d + "/verify", `"version":1,"dataConflictResolutions":[]`},
		{"POST", query + "/entity/drafts/partial-properties", ``},
		{"POST", query + "/entity/drafts/partial-properties", `"draftIds":["x"]`},
		{"POST", query + "/entity/drafts/partial-properties", `"draftIds":` + many(11)},
		{"POST", query + "/entity/drafts/names", j},
		{"POST", query + "/entity/drafts/names", `"entityIds":[]`},
		{"POST", query + "/entity/search-entity-drafts", ``},
		{"POST", query + "/drafts-in-scope/searchentitydrafts", j + `,"entityId":"x"`},
		{"POST", query + "/drafts-in-scope/searchentitydrafts", j + `,"entityIds":` + many(1001)},
		{"POST", light, ``},
		{"POST", light, j + `,"entityIds":"x"`},
		{"POST", light, j + `,"pageOptions":{"pageSize":0}`},
		{"POST", light, j + `,"pageOptions":{"pageSize":501}`},
		{"POST", light, j + `,"pageOptions":{"pageSize":"1"}`},
		{"POST", light, j + `,"pageOptions":{"sortOrder":2}`},
		{"POST", light, j + `,"pageOptions":{"size":2}`},
	} {
		status, data := a.send(tt.method, tt.path, `{"data":{`+tt.data+`}}`)
		var list []platform.Failure
		if err := json.Unmarshal(data, &list); status != 400 || err != nil || len(list) == 0 || list[0].PropertyName == "" {
			t.Errorf("%s %.200s: %d %.300s", tt.path, tt.data, status, data)
		}
	}
	a.must("POST", query+"/entity/drafts/partial-properties", `{"data":{"draftIds":`+many(10)+`}}`, nil)
	a.must("POST", light, `{"data":{`+j+`,"pageOptions":{"pageSize":500}}}`, nil)
}
