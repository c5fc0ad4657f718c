package execution_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/connect/outbound"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/execution"
)

const (
	encryptionKey     = "ZW5jcnlwdGlvbi1rZXktZm9yLXRlc3RzLTMyYnl0ZXM="
	authenticationKey = "YXV0aGVudGljYXRpb24ta2V5LWZvci10ZXN0LTMyYnk="
)

// configured has one provider, acme.
type configured struct{ adapter *screening.Adapter }

func (c configured) GetProvider(_ context.Context, tenant, id string) (screening.Provider, error) {
	if id != "acme" {
		return screening.Provider{}, screening.ErrNotFound
	}
	return screening.Provider{Tenant: tenant, ID: id, Adapter: c.adapter, Sets: []screening.ConfigurationSet{
		{ID: "default"}, {ID: "deep", Settings: []screening.Setting{{FieldID: "fuzzy", Value: "true"}}}}}, nil
}

func (configured) Reveal(_ context.Context, p screening.Provider) (screening.Provider, error) {
	return p, nil
}

// receiver answers every call in the same way, and remembers the last one.
type receiver struct {
	status int
	err    error
	url    string
	header http.Header
	body   []byte
}

func (r *receiver) Do(_ context.Context, _ string, request *http.Request) (*outbound.Reply, error) {
	var err error
	r.url, r.header = request.URL.String(), request.Header
	if r.body, err = io.ReadAll(request.Body); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	return &outbound.Reply{Status: r.status}, nil
}

func withKeys() *screening.Adapter {
	return &screening.Adapter{URL: "https://adapter.example/acme/", IsAuthenticationActive: true,
		AuthenticationKey: authenticationKey, EncryptionKey: encryptionKey}
}

// read authenticates the message that an adapter got, and decodes its data.
func (r *receiver) read(t *testing.T, data any) adapter.Message {
	t.Helper()
	var m adapter.Message
	errtest.Fatal(t, json.Unmarshal(r.body, &m))
	keys := errtest.Must(adapter.ParseKeys(encryptionKey, authenticationKey))(t)
	packed, err := adapter.Decode(m.Data)
	if r.header.Get(adapter.MACHeader) != "" {
		packed, err = keys.Open(adapter.Sealed{Data: m.Data, IV: r.header.Get(adapter.IVHeader),
			MAC: r.header.Get(adapter.MACHeader)})
	}
	errtest.Fatal(t, err)
	text := errtest.Must(adapter.Unpack(packed))(t)
	errtest.Fatal(t, json.Unmarshal(text, data))
	return m
}

func TestAdaptersAreAsked(t *testing.T) {
	b := screening.Batch{ID: "b", Tenant: tenant, JourneyID: "journey"}
	for name, test := range map[string]struct {
		adapter  *screening.Adapter
		entities int
	}{
		"sealed":     {withKeys(), 1},
		"compressed": {withKeys(), 500},
		"in plain":   {&screening.Adapter{URL: "https://adapter.example/acme"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var entities []screening.Entity
			for i := range test.entities {
				entities = append(entities, screening.Entity{ID: fmt.Sprint("entity-", i),
					Criteria: screening.SearchCriteria{Type: screening.Individual, FullName: "Иван Петров"},
					Aliases:  []screening.Alias{{ID: "a", LastName: "Petrov"}}})
			}
			r := &receiver{status: http.StatusAccepted}
			calls := &execution.AdapterCalls{Providers: configured{test.adapter}, Receivers: r}
			run := screening.ProviderRun{ID: "acme", ConfigurationSetID: "deep"}
			errtest.Fatal(t, calls.Screen(t.Context(), b, run, entities))
			var data adapter.ScreenData
			m := r.read(t, &data)
			want := adapter.Message{Data: m.Data, ID: "b", Tenant: tenant, ProviderID: "acme", Type: adapter.Screen}
			difftest.Equal(t, "result", []any{want, "https://adapter.example/acme/api/screen"}, []any{m, r.url})
			if r.header.Get("X-TENANT-ID") != tenant || r.header.Get("X-PROVIDER-ID") != "acme" ||
				(r.header.Get("X-AUTHENTICATION-MAC") != "") != test.adapter.IsAuthenticationActive {
				t.Errorf("got the headers %v", r.header)
			}
			if diff := cmp.Diff(adapter.NewScreenData(b, screening.ConfigurationSet{ID: "deep",
				Settings: []screening.Setting{{FieldID: "fuzzy", Value: "true"}}}, entities), data); diff != "" {
				t.Error(diff)
			}
			if len(data.Entities) != test.entities || data.Settings["fuzzy"] != "true" {
				t.Errorf("got %d entities and the settings %v", len(data.Entities), data.Settings)
			}
			if test.adapter.IsAuthenticationActive && strings.Contains(string(r.body), "Petrov") {
				t.Error("the message is not encrypted")
			}
		})
	}
}

