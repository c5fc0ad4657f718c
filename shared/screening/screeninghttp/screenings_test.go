package screeninghttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/document/documentdb"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity/entitydb"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/permission"
	"sluice/shared/screening"
	"sluice/shared/screening/catalog/catalogtest"
	"sluice/shared/screening/screeningdb"
	"sluice/shared/screening/screeninghttp"
)

const (
	tenant   = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	commands = "/screeningcommand/api/v3"
	queries  = "/screeningquery/api/v4"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// api is the screening endpoints on a real store.
type api struct {
	t          *testing.T
	store      *screeningdb.Store
	documents  *documentdb.Store
	entities   *entitydb.Profiles
	bucket     *fakeBucket
	configured *screeningdb.Providers
	lists      *catalogtest.Memory
	started    *startedRuns
	notices    *startedNotices
	// hook and providerHook are the stores that the endpoints use.
	hook         *hookedStore
	providerHook *hookedProviders
	// log is what the endpoints logged.
	log    *bytes.Buffer
	call   func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	caller httpapi.Caller
}

func newAPI(t *testing.T) *api {
	t.Helper()
	var clock atomic.Int64 // milliseconds since now
	client, bucket := dynamotest.Start(t), &fakeBucket{}
	store, documents := screeningdb.New(client, "test-screenings"), documentdb.New(client, "test-documents")
	entities := entitydb.NewProfiles(client, "test-records", "test-entities")
	lists, started, notices := catalogtest.NewMemory(), &startedRuns{}, &startedNotices{}
	providers := screeningdb.NewProviders(client, "test-screenings", openBox{})
	clockNow := func() time.Time { return now.Add(time.Duration(clock.Add(1)) * time.Millisecond) }
	hook := &hookedStore{Store: store}
	s := &screeninghttp.Screenings{Store: hook, Providers: providers, Documents: documents, Files: bucket,
		Entities: entities, NewID: uuid.NewString, Now: clockNow, Lists: lists, Searches: started, Resolutions: notices,
		Log: slog.New(slog.DiscardHandler)}
	providerHook := &hookedProviders{Providers: providers}
	configurations := &screeninghttp.Configurations{Settings: store, Providers: providerHook, Now: clockNow,
		NewID: uuid.NewString}
	log := &bytes.Buffer{}
	return &api{
		t: t, store: store, documents: documents, entities: entities, bucket: bucket, configured: providers,
		lists: lists, started: started, notices: notices, log: log, hook: hook,
		providerHook: providerHook,
		call: httpapi.Lambda(platform.Handler(slices.Concat(s.Routes(), configurations.Routes()), nil,
			slog.New(slog.NewJSONHandler(log, nil)), func() time.Time { return now })),
		caller: httpapi.Caller{Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{permission.ScreeningAccess, permission.ScreeningCreate}},
	}
}

// send sends a request and returns the status, the data of the reply and its first message.
func (a *api) send(method, path, body string) (status int, data json.RawMessage, message platform.Message) {
	a.t.Helper()
	path, query, _ := strings.Cut(path, "?")
	parameters := map[string][]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			parameters[name] = append(parameters[name], value)
		}
	}
	r, err := a.call(a.t.Context(), events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueQueryStringParameters: parameters,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {a.caller.Tenant}, "Content-Type": {"application/json"},
			"X-CORRELATION-ID": {"correlation"}},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: a.caller.Context()},
	})
	if err != nil {
		a.t.Fatal(err)
	}
	var envelope platform.Envelope
	envelope.Data = &data
	if err := json.Unmarshal([]byte(r.Body), &envelope); err != nil {
		a.t.Fatalf("%s: %v", r.Body, err)
	}
	if len(envelope.Messages) > 0 {
		message = envelope.Messages[0]
	}
	return r.StatusCode, data, message
}

