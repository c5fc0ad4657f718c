package externalauthhttp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/difftest"
)

// validURL is the member url of a configuration, and clientPath the path of the members of its OAuth client.
const (
	validURL   = `"url":"https://hooks.example.com"`
	clientPath = "oAuthConfiguration.clientCredentialsConfig."
)

// refusal is the data of a request that is refused, and PROPERTY CODE of each validation error.
type refusal struct {
	data string
	want []string
}

// expectRefusals sends each request. It expects that everything that is wrong is named by its field, and that nothing
// that was sent comes back or is logged: "s3cret", or the same in Base64.
func expectRefusals(t *testing.T, refusals map[string]refusal) {
	t.Helper()
	f := newFixture(t)
	for name, tt := range refusals {
		t.Run(name, func(t *testing.T) {
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
				t.Errorf("the sent value comes back or is logged: %s", all)
			}
		})
	}
}

// withCertificate returns a configuration with the members of an endpoint certificate.
func withCertificate(members string) string {
	return `{` + validURL + `,"endpointCertificate":{` + members + `}}`
}

// withClient returns a configuration with an OAuth client that has more members than it needs.
func withClient(members string) string {
	return `{` + validURL + `,"oAuthConfiguration":{"clientCredentialsConfig":{"clientId":"me",
		"url":"https://id.example.com","useBasicAuthentication":false,
		"useEndpointMtlsConfiguration":false` + members + `}}}`
}

// withHeader returns a configuration with a header.
func withHeader(name, value string) string {
	return `{` + validURL + `,"headers":[{"name":` + text(name) + `,"value":` + text(value) + `}]}`
}

// URLs that cannot be a receiver's are refused, as are members of wrong names and types.
func TestRefusedURLsAndTypes(t *testing.T) {
	t.Parallel()
	expectRefusals(t, map[string]refusal{
		"no url":     {`{}`, []string{"url NotNullValidator"}},
		"http":       {`{"url":"http://hooks.example.com"}`, []string{"url UrlValidator"}},
		"a password": {`{"url":"https://me:s3cret@hooks.example.com"}`, []string{"url UrlValidator"}},
		"a query":    {`{"url":"https://hooks.example.com?key=s3cret"}`, []string{"url UrlValidator"}},
		"a long url": {`{"url":"https://hooks.example.com/` + strings.Repeat("x", 2048) + `"}`,
			[]string{"url MaximumLengthValidator"}},
		"an unknown key": {`{` + validURL + `,"clientsecret":"s3cret"}`, []string{"clientsecret extra_forbidden"}},
		"a wrong type":   {`{` + validURL + `,"headers":"s3cret"}`, []string{"headers array_type"}},
		"a number":       {`{` + validURL + `,"isMtlsEnabled":1}`, []string{"isMtlsEnabled bool_type"}},
	})
}

