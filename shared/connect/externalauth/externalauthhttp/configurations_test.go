package externalauthhttp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi/wire"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthtest"
	"sluice/shared/kit/difftest"
)

// fullConfiguration returns the data of a request with everything that a configuration can have.
func fullConfiguration(c certificates) string {
	return fmt.Sprintf(`{"url":"https://Hooks.example.com/a/","isMtlsEnabled":true,
		"endpointCertificate":{"isPublicCA":false,"certificate":%s,"nextCertificate":%s},
		"headers":[{"name":"X-Api-Key","value":"endpoint-key"},{"name":"X-Api-Key","value":"second-key"}],
		"oAuthConfiguration":{"clientCredentialsConfig":{"clientId":"me","clientSecret":"oauth-secret",
			"url":"https://id.example.com/token?v=2","useBasicAuthentication":false,
			"useEndpointMtlsConfiguration":false,"isMtlsEnabled":true,
			"isJwtClientAssertionEnabled":true,"isJwtClientAssertionEnabledValue":true,
			"endpointCertificate":{"isPublicCA":true,"certificate":%s,"validationMode":"SignerChainValidationOnly"},
			"headers":[{"name":"X-Token-Key","value":"token-key"}],
			"formValues":[{"name":"scope","value":"a b"},{"name":"password","value":"form-secret"}]}}}`,
		text(c.leaf.PEM()), text(c.next.PEM()), text(c.ca.PEM()))
}

// A configuration is read as it was sent, with masks in place of secrets and the details of its certificates.
func TestReadConfigurations(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newCertificates(t)
	id := f.create(fullConfiguration(c))
	got := f.read(id)
	details := func(i *externalauthtest.Issuer) *wire.CertificateDetails {
		d := wire.CertificateDetails(externalauth.DetailsOf(i.Certificate))
		return &d
	}
	pem := func(i *externalauthtest.Issuer) *string { s := i.PEM(); return &s }
	mask, jwks := externalauth.Mask, "https://api.test/outbound/jwks.json"
	signer := &wire.StoredCertificate{IsPublicCA: true, Certificate: pem(c.ca),
		CertificateDetails: details(c.ca), ValidationMode: "SignerChainValidationOnly"}
	want := wire.StoredExternalAuthentication{
		ID: id, TenantID: tenant, URL: "https://Hooks.example.com/a/", IsMTLSEnabled: true,
		Headers: []wire.StoredPair{{Name: "X-Api-Key", Value: mask}, {Name: "X-Api-Key", Value: mask}},
		EndpointCertificate: &wire.StoredCertificate{Certificate: pem(c.leaf),
			CertificateDetails: details(c.leaf), NextCertificate: pem(c.next), NextCertificateDetails: details(c.next),
			ValidationMode: "PinLeafThumbprint"},
		OAuthConfiguration: &wire.StoredOAuthConfiguration{AuthType: "OAuthClientCredentials",
			ClientCredentialsConfig: wire.StoredClientCredentials{
				ClientID: "me", ClientSecret: &mask, EndpointCertificate: signer,
				TokenEndpoint: wire.StoredTokenEndpoint{
					URL: "https://id.example.com/token?v=2", IsMTLSEnabled: true,
					MTLSConfiguration:           wire.StoredMTLSConfiguration{EndpointCertificate: signer},
					IsJWTClientAssertionEnabled: true, JWKSURL: &jwks,
					Headers: []wire.StoredPair{{Name: "X-Token-Key", Value: mask}},
					FormProperties: []wire.StoredPair{{Name: "scope", Value: "a b"},
						{Name: "password", Value: mask}},
				},
			}},
	}
	difftest.Equal(t, "read", want, got)

	minimal := f.create(`{"url":"https://other.example.com"}`)
	difftest.Equal(t, "the minimal one", wire.StoredExternalAuthentication{ID: minimal, TenantID: tenant,
		URL: "https://other.example.com", Headers: []wire.StoredPair{}}, f.read(minimal))
	var list []wire.ExternalAuthenticationItem
	f.send("GET", queries+"/getAll", "", &list)
	items := map[string]wire.ExternalAuthenticationItem{}
	for _, item := range list {
		items[item.ID] = item
	}
	wantItems := map[string]wire.ExternalAuthenticationItem{
		minimal: {ID: minimal, URL: "https://other.example.com"},
		id: {ID: id, URL: "https://Hooks.example.com/a/", IsMTLSEnabled: true, HasHeaders: true,
			ContainsCertificate: true, IsOauthEnabled: true,
			OAuthConfiguration: &wire.ExternalAuthenticationItemOAuth{AuthType: "OAuthClientCredentials",
				ClientCredentials: wire.ExternalAuthenticationItemClient{URL: "https://id.example.com/token?v=2",
					IsMTLSEnabled: true, IsJWTClientAssertionEnabled: true, HasFormValues: true, HasHeaders: true,
					ContainsCertificate: true}}},
	}
	if diff := cmp.Diff(wantItems, items); diff != "" || len(list) != 2 {
		t.Errorf("%d items (-want +got):\n%s", len(list), diff)
	}
}

