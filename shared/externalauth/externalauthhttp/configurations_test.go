package externalauthhttp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/externalauth"
	"sluice/shared/externalauth/externalauthhttp"
	"sluice/shared/externalauth/externalauthtest"
	"sluice/shared/httpapi/platform"
)

func TestLifeOfAConfiguration(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newCertificates(t)
	full := fmt.Sprintf(`{"url":"https://Hooks.example.com/a/","isMtlsEnabled":true,
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
	id := f.create(full)
	got := f.read(id)
	details := func(i *externalauthtest.Issuer) *externalauthhttp.CertificateDetails {
		d := externalauthhttp.CertificateDetails(externalauth.DetailsOf(i.Certificate))
		return &d
	}
	pem := func(i *externalauthtest.Issuer) *string { s := i.PEM(); return &s }
	mask, jwks := externalauth.Mask, "https://api.test/outbound/jwks.json"
	signer := &externalauthhttp.CertificateReply{IsPublicCA: true, Certificate: pem(c.ca),
		CertificateDetails: details(c.ca), ValidationMode: "SignerChainValidationOnly"}
	want := externalauthhttp.StoredConfiguration{
		ID: id, TenantID: tenant, URL: "https://Hooks.example.com/a/", IsMTLSEnabled: true,
		Headers: []externalauthhttp.NameValue{{Name: "X-Api-Key", Value: mask}, {Name: "X-Api-Key", Value: mask}},
		EndpointCertificate: &externalauthhttp.CertificateReply{Certificate: pem(c.leaf),
			CertificateDetails: details(c.leaf), NextCertificate: pem(c.next), NextCertificateDetails: details(c.next),
			ValidationMode: "PinLeafThumbprint"},
		OAuthConfiguration: &externalauthhttp.OAuthReply{AuthType: "OAuthClientCredentials",
			ClientCredentialsConfig: externalauthhttp.ClientCredentialsReply{
				ClientID: "me", ClientSecret: &mask, EndpointCertificate: signer,
				TokenEndpoint: externalauthhttp.TokenEndpointReply{
					URL: "https://id.example.com/token?v=2", IsMTLSEnabled: true,
					MTLSConfiguration:           externalauthhttp.MTLSReply{EndpointCertificate: signer},
					IsJWTClientAssertionEnabled: true, JWKSURL: &jwks,
					Headers: []externalauthhttp.NameValue{{Name: "X-Token-Key", Value: mask}},
					FormProperties: []externalauthhttp.NameValue{{Name: "scope", Value: "a b"},
						{Name: "password", Value: mask}},
				},
			}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}

	minimal := f.create(`{"url":"https://other.example.com"}`)
	if diff := cmp.Diff(externalauthhttp.StoredConfiguration{ID: minimal, TenantID: tenant,
		URL: "https://other.example.com", Headers: []externalauthhttp.NameValue{}}, f.read(minimal)); diff != "" {
		t.Errorf("the minimal one (-want +got):\n%s", diff)
	}
	var list []externalauthhttp.ListItem
	f.send("GET", queries+"/getAll", "", &list)
	items := map[string]externalauthhttp.ListItem{}
	for _, item := range list {
		items[item.ID] = item
	}
	wantItems := map[string]externalauthhttp.ListItem{
		minimal: {ID: minimal, URL: "https://other.example.com"},
		id: {ID: id, URL: "https://Hooks.example.com/a/", IsMTLSEnabled: true, HasHeaders: true,
			ContainsCertificate: true, IsOAuthEnabled: true,
			OAuthConfiguration: &externalauthhttp.ListItemOAuth{AuthType: "OAuthClientCredentials",
				ClientCredentials: externalauthhttp.ListItemClient{URL: "https://id.example.com/token?v=2",
					IsMTLSEnabled: true, IsJWTClientAssertionEnabled: true, HasFormValues: true, HasHeaders: true,
					ContainsCertificate: true}}},
	}
	if diff := cmp.Diff(wantItems, items); diff != "" || len(list) != 2 {
		t.Errorf("%d items (-want +got):\n%s", len(list), diff)
	}

	// Another one takes its place: nothing of the first is left.
	if code, body := f.send("PUT", commands+"?configurationId="+strings.ToUpper(id),
		`{"data":{"url":"https://hooks.example.com/b"}}`, nil); code != 202 || !strings.Contains(body, id) {
		t.Errorf("replace: %d %s, want 202 with the ID", code, body)
	}
	if diff := cmp.Diff(externalauthhttp.StoredConfiguration{ID: id, TenantID: tenant,
		URL: "https://hooks.example.com/b", Headers: []externalauthhttp.NameValue{}}, f.read(id)); diff != "" {
		t.Errorf("after the replacement (-want +got):\n%s", diff)
	}
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
		if code, reply := f.send(r[0], r[1], body, nil); code != 404 ||
			!strings.Contains(reply, "configuration_not_found") {
			t.Errorf("%s after the deletion: %d %s, want 404", r[0], code, reply)
		}
	}
	f.create(`{"url":"https://hooks.example.com/b"}`) // free again
}

// Whatever is wrong is named by its field, and nothing that was sent comes back or is logged.
func TestRefusedConfigurations(t *testing.T) {
	t.Parallel()
	f, c := newFixture(t), newCertificates(t)
	const u = `"url":"https://hooks.example.com"`
	certificate := func(members string) string { return `{` + u + `,"endpointCertificate":{` + members + `}}` }
	given := func(pem string, more string) string {
		return certificate(`"isPublicCA":false,"certificate":` + text(pem) + more)
	}
	client := func(members string) string {
		return `{` + u + `,"oAuthConfiguration":{"clientCredentialsConfig":{"clientId":"me",
			"url":"https://id.example.com","useBasicAuthentication":false,
			"useEndpointMtlsConfiguration":false` + members + `}}}`
	}
	header := func(name, value string) string {
		return `{` + u + `,"headers":[{"name":` + text(name) + `,"value":` + text(value) + `}]}`
	}
	const o = "oAuthConfiguration.clientCredentialsConfig."
	leaf, ca := c.leaf.PEM(), c.ca.PEM()
	for name, tt := range map[string]struct {
		data string
		// want holds PROPERTY CODE of each validation error.
		want []string
	}{
		"no url":     {`{}`, []string{"url NotNullValidator"}},
		"http":       {`{"url":"http://hooks.example.com"}`, []string{"url UrlValidator"}},
		"a password": {`{"url":"https://me:s3cret@hooks.example.com"}`, []string{"url UrlValidator"}},
		"a query":    {`{"url":"https://hooks.example.com?key=s3cret"}`, []string{"url UrlValidator"}},
		"a long url": {`{"url":"https://hooks.example.com/` + strings.Repeat("x", 2048) + `"}`,
			[]string{"url MaximumLengthValidator"}},
		"an unknown key": {`{` + u + `,"clientsecret":"s3cret"}`, []string{"clientsecret extra_forbidden"}},
		"a wrong type":   {`{` + u + `,"headers":"s3cret"}`, []string{"headers array_type"}},
		"a number":       {`{` + u + `,"isMtlsEnabled":1}`, []string{"isMtlsEnabled bool_type"}},
		"mTLS alone":     {`{` + u + `,"isMtlsEnabled":true}`, []string{"endpointCertificate NotNullValidator"}},
		"an empty one":   {certificate(``), []string{"endpointCertificate.isPublicCA NotNullValidator"}},
		"no certificate": {certificate(`"isPublicCA":false`),
			[]string{"endpointCertificate.certificate NotNullValidator"}},
		"an empty text": {given("", ""), []string{"endpointCertificate.certificate NotNullValidator"}},
		"an unknown mode": {given(leaf, `,"validationMode":"None"`),
			[]string{"endpointCertificate.validationMode EnumValidator"}},
		"another case": {given(leaf, `,"validationMode":"pinLeafThumbprint"`),
			[]string{"endpointCertificate.validationMode EnumValidator"}},
		"an empty mode": {given(leaf, `,"validationMode":""`),
			[]string{"endpointCertificate.validationMode NotNullValidator"}},
		"no PEM": {given("s3cret", ""), []string{"endpointCertificate.certificate CertificateValidator"}},
		"half a PEM": {given(leaf[:len(leaf)/2], ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"another PEM": {given("-----BEGIN CERTIFICATE-----\nczNjcmV0\n-----END CERTIFICATE-----", ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"PEM with headers": {given(strings.Replace(leaf, "\n", "\nA: s3cret\n\n", 1), ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"text before": {given("subject=s3cret\n"+leaf, ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"text behind": {given(leaf+"s3cret", ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"one of two broken": {given("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"+leaf, ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"a key in between": {given(strings.Replace(leaf, "-----END",
			"-----BEGIN EC PRIVATE KEY-----\nczNjcmV0\n-----END", 1), ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"two certificates": {given(leaf+ca, ""), []string{"endpointCertificate.certificate CertificateValidator"}},
		"a private key": {given(c.leaf.KeyPEM(), ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"a key beside it": {given(leaf+c.leaf.KeyPEM(), ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"a huge certificate": {given(leaf+strings.Repeat("\n", 40_000), ""),
			[]string{"endpointCertificate.certificate MaximumLengthValidator"}},
		"an expired one": {given(c.expired.PEM(), ""),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"a leaf as signer": {given(leaf, `,"validationMode":"SignerChainValidationOnly"`),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"also for public CAs": {certificate(`"isPublicCA":true,"certificate":"s3cret"`),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"next alone": {certificate(`"isPublicCA":true,"nextCertificate":` + text(leaf)),
			[]string{"endpointCertificate.certificate NotNullValidator"}},
		"next expired": {given(leaf, `,"nextCertificate":`+text(c.expired.PEM())),
			[]string{"endpointCertificate.nextCertificate CertificateValidator"}},
		"next a leaf": {given(ca, `,"validationMode":"SignerChainValidationOnly","nextCertificate":`+text(leaf)),
			[]string{"endpointCertificate.nextCertificate CertificateValidator"}},
		"both wrong": {given("s3cret", `,"nextCertificate":"s3cret","validationMode":"None"`), []string{
			"endpointCertificate.validationMode EnumValidator", "endpointCertificate.certificate CertificateValidator",
			"endpointCertificate.nextCertificate CertificateValidator"}},
		"no client": {`{` + u + `,"oAuthConfiguration":{}}`,
			[]string{"oAuthConfiguration.clientCredentialsConfig NotNullValidator"}},
		"an empty client": {`{` + u + `,"oAuthConfiguration":{"clientCredentialsConfig":{}}}`,
			[]string{o + "clientId NotNullValidator", o + "url NotNullValidator",
				o + "useBasicAuthentication NotNullValidator", o + "useEndpointMtlsConfiguration NotNullValidator"}},
		// replaced below: JSON has no duplicates
		"a token URL by http": {client(`,"url":"http://id.example.com"`), nil},
		"Basic without secret": {strings.Replace(client(""), `"useBasicAuthentication":false`,
			`"useBasicAuthentication":true`, 1), []string{o + "clientSecret NotNullValidator"}},
		"Basic and assertion": {strings.Replace(client(`,"clientSecret":"s3cret","isJwtClientAssertionEnabled":true`),
			`"useBasicAuthentication":false`, `"useBasicAuthentication":true`, 1),
			[]string{o + "isJwtClientAssertionEnabled EnumValidator"}},
		"mTLS of the token URL": {client(`,"isMtlsEnabled":true`), []string{o +
			"endpointCertificate NotNullValidator"}},
		"its certificate": {client(`,"endpointCertificate":{"isPublicCA":false,"certificate":"s3cret"}`),
			[]string{o + "endpointCertificate.certificate CertificateValidator"}},
		"its mode": {client(`,"endpointCertificate":{"isPublicCA":true,"validationMode":"x"}`),
			[]string{o + "endpointCertificate.validationMode EnumValidator"}},
		"its form values": {client(`,"formValues":[{"name":"client_secret","value":"s3cret"},{"value":"s3cret"},` +
			`{"name":"a"}]`), []string{
			o + "formValues.0.name FormValueValidator", o + "formValues.1.name NotNullValidator",
			o + "formValues.2.value NotNullValidator"}},
		"its headers": {client(`,"headers":[{"name":"Host","value":"s3cret"}]`),
			[]string{o + "headers.0.name HeaderValidator"}},
		"a header's break":  {header("X-Key", "s3cret\r\nHost: evil"), []string{"headers.0.value HeaderValidator"}},
		"a header's name":   {header("X Key", "s3cret"), []string{"headers.0.name HeaderValidator"}},
		"a header in UTF-8": {header("X-Key", "s3cr\u00e9t"), []string{"headers.0.value HeaderValidator"}},
		"a space behind":    {header("X-Key", "s3cret "), []string{"headers.0.value HeaderValidator"}},
		"our signature":     {header("x-Sluice-Signature", "s3cret"), []string{"headers.0.name HeaderValidator"}},
		"our length":        {header("Content-Length", "1"), []string{"headers.0.name HeaderValidator"}},
		"a huge header": {header("X-Key", strings.Repeat("x", 8193)),
			[]string{"headers.0.value MaximumLengthValidator"}},
		"a mask": {header("X-Key", "********"), []string{"headers.0.value SecretValidator"}},
		"masks of a client": {client(`,"clientSecret":"********","formValues":[{"name":"password",` +
			`"value":"********"}]`), []string{
			o + "clientSecret SecretValidator", o + "formValues.0.value SecretValidator"}},
		"too many headers": {`{` + u + `,"headers":[` + strings.TrimSuffix(
			strings.Repeat(`{"name":"A","value":"s3cret"},`, 51), ",") + `]}`,
			[]string{"headers MaximumCountValidator"}},
		"authorization twice": {strings.Replace(client(""), u,
			u+`,"headers":[{"name":"Authorization","value":"s3cret"}]`, 1), []string{"headers.0.name HeaderValidator"}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a token URL by http" {
				tt.data = strings.Replace(client(""), "https://id", "http://id", 1)
				tt.want = []string{o + "url UrlValidator"}
			}
			var errors []platform.Failure
			code, body := f.send("POST", commands, `{"data":`+tt.data+`}`, &errors)
			var got []string
			for _, e := range errors {
				got = append(got, e.PropertyName+" "+e.ErrorCode)
			}
			if diff := cmp.Diff(tt.want, got); code != 400 || diff != "" {
				t.Errorf("%d %s, want 400 (-want +got)\n%s", code, body, diff)
			}
			if all := body + f.log.String(); strings.Contains(all, "s3cret") || strings.Contains(all, "czNjcmV0") {
				t.Errorf("what was sent comes back or is logged: %s", all)
			}
		})
	}
	if code, body := f.send("POST", commands, "{\"data\":{\"url\":\"https://a\xff\"}}", nil); code != 400 ||
		!strings.Contains(body, "json_invalid") {
		t.Errorf("invalid UTF-8: %d %s, want 400 json_invalid", code, body)
	}
	for _, query := range []string{"", "?configurationId=", "?configurationId=x",
		"?configurationId=" + tenant + "&configurationId=" + tenant} {
		for _, method := range []string{"PUT", "DELETE"} {
			if code, body := f.send(method, commands+query, `{"data":{"url":"https://a"}}`, nil); code != 400 ||
				!strings.Contains(body, `"configurationId"`) {
				t.Errorf("%s %s: %d %s, want 400 naming the parameter", method, query, code, body)
			}
		}
	}
	if code, body := f.send("GET", queries+"/x", "", nil); code != 400 {
		t.Errorf("GET x: %d %s, want 400", code, body)
	}
}

// Two spellings of one URL are one URL, also if both are created at the same time.
func TestDuplicateURLs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(`{"url":"https://hooks.example.com/a"}`)
	for _, u := range []string{"https://hooks.example.com/a", "HTTPS://HOOKS.example.com./a/",
		"https://hooks.example.com:443/%61",
		"https://hooks.example.com/b/../a/.", "https://hooks.example.com/%2e/a"} {
		if code, body := f.send("POST", commands, `{"data":{"url":`+text(u)+`}}`, nil); code != 409 ||
			!strings.Contains(body, `"CONFLICT"`) {
			t.Errorf("%s: %d %s, want 409", u, code, body)
		}
	}
	f.create(`{"url":"https://hooks.example.com/A"}`)
	f.as(other).create(`{"url":"https://hooks.example.com/a"}`)
	moved := f.create(`{"url":"https://hooks.example.com/c"}`)
	if code, body := f.send("PUT", commands+"?configurationId="+moved, `{"data":{"url":"https://hooks.example.com/a"}}`,
		nil); code != 409 {
		t.Errorf("PUT with the URL of another one: %d %s, want 409", code, body)
	}
	if code, body := f.send("PUT", commands+"?configurationId="+moved,
		`{"data":{"url":"https://hooks.example.com/c/"}}`, nil); code != 202 {
		t.Errorf("PUT with another spelling of its own URL: %d %s, want 202", code, body)
	}

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
	if diff := cmp.Diff(map[int]int{202: 1, 409: 7}, codes); diff != "" {
		t.Errorf("eight at once (-want +got):\n%s", diff)
	}
	var list []externalauthhttp.ListItem
	if f.send("GET", queries+"/getAll", "", &list); len(list) != 4 {
		t.Errorf("%d configurations, want 4", len(list))
	}
}

// A tenant has a largest number of configurations, and those of another one do not count.
func TestTooManyConfigurations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.as(other).create(`{"url":"https://hooks.example.com"}`)
	var last string
	for i := range externalauth.MaxConfigurations {
		last = f.create(fmt.Sprintf(`{"url":"https://hooks.example.com/%d"}`, i))
	}
	one := `{"data":{"url":"https://one.example.com"}}`
	if code, body := f.send("POST", commands, one, nil); code != 409 || !strings.Contains(body, "100 configurations") {
		t.Errorf("one more: %d %s, want 409", code, body)
	}
	f.send("DELETE", commands+"?configurationId="+last, "", nil)
	if code, body := f.send("POST", commands, one, nil); code != 202 {
		t.Errorf("after a deletion: %d %s, want 202", code, body)
	}
}

// What belongs to one tenant does not exist for another.
func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(`{"url":"https://hooks.example.com","headers":[{"name":"X-Key","value":"s3cret"}]}`)
	g := f.as(other)
	for _, r := range [][3]string{{"GET", queries + "/" + id}, {"DELETE", commands + "?configurationId=" + id},
		{"PUT", commands + "?configurationId=" + id,
			`{"data":{"url":"https://hooks.example.com","headers":[{"name":"X-Key","value":"********"}]}}`}} {
		if code, body := g.send(r[0], r[1], r[2], nil); code != 404 {
			t.Errorf("%s: %d %s, want 404", r[0], code, body)
		}
	}
	var list []externalauthhttp.ListItem
	if _, body := g.send("GET", queries+"/getAll", "", &list); len(list) != 0 {
		t.Errorf("the other tenant lists %s", body)
	}
	c := f.revealed(id)
	c.Tenant = other
	if got, err := f.store.Reveal(t.Context(), c); err == nil {
		t.Errorf("the secrets opened for another tenant: %q", got.Headers[0].Value.Reveal())
	}
}

// What was read can be changed and sent back: masks stand for what is stored, as long as it goes to the same place.
func TestMasksAreSentBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	data := func(u, tokenURL, headers, secret, formValue string) string {
		return fmt.Sprintf(`{"url":%q,"headers":[%s],
			"oAuthConfiguration":{"clientCredentialsConfig":{"clientId":"me","url":%q,"useBasicAuthentication":false,
			"useEndpointMtlsConfiguration":true,"clientSecret":%q,"headers":[{"name":"X-Token","value":%q}],
			"formValues":[{"name":"password","value":%q},{"name":"scope","value":"a"}]}}}`,
			u, headers, tokenURL, secret, formValue, formValue)
	}
	const u, tokens, mask = "https://hooks.example.com", "https://id.example.com", "********"
	id := f.create(data(u, tokens, `{"name":"X-A","value":"a1"},{"name":"X-A","value":"a2"},{"name":"X-B","value":"b"}`,
		"secret", "form"))
	put := func(data string) (int, string) {
		return f.send("PUT", commands+"?configurationId="+id, `{"data":`+data+`}`, nil)
	}
	masked := `{"name":"x-b","value":"********"},{"name":"X-A","value":"********"},{"name":"X-A","value":"new"}`
	if code, body := put(data(u+"/", tokens, masked, mask, mask)); code != 202 {
		t.Fatalf("PUT with masks: %d %s, want 202", code, body)
	}
	c := f.revealed(id)
	got := []string{c.OAuth.ClientSecret.Reveal(), c.OAuth.Headers[0].Value.Reveal(),
		c.OAuth.FormValues[0].Value.Reveal(), c.OAuth.FormValues[1].Value.Reveal()}
	for _, h := range c.Headers {
		got = append(got, h.Name+"="+h.Value.Reveal())
	}
	if diff := cmp.Diff([]string{"secret", "form", "form", "a", "x-b=b", "X-A=a1", "X-A=new"}, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	for name, refused := range map[string]string{
		"another URL":            data("https://evil.example.com", tokens, "", mask, mask),
		"another token endpoint": data(u, "https://evil.example.com", "", mask, mask),
		"another query":          data(u, tokens+"?a", "", mask, mask),
		"a third header":         data(u, tokens, masked+`,{"name":"X-A","value":"********"}`, "x", "x"),
		"a header by a new name": data(u, tokens, `{"name":"X-C","value":"********"}`, "x", "x"),
	} {
		if code, body := put(refused); code != 400 || !strings.Contains(body, "SecretValidator") {
			t.Errorf("%s: %d %s, want 400 SecretValidator", name, code, body)
		}
	}
	if c := f.revealed(id); c.OAuth.ClientSecret.Reveal() != "secret" || c.Version != 2 {
		t.Errorf("a refused request has changed it: version %d", c.Version)
	}
	if strings.Contains(f.log.String(), "secret") || strings.Contains(f.log.String(), "form") {
		t.Errorf("a secret was logged: %s", f.log)
	}
}

// No secret is stored as it is.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(`{"url":"https://hooks.example.com","headers":[{"name":"X-Key","value":"s3cret-header"}],
		"oAuthConfiguration":{"clientCredentialsConfig":{"clientId":"me","url":"https://id.example.com",
			"clientSecret":"s3cret-client","useBasicAuthentication":true,"useEndpointMtlsConfiguration":true,
			"headers":[{"name":"X-Key","value":"s3cret-token-header"}],
			"formValues":[{"name":"assertion","value":"s3cret-form"}]}}}`)
	out, err := f.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &[]string{"test-externalauth"}[0]})
	if err != nil || len(out.Items) != 3 {
		t.Fatalf("%d rows, %v", len(out.Items), err)
	}
	for _, item := range out.Items {
		if stored := text(item); strings.Contains(stored, "s3cret") || strings.Contains(stored, "czNjcmV0") {
			t.Errorf("a row has a secret: %s", stored)
		}
	}
}

// Remarks are made on what is stored all the same.
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
	if code, body := f.send("POST", commands, data(50), nil); code != 413 ||
		!strings.Contains(body, "configuration_too_large") {
		t.Errorf("50 headers of 8 KB: %d %.300s, want 413", code, body)
	}
	if code, body := f.send("POST", commands, data(45), nil); code != 202 {
		t.Errorf("45 headers of 8 KB: %d %.300s, want 202", code, body)
	}
}
