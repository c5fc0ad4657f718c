package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
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
	data := fmt.Sprintf(`{"url":"https://%s.example.com","headers":[{"name":"X-Api-Key","value":%q}]}`,
		uuid.NewString(), newSecret("header"))
	id := api.newConfiguration(data)
	data = data[:strings.LastIndex(data, `"header-`)] + `"********"}]}` // as it is read
	return []platformCall{
		{"PUT", externalAuthCommands + "?configurationId=" + id, inEnvelope(data)},
		{"GET", externalAuthQueries + "/" + id, ""},
		{"GET", externalAuthQueries + "/getAll", ""},
		{"POST", externalAuthQueries + "/check", inEnvelope(`{"url":"https://receiver.invalid"}`)},
		{"DELETE", externalAuthCommands + "?configurationId=" + id, ""},
	}
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
