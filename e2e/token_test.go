package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const formType = "application/x-www-form-urlencoded"

// tokenForm returns the form of a good token request.
func tokenForm(e *Environment) url.Values {
	return url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {e.ClientID},
		"client_secret": {e.ClientSecret},
		"scope":         {e.Scope},
	}
}

// postToken sends a form to the token endpoint, as it is.
func postToken(t *testing.T, contentType, form string) (int, http.Header, map[string]any) {
	t.Helper()
	req := ok(http.NewRequest("POST", environment.TokenURL, strings.NewReader(form)))(t)
	req.Header.Set("Content-Type", contentType)
	code, header, text := send(t, req)
	var body map[string]any
	err := json.Unmarshal(text, &body)
	require(t, err == nil, "%d %s: %v", code, text, err)
	return code, header, body
}

func TestTokenEndpoint(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, field string
		values      []string // nil leaves the field out
		code        int
		error       string
	}{
		{"right", "grant_type", []string{"client_credentials"}, 200, ""},
		{"no grant type", "grant_type", nil, 400, "invalid_request"},
		{"another grant type", "grant_type", []string{"password"}, 400, "unsupported_grant_type"},
		{"no client ID", "client_id", nil, 400, "invalid_request"},
		{"unknown client ID", "client_id", []string{uuid.NewString()}, 400, "invalid_client"},
		{"malformed client ID", "client_id", []string{"me"}, 400, "invalid_client"},
		{"two client IDs", "client_id", []string{environment.ClientID, environment.ClientID}, 400, "invalid_request"},
		{"no secret", "client_secret", nil, 400, "invalid_request"},
		{"wrong secret", "client_secret", []string{"wrong"}, 400, "invalid_client"},
		{"secret with a byte more", "client_secret", []string{environment.ClientSecret + "x"}, 400, "invalid_client"},
		{"no scope", "scope", nil, 400, "invalid_request"},
		{"malformed scope", "scope", []string{"everything"}, 400, "invalid_scope"},
		{"another tenant's scope", "scope", []string{"tenant/" + uuid.NewString()}, 400, "invalid_scope"},
		{"two scopes in one", "scope", []string{environment.Scope + " " + environment.Scope}, 400, "invalid_scope"},
	} {
		t.Run(test.name, func(t *testing.T) {
			form := tokenForm(environment)
			if form[test.field] = test.values; test.values == nil {
				form.Del(test.field)
			}
			code, header, body := postToken(t, formType, form.Encode())
			if got, _ := body["error"].(string); code != test.code || got != test.error {
				t.Errorf("got %d %v, want %d with the error %q", code, body, test.code, test.error)
			}
			if got := header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control is %q, want no-store", got)
			}
		})
	}
	if code, _, body := postToken(t, "application/json", tokenForm(environment).Encode()); code != 415 {
		t.Errorf("a form sent as JSON: %d %v, want 415", code, body)
	}
	resp := ok(http.Post(environment.TokenURL+"?client_id="+environment.ClientID, formType,
		strings.NewReader("grant_type=client_credentials")))(t)
	defer resp.Body.Close()
	assert(t, resp.StatusCode == 400, "credentials in the URL: %d, want 400", resp.StatusCode)
}