// succeed sends a request that must succeed, and decodes the data of the reply into into, which may be nil.
func (a *api) succeed(method, path, body string, into any) {
	a.t.Helper()
	status, data, message := a.send(method, path, body)
	want := http.StatusAccepted
	if strings.HasPrefix(path, queries) {
		want = http.StatusOK
	}
	if status != want {
		a.t.Fatalf("%s %s %.300s: got %d %s, want %d", method, path, body, status, message.Message, want)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(data, into); err != nil {
		a.t.Fatalf("%s: %v", data, err)
	}
}

// refuse sends a request that must be refused with a status and a code, and returns the message.
func (a *api) refuse(status int, code, method, path, body string) string {
	a.t.Helper()
	got, data, message := a.send(method, path, body)
	if got != status || message.ErrorCode != code {
		a.t.Errorf("%s %s %.300s: got %d %s %s %s, want %d %s", method, path, body, got, message.ErrorCode, message.Message,
			data, status, code)
	}
	return message.Message
}

const person = `{"searchCriteria":{"type":"Individual","fullName":"Ivan Petrov"}`

// create creates a batch with entities of the given IDs; more are further members of its data.
func (a *api) create(more string, entityIDs ...string) string {
	a.t.Helper()
	var entities []string
	for _, id := range entityIDs {
		entities = append(entities, person+fmt.Sprintf(`,"legalEntityId":%q}`, id))
	}
	var created screeninghttp.Created
	a.succeed("POST", commands+"/batch", `{"data":{"entities":[`+strings.Join(entities, ",")+`]`+more+`}}`, &created)
	return created.BatchID
}

// createSearched creates a batch of one entity for which a provider returned matches, and returns their IDs.
func (a *api) createSearched(entityID string, matches int) (batchID string, matchIDs []string) {
	a.t.Helper()
	ctx := a.t.Context()
	b, err := a.store.Create(ctx, screening.Batch{ID: uuid.NewString(), Tenant: a.caller.Tenant, Status: screening.Open,
		Type: screening.TypeScreening, EntityIDs: []string{entityID}, CreatedAt: now, Version: 1,
		Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}},
	}, []screening.Entity{{ID: entityID, Version: 1}})
	if err != nil {
		a.t.Fatal(err)
	}
	a.refuse(400, "screening_unfinished", "PUT", commands+"/batch/"+b.ID+"/complete", "")
	var all []screening.Match
	for i := range matches {
		id := screening.NewMatchID("a", entityID, fmt.Sprint(i))
		matchIDs = append(matchIDs, id)
		all = append(all, screening.Match{ID: id, BatchID: b.ID, EntityID: entityID, AnswerID: "a", Version: 1,
			UniqueID: fmt.Sprint("un:", i), AliasIDs: []string{screening.PrimaryName},
			Data:       screening.MatchData{ProviderID: "p", ProviderSourceName: "un", Name: "PETROV"},
			Resolution: screening.Resolution{Status: screening.Unresolved}})
	}
	if err := a.store.AddMatches(ctx, a.caller.Tenant, all); err != nil {
		a.t.Fatal(err)
	}
	b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: matches})
	if err == nil {
		err = a.store.Save(ctx, b)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return b.ID, matchIDs
}