func TestAdaptersGetResolutions(t *testing.T) {
	r := &receiver{status: http.StatusAccepted}
	calls := &execution.AdapterCalls{Providers: configured{withKeys()}, Receivers: r}
	match := screening.Match{ID: "m", EntityID: "e", UniqueID: "acme:1", Resolution: screening.Resolution{
		Status: screening.NoMatch, Reason: "another person", Action: &screening.MatchAction{By: "client", At: now}}}
	errtest.Fatal(t, calls.ResolveMatches(t.Context(), tenant, "b", "acme", []screening.Match{match}))
	var data adapter.ResolveData
	m := r.read(t, &data)
	want := adapter.ResolveData{BatchID: "b", Matches: []adapter.ResolvedMatch{{EntityID: "e", MatchID: "m",
		EntityUniqueID: "acme:1", Status: "No Match", Reason: "another person", ActionedBy: "client", ActionedOn: now,
		ClassificationData: map[string]screening.Label{}}}}
	if diff := cmp.Diff(want, data); diff != "" || m.Type != adapter.ResolveMatches ||
		r.url != "https://adapter.example/acme/api/resolvematches" {
		t.Errorf("got %s at %s (-want +got)\n%s", m.Type, r.url, diff)
	}
}

// A refusal of a message by an adapter is marked temporary or final, and holds no secret.
func TestAdaptersRefuse(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		provider string
		adapter  *screening.Adapter
		status   int
		err      error
		want     string // the code and a part of the message; "" for an error of the service, "accepted" for none
		mayPass  bool
	}{
		"200": {"acme", withKeys(), 200, nil, "accepted", false},
		"400": {"acme", withKeys(), 400, nil, "E001: The adapter answered 400", false},
		"404": {"acme", withKeys(), 404, nil, "E000: The adapter answered 404.", false},
		"302": {"acme", withKeys(), 302, nil, "E000: The adapter answered 302.", false},
		"429": {"acme", withKeys(), 429, nil, "E000: The adapter answered 429.", true},
		"500": {"acme", withKeys(), 500, nil, "E000: The adapter answered 500.", true},
		"not reached": {"acme", withKeys(), 0, &outbound.Error{Reason: outbound.TimedOut, Message: "Too slow."},
			"E000: Too slow.", true},
		"address refused": {"acme", withKeys(), 0, &outbound.Error{Reason: outbound.AddressRefused, Message: "No."},
			"E000: No.", false},
		"fault of our own": {"acme", withKeys(), 0, broken, "", false},
		"unknown provider": {"nobody", withKeys(), 202, nil,
			"E000: The provider cannot be called: it is not configured", false},
		"no adapter": {"acme", nil, 202, nil, "E000: The provider cannot be called: the provider has no adapter",
			false},
		"encryption alone": {"acme", &screening.Adapter{URL: "https://a.example", EncryptionKey: encryptionKey}, 202,
			nil, "E000: ", false},
		"key of a wrong size": {"acme", &screening.Adapter{URL: "https://a.example", IsAuthenticationActive: true,
			EncryptionKey: "c2hvcnQ=", AuthenticationKey: authenticationKey}, 202, nil, "E000: ", false},
		"broken URL": {"acme", &screening.Adapter{URL: "https://a.example:port"}, 202, nil, "E000: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := &execution.AdapterCalls{Providers: configured{test.adapter},
				Receivers: &receiver{status: test.status, err: test.err}}
			err := calls.Screen(t.Context(), screening.Batch{ID: "b", Tenant: tenant},
				screening.ProviderRun{ID: test.provider}, nil)
			var refusal *execution.Refusal
			switch is := errors.As(err, &refusal); {
			case test.want == "accepted":
				errtest.Is(t, "error", err, nil)
			case test.want == "":
				if is || !errors.Is(err, broken) {
					t.Errorf("got %v, want %v", err, broken)
				}
			case !is || !strings.HasPrefix(err.Error(), test.want) || refusal.MayPass != test.mayPass:
				t.Errorf("got %v (may pass: %v), want %q (%v)", err, is && refusal.MayPass, test.want, test.mayPass)
			}
			if err != nil && strings.Contains(err.Error(), "c2hvcnQ=") {
				t.Errorf("%v shows a key", err)
			}
		})
	}
}
