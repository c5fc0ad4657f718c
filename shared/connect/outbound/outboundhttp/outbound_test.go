package outboundhttp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/outbound"
	"sluice/shared/connect/outbound/outboundhttp"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/jose"
)

const tenant = "7f6c2f0e-54b1-4d5b-8a3e-0d8a1f5f9b11"

// configurations belong to the one tenant.
type configurations []externalauth.Configuration

func (c configurations) List(_ context.Context, t string) ([]externalauth.Configuration, error) {
	if t != tenant {
		return nil, nil
	}
	return c, nil
}

// fixture is the handler with a client that may call this machine.
type fixture struct {
	*outboundhttp.Outbound
	client *outbound.Client
	now    time.Time
}

func newFixture(t *testing.T, keys ...outbound.ClientKey) *fixture {
	t.Helper()
	addresses := errtest.Must(outbound.ParseAddressPolicy("127.0.0.0/8"))(t)
	f := &fixture{now: outboundtest.Now}
	clock := func() time.Time { return f.now }
	f.client = &outbound.Client{Addresses: addresses, Resolver: outboundtest.NewResolver(), Now: clock}
	f.Outbound = &outboundhttp.Outbound{
		Inspector: f.client, Configurations: configurations{}, Keys: outboundtest.NewKeys(keys...), Now: clock,
	}
	return f
}

// reply is a reply of the handler.
type reply struct {
	Code   int
	Header http.Header
	Body   string
}

// send sends a request on behalf of the tenant; public routes get no caller and no tenant header.
func (f *fixture) send(t *testing.T, method, path, body string) reply {
	t.Helper()
	event := events.APIGatewayProxyRequest{HTTPMethod: method, Path: path, Body: body}
	if method == http.MethodPost {
		caller := httpapi.Caller{Tenant: tenant, Client: "client", Expires: f.now.Add(time.Hour),
			Permissions: []string{"ExternalAuthenticationAccess"}}
		event.MultiValueHeaders = map[string][]string{"X-TENANT-ID": {tenant}, "Content-Type": {"application/json"}}
		event.RequestContext.Authorizer = caller.Context()
	}
	handler := platform.Handler(f.Routes(), nil, nil, slog.New(slog.NewTextHandler(io.Discard, nil)), f.Now)
	r := errtest.Must(httpapi.Lambda(handler)(t.Context(), event))(t)
	return reply{r.StatusCode, http.Header(r.MultiValueHeaders), r.Body}
}

// check asks for a check and returns the decisions by mode.
func (f *fixture) check(t *testing.T, url string) (chain []wire.CertificateDetails,
	decisions map[string]wire.CertificateDecision) {
	t.Helper()
	body := errtest.Must(json.Marshal(map[string]any{"data": map[string]string{"url": url}}))(t)
	w := f.send(t, "POST", "/externalauthenticationquery/api/configuration/check", string(body))
	var envelope struct {
		Data wire.PresentedCertificates `json:"data"`
	}
	if err := json.Unmarshal([]byte(w.Body), &envelope); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s, %v", w.Code, w.Body, err)
	}
	decisions = map[string]wire.CertificateDecision{}
	for _, d := range envelope.Data.Decisions {
		decisions[d.Mode] = d
	}
	return envelope.Data.Chain, decisions
}

// The certificates of a receiver are shown, with the decision of each mode by the configuration of its URL, or by that
// of the token endpoint that the URL is.
func TestCheck(t *testing.T) {
	t.Parallel()
	root := outboundtest.NewRoot(t, "root")
	intermediate := root.NewIntermediate("intermediate")
	presented := intermediate.Issue(outboundtest.Leaf{})
	server := outboundtest.NewServer(t, presented, http.NotFoundHandler())
	leaf, rootPEM := outboundtest.PEM(presented.Certificate[0]), outboundtest.PEM(root.Certificate.Raw)
	const pin, signer = externalauth.PinLeafThumbprint, externalauth.SignerChainValidationOnly
	given := func(pem string) *externalauth.Certificate { return &externalauth.Certificate{PEM: pem, Mode: pin} }
	path := server.URL + "/token"
	for _, test := range []struct {
		name           string
		url            string
		configurations configurations
		want           map[externalauth.ValidationMode]string
	}{
		{"no configuration", server.URL, nil, map[externalauth.ValidationMode]string{
			pin: "no: No chain leads from the receiver's certificate to a public CA.", signer: "no: No chain leads"}},
		{"the leaf", server.URL + "/x", configurations{{ID: "c", URL: server.URL, EndpointCertificate: given(leaf)}},
			map[externalauth.ValidationMode]string{pin: "yes: The receiver's certificate is one that",
				signer: "no: No chain"}},
		{"the root", server.URL, configurations{{ID: "c", URL: server.URL, EndpointCertificate: given(rootPEM)}},
			map[externalauth.ValidationMode]string{pin: "no: The receiver's certificate is not the one",
				signer: "yes: A chain leads"}},
		{"token endpoint", path, configurations{
			{ID: "c", URL: server.URL, EndpointCertificate: given(rootPEM)},
			{ID: "d", URL: "https://other.test", OAuth: &externalauth.OAuth{URL: path,
				EndpointCertificate: given(leaf)}}}, map[externalauth.ValidationMode]string{pin: "yes: The receiver's",
			signer: "no: No chain"}},
		{"token endpoint by the endpoint's rules", path, configurations{
			{ID: "d", URL: "https://other.test", EndpointCertificate: given(rootPEM),
				OAuth: &externalauth.OAuth{URL: path, EndpointCertificate: given(leaf), UseEndpointMTLS: true}}},
			map[externalauth.ValidationMode]string{pin: "no: The receiver's", signer: "yes: A chain"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.Configurations = test.configurations
			chain, decisions := f.check(t, test.url)
			if len(chain) != 2 || chain[0].Subject != "CN=leaf" || chain[1].Subject != "CN=intermediate" ||
				len(chain[0].ThumbprintSHA256) != 64 {
				t.Errorf("got the chain %+v", chain)
			}
			wantDecisions(t, decisions, test.want)
		})
	}
	t.Run("public CA", func(t *testing.T) {
		f := newFixture(t)
		f.client.PublicCAs = outboundtest.Pool(root)
		_, decisions := f.check(t, server.URL)
		wantDecisions(t, decisions, map[externalauth.ValidationMode]string{pin: "yes: A public CA",
			signer: "yes: A public CA"})
	})
}

