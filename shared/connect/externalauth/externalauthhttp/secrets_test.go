package externalauthhttp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A configuration of one tenant does not exist for another.
func TestTenantsAreApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(`{"url":"https://hooks.example.com","headers":[{"name":"X-Key","value":"s3cret"}]}`)
	g := f.as(other)
	for _, r := range [][3]string{{"GET", queries + "/" + id}, {"DELETE", commands + "?configurationId=" + id},
		{"PUT", commands + "?configurationId=" + id,
			`{"data":{"url":"https://hooks.example.com","headers":[{"name":"X-Key","value":"********"}]}}`}} {
		difftest.Reply(t, r[0], 404)(g.send(r[0], r[1], r[2], nil))
	}
	var list []wire.ExternalAuthenticationItem
	if _, body := g.send("GET", queries+"/getAll", "", &list); len(list) != 0 {
		t.Errorf("the other tenant lists %s", body)
	}
	c := f.revealed(id)
	c.Tenant = other
	if got, err := f.store.Reveal(t.Context(), c); err == nil {
		t.Errorf("the secrets opened for another tenant: %q", got.Headers[0].Value.Reveal())
	}
}

// A configuration that was read can be changed and sent back: masks stand for the stored secrets, as long as these go
// to the same place.
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
	difftest.Reply(t, "PUT with masks", 202)(put(data(u+"/", tokens, masked, mask, mask)))
	c := f.revealed(id)
	got := []string{c.OAuth.ClientSecret.Reveal(), c.OAuth.Headers[0].Value.Reveal(),
		c.OAuth.FormValues[0].Value.Reveal(), c.OAuth.FormValues[1].Value.Reveal()}
	for _, h := range c.Headers {
		got = append(got, h.Name+"="+h.Value.Reveal())
	}
	difftest.Equal(t, "stored", []string{"secret", "form", "form", "a", "x-b=b", "X-A=a1", "X-A=new"}, got)
	for name, refused := range map[string]string{
		"another URL":            data("https://evil.example.com", tokens, "", mask, mask),
		"another token endpoint": data(u, "https://evil.example.com", "", mask, mask),
		"another query":          data(u, tokens+"?a", "", mask, mask),
		"a third header":         data(u, tokens, masked+`,{"name":"X-A","value":"********"}`, "x", "x"),
		"a header by a new name": data(u, tokens, `{"name":"X-C","value":"********"}`, "x", "x"),
	} {
		difftest.Reply(t, name, 400, "SecretValidator")(put(refused))
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
	out := errtest.Must(f.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &[]string{"test-externalauth"}[0]}))(t)
	difftest.Equal(t, "rows", 3, len(out.Items))
	for _, item := range out.Items {
		if stored := text(item); strings.Contains(stored, "s3cret") || strings.Contains(stored, "czNjcmV0") {
			t.Errorf("a row has a secret: %s", stored)
		}
	}
}