// A configuration that replaces another one leaves nothing of it, and one that is deleted is gone: both free their
// URLs.
func TestReplaceAndDelete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(fullConfiguration(newCertificates(t)))
	difftest.Reply(t, "replace", 202, id)(
		f.send("PUT", commands+"?configurationId="+strings.ToUpper(id),
			`{"data":{"url":"https://hooks.example.com/b"}}`, nil))
	difftest.Equal(t, "after the replacement", wire.StoredExternalAuthentication{ID: id, TenantID: tenant,
		URL: "https://hooks.example.com/b", Headers: []wire.StoredPair{}}, f.read(id))
	f.create(`{"url":"https://hooks.example.com/a"}`) // which is free now
	if code, body := f.send("DELETE", commands+"?configurationId="+id, "", nil); code != 202 ||
		body != `{"data":null,"messages":[]}` {
		t.Errorf("delete: %d %s, want 202 without data", code, body)
	}
	for _, r := range [][2]string{{"GET", queries + "/" + id}, {"DELETE", commands + "?configurationId=" + id},
		{"PUT", commands + "?configurationId=" + id}} {
		body := ""
		if r[0] == "PUT" {
			body = `{"data":{"url":"https://hooks.example.com/c"}}`
		}
		difftest.Reply(t, r[0]+" after the deletion", 404, "configuration_not_found")(f.send(r[0], r[1], body, nil))
	}
	f.create(`{"url":"https://hooks.example.com/b"}`) // free again
}

// Two spellings of one URL are one URL, also if both are created at the same time.
func TestDuplicateURLs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(`{"url":"https://hooks.example.com/a"}`)
	for _, u := range []string{"https://hooks.example.com/a", "HTTPS://HOOKS.example.com./a/",
		"https://hooks.example.com:443/%61",
		"https://hooks.example.com/b/../a/.", "https://hooks.example.com/%2e/a"} {
		difftest.Reply(t, u, 409, `"CONFLICT"`)(f.send("POST", commands, `{"data":{"url":`+text(u)+`}}`, nil))
	}
	f.create(`{"url":"https://hooks.example.com/A"}`)
	f.as(other).create(`{"url":"https://hooks.example.com/a"}`)
	moved := f.create(`{"url":"https://hooks.example.com/c"}`)
	difftest.Reply(t, "PUT with the URL of another one", 409)(
		f.send("PUT", commands+"?configurationId="+moved, `{"data":{"url":"https://hooks.example.com/a"}}`, nil))
	difftest.Reply(t, "PUT with another spelling of its own URL", 202)(
		f.send("PUT", commands+"?configurationId="+moved, `{"data":{"url":"https://hooks.example.com/c/"}}`, nil))

	var mu sync.Mutex
	codes, wait := map[int]int{}, sync.WaitGroup{}
	for i := range 8 {
		wait.Go(func() {
			code, _ := f.send("POST", commands, fmt.Sprintf(`{"data":{"url":"https://race.example.com%s"}}`,
				strings.Repeat("/", i)), nil)
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	wait.Wait()
	difftest.Equal(t, "eight at once", map[int]int{202: 1, 409: 7}, codes)
	var list []wire.ExternalAuthenticationItem
	if f.send("GET", queries+"/getAll", "", &list); len(list) != 4 {
		t.Errorf("%d configurations, want 4", len(list))
	}
}

// A tenant has a largest number of configurations; other tenants' do not count.
func TestTooManyConfigurations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.as(other).create(`{"url":"https://hooks.example.com"}`)
	var last string
	for i := range externalauth.MaxConfigurations {
		last = f.create(fmt.Sprintf(`{"url":"https://hooks.example.com/%d"}`, i))
	}
	one := `{"data":{"url":"https://one.example.com"}}`
	difftest.Reply(t, "one more", 409, "100 configurations")(f.send("POST", commands, one, nil))
	f.send("DELETE", commands+"?configurationId="+last, "", nil)
	difftest.Reply(t, "after a deletion", 202)(f.send("POST", commands, one, nil))
}

// A configuration with remarks is stored all the same.
func TestWarnings(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newCertificates(t)
	intermediate := externalauthtest.New(t, "Intermediate", true, now.AddDate(-1, 0, 0), now.AddDate(1, 0, 0), c.ca)
	soon := externalauthtest.New(t, "a", false, now.AddDate(-1, 0, 0), now.Add(30*24*time.Hour-time.Second), c.ca)
	for i, tt := range []struct{ pem, want string }{
		{c.leaf.PEM(), ""}, {c.ca.PEM(), ""}, {intermediate.PEM(), "certificate_is_ca"},
		{soon.PEM(), "certificate_ends_soon"},
	} {
		code, body := f.send("POST", commands,
			fmt.Sprintf(`{"data":{"url":"https://a/%d","endpointCertificate":{"isPublicCA":false,"certificate":%s}}}`,
				i, text(tt.pem)), nil)
		if code != 202 || strings.Contains(body, "Warning") != (tt.want != "") || !strings.Contains(body, tt.want) {
			t.Errorf("%d: %d %s, want 202 with the warning %q", i, code, body, tt.want)
		}
	}
}

// A configuration that is too large for a row is refused as such.
func TestTooLargeConfiguration(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	header := `{"name":"A","value":"` + strings.Repeat("x", 8192) + `"}`
	data := func(n int) string {
		return `{"data":{"url":"https://a","headers":[` + strings.TrimSuffix(strings.Repeat(header+",", n), ",") + `]}}`
	}
	difftest.Reply(t, "50 headers of 8 KB", 413, "configuration_too_large")(f.send("POST", commands, data(50), nil))
	difftest.Reply(t, "45 headers of 8 KB", 202)(f.send("POST", commands, data(45), nil))
}