// A form may be written in several ways, and reaches the endpoint as it was sent, whatever is in front of the endpoint.
func TestEquivalentForms(t *testing.T) {
	t.Parallel()
	escapeAll := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		return b.String()
	}
	const grant = "grant_type=client_credentials"
	id, secret := environment.ClientID, url.QueryEscape(environment.ClientSecret)
	scope := url.QueryEscape(environment.Scope)
	usual := grant + "&client_id=" + id + "&client_secret=" + secret + "&scope=" + scope
	for _, test := range []struct {
		name, contentType, form string
		code                    int
	}{
		{"a slash as it is", formType, grant + "&client_id=" + id + "&client_secret=" + secret + "&scope=" +
			environment.Scope, 200},
		{"every byte escaped", formType, "grant_type=" + escapeAll("client_credentials") + "&client_id=" +
			escapeAll(id) + "&client_secret=" + escapeAll(environment.ClientSecret) + "&scope=" +
			escapeAll(environment.Scope), 200},
		{"names escaped", formType, "grant%5ftype=client_credentials&client%5Fid=" + id + "&client%5Fsecret=" + secret +
			"&scope=" + scope, 200},
		{"another order", formType, "scope=" + scope + "&client_secret=" + secret + "&client_id=" + id + "&" + grant +
			"&more=%26%3D", 200},
		{"a charset", formType + "; charset=UTF-8", usual, 200},
		{"escaped twice", formType, grant + "&client_id=" + id + "&client_secret=" + secret + "&scope=" +
			url.QueryEscape(scope), 400},
		{"a secret that only looks escaped", formType, grant + "&client_id=" + id + "&client_secret=" +
			url.QueryEscape(escapeAll(environment.ClientSecret)) + "&scope=" + scope, 400},
		{"a broken escape", formType, grant + "&client_id=" + id + "&client_secret=%zz&scope=" + scope, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			if code, _, body := postToken(t, test.contentType, test.form); code != test.code {
				t.Errorf("got %d %v, want %d", code, body, test.code)
			}
		})
	}
}

// Runs before TestKeyRotation, which runs in parallel with others: there is one key.
func TestTokenIsAnAccessToken(t *testing.T) {
	_, _, reply := postToken(t, formType, tokenForm(environment).Encode())
	assert(t, reply["token_type"] == "Bearer" && reply["expires_in"] == 3600.0 && len(reply) == 3,
		"the reply is %v, want a Bearer token for 3600 seconds and nothing else", reply)
	token := reply["access_token"].(string)
	header, claims := decodeTokenPart(t, token, 0), decodeTokenPart(t, token, 1)
	assert(t, header["typ"] == "at+jwt" && header["alg"] == "ES256", "the header is %v, want at+jwt and ES256", header)
	for claim, want := range map[string]string{"iss": environment.APIURL, "sub": environment.ClientID,
		"client_id": environment.ClientID, "scope": environment.Scope} {
		if claims[claim] != want {
			t.Errorf("the claim %s is %v, want %s", claim, claims[claim], want)
		}
	}
	lifetime := claims["exp"].(float64) - claims["iat"].(float64)
	assert(t, lifetime == 3900 && claims["jti"] != "" && claims["aud"] != nil,
		"the claims are %v, want a jti, an aud and a lifetime of 3900 seconds: 300 to be handed out again, and 3600",
		claims)
	checkPublishedKeys(t, header["kid"])
}

// checkPublishedKeys checks the metadata of the issuer, and that its only key is the one that signed a token.
func checkPublishedKeys(t *testing.T, keyID any) {
	t.Helper()
	_, _, text := download(t, environment.APIURL+"/.well-known/oauth-authorization-server")
	var metadata map[string]any
	must(t, json.Unmarshal([]byte(text), &metadata))
	assert(t, metadata["issuer"] == environment.APIURL && metadata["token_endpoint"] == environment.APIURL+tokenPath,
		"the metadata is %v, want the issuer %s and its token endpoint", metadata, environment.APIURL)
	resp := ok(http.Get(metadata["jwks_uri"].(string)))(t)
	var keys struct {
		Keys []map[string]any `json:"keys"`
	}
	decodeReply(t, resp, http.StatusOK, &keys)
	assert(t, len(keys.Keys) == 1 && keys.Keys[0]["kid"] == keyID && keys.Keys[0]["d"] == nil,
		"the keys are %v, want one, %v, without its private part", keys, keyID)
}

// decodeTokenPart decodes the header (0) or the claims (1) of a token.
func decodeTokenPart(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	var out map[string]any
	must(t, json.Unmarshal(decodeBase64(t, strings.Split(token, ".")[i]), &out))
	return out
}

// Tokens of the old key are accepted after a rotation, and those that are issued afterwards too.
func TestKeyRotation(t *testing.T) {
	before := begin(t)
	var keys []map[string]any
	err := environment.admin(&keys, "key", "rotate")
	require(t, err == nil && len(keys) >= 2, "rotation: %v %v, want two keys or more", keys, err)
	before.expect(http.StatusNotFound, "GET", absentTransaction, "")
	login(t, environment).expect(http.StatusNotFound, "GET", absentTransaction, "")
}

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
