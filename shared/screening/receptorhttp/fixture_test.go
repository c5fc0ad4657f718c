package receptorhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/permission"
	"sluice/shared/connect/externalauth"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/execution"
	"sluice/shared/screening/receptorhttp"
	"sluice/shared/screening/screeningdb"
)

const (
	tenant      = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	otherTenant = "0d3f5c1b-6a57-4a0d-9c58-3c1b7b1f2a10"
	path        = "/screeningreceptor/api/receptor"

	encryptionKey     = "ZW5jcnlwdGlvbi1rZXktZm9yLXRlc3RzLTMyYnl0ZXM="
	authenticationKey = "YXV0aGVudGljYXRpb24ta2V5LWZvci10ZXN0LTMyYnk="
	otherKey          = "b3RoZXItYXV0aGVudGljYXRpb24ta2V5LTMyLWJ5dGU="
)

var (
	now   = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)
	quiet = slog.New(slog.DiscardHandler)
)

// providers are the configured providers of every tenant, with their keys: acme and other have keys, plain has none,
// and half has a key for encryption alone.
type providers struct{}

func (providers) GetProvider(_ context.Context, tenant, id string) (screening.Provider, error) {
	p := screening.Provider{Tenant: tenant, ID: id, Adapter: &screening.Adapter{URL: "https://adapter.example"}}
	set := func(authentication, encryption externalauth.Secret) {
		p.Adapter.IsAuthenticationActive, p.Adapter.AuthenticationKey = authentication != "", authentication
		p.Adapter.EncryptionKey = encryption
	}
	switch id {
	case "acme":
		set(authenticationKey, encryptionKey)
	case "other":
		set(otherKey, encryptionKey)
	case "plain":
	case "half":
		set("", encryptionKey)
	case screening.BuiltIn:
		return screening.BuiltInProvider(tenant), nil
	default:
		return p, screening.ErrNotFound
	}
	return p, nil
}

func (providers) Reveal(_ context.Context, p screening.Provider) (screening.Provider, error) {
	return p, nil
}

// files are uploaded files in memory.
type files struct {
	mu   sync.Mutex
	byID map[string][]byte
}

func (f *files) SignPutOf(_ context.Context, key string, size int64, lifetime time.Duration) (objects.SignedURL,
	error) {
	if size == 0 {
		return objects.SignedURL{URL: "https://storage.example/" + key, Expires: now.Add(lifetime)}, nil
	}
	return objects.SignedURL{URL: fmt.Sprintf("https://storage.example/%s?size=%d", key, size),
		Expires: now.Add(lifetime)}, nil
}

func (f *files) Empty(_ context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.byID[key] = []byte{}
	return nil
}

func (f *files) Open(_ context.Context, key, _ string, _, _ int64) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, ok := f.byID[key]
	if !ok {
		return nil, fmt.Errorf("%w: no such key", objects.ErrDenied)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

type noTasks struct{}

func (noTasks) Complete(context.Context, string) error { return nil }

// fixture is the receptor on a real store.
type fixture struct {
	t     *testing.T
	store *screeningdb.Store
	files *files
	clock time.Time
	call  func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	// caller is who calls.
	caller httpapi.Caller
	// trail is the audit trail.
	trail *auditTrail
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, trail: &auditTrail{}, store: screeningdb.New(dynamotest.Start(t), "test-screenings"),
		clock: now,
		files: &files{byID: map[string][]byte{}},
		caller: httpapi.Caller{Tenant: tenant, Client: "c", Expires: now.Add(24 * time.Hour),
			Permissions: []string{permission.ScreeningReceptor}}}
	s := &receptorhttp.Receptor{Providers: providers{}, Batches: f.store, Uploads: f.store, Files: f.files,
		Answers:        execution.Receptor{Answers: &execution.Answers{Store: f.store, Tasks: noTasks{}, Log: quiet}},
		UploadLifetime: time.Hour, Now: f.now, NewID: uuid.NewString, Log: quiet}
	f.call = httpapi.Lambda(platform.Handler(s.Routes(), nil, audit.New(f.trail, f.now, audit.RequestID), quiet, f.now))
	return f
}

func (f *fixture) now() time.Time { return f.clock }

// auditTrail is an audit trail in memory. It is safe for concurrent use.
type auditTrail struct {
	mu sync.Mutex
	bytes.Buffer
}

func (a *auditTrail) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Buffer.Write(p)
}

