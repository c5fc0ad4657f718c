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

// A form may be written in several ways, and reaches the endpoint as it was sent, whatever is in front of the endpoint.
// A client proves its identity in the form or by HTTP Basic, and not by both.
func TestTokenRequests(t *testing.T) {
	t.Parallel()
	escapeAll := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		return b.String()
	}
	basic := func(secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(environment.ClientID+":"+secret))
	}
	const grant = "grant_type=client_credentials"
	id, secret := "&client_id="+environment.ClientID, "&client_secret="+url.QueryEscape(environment.ClientSecret)
	scope := "&scope=" + url.QueryEscape(environment.Scope)
	usual := grant + id + secret + scope
	everyByte := "grant_type=" + escapeAll("client_credentials") + "&client_id=" + escapeAll(environment.ClientID) +
		"&client_secret=" + escapeAll(environment.ClientSecret) + "&scope=" + escapeAll(environment.Scope)
	for _, test := range []struct {
		name, contentType, form, authorization string
		code                                   int
		error                                  string
	}{
		{"a slash as it is", formType, grant + id + secret + "&scope=" + environment.Scope, "", 200, ""},
		{"every byte escaped", formType, everyByte, "", 200, ""},
		{"names escaped", formType, strings.ReplaceAll(usual, "_", "%5f"), "", 200, ""},
		{"another order", formType, scope[1:] + secret + id + "&" + grant + "&more=%26%3D", "", 200, ""},
		{"a charset", formType + "; charset=UTF-8", usual, "", 200, ""},
		{"escaped twice", formType, grant + id + secret + "&scope=" + url.QueryEscape(scope[7:]), "", 400,
			"invalid_scope"},
		{"a secret that only looks escaped", formType, grant + id + "&client_secret=" +
			url.QueryEscape(escapeAll(environment.ClientSecret)) + scope, "", 400, "invalid_client"},
		{"a wrong secret", formType, grant + id + "&client_secret=wrong" + scope, "", 400, "invalid_client"},
		{"another tenant's scope", formType, grant + id + secret + "&scope=tenant/" + uuid.NewString(), "", 400,
			"invalid_scope"},
		{"another type", "application/json", usual, "", 415, "invalid_request"},
		{"HTTP Basic", formType, grant + scope, basic(environment.ClientSecret), 200, ""},
		{"both", formType, usual, basic(environment.ClientSecret), 400, "invalid_request"},
		{"a wrong secret by HTTP Basic", formType, grant + scope, basic("wrong"), 400, "invalid_client"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := ok(http.NewRequest("POST", environment.TokenURL, strings.NewReader(test.form)))(t)
			req.Header.Set("Content-Type", test.contentType)
			if test.authorization != "" {
				req.Header.Set("Authorization", test.authorization)
			}
			code, header, text := send(t, req)
			assert(t, code == test.code && strings.Contains(string(text), test.error) &&
				header.Get("Cache-Control") == "no-store", "got %d %s with %v, want %d with %q and no-store", code,
				text, header, test.code, test.error)
			// API Gateway sends the header of a function under this name.
			challenge := header.Get("Www-Authenticate") + header.Get("X-Amzn-Remapped-Www-Authenticate")
			isWanted := test.authorization != "" && test.error == "invalid_client"
			assert(t, strings.HasPrefix(challenge, "Basic") == isWanted, "got WWW-Authenticate %q, want Basic: %v",
				challenge, isWanted)
		})
	}
	resp := ok(http.Post(environment.TokenURL+"?client_id="+environment.ClientID, formType,
		strings.NewReader(grant)))(t)
	defer resp.Body.Close()
	assert(t, resp.StatusCode == 400, "credentials in the URL: %d, want 400", resp.StatusCode)
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