func TestBatchOfJourneyAndProcess(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const journey = `,"journeyId":"D7A2B1C0-6E5F-4D3C-8B2A-1F0E9D8C7B14","processId":"onboarding"`
	first := a.create(journey+`,"journeyType":"Onboarding","journeyMainLegalEntityId":"m","journeyMainLegalEntityName":"M"`, "e", "f")
	other := a.create(strings.Replace(journey, "onboarding", "review", 1), "e")
	byProcess := queries + "/batch/journey/d7a2b1c0-6e5f-4d3c-8b2a-1f0e9d8c7b14/process/onboarding"
	var got screeninghttp.BatchReply
	a.succeed("GET", byProcess, "", &got)
	if got.ID != first || got.Status != screening.Open || got.TotalEntities != 2 || got.Entities[0].ID != "e" ||
		*got.JourneyType != "Onboarding" || *got.JourneyMainLegalEntityID != "m" || got.ClosedDate != nil ||
		*got.Metadata.SourceEventCorrelationID != "correlation" || got.Entities[0].EntityName != "Ivan Petrov" {
		t.Errorf("the active batch is %+v, want %s as it was created", got, first)
	}
	a.succeed("PUT", commands+"/batch/"+first+"/complete", "", nil)
	a.succeed("PUT", commands+"/batch/"+first+"/complete", "", nil)
	second := a.create(journey, "e")
	a.succeed("GET", byProcess, "", &got)
	if diff := cmp.Diff([]string{first}, got.OverriddenBatchIDs); got.ID != second || diff != "" {
		t.Errorf("the active batch is %s, want %s; it overrides (-want +got)\n%s", got.ID, second, diff)
	}
	a.succeed("GET", queries+"/batch/"+strings.ToUpper(first), "", &got)
	if got.Status != screening.Overridden || got.ClosedDate == nil {
		t.Errorf("the first batch is %s, closed at %v, want it overridden with the time of its close", got.Status, got.ClosedDate)
	}
	a.refuse(400, "screening_batch_not_open", "PUT", commands+"/batch/"+first+"/complete", "")
	a.succeed("GET", queries+"/batch/journey/d7a2b1c0-6e5f-4d3c-8b2a-1f0e9d8c7b14", "", &got)
	if got.ID != second {
		t.Errorf("the newest batch of the journey is %s, want %s", got.ID, second)
	}
	var list []screeninghttp.EntityBatchReply
	a.succeed("GET", queries+"/batch/legalentity/e", "", &list)
	var ids []string
	for _, item := range list {
		ids = append(ids, item.BatchID)
	}
	if diff := cmp.Diff([]string{second, other, first}, ids); diff != "" {
		t.Errorf("the batches of the entity (-want +got)\n%s", diff)
	}
	a.succeed("GET", queries+"/batch/legalentity/e?onlyWithTrueMatches=true", "", &list)
	if len(list) != 0 {
		t.Errorf("%d batches have true matches, want none", len(list))
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 3)
	update := func(id, status, more string) string {
		return fmt.Sprintf(`{"matchId":%q,"status":%q,"reason":"r"%s}`, id, status, more)
	}
	body := func(updates ...string) string {
		return `{"data":[{"entityId":"e","matches":[` + strings.Join(updates, ",") + `]}]}`
	}
	path, list := commands+"/batch/"+batch+"/matches", queries+"/batch/"+batch+"/entity/e/match"
	a.refuse(400, "matches_unresolved", "PUT", commands+"/batch/"+batch+"/complete", "")
	a.refuse(404, "match_not_found", "PUT", path, body(update(ids[0], "Match", ""), update(uuid.NewString(), "Match", "")))
	a.refuse(404, "screened_entity_not_found", "PUT", path, strings.Replace(body(update(ids[0], "Match", "")), `"e"`, `"x"`, 1))
	a.refuse(400, "invalid_request", "PUT", path, body(update(ids[0], "Match", ""), update(ids[0], "Match", "")))
	var m screeninghttp.MatchReply
	a.succeed("GET", list+"/"+ids[0], "", &m)
	if m.Status != screening.Unresolved || m.LastActionedBy != nil || m.Reason != nil {
		t.Errorf("after refusals the match is %+v, want it untouched", m)
	}
	a.succeed("PUT", path, body(update(ids[0], "Match", `,"comments":"c","classificationData":{"singleProperties":{"f":{"value":"v","label":"l"}}},"classificationDataReviewed":true`),
		update(ids[1], "No Match", "")), nil)
	a.succeed("PUT", path, body(update(ids[0], "Match", "")), nil)
	a.succeed("GET", list+"/"+ids[0], "", &m)
	if m.Status != screening.TrueMatch || *m.Comments != "c" || !m.ClassificationDataReviewed ||
		m.ClassificationData.SingleProperties["f"].Label != "l" || m.LastActionedBy.ID != "c" ||
		m.LastActionedBy.Type != "Client" || m.LastActionedBy.ReusedFromPreviousBatch {
		t.Errorf("the match is %+v, want comments and classification kept", m)
	}
	a.succeed("PUT", path, body(update(ids[2], "No Match", "")), nil)
	a.succeed("PUT", commands+"/batch/"+batch+"/complete", "", nil)
	a.refuse(400, "screening_batch_not_open", "PUT", path, body(update(ids[2], "Match", "")))
	var matches []screeninghttp.MatchReply
	a.succeed("GET", list+"?returnMaterialMatches=true", "", &matches)
	if len(matches) != 1 || matches[0].ID != ids[0] {
		t.Errorf("the true matches are %+v, want %s", matches, ids[0])
	}
	var batches []screeninghttp.EntityBatchReply
	a.succeed("GET", queries+"/batch/legalentity/e?onlyWithTrueMatches=true", "", &batches)
	if len(batches) != 1 || batches[0].MaterialMatchesCount != 1 {
		t.Errorf("the batches with true matches are %+v, want one with one match", batches)
	}
}