// create stores a batch of a tenant with the entities entity-1, which has the alias a, and entity-2. The providers
// search.
func (f *fixture) create(tenant string, providers ...string) screening.Batch {
	f.t.Helper()
	var runs []screening.ProviderRun
	for _, id := range providers {
		runs = append(runs, screening.ProviderRun{ID: id})
	}
	b := screening.Batch{ID: uuid.NewString(), Tenant: tenant, Status: screening.Open, Type: screening.TypeScreening,
		EntityIDs: []string{"entity-1", "entity-2"}, CreatedAt: now, Version: 1}.Begin(runs, now)
	b = errtest.Must(f.store.Create(f.t.Context(), b, []screening.Entity{
		{ID: "entity-1", Version: 1, Aliases: []screening.Alias{{ID: "a"}}}, {ID: "entity-2", Version: 1}}))(f.t)
	return b
}

// search returns the search of a provider as it is stored.
func (f *fixture) search(b screening.Batch, provider string) screening.ProviderRun {
	f.t.Helper()
	stored := errtest.Must(f.store.Get(f.t.Context(), b.Tenant, b.ID))(f.t)
	p, ok := stored.Provider(provider)
	if !ok {
		f.t.Fatalf("the batch has no provider %s", provider)
	}
	return p
}

func newKeys(t testing.TB, authentication string) *adapter.Keys {
	t.Helper()
	return errtest.Must(adapter.ParseKeys(encryptionKey, authentication))(t)
}

// message is a message to the receptor with its headers.
type message struct {
	adapter.Reply
	iv, mac string
}

// response returns the JSON text of a successful search with n matches.
func response(batchID, provider string, n int) string {
	matches := make([]string, n)
	for i := range matches {
		matches[i] = fmt.Sprintf(`{"entityId":"entity-%d","entityUniqueId":"%s:%d",`+
			`"matchData":{"providerId":%q,"providerSourceName":"List"}}`, i%2+1, provider, i, provider)
	}
	return fmt.Sprintf(`{"batchId":%q,"matches":[%s]}`, batchID, strings.Join(matches, ","))
}

// sealed returns a message of a provider with a response that is sealed with the keys of acme.
func (f *fixture) sealed(b screening.Batch, status, text string, compress bool) message {
	f.t.Helper()
	s := errtest.Must(newKeys(f.t, authenticationKey).Seal([]byte(text), compress))(f.t)
	return message{adapter.Reply{ID: b.ID, Tenant: b.Tenant, ProviderID: "acme", Type: adapter.Screen, Status: status,
		Response: s.Data}, s.IV, s.MAC}
}

// post sends a body and returns the status and the first message of the reply.
func (f *fixture) post(path, body, iv, mac string) (int, platform.Message, json.RawMessage) {
	f.t.Helper()
	r := errtest.Must(f.call(f.t.Context(), events.APIGatewayProxyRequest{
		HTTPMethod: http.MethodPost, Path: path, Body: body,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {f.caller.Tenant}, "Content-Type": {"application/json"},
			"X-ENCRYPTION-IV": {iv}, "X-AUTHENTICATION-MAC": {mac}},
		RequestContext: events.APIGatewayProxyRequestContext{Authorizer: f.caller.Context()},
	}))(f.t)
	var data json.RawMessage
	envelope := platform.Envelope{Data: &data}
	if err := json.Unmarshal([]byte(r.Body), &envelope); err != nil {
		f.t.Fatalf("%s: %v", r.Body, err)
	}
	if len(envelope.Messages) > 0 {
		return r.StatusCode, envelope.Messages[0], data
	}
	return r.StatusCode, platform.Message{}, data
}

func (f *fixture) send(m message) (int, platform.Message) {
	f.t.Helper()
	body := errtest.Must(json.Marshal(m.Reply))(f.t)
	status, first, _ := f.post(path, string(body), m.iv, m.mac)
	return status, first
}

func (f *fixture) accept(m message) {
	f.t.Helper()
	if status, first := f.send(m); status != http.StatusAccepted {
		f.t.Fatalf("got %d %s %s, want 202", status, first.ErrorCode, first.Message)
	}
}

func (f *fixture) expectSearch(b screening.Batch, provider string, want screening.ProviderStatus, matches int) {
	f.t.Helper()
	if p := f.search(b, provider); p.Status != want || p.Matches != matches {
		f.t.Errorf("got %s with %d matches (%+v), want %s with %d", p.Status, p.Matches, p.Error, want, matches)
	}
}
