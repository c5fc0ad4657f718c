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
	req, err := http.NewRequest("POST", environment.TokenURL, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	code, header, text := send(t, req)
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%d %s: %v", code, text, err)
	}
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
	resp, err := http.Post(environment.TokenURL+"?client_id="+environment.ClientID, formType,
		strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 400 {
		t.Errorf("credentials in the URL: %d, want 400", resp.StatusCode)
	}
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
	id, secret, scope := environment.ClientID, url.QueryEscape(
		environment.ClientSecret,
	), url.QueryEscape(
		environment.Scope,
	)
	usual := grant + "&client_id=" + id + "&client_secret=" + secret + "&scope=" + scope
	for _, test := range []struct {
		name, contentType, form string
		code                    int
	}{
		{"a slash as it is", formType, grant + "&client_id=" + id + "&client_secret=" + secret + "&scope=" + environment.Scope, 200},
		{"every byte escaped", formType, "grant_type=" + escapeAll("client_credentials") + "&client_id=" + escapeAll(id) +
			"&client_secret=" + escapeAll(environment.ClientSecret) + "&scope=" + escapeAll(environment.Scope), 200},
		{"names escaped", formType, "grant%5ftype=client_credentials&client%5Fid=" + id + "&client%5Fsecret=" + secret +
			"&scope=" + scope, 200},
		{"another order", formType, "scope=" + scope + "&client_secret=" + secret + "&client_id=" + id + "&" + grant + "&more=%26%3D", 200},
		{"a charset", formType + "; charset=UTF-8", usual, 200},
		{"escaped twice", formType, grant + "&client_id=" + id + "&client_secret=" + secret + "&scope=" + url.QueryEscape(scope), 400},
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
	if reply["token_type"] != "Bearer" || reply["expires_in"] != 3600.0 || len(reply) != 3 {
		t.Errorf("the reply is %v, want a Bearer token for 3600 seconds and nothing else", reply)
	}
	token := reply["access_token"].(string)
	header, claims := decodeTokenPart(t, token, 0), decodeTokenPart(t, token, 1)
	if header["typ"] != "at+jwt" || header["alg"] != "ES256" {
		t.Errorf("the header is %v, want at+jwt and ES256", header)
	}
	for claim, want := range map[string]string{"iss": environment.issuer(), "sub": environment.ClientID,
		"client_id": environment.ClientID, "scope": environment.Scope} {
		if claims[claim] != want {
			t.Errorf("the claim %s is %v, want %s", claim, claims[claim], want)
		}
	}
	if lifetime := claims["exp"].(float64) - claims["iat"].(float64); lifetime != 3600 || claims["jti"] == "" ||
		claims["aud"] == nil {
		t.Errorf("the claims are %v, want a jti, an aud and a lifetime of 3600 seconds", claims)
	}
	checkPublishedKeys(t, header["kid"])
}

// checkPublishedKeys checks the metadata of the issuer, and that its only key is the one that signed a token.
func checkPublishedKeys(t *testing.T, keyID any) {
	t.Helper()
	_, _, text := download(t, environment.APIURL+"/.well-known/oauth-authorization-server")
	var metadata map[string]any
	if err := json.Unmarshal([]byte(text), &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata["issuer"] != environment.issuer() || metadata["token_endpoint"] != environment.TokenURL {
		t.Errorf(
			"the metadata is %v, want the issuer %s and the token endpoint %s",
			metadata,
			environment.issuer(),
			environment.TokenURL,
		)
	}
	resp, err := http.Get(metadata["jwks_uri"].(string))
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		Keys []map[string]any `json:"keys"`
	}
	decodeReply(t, resp, http.StatusOK, &keys)
	if len(keys.Keys) != 1 || keys.Keys[0]["kid"] != keyID || keys.Keys[0]["d"] != nil {
		t.Errorf("the keys are %v, want one, %v, without its private part", keys, keyID)
	}
}

// decodeTokenPart decodes the header (0) or the claims (1) of a token.
func decodeTokenPart(t *testing.T, token string, i int) map[string]any {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[i])
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnauthorized(t *testing.T) {
	t.Parallel()
	encode := base64.RawURLEncoding.EncodeToString
	good := login(t, environment).token
	parts := strings.Split(good, ".")
	claims := decodeTokenPart(t, good, 1)
	claims["scope"] = "tenant/" + uuid.NewString()
	changed, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, authorization string }{
		{"no token", ""},
		{"another scheme", "Basic " + good},
		{"no scheme", good},
		{"not a token", "Bearer nonsense"},
		{"no signature", "Bearer " + encode([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + parts[1] + "."},
		{"changed claims", "Bearer " + parts[0] + "." + encode(changed) + "." + parts[2]},
		{"another signature", "Bearer " + parts[0] + "." + parts[1] + "." + encode(make([]byte, 64))},
		{"unknown key", "Bearer " + encode([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"x"}`)) + "." + parts[1] + "." + parts[2]},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, path := range []string{"batch/status/" + uuid.NewString(), "some-transaction"} {
				checkUnauthorized(t, path, test.authorization)
			}
		})
	}
}

func checkUnauthorized(t *testing.T, path, authorization string) {
	t.Helper()
	req, err := http.NewRequest("GET", environment.APIURL+transactionsPath+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	code, header, text := send(t, req)
	if !environment.isRefusal(code, t.Name()) {
		t.Errorf("%s: %d %s, want the refusal of a token", path, code, text)
	}
	if code != http.StatusUnauthorized {
		return
	}
	var body map[string]string
	if err := json.Unmarshal(text, &body); err != nil || body["message"] != "Unauthorized" {
		t.Errorf("%s: 401 %s, want the message Unauthorized", path, text)
	}
	if got := header.Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("%s: WWW-Authenticate is %q, want Bearer", path, got)
	}
}

// absentTransaction is the path of a transaction that does not exist: an accepted token gets 404 there.
const absentTransaction = transactionsPath + "absent"

func TestExpiredToken(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "TokenLifetime=1")
	api := login(t, cloud)
	eventually(t, "a 401 after the token's lifetime of a second", func() bool {
		code, header, text := api.call("GET", absentTransaction, "", "")
		if code != http.StatusUnauthorized {
			if code != http.StatusNotFound {
				t.Fatalf("within the token's lifetime: %d %s, want 404", code, text)
			}
			return false
		}
		if got := header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("401 with WWW-Authenticate %q, want Bearer", got)
		}
		return true
	})
	// On a slow machine a token may expire before it is used.
	eventually(t, "a 404 with a new token", func() bool {
		code, _, _ := login(t, cloud).call("GET", absentTransaction, "", "")
		return code == http.StatusNotFound
	})
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	t.Run("batch feature", func(t *testing.T) {
		code, _, text := loginNewTenant(t).call("POST", transactionsPath+"batch/generate-upload-url", "", "")
		if code != http.StatusForbidden || !strings.Contains(string(text), "batch feature") {
			t.Errorf("without the batch feature: %d %s, want 403", code, text)
		}
	})
	for _, test := range []struct {
		permission, method, path string
		others                   [2]string
	}{
		{"BatchUpload", "POST", "batch/generate-upload-url", [2]string{"BatchRead", "TransactionRead"}},
		{"BatchRead", "GET", "batch/status/" + uuid.NewString(), [2]string{"BatchUpload", "TransactionRead"}},
		{"TransactionRead", "GET", "x", [2]string{"BatchUpload", "BatchRead"}},
	} {
		t.Run(test.permission, func(t *testing.T) {
			api := loginNewTenant(t, "--permission", test.others[0], "--permission", test.others[1])
			api.enableBatches()
			code, _, text := api.call(test.method, transactionsPath+test.path, "", "")
			if code != http.StatusForbidden || !strings.Contains(string(text), test.permission) {
				t.Errorf("without the permission: %d %s, want 403 that names it", code, text)
			}
		})
	}
}

func TestDisabledClientIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := newClient(t, environment, environment.TenantID)
	api := loginAs(t, environment, c)
	api.expectStatusOf(http.StatusNotFound, "GET", absentTransaction)
	var out any
	if err := environment.admin(&out, "client", "disable", c.ClientID); err != nil {
		t.Fatal(err)
	}
	if code, _, text := api.call("GET", absentTransaction, "", ""); !environment.isRefusal(code, t.Name()) {
		t.Errorf("with the client's token: %d %s, want the refusal of a token", code, text)
	}
	form := tokenForm(environment)
	form.Set("client_id", c.ClientID)
	form.Set("client_secret", c.ClientSecret)
	if code, _, body := postToken(t, formType, form.Encode()); code != 400 || body["error"] != "invalid_client" {
		t.Errorf("a new token: %d %v, want 400 with invalid_client", code, body)
	}
}

// Tokens of the old key are accepted after a rotation, and those that are issued afterwards too.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	before := login(t, environment)
	var keys []map[string]any
	if err := environment.admin(&keys, "key", "rotate"); err != nil || len(keys) < 2 {
		t.Fatalf("rotation: %v %v, want two keys or more", keys, err)
	}
	before.expectStatusOf(http.StatusNotFound, "GET", absentTransaction)
	login(t, environment).expectStatusOf(http.StatusNotFound, "GET", absentTransaction)
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	api := login(t, environment)
	const generate, jsonType = transactionsPath + "batch/generate-upload-url", "application/json"
	unknown := uuid.NewString()
	for _, test := range []struct {
		name, method, path, contentType, body string
		code                                  int
		content                               string
	}{
		{"malformed JSON", "POST", generate, jsonType, `{"reject_on_invalid": tru`, 422, "json_invalid"},
		{"an array", "POST", generate, jsonType, `[]`, 422, "object_type"},
		{"null", "POST", generate, jsonType, `null`, 422, "object_type"},
		{"a string for the flag", "POST", generate, jsonType, `{"reject_on_invalid": "false"}`, 422, "reject_on_invalid"},
		{"a number for the flag", "POST", generate, jsonType, `{"reject_on_invalid": 0}`, 422, "reject_on_invalid"},
		{"data after the object", "POST", generate, jsonType, `{} {}`, 422, "json_invalid"},
		{"another content type", "POST", generate, "text/plain", `{}`, 415, jsonType},
		{"no content type", "POST", generate, "", `{}`, 415, jsonType},
		{"a content type with a charset", "POST", generate, jsonType + "; charset=utf-8", `{"reject_on_invalid": false, "more": 1}`,
			200, "batch_id"},
		{"no body with a content type", "POST", generate, jsonType, ``, 200, "batch_id"},
		{"no body without a content type", "POST", generate, "", ``, 200, "batch_id"},
		{"over the limit", "POST", generate, jsonType, `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "message"},
		{"status of no UUID", "GET", transactionsPath + "batch/status/17", "", "", 422, "batch_id"},
		{"result of no UUID", "GET", transactionsPath + "batch/validation-result/17", "", "", 422, "batch_id"},
		{"status of an unknown batch", "GET", transactionsPath + "batch/status/" + unknown, "", "", 404, "Batch not found."},
		{"result of an unknown batch", "GET", transactionsPath + "batch/validation-result/" + unknown, "", "", 404, "Batch not found."},
		{"an unknown path", "GET", "/tm/realtime/api/nothing", "", "", 404, "Not found."},
		{"another method", "DELETE", generate, "", "", 404, "Not found."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.content == "Not found." {
				requires(t, responses)
			}
			code, _, text := api.call(test.method, test.path, test.contentType, test.body)
			if code != test.code || !strings.Contains(string(text), test.content) {
				t.Errorf("got %d %.200s, want %d with %q", code, text, test.code, test.content)
			}
		})
	}
}

// A path for which there is nothing is not found, whatever the method, with a token or without.
func TestUnknownPaths(t *testing.T) {
	requires(t, responses)
	t.Parallel()
	api := login(t, environment)
	for _, token := range []string{"", api.token, "not a token"} {
		api.token = token
		for _, path := range []string{"/", "/nothing", transactionsPath + "batch/generate-upload-url/more", documentQueries} {
			for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
				want := `{"message": "Not found."}`
				if method == "HEAD" {
					want = ""
				}
				code, header, text := api.call(method, path, "text/plain", "")
				if code != 404 || header.Get("Content-Type") != "application/json" || string(text) != want {
					t.Errorf(
						"%s %s: %d %s %s, want 404 application/json %s",
						method,
						path,
						code,
						header.Get("Content-Type"),
						text,
						want,
					)
				}
			}
		}
	}
}
