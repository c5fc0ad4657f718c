package e2e

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// The usual OAuth client of Go fetches tokens in every style that it has, its default included, and the API takes them.
func TestOAuthLibrary(t *testing.T) {
	t.Parallel()
	for name, style := range map[string]oauth2.AuthStyle{
		"default": oauth2.AuthStyleAutoDetect, "header": oauth2.AuthStyleInHeader, "form": oauth2.AuthStyleInParams,
	} {
		t.Run(name, func(t *testing.T) {
			config := clientcredentials.Config{
				ClientID: environment.ClientID, ClientSecret: environment.ClientSecret, TokenURL: environment.TokenURL,
				Scopes: []string{environment.Scope}, AuthStyle: style,
			}
			resp, err := config.Client(t.Context()).Get(
				environment.APIURL + transactionsPath + "batch/status/" + uuid.NewString())
			must(t, err)
			defer resp.Body.Close()
			assert(t, resp.StatusCode == http.StatusNotFound, "a batch that does not exist: %s, want 404", resp.Status)
			config.ClientSecret = "wrong"
			_, err = config.Token(t.Context())
			assert(t, err != nil && strings.Contains(err.Error(), "invalid_client"),
				"with a wrong secret: %v, want invalid_client", err)
		})
	}
}

// A client proves its identity by HTTP Basic or in the form, and not by both.
func TestOneWayToProveIdentity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, secret string
		inForm       bool
		code         int
		error        string
	}{
		{"HTTP Basic", environment.ClientSecret, false, 200, ""},
		{"both", environment.ClientSecret, true, 400, "invalid_request"},
		{"a wrong secret", "wrong", false, 400, "invalid_client"},
	} {
		t.Run(test.name, func(t *testing.T) {
			form := url.Values{"grant_type": {"client_credentials"}, "scope": {environment.Scope}}
			if test.inForm {
				form = tokenForm(environment)
			}
			req := ok(http.NewRequest("POST", environment.TokenURL, strings.NewReader(form.Encode())))(t)
			req.Header.Set("Content-Type", formType)
			req.Header.Set("Authorization", "Basic "+
				base64.StdEncoding.EncodeToString([]byte(environment.ClientID+":"+test.secret)))
			code, header, text := send(t, req)
			assert(t, code == test.code && strings.Contains(string(text), test.error), "got %d %s, want %d with %q",
				code, text, test.code, test.error)
			// API Gateway sends the header of a function under this name.
			challenge := header.Get("Www-Authenticate") + header.Get("X-Amzn-Remapped-Www-Authenticate")
			assert(t, strings.HasPrefix(challenge, "Basic") == (test.error == "invalid_client"),
				"got WWW-Authenticate %q with the error %q", challenge, test.error)
		})
	}
}
