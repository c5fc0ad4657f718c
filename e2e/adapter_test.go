package e2e

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sluice/openapi/wire"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/screening/adapter"
)

const receptorPath = "/screeningreceptor/api/receptor"

// adapterAnswers is the file from which the adapters of these tests answer.
const adapterAnswers = `[{"name": "Ivan Petrov", "entityUniqueId": "list:1", "matchData": {"providerSourceName": "List",
	"name": "PETROV, Ivan", "matchScore": 97.5, "categories": ["Sanctions"]}}]`

// adapterAddress is what 'sluice adapter' prints when it serves.
var adapterAddress = regexp.MustCompile(` at (https://\S+);`)

// newKey returns a key of an adapter.
func newKey() string {
	key := make([]byte, 32)
	rand.Read(key)
	return base64.StdEncoding.EncodeToString(key)
}

// startAdapter runs 'sluice adapter' for a provider, with faults, and configures the provider.
func (s *session) startAdapter(provider string, faults ...string) *process {
	s.t.Helper()
	encryption, authentication := newKey(), newKey()
	args := []string{"adapter", "--provider", provider, "--answers", writeFile(s.t, "answers.json", adapterAnswers)}
	for _, fault := range faults {
		args = append(args, "--fail", fault)
	}
	p := s.startCommand([]string{"SLUICE_ADAPTER_ENCRYPTION_KEY=" + encryption,
		"SLUICE_ADAPTER_AUTHENTICATION_KEY=" + authentication}, nil, args...)
	var address string
	if err := p.waitFor(patience, func() bool {
		if found := adapterAddress.FindStringSubmatch(p.output.String()); found != nil {
			address = found[1]
		}
		return address != ""
	}); err != nil {
		s.t.Fatalf("the adapter of %s has printed no address: %v", provider, err)
	}
	s.mustCall("POST", providersPath, providerWithKeys(provider, address, authentication, encryption), nil)
	return p
}

const providersPath = screeningCommands + "/configuration/provider"

// providerWithKeys is the body of a provider whose messages are sealed.
func providerWithKeys(id, url, authentication, encryption string) string {
	return inEnvelope(fmt.Sprintf(`{"id":%q,"name":"Acme",`+
		`"adapterConfiguration":{"url":%q,"authenticationActive":true,"authenticationKey":%q,"encryptionKey":%q},`+
		`"defaultConfigurationSet":{"name":"Default","description":"d"}}`, id, url, authentication, encryption))
}

// A test of a provider says whether its adapter accepts messages, and what fails if it does not.
func TestProvidersAreTested(t *testing.T) {
	c := beginTenant(t, receivers)
	p := c.startAdapter("acme")
	expect := func(reason string, certificates int) {
		t.Helper()
		got := callFor[wire.AdapterTest](c, "POST", providersPath+"/acme/test", "")
		assert(t, got.Accepted == (reason == "") && got.Reason == reason && len(got.Chain) == certificates,
			"got %+v, want the reason %q and %d certificates", got, reason, certificates)
	}
	expect("", 1)
	eventually(t, "the answer to the test", func() bool {
		return strings.Contains(p.output.String(), "Test of batch ")
	})
	assert(t, !strings.Contains(p.output.String(), "NOT DELIVERED"), "the answer is refused: %s", p.output.String())

	address := adapterAddress.FindStringSubmatch(p.output.String())[1]
	c.mustCall("PUT", providersPath+"/acme", providerWithKeys("acme", address, newKey(), newKey()), nil)
	expect("The adapter answered 400: it rejected the message.", 1)
	must(t, p.stop(os.Interrupt))
	expect("The receiver refuses connections.", 0)

	c.expect(http.StatusBadRequest, "POST", providersPath+"/sluice/test", "")
	c.expect(http.StatusNotFound, "POST", providersPath+"/other/test", "")
	reader := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission",
		"ScreeningConfigurationAccess"))
	reader.expect(http.StatusForbidden, "POST", providersPath+"/acme/test", "")
}

// Providers with adapters search at the same time: what they find, or why they have failed, is in the batch.
func TestForeignProviders(t *testing.T) {
	c := beginTenant(t, receivers)
	good := c.startAdapter("good")
	large := c.startAdapter("large", "upload", "twice")
	c.startAdapter("rejects", "reject")
	c.startAdapter("breaks", "error")
	c.startAdapter("invents", "invalid")
	batch, entity := c.newScreeningBy("good", "large", "rejects", "breaks", "invents")
	c.expectSearched(batch, "breaks: Return Failed (Adapter E000: The adapter could not search: told to), "+
		"good: Search Complete, "+
		"invents: Return Failed (Adapter E002: matches/1: The batch has no entity of this entityId.), "+
		"large: Search Complete, "+
		"rejects: Return Failed (Adapter E001: The adapter answered 400: it rejected the message.)")
	eventually(t, "the second answer of the same adapter", func() bool {
		return strings.Contains(large.output.String(), "1 match\n")
	})
	matches := c.matches(batch, entity)
	found := map[string]matchView{}
	for _, m := range matches {
		found[m.MatchData.ProviderID] = m
	}
	require(t, len(matches) == 2 && len(found) == 2, "got the matches %+v, want one of each provider that has answered",
		matches)
	if m := found["good"]; m.EntityUniqueID != "list:1" || m.MatchData.Name != "PETROV, Ivan" ||
		m.MatchData.MatchScore != 97.5 ||
		m.Status != "Unresolved" || len(m.EntityAliasIDs) != 1 || m.EntityAliasIDs[0] != "PrimaryName" {
		t.Errorf("got %+v", m)
	}

	// What people decide is told to the adapter of the match, and to no other one.
	c.resolve(batch, entity, "No Match", "another person", found["good"].ID)
	eventually(t, "the resolution at the adapter", func() bool {
		return strings.Contains(good.output.String(),
			"match "+found["good"].ID+" of batch "+batch+": No Match, another person")
	})
	assert(t, !strings.Contains(large.output.String(), "No Match"), "another adapter was told of it: %s",
		large.output.String())
}

