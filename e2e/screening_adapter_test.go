package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/screening/adapter"
)

// newProvider configures a screening provider with an adapter, whose messages are not encrypted, and returns its ID.
func (s *session) newProvider(url string) string {
	s.t.Helper()
	id := "p-" + uuid.NewString()
	s.mustCall("POST", screeningCommands+"/configuration/provider", inEnvelope(fmt.Sprintf(
		`{"id":%q,"name":"Acme","adapterConfiguration":{"url":%q},`+
			`"defaultConfigurationSet":{"name":"n","description":"d"}}`,
		id, url)), nil)
	return id
}

// newScreeningBy creates a batch of one entity that a provider searches, and returns the IDs of both.
func (s *session) newScreeningBy(provider string) (batch, entity string) {
	s.t.Helper()
	entity = uuid.NewString()
	reply := callFor[struct{ BatchID string }](s, "POST", screeningCommands+"/batch", inEnvelope(fmt.Sprintf(
		`{"entities":[{"searchCriteria":%s,"legalEntityId":%q}],"providers":[{"providerId":%q}]}`,
		screenedPerson("Ivan Petrov"), entity, provider)))
	return reply.BatchID, entity
}

func answerWith(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// rejected follows the ID of a provider whose adapter has answered 400.
const rejected = ": Return Failed (Adapter E001: The adapter answered 400: it rejected the message.)"

// question decodes the question that an adapter got.
func question(t *testing.T, body []byte) (m adapter.Message, data adapter.ScreenData) {
	t.Helper()
	must(t, json.Unmarshal(body, &m))
	text, err := adapter.Decode(m.Data)
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	require(t, err == nil, "%s: %v", body, err)
	return m, data
}

// A provider whose adapter rejects the question has failed at once. When it is run again, the adapter is asked again;
// an execution that is stopped while it waits for the answer ends the search.
func TestProvidersThatFail(t *testing.T) {
	api := beginTenant(t, receivers)
	r := api.newReceiver()
	provider := api.newProvider(r.URL + "/acme")
	r.answers(answerWith(http.StatusBadRequest))
	batch, entity := api.newScreeningBy(provider)
	api.expectSearched(batch, provider+rejected)

	r.answers(answerWith(http.StatusAccepted))
	api.mustCall("POST", screeningCommands+"/batch/"+batch+"/rerun",
		inEnvelope(fmt.Sprintf(`{"providerId":%q}`, provider)), nil)
	eventually(t, "the second question", func() bool { return len(r.requests()) == 2 })
	m, data := question(t, r.requests()[1].body)
	assert(t, m.ID == batch && m.Tenant == api.tenantID && m.ProviderID == provider && m.Type == adapter.Screen &&
		len(data.Entities) == 1 && data.Entities[0].EntityID == entity,
		"asked %+v about %+v, want the entity of the batch", m, data)
	stopExecution(t, environment, "screening", batch+"_2")
	api.expectSearched(batch, provider+": Return Failed (Invoker E000: The search was interrupted. Run it again.)")
	api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/complete", "", nil)
	if n := len(r.requests()); n != 2 {
		t.Errorf("asked %d times, want twice", n)
	}
}

// An adapter that answers nothing is waited for as long as the operator says.
func TestProvidersThatDoNotAnswer(t *testing.T) {
	api := narrowCloud.begin(t)
	r := api.newReceiver()
	r.answers(answerWith(http.StatusAccepted))
	provider := api.newProvider(r.URL)
	batch, _ := api.newScreeningBy(provider)
	api.expectSearched(batch, provider+": Return Failed (Adapter E000: The provider did not answer in time.)")
	if requests := r.requests(); len(requests) != 1 {
		t.Errorf("asked %d times, want once", len(requests))
	}
}

// The calls of adapters are authenticated as those of webhooks are.
func TestAdaptersAreCalledWithClientCertificates(t *testing.T) {
	api := beginTenant(t, receivers)
	root, clients := outboundtest.NewRoot(t, "Test Root"), outboundtest.NewRoot(t, "CA of clients")
	var calls recorder
	server := outboundtest.NewServer(t, root.Issue(thisMachine()),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.add(r.URL.Path)
			w.WriteHeader(http.StatusAccepted)
		}), func(c *tls.Config) {
			c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, outboundtest.Pool(clients)
		})
	url := "https://" + net.JoinHostPort("127.0.0.1", server.Port)
	api.newConfiguration(jsonText(map[string]any{"url": url, "isMtlsEnabled": true,
		"endpointCertificate": map[string]any{
			"isPublicCA": false, "certificate": outboundtest.PEM(root.Certificate.Raw),
			"validationMode": "SignerChainValidationOnly"}}))
	provider := api.newProvider(url)
	batch, entity := api.newScreeningBy(provider)
	if v := api.readSearched(batch); !strings.HasPrefix(v.summary(), provider+": Return Failed (Invoker E000: ") {
		t.Errorf("without a client certificate: %s", v.summary())
	}
	api.installClientCertificate(clients)
	api.mustCall("POST", screeningCommands+"/batch/"+batch+"/rerun", inEnvelope(`{}`), nil)
	eventually(t, "the question", func() bool { return len(calls.all()) > 0 })
	response := ok(adapter.Encode([]byte(fmt.Sprintf(
		`{"batchId":%q,"matches":[{"entityId":%q,"entityUniqueId":"l:1",`+
			`"matchData":{"providerId":%q,"providerSourceName":"l"}}]}`, batch, entity, provider)), false))(t)
	api.mustCall("POST", receptorPath, jsonText(adapter.Reply{ID: batch, Tenant: api.tenantID, ProviderID: provider,
		Type: adapter.Screen, Status: adapter.Success, Response: response}), nil)
	api.expectSearched(batch, provider+": Search Complete")
	matches := api.matches(batch, entity)
	require(t, len(matches) == 1, "got the matches %+v, want one", matches)
	api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/matches", inEnvelope(fmt.Sprintf(
		`[{"entityId":%q,"matches":[{"matchId":%q,"status":"Match","reason":"r"}]}]`, entity, matches[0].ID)), nil)
	eventually(t, "the notice of the resolution", func() bool { return len(calls.all()) > 1 })
	if got := strings.Join(calls.all(), " "); got != "/api/screen /api/resolvematches" {
		t.Errorf("the adapter got %q, want a question and a notice", got)
	}
}
