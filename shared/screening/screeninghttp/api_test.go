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
	"github.com/google/uuid"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/httpapitest"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document/documentdb"
	"sluice/shared/platform/entity/entitydb"
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
	tester     *fakeTester
	// hook, providerHook, draftHook and documentHook are the stores that the endpoints use.
	hook         *hookedStore
	providerHook *hookedProviders
	draftHook    *hookedDrafts
	documentHook *hookedDocuments
	// log is the log of the endpoints.
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
	draftHook, documentHook := &hookedDrafts{Profiles: entities}, &hookedDocuments{Store: documents}
	s := &screeninghttp.Screenings{Store: hook, Providers: providers, Documents: documentHook, Files: bucket,
		MaxBytes: 1000, Entities: draftHook, NewID: uuid.NewString, Now: clockNow, Lists: lists, Searches: started,
		Resolutions: notices, Log: slog.New(slog.DiscardHandler)}
	providerHook := &hookedProviders{Providers: providers}
	configurations := &screeninghttp.Configurations{Settings: store, Providers: providerHook, Now: clockNow,
		NewID: uuid.NewString}
	tester := &fakeTester{}
	tests := &screeninghttp.AdapterTests{Providers: providers, Adapters: tester, NewID: uuid.NewString}
	log, routes := &bytes.Buffer{}, slices.Concat(s.Routes(), configurations.Routes(), tests.Routes())
	return &api{
		t: t, store: store, documents: documents, entities: entities, bucket: bucket, configured: providers,
		lists: lists, started: started, notices: notices, tester: tester, log: log, hook: hook,
		providerHook: providerHook, draftHook: draftHook, documentHook: documentHook,
		call: httpapi.Lambda(platform.Handler(routes, nil, nil, slog.New(slog.NewJSONHandler(log, nil)),
			func() time.Time { return now })),
		caller: httpapi.Caller{Tenant: tenant, Client: "c", Expires: now.Add(time.Hour),
			Permissions: []string{permission.ScreeningAccess, permission.ScreeningCreate}},
	}
}

// send sends a request and returns the status, the data of the reply and its first message.
func (a *api) send(method, path, body string) (status int, data json.RawMessage, message platform.Message) {
	a.t.Helper()
	request := httpapitest.NewPlatformRequest(a.t, a.caller, method, path, body)
	request.MultiValueHeaders["X-CORRELATION-ID"] = []string{"correlation"}
	r, err := a.call(a.t.Context(), request)
	errtest.Fatal(a.t, err)
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
		a.t.Errorf("%s %s %.300s: got %d %s %s %s, want %d %s", method, path, body, got, message.ErrorCode,
			message.Message, data, status, code)
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

// createSearched creates a batch of one entity with matches of a provider, and returns its ID and theirs.
func (a *api) createSearched(entityID string, matches int) (batchID string, matchIDs []string) {
	a.t.Helper()
	ctx := a.t.Context()
	b, err := a.store.Create(ctx, screening.Batch{ID: uuid.NewString(), Tenant: a.caller.Tenant, Status: screening.Open,
		Type: screening.TypeScreening, EntityIDs: []string{entityID}, CreatedAt: now, Version: 1,
		Providers: []screening.ProviderRun{{ID: "p", Status: screening.SearchInProgress}},
	}, []screening.Entity{{ID: entityID, Version: 1}})
	errtest.Fatal(a.t, err)
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
	errtest.Fatal(a.t, a.store.AddMatches(ctx, a.caller.Tenant, all))
	b, _, err = b.FinishProvider(screening.Answer{ID: "a", ProviderID: "p", Matches: matches})
	if err == nil {
		err = a.store.Save(ctx, b)
	}
	errtest.Fatal(a.t, err)
	return b.ID, matchIDs
}