// wantDecisions compares decisions with "yes: " or "no: " and the beginning of the reason.
func wantDecisions(t *testing.T, got map[string]wire.CertificateDecision,
	want map[externalauth.ValidationMode]string) {
	t.Helper()
	for _, mode := range externalauth.ValidationModes {
		text := "no: " + got[string(mode)].Reason
		if got[string(mode)].Accepted {
			text = "yes: " + got[string(mode)].Reason
		}
		if !strings.HasPrefix(text, want[mode]) || want[mode] == "" {
			t.Errorf("%s: got %q, want %q", mode, text, want[mode])
		}
	}
}

// A receiver that cannot be reached is a decision, not an error, and a private one is refused as for every call.
func TestCheckUnreachable(t *testing.T) {
	t.Parallel()
	for url, reason := range map[string]string{
		"https://unknown.test": "no: The name unknown.test could not be looked up.",
		"https://169.254.169.254/latest/meta-data": "no: 169.254.169.254 has a link-local address, which is " +
			"never called.",
		"https://10.0.0.1/": "no: 10.0.0.1 has a private address. The operator",
	} {
		f := newFixture(t)
		chain, decisions := f.check(t, url)
		if chain == nil || len(chain) != 0 {
			t.Errorf("%s: got the chain %v, want []", url, chain)
		}
		wantDecisions(t, decisions, map[externalauth.ValidationMode]string{
			externalauth.PinLeafThumbprint: reason, externalauth.SignerChainValidationOnly: reason})
	}
}

func TestCheckRefusesURLs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, url := range []string{"http://receiver.test", "x", "https://", "https://user:leak@receiver.test",
		"https://receiver.test:0/", "", "https://" + strings.Repeat("a", 2048), "https://receiver.test/%zz"} {
		body, _ := json.Marshal(map[string]any{"data": map[string]string{"url": url}})
		w := f.send(t, "POST", "/externalauthenticationquery/api/configuration/check", string(body))
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body, `"propertyName":"url"`) ||
			strings.Contains(w.Body, "leak") {
			t.Errorf("%q: got %d %s", url, w.Code, w.Body)
		}
	}
}

// The keys of all tenants are published, without their tenants, and read again after a minute.
func TestKeySet(t *testing.T) {
	t.Parallel()
	kms := outboundtest.NewKMS(t)
	f := newFixture(t)
	if w := f.send(t, "GET", "/outbound/jwks.json", ""); w.Code != http.StatusOK || w.Body != `{"keys":[]}` {
		t.Errorf("without keys: %d %q", w.Code, w.Body)
	}
	store := outboundtest.NewKeys()
	f.Keys = store
	read := func() []string {
		w := f.send(t, "GET", "/outbound/jwks.json", "")
		var set jose.JWKSet
		if err := json.Unmarshal([]byte(w.Body), &set); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %s, %v", w.Code, w.Body, err)
		}
		if c := w.Header.Get("Cache-Control"); c != "public, max-age=60" || strings.Contains(w.Body, "arn:") {
			t.Errorf("Cache-Control is %q, the body %s", c, w.Body)
		}
		ids := []string{}
		for _, k := range set.Keys {
			ids = append(ids, k.KeyID)
		}
		return ids
	}
	for _, name := range []string{"a", "b"} {
		errtest.Fatal(t, store.CreateClientKey(t.Context(), outboundtest.NewClientKey(t, kms, name)))
		f.now = f.now.Add(30 * time.Second)
		read()
	}
	if got, want := read(), []string{"kid-a"}; !cmp.Equal(got, want) {
		t.Errorf("within a minute: %v, want %v", got, want)
	}
	f.now = f.now.Add(30 * time.Second)
	if got, want := read(), []string{"kid-a", "kid-b"}; !cmp.Equal(got, want) {
		t.Errorf("after a minute: %v, want %v", got, want)
	}
}
