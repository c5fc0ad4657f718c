package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/client"
	"sluice/shared/connect/outbound/outboundtest"
)

// thisMachine returns what a certificate says of a receiver on this machine. It is valid now.
func thisMachine() outboundtest.Leaf {
	return outboundtest.Leaf{Hosts: []string{"127.0.0.1"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
}

// expectDecisions asks what a receiver presents and checks what the modes decide.
func (s *session) expectDecisions(url, want string) client.ReceiverCheck {
	s.t.Helper()
	c := ok(s.client.CheckReceiver(s.t.Context(), url))(s.t)
	var decisions []string
	for _, d := range c.Decisions {
		decisions = append(decisions, fmt.Sprintf("%s %v", d.Mode, d.Accepted))
	}
	equal(s.t, "the decisions about "+url, want, strings.Join(decisions, ", "))
	return c
}

// What a receiver presents and what each mode decides is shown by the endpoint and by the command line, by the
// configuration as it is now.
func TestCheckOfReceivers(t *testing.T) {
	api := beginTenant(t, receivers)
	root := outboundtest.NewRoot(t, "Test Root")
	presented := root.NewIntermediate("Test Issuing CA").Issue(thisMachine())
	server := outboundtest.NewServer(t, presented, http.NotFoundHandler())
	url := "https://" + net.JoinHostPort("127.0.0.1", server.Port)

	const none, pin, signer = "PinLeafThumbprint false, SignerChainValidationOnly false",
		"PinLeafThumbprint true, SignerChainValidationOnly false",
		"PinLeafThumbprint false, SignerChainValidationOnly true"
	c := api.expectDecisions(url, none)
	assert(t, len(c.Chain) == 2 && c.Chain[0].Issuer == "CN=Test Issuing CA" && len(c.Chain[0].ThumbprintSHA256) == 64,
		"without a configuration: %+v", c)
	data := func(der []byte) string {
		return jsonText(map[string]any{"url": url, "endpointCertificate": map[string]any{
			"isPublicCA": false, "certificate": outboundtest.PEM(der)}})
	}
	id := api.newConfiguration(data(presented.Certificate[0]))
	api.expectDecisions(url+"/hooks?a=1", pin)
	api.mustCall("PUT", externalAuthCommands+"?configurationId="+id, inEnvelope(data(root.Certificate.Raw)), nil)
	api.expectDecisions(url, signer)
	for _, refused := range []string{"https://169.254.169.254/latest", "https://10.0.0.1", "https://[fd00:ec2::254]"} {
		c := api.expectDecisions(refused, none)
		assert(t, len(c.Chain) == 0 && strings.Contains(c.Decisions[0].Reason, " address"), "%s: %+v", refused, c)
	}
	api.expect(400, "POST", externalAuthQueries+"/check", inEnvelope(`{"url":"http://x.test"}`), "UrlValidator")

	own := login(t, environment)
	own.expectDecisions(url, none) // by the configurations of another tenant
	own.runFor(1, []string{"subject  CN=leaf\n", "SignerChainValidationOnly  refused   No chain leads from"},
		"outbound", "check", url)
}

// clientKeyView is what these tests read of a tenant's client key.
type clientKeyView struct {
	KeyID              string `json:"kid"`
	CertificateRequest string `json:"certificate_request"`
	Certificate        *struct{ Issuer string }
}

// installClientCertificate has the operator request and install a client certificate of an authority.
func (s *session) installClientCertificate(ca *outboundtest.Authority) clientKeyView {
	s.t.Helper()
	var requested, installed clientKeyView
	command := []string{"tenant", "client-certificate", "--tenant", s.tenantID}
	must(s.t, environment.admin(&requested, append(command, "--request")...))
	block, _ := pem.Decode([]byte(requested.CertificateRequest))
	require(s.t, block != nil, "%q is not PEM", requested.CertificateRequest)
	request, err := x509.ParseCertificateRequest(block.Bytes)
	require(s.t, err == nil && request.CheckSignature() == nil && request.Subject.CommonName == s.tenantID,
		"the request of %+v: %v", request, err)
	leaf := thisMachine()
	leaf.Usage = x509.ExtKeyUsageClientAuth
	file := writeFile(s.t, "tenant.pem", outboundtest.PEM(ca.IssueFor(leaf, request.PublicKey).Raw))
	must(s.t, environment.admin(&installed, append(command, "--install", file)...))
	assert(s.t, installed.KeyID == requested.KeyID && installed.Certificate != nil &&
		installed.Certificate.Issuer == ca.Certificate.Subject.String(), "after the installation: %+v", installed)
	return installed
}

// A receiver gets calls by the tenant's client certificate and with an access token, for which the service
// authenticates itself by an assertion that the published keys verify. Before there is a certificate nothing is sent.
//
// The keys are asked for by this test alone, and once the key is there: the service reads them once a minute.
func TestCallsAreAuthenticated(t *testing.T) {
	api := beginTenant(t)
	root, clients := outboundtest.NewRoot(t, "Test Root"), outboundtest.NewRoot(t, "CA of clients")
	if !environment.supports(receivers, t.Name()+", calls") {
		key := api.installClientCertificate(clients)
		eventually(t, "the key is published", func() bool {
			keys, _ := publishedKeys(t, "/outbound/jwks.json")
			return slices.ContainsFunc(keys, func(k publishedKey) bool { return k.Kid == key.KeyID })
		})
		return
	}
	presented := root.Issue(thisMachine())
	wantCertificate := func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, outboundtest.Pool(clients)
	}
	var assertions, calls recorder
	token, apiKey := newSecret("token"), newSecret("key")
	tokens := outboundtest.NewServer(t, presented, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assertions.add(r.PostFormValue("client_assertion"))
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, token)
	}), wantCertificate)
	server := outboundtest.NewServer(t, presented, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls.add(r.Header.Get("Authorization") + " " + r.Header.Get("X-Api-Key"))
	}), wantCertificate)
	at := func(s *outboundtest.Server) string { return "https://" + net.JoinHostPort("127.0.0.1", s.Port) }
	api.newConfiguration(jsonText(map[string]any{
		"url": at(server), "isMtlsEnabled": true,
		"headers": []any{map[string]string{"name": "X-Api-Key", "value": apiKey}},
		"endpointCertificate": map[string]any{"isPublicCA": false, "certificate": outboundtest.PEM(
			root.Certificate.Raw), "validationMode": "SignerChainValidationOnly"},
		"oAuthConfiguration": map[string]any{"clientCredentialsConfig": map[string]any{
			"clientId": "sluice", "url": at(tokens) + "/token", "useBasicAuthentication": false,
			"useEndpointMtlsConfiguration": true, "isJwtClientAssertionEnabled": true}},
	}))
	w := api.newWebhook(at(server)+"/events", client.WebhookSettings{})
	api.testWebhook(w, "Failed client_certificate_unusable")
	assert(t, calls.count()+assertions.count() == 0, "without a client certificate: %v and %v were sent", calls.all(),
		assertions.all())
	key := api.installClientCertificate(clients)
	for range 2 {
		api.testWebhook(w, delivered)
	}
	call := "Bearer " + token + " " + apiKey
	equal(t, "calls of the receiver", []string{call, call}, calls.all())
	require(t, assertions.count() != 0, "no token was asked for")
	eventually(t, "the key is published", func() bool { return verifiesAssertion(t, assertions.all()[0], key.KeyID) })
}

// recorder records texts.
type recorder struct {
	mu    sync.Mutex
	texts []string
}

func (r *recorder) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, text)
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts)
}

func (r *recorder) count() int { return len(r.all()) }

// verifiesAssertion reports whether a key of an ID is published. It must be the one that has signed an assertion.
func verifiesAssertion(t *testing.T, assertion, keyID string) bool {
	t.Helper()
	keys, _ := publishedKeys(t, "/outbound/jwks.json")
	end := strings.LastIndexByte(assertion, '.')
	for _, k := range keys {
		if k.Kid != keyID {
			continue
		}
		assert(t, k.verifies(t, assertion[:end], decodeBase64(t, assertion[end+1:])), "the key %s does not verify %s",
			keyID, assertion)
		return true
	}
	return false
}