// Only certificates that can be in force are accepted, one in each member.
func TestRefusedCertificates(t *testing.T) {
	t.Parallel()
	c := newCertificates(t)
	leaf, ca := c.leaf.PEM(), c.ca.PEM()
	given := func(pem string, more string) string {
		return withCertificate(`"isPublicCA":false,"certificate":` + text(pem) + more)
	}
	expectRefusals(t, map[string]refusal{
		"mTLS alone":   {`{` + validURL + `,"isMtlsEnabled":true}`, []string{"endpointCertificate NotNullValidator"}},
		"an empty one": {withCertificate(``), []string{"endpointCertificate.isPublicCA NotNullValidator"}},
		"no certificate": {withCertificate(`"isPublicCA":false`),
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
		"also for public CAs": {withCertificate(`"isPublicCA":true,"certificate":"s3cret"`),
			[]string{"endpointCertificate.certificate CertificateValidator"}},
		"next alone": {withCertificate(`"isPublicCA":true,"nextCertificate":` + text(leaf)),
			[]string{"endpointCertificate.certificate NotNullValidator"}},
		"next expired": {given(leaf, `,"nextCertificate":`+text(c.expired.PEM())),
			[]string{"endpointCertificate.nextCertificate CertificateValidator"}},
		"next a leaf": {given(ca, `,"validationMode":"SignerChainValidationOnly","nextCertificate":`+text(leaf)),
			[]string{"endpointCertificate.nextCertificate CertificateValidator"}},
		"both wrong": {given("s3cret", `,"nextCertificate":"s3cret","validationMode":"None"`), []string{
			"endpointCertificate.validationMode EnumValidator", "endpointCertificate.certificate CertificateValidator",
			"endpointCertificate.nextCertificate CertificateValidator"}},
	})
}

// An OAuth client needs credentials, and headers and forms without the names that the service sets.
func TestRefusedOAuthClients(t *testing.T) {
	t.Parallel()
	expectRefusals(t, map[string]refusal{
		"no client": {`{` + validURL + `,"oAuthConfiguration":{}}`,
			[]string{"oAuthConfiguration.clientCredentialsConfig NotNullValidator"}},
		"an empty client": {`{` + validURL + `,"oAuthConfiguration":{"clientCredentialsConfig":{}}}`,
			[]string{clientPath + "clientId NotNullValidator", clientPath + "url NotNullValidator",
				clientPath + "useBasicAuthentication NotNullValidator",
				clientPath + "useEndpointMtlsConfiguration NotNullValidator"}},
		"a token URL by http": {strings.Replace(withClient(""), "https://id", "http://id", 1),
			[]string{clientPath + "url UrlValidator"}},
		"Basic without secret": {strings.Replace(withClient(""), `"useBasicAuthentication":false`,
			`"useBasicAuthentication":true`, 1), []string{clientPath + "clientSecret NotNullValidator"}},
		"Basic and assertion": {strings.Replace(
			withClient(`,"clientSecret":"s3cret","isJwtClientAssertionEnabled":true`),
			`"useBasicAuthentication":false`, `"useBasicAuthentication":true`, 1),
			[]string{clientPath + "isJwtClientAssertionEnabled EnumValidator"}},
		"mTLS of the token URL": {withClient(`,"isMtlsEnabled":true`), []string{clientPath +
			"endpointCertificate NotNullValidator"}},
		"certificate of the token URL": {
			withClient(`,"endpointCertificate":{"isPublicCA":false,"certificate":"s3cret"}`),
			[]string{clientPath + "endpointCertificate.certificate CertificateValidator"}},
		"mode of that certificate": {withClient(`,"endpointCertificate":{"isPublicCA":true,"validationMode":"x"}`),
			[]string{clientPath + "endpointCertificate.validationMode EnumValidator"}},
		"form values": {withClient(`,"formValues":[{"name":"client_secret","value":"s3cret"},{"value":"s3cret"},` +
			`{"name":"a"}]`), []string{
			clientPath + "formValues.0.name FormValueValidator", clientPath + "formValues.1.name NotNullValidator",
			clientPath + "formValues.2.value NotNullValidator"}},
		"headers": {withClient(`,"headers":[{"name":"Host","value":"s3cret"}]`),
			[]string{clientPath + "headers.0.name HeaderValidator"}},
		"masks of a client": {withClient(`,"clientSecret":"********","formValues":[{"name":"password",` +
			`"value":"********"}]`), []string{
			clientPath + "clientSecret SecretValidator", clientPath + "formValues.0.value SecretValidator"}},
		"authorization twice": {strings.Replace(withClient(""), validURL,
			validURL+`,"headers":[{"name":"Authorization","value":"s3cret"}]`, 1),
			[]string{"headers.0.name HeaderValidator"}},
	})
}

// Headers are those that HTTP allows, are not set by the service, and have secrets rather than masks.
func TestRefusedHeaders(t *testing.T) {
	t.Parallel()
	expectRefusals(t, map[string]refusal{
		"a header's break":  {withHeader("X-Key", "s3cret\r\nHost: evil"), []string{"headers.0.value HeaderValidator"}},
		"a header's name":   {withHeader("X Key", "s3cret"), []string{"headers.0.name HeaderValidator"}},
		"a header in UTF-8": {withHeader("X-Key", "s3cr\u00e9t"), []string{"headers.0.value HeaderValidator"}},
		"a space behind":    {withHeader("X-Key", "s3cret "), []string{"headers.0.value HeaderValidator"}},
		"our signature":     {withHeader("x-Sluice-Signature", "s3cret"), []string{"headers.0.name HeaderValidator"}},
		"our length":        {withHeader("Content-Length", "1"), []string{"headers.0.name HeaderValidator"}},
		"a huge header": {withHeader("X-Key", strings.Repeat("x", 8193)),
			[]string{"headers.0.value MaximumLengthValidator"}},
		"a mask": {withHeader("X-Key", "********"), []string{"headers.0.value SecretValidator"}},
		"too many headers": {`{` + validURL + `,"headers":[` + strings.TrimSuffix(
			strings.Repeat(`{"name":"A","value":"s3cret"},`, 51), ",") + `]}`,
			[]string{"headers MaximumCountValidator"}},
	})
}

// A request that is not JSON in UTF-8, or does not name its configuration by one ID, is refused.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	difftest.Reply(t, "invalid UTF-8", 400, "json_invalid")(
		f.send("POST", commands, "{\"data\":{\"url\":\"https://a\xff\"}}", nil))
	for _, query := range []string{"", "?configurationId=", "?configurationId=x",
		"?configurationId=" + tenant + "&configurationId=" + tenant} {
		for _, method := range []string{"PUT", "DELETE"} {
			difftest.Reply(t, method+" "+query, 400, `"configurationId"`)(
				f.send(method, commands+query, `{"data":{"url":"https://a"}}`, nil))
		}
	}
	difftest.Reply(t, "GET x", 400)(f.send("GET", queries+"/x", "", nil))
}
