package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"sluice/client"
	"sluice/shared/kit/errtest"
)

// newService starts a service that issues tokens and answers every other request with a status and a body. It returns a
// client of it and the last request.
func newService(t *testing.T, status int, answer string) (*client.Client, *receivedCall) {
	t.Helper()
	last := &receivedCall{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth2/token" {
			_, _ = io.WriteString(w, `{"access_token":"t","expires_in":3600,"token_type":"Bearer"}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		*last = receivedCall{r.Method + " " + r.URL.Path, r.Header.Get("X-Tenant-Id"), string(body)}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{APIURL: server.URL, TokenURL: server.URL + "/oauth2/token", ClientID: "c",
		ClientSecret: "s", Scope: "tenant/the-tenant"})
	errtest.Fatal(t, err)
	return c, last
}

// receivedCall is what a service received.
type receivedCall struct{ route, tenant, body string }

func TestCheckReceiver(t *testing.T) {
	t.Parallel()
	const data = `{"chain":[{"subject":"CN=x"}],"decisions":[{"mode":"PinLeafThumbprint","accepted":true,` +
		`"reason":"r"}]}`
	c, last := newService(t, http.StatusOK, `{"data":`+data+`,"messages":[]}`)
	check, err := c.CheckReceiver(t.Context(), `https://x.test/"`)
	errtest.Fatal(t, err)
	if len(check.Chain) != 1 || check.Chain[0].Subject != "CN=x" || len(check.Decisions) != 1 ||
		!check.Decisions[0].Accepted || string(check.Reply) != data {
		t.Errorf("got %+v", check)
	}
	want := receivedCall{"POST /externalauthenticationquery/api/configuration/check", "the-tenant",
		`{"data":{"url":"https://x.test/\""}}`}
	if *last != want {
		t.Errorf("the service received %+v, want %+v", *last, want)
	}
}

// A refusal of a platform path names what is wrong, as one of the monitoring interface does.
func TestPlatformRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		status int
		answer string
		want   string
	}{
		{"validation errors", 400, `{"data":[{"propertyName":"url","errorMessage":"It is wrong.",` +
			`"errorCode":"UrlValidator"}],"messages":[{"message":"The request is not valid.","type":"Error"}]}`,
			"the service answers 400: The request is not valid. url: It is wrong."},
		{"permission", 403, `{"data":{},"messages":[{"message":"A permission is missing.","type":"Forbidden"}]}`,
			"the service answers 403: A permission is missing."},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _ := newService(t, test.status, test.answer)
			_, err := c.CheckReceiver(t.Context(), "https://x.test")
			var refused *client.Error
			if !errors.As(err, &refused) || refused.Error() != test.want || refused.Foreign {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	c, _ := newService(t, 200, `{"messages":[]}`)
	if check, err := c.CheckReceiver(t.Context(), "https://x.test"); err == nil {
		t.Errorf("a reply without data: %+v", check)
	}
}
