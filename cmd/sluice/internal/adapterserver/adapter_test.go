package adapterserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sluice/client"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

const (
	testTenant            = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"
	testEncryptionKey     = "ZW5jcnlwdGlvbi1rZXktZm9yLXRlc3RzLTMyYnl0ZXM="
	testAuthenticationKey = "YXV0aGVudGljYXRpb24ta2V5LWZvci10ZXN0LTMyYnk="
)

// fakeReceptor is the service as an adapter sees it: tokens, the receptor and uploads.
type fakeReceptor struct {
	t      *testing.T
	server *httptest.Server
	keys   *adapter.Keys

	mu sync.Mutex
	// replies are the messages that the receptor got, with their headers.
	replies []adapter.Reply
	headers []http.Header
	upload  string
}

func newFakeReceptor(t *testing.T) *fakeReceptor {
	t.Helper()
	f := &fakeReceptor{t: t}
	f.keys = errtest.Must(adapter.ParseKeys(testEncryptionKey, testAuthenticationKey))(t)
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fakeReceptor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body := errtest.Must(io.ReadAll(r.Body))(f.t)
	switch r.URL.Path {
	case "/externalauthenticationcommand/api/configuration":
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, `{"data":{"configurationId":"c"}}`)
	case "/token":
		_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`)
	case "/screeningreceptor/api/receptor/upload-url":
		_, _ = io.WriteString(w, `{"data":{"uploadId":"u","signedUrl":"`+f.server.URL+`/put"}}`)
	case "/put":
		f.upload = string(body)
	case "/screeningreceptor/api/receptor":
		var reply adapter.Reply
		errtest.Fatal(f.t, json.Unmarshal(body, &reply))
		if reply.UploadID != "" {
			reply.Response = f.upload
		}
		f.replies, f.headers = append(f.replies, reply), append(f.headers, r.Header)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"data":null,"messages":[]}`)
	default:
		f.t.Errorf("unexpected call of %s", r.URL.Path)
	}
}

// newAdapter returns an adapter of the provider acme with the keys, one answer and some faults.
func (f *fakeReceptor) newAdapter(faults ...string) *adapterServer {
	f.t.Helper()
	c := errtest.Must(client.New(client.Config{APIURL: f.server.URL, TokenURL: f.server.URL + "/token", ClientID: "c",
		ClientSecret: "s", Scope: "tenant/" + testTenant}))(f.t)
	path := filepath.Join(f.t.TempDir(), "answers.json")
	text := `[{"name":"Ivan Testov","entityUniqueId":"acme:1","matchData":{"providerSourceName":"Acme",` +
		`"name":"TESTOV"}}]`
	errtest.Fatal(f.t, os.WriteFile(path, []byte(text), 0o600))
	s := &adapterServer{client: c, provider: "acme", keys: f.keys, faults: faults, ui: terminal.New(io.Discard),
		ctx: f.t.Context()}
	s.answers = errtest.Must(readAnswers(path))(f.t)
	return s
}

func testProvider() screening.Provider {
	return screening.Provider{Tenant: testTenant, ID: "acme", Adapter: &screening.Adapter{URL: "https://adapter.test",
		IsAuthenticationActive: true, EncryptionKey: testEncryptionKey, AuthenticationKey: testAuthenticationKey}}
}

// ask sends a message to an adapter and waits for its answers.
func (f *fakeReceptor) ask(s *adapterServer, kind adapter.Type, data any, change func(*http.Request)) int {
	f.t.Helper()
	r := errtest.Must(adapter.NewRequest(f.t.Context(), testProvider(), kind, "batch", data))(f.t)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	s.pending.Wait()
	return w.Code
}

// open returns the answer in a message to the receptor.
func (f *fakeReceptor) open(i int) (adapter.Answer, error) {
	f.t.Helper()
	packed, err := f.keys.Open(adapter.Sealed{Data: f.replies[i].Response, IV: f.headers[i].Get(adapter.IVHeader),
		MAC: f.headers[i].Get(adapter.MACHeader)})
	if err != nil {
		return adapter.Answer{}, err
	}
	text, err := adapter.Unpack(packed)
	if err != nil {
		return adapter.Answer{}, err
	}
	return adapter.ParseAnswer(text, f.replies[i].Type, f.replies[i].Status)
}

var testScreenData = adapter.ScreenData{BatchID: "batch", Entities: []adapter.ScreenEntity{
	{EntityID: "e1", SearchCriteria: screening.SearchCriteria{Type: screening.Individual, FullName: "IVAN Testov"},
		EntityAliases: []screening.Alias{{ID: "a", FullName: "ivan testov"}, {ID: "b", FullName: "Nobody"}}},
	{EntityID: "e2", SearchCriteria: screening.SearchCriteria{Type: screening.Company, LegalEntityName: "Nobody Ltd"}}}}

