package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/connect/event"
	"sluice/shared/connect/externalauth"
	"sluice/shared/connect/externalauth/externalauthtest"
)

const (
	externalAuthCommands = "/externalauthenticationcommand/api/configuration"
	externalAuthQueries  = "/externalauthenticationquery/api/configuration"
)

// externalAuthView is what these tests read of a configuration.
type externalAuthView struct {
	ID, TenantID, URL   string
	Headers             []struct{ Name, Value string }
	EndpointCertificate *struct {
		Certificate, NextCertificate, ValidationMode string
		CertificateDetails, NextCertificateDetails   struct{ Subject, ThumbprintSHA256 string }
	}
	OAuthConfiguration *struct {
		ClientCredentialsConfig struct {
			ClientSecret        string
			EndpointCertificate *struct{ ValidationMode string }
		}
	}
}

// newConfiguration creates a configuration of external authentication and returns its ID.
func (s *session) newConfiguration(data string) string {
	s.t.Helper()
	reply := callFor[struct{ ConfigurationID string }](s, "POST", externalAuthCommands, inEnvelope(data))
	return reply.ConfigurationID
}

// jsonText writes a value as JSON.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// externalAuthCalls creates a configuration and returns a call of each other operation on it.
func externalAuthCalls(api *session) []platformCall {
	data := fmt.Sprintf(`{"url":"https://%s.example.com"}`, uuid.NewString())
	id := api.newConfiguration(data)
	return []platformCall{
		{"PUT", externalAuthCommands + "?configurationId=" + id, inEnvelope(data)},
		{"GET", externalAuthQueries + "/" + id, ""},
		{"GET", externalAuthQueries + "/getAll", ""},
		{"POST", externalAuthQueries + "/check", inEnvelope(`{"url":"https://receiver.invalid"}`)},
		{"DELETE", externalAuthCommands + "?configurationId=" + id, ""},
	}
}

// A configuration is created, read with its secrets masked, changed by what was read, and deleted.
func TestExternalAuthentication(t *testing.T) {
	t.Parallel()
	api, other := loginNewTenant(t), loginNewTenant(t)
	from, to := time.Now().Add(-time.Hour), time.Now().AddDate(1, 0, 0)
	ca := externalauthtest.New(t, "Test CA", true, from, to, nil)
	first := externalauthtest.New(t, "hooks.example.com", false, from, to, ca)
	next := externalauthtest.New(t, "hooks.example.com", false, from, to, ca)
	secret := newSecret("secret")
	data := func(u, value string) string {
		return fmt.Sprintf(`{"url":%q,"endpointCertificate":{"isPublicCA":false,"certificate":%s,"nextCertificate":%s},
			"headers":[{"name":"X-Api-Key","value":%q}],
			"oAuthConfiguration":{"clientCredentialsConfig":{"clientId":"me","url":"https://id.example.com/token",
			"clientSecret":%q,"useBasicAuthentication":true,"useEndpointMtlsConfiguration":false,
			"endpointCertificate":{"isPublicCA":true,"certificate":%s,"validationMode":"SignerChainValidationOnly"}}}}`,
			u, jsonText(first.PEM()), jsonText(next.PEM()), value, value, jsonText(ca.PEM()))
	}
	const u = "https://hooks.example.com/sluice"
	id := api.newConfiguration(data(u, secret))
	for range 2 { // as it was created, and after what was read was sent back
		got := callFor[externalAuthView](api, "GET", externalAuthQueries+"/"+id, "")
		c, o := got.EndpointCertificate, got.OAuthConfiguration.ClientCredentialsConfig
		assert(t, got.ID == id && got.TenantID == api.tenantID && got.URL == u && len(got.Headers) == 1 &&
			got.Headers[0].Value == "********" && c.Certificate == first.PEM() && c.NextCertificate == next.PEM() &&
			c.ValidationMode == "PinLeafThumbprint" && c.CertificateDetails.Subject == "CN=hooks.example.com" &&
			len(c.NextCertificateDetails.ThumbprintSHA256) == 64 && o.ClientSecret == "********" &&
			o.EndpointCertificate.ValidationMode == "SignerChainValidationOnly", "read %+v", got)
		api.mustCall("PUT", externalAuthCommands+"?configurationId="+id, inEnvelope(data(u, "********")), nil)
	}
	api.expect(http.StatusBadRequest, "PUT", externalAuthCommands+"?configurationId="+id,
		inEnvelope(data("https://evil.example.com", "********")))
	api.expect(http.StatusConflict, "POST", externalAuthCommands,
		inEnvelope(`{"url":"https://HOOKS.example.com:443/sluice/"}`))
	other.newConfiguration(`{"url":"` + u + `"}`)
	for _, c := range []platformCall{
		{"GET", externalAuthQueries + "/" + id, ""}, {"DELETE", externalAuthCommands + "?configurationId=" + id, ""},
		{"PUT", externalAuthCommands + "?configurationId=" + id, inEnvelope(data(u, "********"))},
	} {
		other.expect(http.StatusNotFound, c.method, c.path, c.body)
	}
	api.mustCall("DELETE", externalAuthCommands+"?configurationId="+id, "", nil)
	api.expect(http.StatusNotFound, "GET", externalAuthQueries+"/"+id, "")
}

// A certificate is announced before it ends, once. The schedule that does this is an hour long, so the test does what
// it does.
func TestCertificatesAreAnnounced(t *testing.T) {
	api := beginTenant(t, eventLog)
	end := time.Now().Add(3*24*time.Hour + 1500*time.Millisecond).Truncate(time.Second)
	certificate := externalauthtest.New(t, "hooks.example.com", false, end.AddDate(-1, 0, 0), end, nil)
	id := api.newConfiguration(`{"url":"https://hooks.example.com/a","endpointCertificate":{"isPublicCA":false,` +
		`"certificate":` +
		jsonText(certificate.PEM()) + `}}`)
	var announced []busEvent
	eventually(t, "the event about the certificate", func() bool {
		environment.runScheduled(t, "certificate")
		events := ok(environment.busEvents())(t)
		announced = events[id]
		return len(announced) > 0
	})
	var payload externalauth.NoticePayload
	must(t, json.Unmarshal(announced[0].Detail.Payload, &payload))
	got := announced[0]
	assert(t, len(announced) == 1 && got.DetailType == event.CertificateExpiring && got.Detail.Tenant == api.tenantID &&
		payload.Days == 3 && payload.NotAfter.Equal(end) && payload.Host == "hooks.example.com",
		"announced %+v, the first with %+v", announced, payload)
	api.mustCall("GET", announced[0].Detail.RelativeURL, "", nil)
}