func TestListsAreReadInParts(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 120)
	var all []string
	for after := ""; ; {
		var page []screeninghttp.MatchReply
		a.succeed("GET", queries+"/batch/"+batch+"/entity/e/match?limit=70&after="+after, "", &page)
		for _, m := range page {
			all = append(all, m.ID)
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].ID
	}
	if len(all) != len(ids) {
		t.Errorf("the parts have %d matches, want %d", len(all), len(ids))
	}
	batch = a.create("", "1", "2", "3")
	var entities []screeninghttp.EntityReply
	a.succeed("GET", queries+"/batch/"+batch+"/entity?limit=1&after=1", "", &entities)
	if len(entities) != 1 || entities[0].ID != "2" {
		t.Errorf("the entity after the first is %+v, want 2", entities)
	}
	for _, query := range []string{"limit=0", "limit=501", "limit=x", "limit=1&limit=2", "more=1",
		"after=" + strings.Repeat("x", 256)} {
		a.refuse(400, "invalid_request", "GET", queries+"/batch/"+batch+"/entity?"+query, "")
	}
}

// What another tenant has is not found, whatever the command or query.
func TestOtherTenantsFindNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	batch, ids := a.createSearched("e", 1)
	a.caller.Tenant = uuid.NewString()
	for _, path := range []string{"", "/entity", "/entity/e", "/entity/e/match", "/entity/e/match/" + ids[0]} {
		a.refuse(404, "screening_batch_not_found", "GET", queries+"/batch/"+batch+path, "")
	}
	a.refuse(404, "screening_batch_not_found", "PUT", commands+"/batch/"+batch+"/complete", "")
	a.refuse(404, "screening_batch_not_found", "PUT", commands+"/batch/"+batch+"/matches",
		`{"data":[{"entityId":"e","matches":[{"matchId":"`+ids[0]+`","status":"Match","reason":"r"}]}]}`)
	var list []screeninghttp.EntityBatchReply
	if a.succeed("GET", queries+"/batch/legalentity/e", "", &list); len(list) != 0 {
		t.Errorf("the other tenant sees %+v, want nothing", list)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, permissions := range [][]string{nil, {permission.ScreeningAccess}, {permission.ScreeningEdit}} {
		a.caller.Permissions = permissions
		a.refuse(403, "permission_missing", "POST", commands+"/batch", `{"data":{"entities":[`+person+`}]}}`)
	}
	a.refuse(403, "permission_missing", "GET", queries+"/batch/"+uuid.NewString(), "")
	a.caller.Permissions = []string{permission.ScreeningAccess, permission.ScreeningEdit}
	a.create("", "e")
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, test := range []struct{ name, data, want string }{
		{"no entities", `{"entities":[]}`, "entities: The value is missing"},
		{"too many entities", `{"entities":[` + strings.Repeat(person+"},", 500) + person + `}]}`, "more than 500 items"},
		{"no criteria", `{"entities":[{}]}`, "entities.0.searchCriteria"},
		{"no name", `{"entities":[{"searchCriteria":{"type":"Individual","firstName":"A"}}]}`, "firstName and lastName"},
		{"white space for a name", `{"entities":[{"searchCriteria":{"type":"Company","legalEntityName":" "}}]}`, "legalEntityName"},
		{"no date", `{"entities":[{"searchCriteria":{"type":"Individual","fullName":"A","dateOfBirth":"30/02/1990"}}]}`, "DD/MM/YYYY"},
		{"an entity twice", `{"entities":[` + person + `,"legalEntityId":"e"},` + person + `,"legalEntityId":"e"}]}`, "twice"},
		{"an alias called PrimaryName", `{"entities":[` + person + `,"entityAliases":[{"id":"PrimaryName"}]}]}`, "twice"},
		{"an unknown provider", `{"entities":[` + person + `}],"providers":[{"providerId":"p"}]}`, "No provider"},
		{"an unknown key", `{"entities":[` + person + `,"x":1}]}`, "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			message := a.refuse(400, "invalid_request", "POST", commands+"/batch", `{"data":`+test.data+`}`)
			if !strings.Contains(message, test.want) {
				t.Errorf("the message is %q, want it to contain %q", message, test.want)
			}
		})
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.caller.Permissions = append(a.caller.Permissions, permission.ScreeningConfigurationCreate,
		permission.ScreeningConfigurationEdit)
	var settings screeninghttp.SettingsReply
	a.succeed("PATCH", commands+"/configuration", `{"data":{"validityDays":{"p":30,"q":1}}}`, &settings)
	settings = screeninghttp.SettingsReply{}
	a.succeed("PATCH", commands+"/configuration", `{"data":{"validityDays":{"q":null,"r":2}}}`, &settings)
	if diff := cmp.Diff(map[string]int{"p": 30, "r": 2}, settings.ValidityDays); diff != "" {
		t.Errorf("merged (-want +got)\n%s", diff)
	}
	settings = screeninghttp.SettingsReply{}
	a.succeed("POST", commands+"/configuration", `{"data":{"validityDays":{"p":1}}}`, &settings)
	if diff := cmp.Diff(map[string]int{"p": 1}, settings.ValidityDays); diff != "" {
		t.Errorf("replaced (-want +got)\n%s", diff)
	}
	a.refuse(400, "invalid_request", "PATCH", commands+"/configuration", `{"data":{"validityDays":{"p":0}}}`)

	store := func(process string, closed time.Time) string {
		t.Helper()
		b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, JourneyID: "j", ProcessID: process,
			EntityIDs: []string{"e"}, CreatedAt: now, ClosedAt: closed, Version: 1,
			Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchComplete}}}
		if _, err := a.store.Create(t.Context(), b, []screening.Entity{{ID: "e", Version: 1}}); err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	open, old := store("open", time.Time{}), store("old", now.AddDate(0, 0, -1))
	recent := store("recent", now.Add(-time.Hour))
	var got []screeninghttp.ExpiryReply
	path := queries + "/batch/journey/j/expiry"
	a.succeed("POST", path, `{"data":{"processIds":["recent","none","open","old"]}}`, &got)
	end := now.Add(-time.Hour).AddDate(0, 0, 1)
	want := []screeninghttp.ExpiryReply{
		{ProcessID: "recent", BatchID: &recent, ExpiryStatus: screening.Valid,
			Providers: []screeninghttp.ProviderExpiryReply{{ID: "p", ExpiryStatus: screening.Valid, ExpiryDate: &end}}},
		{ProcessID: "none", ExpiryStatus: screening.NoActiveBatch, Providers: []screeninghttp.ProviderExpiryReply{}},
		{ProcessID: "open", BatchID: &open, ExpiryStatus: screening.NotExpiring,
			Providers: []screeninghttp.ProviderExpiryReply{{ID: "p", ExpiryStatus: screening.NotExpiring}}},
		{ProcessID: "old", BatchID: &old, ExpiryStatus: screening.Expired,
			Providers: []screeninghttp.ProviderExpiryReply{{ID: "p", ExpiryStatus: screening.Expired, ExpiryDate: &now}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, body := range []string{`[]`, `["a","a"]`, `[""]`} {
		a.refuse(400, "invalid_request", "POST", path, `{"data":{"processIds":`+body+`}}`)
	}
	a.caller.Tenant = uuid.NewString()
	got = nil
	if a.succeed("POST", path, `{"data":{"processIds":["old"]}}`, &got); got[0].ExpiryStatus != screening.NoActiveBatch {
		t.Errorf("another tenant sees %+v, want no active batch", got)
	}
}