func TestAdapterAnswers(t *testing.T) {
	t.Parallel()
	want := []adapter.AnswerMatch{{EntityID: "e1", EntityUniqueID: "acme:1",
		EntityAliasIDs: []string{"PrimaryName", "a"},
		MatchData:      screening.MatchData{ProviderID: "acme", ProviderSourceName: "Acme", Name: "TESTOV"}}}
	for fault, test := range map[string]struct{ status, replies int }{
		"": {202, 1}, "upload": {202, 1}, "twice": {202, 2}, "silent": {202, 0}, "reject": {400, 0}, "fail": {500, 0},
	} {
		t.Run(fault, func(t *testing.T) {
			f := newFakeReceptor(t)
			s := f.newAdapter()
			if fault != "" {
				s.faults = []string{fault}
			}
			if status := f.ask(s, adapter.Screen, testScreenData, nil); status != test.status ||
				len(f.replies) != test.replies {
				t.Fatalf("got %d and %d answers, want %d and %d", status, len(f.replies), test.status, test.replies)
			}
			for i := range f.replies {
				answer := errtest.Must(f.open(i))(t)
				difftest.Equal(t, "Matches", want, answer.Matches)
				if r := f.replies[i]; r.ID != "batch" || r.Tenant != testTenant || r.ProviderID != "acme" ||
					(r.UploadID != "") != (fault == "upload") || f.headers[i].Get("X-TENANT-ID") != testTenant {
					t.Errorf("got %+v", r)
				}
			}
		})
	}
}

// writerFunc is called with each line that is printed.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// An adapter that cannot take back what it has had the service accept says so.
func TestAdapterReportsWhatRemains(t *testing.T) {
	t.Parallel()
	f := newFakeReceptor(t)
	a := adapterCommandFlags{provider: "acme", address: "127.0.0.1:0"}
	ctx, interrupt := context.WithCancel(t.Context())
	a.server.client, a.server.ui = f.newAdapter().client, terminal.New(writerFunc(interrupt))
	var refused *client.Error
	if err := a.run(ctx); !errors.As(err, &refused) || refused.Status != http.StatusForbidden {
		t.Errorf("got %v, want the refusal of the service", err)
	}
}

// Faults that the receptor must find.
func TestAdapterFaults(t *testing.T) {
	t.Parallel()
	f := newFakeReceptor(t)
	f.ask(f.newAdapter("wrong-mac"), adapter.Screen, testScreenData, nil)
	errtest.Fails(t, "the MAC is right", errtest.Of(f.open(0)))
	f.ask(f.newAdapter("error"), adapter.Screen, testScreenData, nil)
	if a, err := f.open(1); err != nil || a.ErrorDetails == nil || f.replies[1].Status != adapter.Error {
		t.Errorf("got %+v, %v, want an error", a, err)
	}
	f.ask(f.newAdapter("invalid"), adapter.Screen, testScreenData, nil)
	a := errtest.Must(f.open(2))(t)
	errtest.Fails(t, "the matches are valid",
		errtest.Of(a.Check(adapter.Batch{ID: "batch", ProviderID: "acme",
			Aliases: map[string][]string{"e1": {"a", "b"}, "e2": nil}})))
}

func TestAdapterGetsResolutions(t *testing.T) {
	t.Parallel()
	f := newFakeReceptor(t)
	data := adapter.ResolveData{BatchID: "batch",
		Matches: []adapter.ResolvedMatch{{MatchID: "m", Status: screening.NoMatch}}}
	difftest.Equal(t, "ask", http.StatusAccepted, f.ask(f.newAdapter(), adapter.ResolveMatches, data, nil))
	if a, err := f.open(0); err != nil || a.BatchID != "batch" || f.replies[0].Type != adapter.ResolveMatches {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestAdapterAnswersTests(t *testing.T) {
	t.Parallel()
	f := newFakeReceptor(t)
	data := adapter.TestData{BatchID: "batch"}
	difftest.Equal(t, "ask", http.StatusAccepted, f.ask(f.newAdapter(), adapter.Test, data, nil))
	if a, err := f.open(0); err != nil || a.BatchID != "batch" || f.replies[0].Type != adapter.Test {
		t.Errorf("got %+v, %v", a, err)
	}
}

// A message that is not for this adapter, or not authentic, is rejected.
func TestAdapterRejects(t *testing.T) {
	t.Parallel()
	f := newFakeReceptor(t)
	for name, change := range map[string]func(*http.Request){
		"another path":     func(r *http.Request) { r.URL.Path = adapter.ResolveMatchesPath },
		"wrong MAC":        func(r *http.Request) { r.Header.Set(adapter.MACHeader, r.Header.Get(adapter.IVHeader)) },
		"no MAC":           func(r *http.Request) { r.Header.Del(adapter.MACHeader) },
		"another tenant":   func(r *http.Request) { r.Header.Set(adapter.TenantHeader, "other") },
		"another provider": func(r *http.Request) { r.Header.Set(adapter.ProviderHeader, "other") },
		"no JSON":          func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("{")) },
	} {
		t.Run(name, func(t *testing.T) {
			status := f.ask(f.newAdapter(), adapter.Screen, testScreenData, change)
			difftest.Equal(t, "status", http.StatusBadRequest, status)
			difftest.Len(t, "answered", 0, f.replies)
		})
	}
}