// The receptor wants its permission and a message of its tenant, which has up to 4 MiB.
func TestReceptor(t *testing.T) {
	c := beginTenant(t)
	provider := c.newProvider("https://adapter.example")
	text := fmt.Sprintf(`{"id":%q,"tenant":%q,"providerId":%q,"type":"Test","status":"Error","errorDetails":"none"}`,
		uuid.NewString(), c.TenantID, provider)
	adapterOnly := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "ScreeningReceptor"))
	adapterOnly.mustCall("POST", receptorPath, text, nil)
	adapterOnly.expect(http.StatusForbidden, "GET", screeningQueries+"/batch/"+uuid.NewString(), "")
	c.expect(http.StatusForbidden, "POST", receptorPath, strings.Replace(text, c.TenantID, uuid.NewString(), 1))
	const most = 4 << 20
	c.expect(http.StatusAccepted, "POST", receptorPath, text+strings.Repeat(" ", most-len(text)))
	c.expect(http.StatusRequestEntityTooLarge, "POST", receptorPath, text+strings.Repeat(" ", most-len(text)+1))
	upload := callFor[struct{ UploadID, SignedURL string }](c, "POST", receptorPath+"/upload-url", "")
	c.expect(http.StatusBadRequest, "POST", receptorPath, strings.Replace(strings.Replace(text, "Error", "Success", 1),
		`"errorDetails":"none"`, fmt.Sprintf(`"uploadId":%q`, upload.UploadID), 1))
	reader := loginAs(t, environment, newClient(t, environment, c.TenantID, "--permission", "ScreeningAccess"))
	reader.expect(http.StatusForbidden, "POST", receptorPath, text)
	reader.expect(http.StatusForbidden, "POST", receptorPath+"/upload-url", "")
}

// newProvider configures a screening provider with an adapter, whose messages are not encrypted, and returns its ID.
func (s *session) newProvider(url string) string {
	s.t.Helper()
	id := "p-" + uuid.NewString()
	s.mustCall("POST", providersPath, inEnvelope(fmt.Sprintf(
		`{"id":%q,"name":"Acme","adapterConfiguration":{"url":%q},`+
			`"defaultConfigurationSet":{"name":"n","description":"d"}}`,
		id, url)), nil)
	return id
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
	r.waitFor(t, 2)
	m, data := question(t, r.requests()[1].body)
	assert(t, m.ID == batch && m.Tenant == api.tenantID && m.ProviderID == provider && m.Type == adapter.Screen &&
		len(data.Entities) == 1 && data.Entities[0].EntityID == entity,
		"asked %+v about %+v, want the entity of the batch", m, data)
	stopExecution(t, environment, "screening", batch+"_2")
	api.expectSearched(batch, provider+": Return Failed (Invoker E000: The search was interrupted. Run it again.)")
	api.mustCall("PUT", screeningCommands+"/batch/"+batch+"/complete", "", nil)
	n := len(r.requests())
	assert(t, n == 2, "asked %d times, want twice", n)
}

// An adapter that answers nothing is waited for as long as the operator says.
func TestProvidersThatDoNotAnswer(t *testing.T) {
	api := narrowCloud.begin(t)
	r := api.newReceiver()
	r.answers(answerWith(http.StatusAccepted))
	provider := api.newProvider(r.URL)
	batch, _ := api.newScreeningBy(provider)
	api.expectSearched(batch, provider+": Return Failed (Adapter E000: The provider did not answer in time.)")
	requests := r.requests()
	assert(t, len(requests) == 1, "asked %d times, want once", len(requests))
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
	tested := callFor[wire.AdapterTest](api, "POST", providersPath+"/"+provider+"/test", "")
	assert(t, tested.Accepted && len(tested.Chain) == 1, "tested with the client certificate: %+v", tested)
	api.mustCall("POST", screeningCommands+"/batch/"+batch+"/rerun", inEnvelope(`{}`), nil)
	eventually(t, "the question", func() bool { return len(calls.all()) > 1 })
	response := ok(adapter.Encode([]byte(fmt.Sprintf(
		`{"batchId":%q,"matches":[{"entityId":%q,"entityUniqueId":"l:1",`+
			`"matchData":{"providerId":%q,"providerSourceName":"l"}}]}`, batch, entity, provider)), false))(t)
	api.mustCall("POST", receptorPath, jsonText(adapter.Reply{ID: batch, Tenant: api.tenantID, ProviderID: provider,
		Type: adapter.Screen, Status: adapter.Success, Response: response}), nil)
	api.expectSearched(batch, provider+": Search Complete")
	matches := api.matches(batch, entity)
	require(t, len(matches) == 1, "got the matches %+v, want one", matches)
	api.resolve(batch, entity, "Match", "r", matches[0].ID)
	eventually(t, "the notice of the resolution", func() bool { return len(calls.all()) > 2 })
	got := strings.Join(calls.all(), " ")
	assert(t, got == "/api/screen /api/screen /api/resolvematches",
		"the adapter got %q, want a test, a question and a notice", got)
}
