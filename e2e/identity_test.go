package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// postToken asks for a token with fields changed from the right ones; a value of "-" leaves a field out.
func postToken(t *testing.T, h *Home, contentType string, change url.Values) (int, http.Header, map[string]any) {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {h.ClientID}, "client_secret": {h.ClientSecret}, "scope": {h.Scope}}
	for name, values := range change {
		if form[name] = values; values[0] == "-" {
			delete(form, name)
		}
	}
	req, err := http.NewRequest("POST", h.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	code, header, text := do(t, req)
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%d %s", code, text)
	}
	return code, header, body
}

const formType = "application/x-www-form-urlencoded"

func TestTokenEndpoint(t *testing.T) {
	tests := []struct {
		name   string
		change url.Values
		code   int
		error  string
	}{
		{"right", nil, 200, ""},
		{"no grant type", url.Values{"grant_type": {"-"}}, 400, "invalid_request"},
		{"another grant type", url.Values{"grant_type": {"password"}}, 400, "unsupported_grant_type"},
		{"no client id", url.Values{"client_id": {"-"}}, 400, "invalid_request"},
		{"unknown client id", url.Values{"client_id": {uuid.NewString()}}, 400, "invalid_client"},
		{"malformed client id", url.Values{"client_id": {"me"}}, 400, "invalid_client"},
		{"two client ids", url.Values{"client_id": {home.ClientID, home.ClientID}}, 400, "invalid_request"},
		{"no secret", url.Values{"client_secret": {"-"}}, 400, "invalid_request"},
		{"wrong secret", url.Values{"client_secret": {"wrong"}}, 400, "invalid_client"},
		{"secret with a byte more", url.Values{"client_secret": {home.ClientSecret + "x"}}, 400, "invalid_client"},
		{"no scope", url.Values{"scope": {"-"}}, 400, "invalid_request"},
		{"malformed scope", url.Values{"scope": {"everything"}}, 400, "invalid_scope"},
		{"another tenant's scope", url.Values{"scope": {"tenant/" + uuid.NewString()}}, 400, "invalid_scope"},
		{"two scopes in one", url.Values{"scope": {home.Scope + " " + home.Scope}}, 400, "invalid_scope"},
	}
	for _, tt := range tests {
		code, header, body := postToken(t, home, formType, tt.change)
		got, _ := body["error"].(string)
		if code != tt.code || got != tt.error {
			t.Errorf("%s: %d %v", tt.name, code, body)
		}
		if header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", tt.name, header.Get("Cache-Control"))
		}
	}
	if code, _, body := postToken(t, home, "application/json", nil); code != 415 {
		t.Errorf("as JSON: %d %v", code, body)
	}
	resp, err := http.Post(home.TokenURL+"?client_id="+home.ClientID, formType, strings.NewReader("grant_type=client_credentials"))
	if err != nil || resp.StatusCode != 400 {
		t.Errorf("credentials in the URL: %v %v", resp, err)
	}
}

// A form may be written in several ways, and reaches the endpoint as it was sent, whatever stands in front of it.
func TestFormsInOtherWords(t *testing.T) {
	escaped := func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		return b.String()
	}
	secret, scope := url.QueryEscape(home.ClientSecret), url.QueryEscape(home.Scope)
	tests := []struct {
		name, contentType, form string
		code                    int
	}{
		{"a slash as it is", formType, "grant_type=client_credentials&client_id=" + home.ClientID + "&client_secret=" + secret + "&scope=" + home.Scope, 200},
		{"every byte escaped", formType, "grant_type=" + escaped("client_credentials") + "&client_id=" + escaped(home.ClientID) +
			"&client_secret=" + escaped(home.ClientSecret) + "&scope=" + escaped(home.Scope), 200},
		{"names escaped", formType, "grant%5ftype=client_credentials&client%5Fid=" + home.ClientID + "&client%5Fsecret=" + secret + "&scope=" + scope, 200},
		{"another order", formType, "scope=" + scope + "&client_secret=" + secret + "&client_id=" + home.ClientID + "&grant_type=client_credentials&more=%26%3D", 200},
		{"a charset", formType + "; charset=UTF-8", "grant_type=client_credentials&client_id=" + home.ClientID + "&client_secret=" + secret + "&scope=" + scope, 200},
		{"escaped twice", formType, "grant_type=client_credentials&client_id=" + home.ClientID + "&client_secret=" + secret + "&scope=" + url.QueryEscape(scope), 400},
		{"a secret that only looks escaped", formType, "grant_type=client_credentials&client_id=" + home.ClientID + "&client_secret=" +
			url.QueryEscape(escaped(home.ClientSecret)) + "&scope=" + scope, 400},
		{"a broken escape", formType, "grant_type=client_credentials&client_id=" + home.ClientID + "&client_secret=%zz&scope=" + scope, 400},
	}
	for _, tt := range tests {
		resp, err := http.Post(home.TokenURL, tt.contentType, strings.NewReader(tt.form))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tt.code {
			t.Errorf("%s: %d %s, %v; want %d", tt.name, resp.StatusCode, text, err, tt.code)
		}
	}
}

func TestTokenIsAnAccessToken(t *testing.T) {
	_, _, body := postToken(t, home, formType, nil)
	token := body["access_token"].(string)
	if body["token_type"] != "Bearer" || body["expires_in"] != 3600.0 || len(body) != 3 {
		t.Errorf("%v", body)
	}
	header, claims := part(t, token, 0), part(t, token, 1)
	if header["typ"] != "at+jwt" || header["alg"] != "ES256" {
		t.Errorf("header %v", header)
	}
	if claims["iss"] != home.issuer() || claims["sub"] != home.ClientID || claims["client_id"] != home.ClientID ||
		claims["scope"] != home.Scope || claims["jti"] == "" || claims["exp"].(float64)-claims["iat"].(float64) != 3600 || claims["aud"] == nil {
		t.Errorf("claims %v", claims)
	}
	_, _, text := (&door{t: t, home: home}).call("GET", "/.well-known/oauth-authorization-server", "", "")
	var metadata map[string]any
	if err := json.Unmarshal(text, &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata["issuer"] != home.issuer() || metadata["token_endpoint"] != home.TokenURL {
		t.Errorf("metadata %v", metadata)
	}
	resp, err := http.Get(metadata["jwks_uri"].(string))
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		Keys []map[string]any `json:"keys"`
	}
	decode(t, resp, 200, &keys)
	if len(keys.Keys) != 1 || keys.Keys[0]["kid"] != header["kid"] || keys.Keys[0]["d"] != nil {
		t.Errorf("keys %v", keys)
	}
}

func part(t *testing.T, token string, i int) map[string]any {
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
	good := enter(t, home).token
	parts := strings.Split(good, ".")
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt"}`)) + "." + parts[1] + "."
	claims := part(t, good, 1)
	claims["scope"] = "tenant/" + uuid.NewString()
	changed, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	for name, authorization := range map[string]string{
		"no token":          "",
		"another scheme":    "Basic " + good,
		"no scheme":         good,
		"not a token":       "Bearer nonsense",
		"no signature":      "Bearer " + unsigned,
		"changed claims":    "Bearer " + parts[0] + "." + base64.RawURLEncoding.EncodeToString(changed) + "." + parts[2],
		"another signature": "Bearer " + parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		"unknown key":       "Bearer " + base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"x"}`)) + "." + parts[1] + "." + parts[2],
	} {
		for _, path := range []string{"batch/status/" + uuid.NewString(), "some-transaction"} {
			req, err := http.NewRequest("GET", home.APIURL+base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if authorization != "" {
				req.Header.Set("Authorization", authorization)
			}
			code, header, text := do(t, req)
			if !home.refused(code, t.Name()) {
				t.Errorf("%s: %d %s", name, code, text)
			}
			if code != 401 {
				continue
			}
			var body map[string]string
			if err := json.Unmarshal(text, &body); err != nil || body["message"] != "Unauthorized" || header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: %d %s, WWW-Authenticate %q", name, code, text, header.Get("WWW-Authenticate"))
			}
		}
	}
}

func TestExpiredToken(t *testing.T) {
	h := another(t, "TokenLifetime=1")
	d := enter(t, h)
	if code, _, text := d.call("GET", base+"nothing", "", ""); code != 404 && code != 401 {
		t.Errorf("fresh: %d %s", code, text)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		code, header, text := d.call("GET", base+"nothing", "", "")
		if code == 401 {
			if header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("401 without WWW-Authenticate: %s", text)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %d after its lifetime", code)
		}
	}
	if code, _, _ := enter(t, h).call("GET", base+"nothing", "", ""); code != 404 {
		t.Errorf("a new token: %d", code)
	}
}

func TestForbidden(t *testing.T) {
	d := anotherTenant(t, home, false)
	code, _, text := d.call("POST", base+"batch/generate-upload-url", "", "")
	if code != 403 || !strings.Contains(string(text), "batch feature") {
		t.Errorf("without the batch feature: %d %s", code, text)
	}
	for permission, path := range map[string]string{
		"BatchUpload": "batch/generate-upload-url", "BatchRead": "batch/status/" + uuid.NewString(), "TransactionRead": "x",
	} {
		others := map[string][]string{
			"BatchUpload": {"BatchRead", "TransactionRead"}, "BatchRead": {"BatchUpload", "TransactionRead"},
			"TransactionRead": {"BatchUpload", "BatchRead"},
		}[permission]
		d := anotherTenant(t, home, true, others...)
		method := "GET"
		if permission == "BatchUpload" {
			method = "POST"
		}
		if code, _, text := d.call(method, base+path, "", ""); code != 403 || !strings.Contains(string(text), permission) {
			t.Errorf("without %s: %d %s", permission, code, text)
		}
	}
}

func TestDisabledClientIsOutAtOnce(t *testing.T) {
	c := newClient(t, home, home.TenantID)
	d := enterAsClient(t, home, c)
	if code, _, text := d.call("GET", base+"nothing", "", ""); code != 404 {
		t.Fatalf("%d %s", code, text)
	}
	var out any
	if err := home.admin(&out, "client", "disable", c.ClientID); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := d.call("GET", base+"nothing", "", ""); !home.refused(code, t.Name()) {
		t.Errorf("its token: %d", code)
	}
	if code, _, body := postToken(t, home, formType, url.Values{"client_id": {c.ClientID}, "client_secret": {c.ClientSecret}}); code != 400 || body["error"] != "invalid_client" {
		t.Errorf("a new token: %d %v", code, body)
	}
}

// Tokens of the old key are taken while the new key is on its way, and nothing is refused in between.
func TestKeyRotation(t *testing.T) {
	d := enter(t, home)
	var keys []map[string]any
	if err := home.admin(&keys, "key", "rotate"); err != nil || len(keys) < 2 {
		t.Fatalf("%v %v", keys, err)
	}
	if code, _, _ := d.call("GET", base+"nothing", "", ""); code != 404 {
		t.Errorf("a token of before: %d", code)
	}
	if code, _, _ := enter(t, home).call("GET", base+"nothing", "", ""); code != 404 {
		t.Errorf("a token of after: %d", code)
	}
}

func TestBadRequests(t *testing.T) {
	d := enter(t, home)
	generate := base + "batch/generate-upload-url"
	tests := []struct {
		name, method, path, contentType, body string
		code                                  int
		says                                  string
	}{
		{"malformed JSON", "POST", generate, "application/json", `{"reject_on_invalid": tru`, 422, "json_invalid"},
		{"an array", "POST", generate, "application/json", `[]`, 422, "object_type"},
		{"null", "POST", generate, "application/json", `null`, 422, "object_type"},
		{"a string for the flag", "POST", generate, "application/json", `{"reject_on_invalid": "false"}`, 422, "reject_on_invalid"},
		{"a number for the flag", "POST", generate, "application/json", `{"reject_on_invalid": 0}`, 422, "reject_on_invalid"},
		{"data behind the object", "POST", generate, "application/json", `{} {}`, 422, "json_invalid"},
		{"another content type", "POST", generate, "text/plain", `{}`, 415, "application/json"},
		{"no content type", "POST", generate, "", `{}`, 415, "application/json"},
		{"a content type with a charset", "POST", generate, "application/json; charset=utf-8", `{"reject_on_invalid": false, "more": 1}`, 200, "batch_id"},
		{"no body, any content type", "POST", generate, "application/json", ``, 200, "batch_id"},
		{"over the limit", "POST", generate, "application/json", `{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "message"},
		{"no UUID", "GET", base + "batch/status/17", "", "", 422, "batch_id"},
		{"no UUID", "GET", base + "batch/validation-result/17", "", "", 422, "batch_id"},
		{"an unknown batch", "GET", base + "batch/status/" + uuid.NewString(), "", "", 404, "Batch not found."},
		{"an unknown batch", "GET", base + "batch/validation-result/" + uuid.NewString(), "", "", 404, "Batch not found."},
		{"an unknown path", "GET", "/tm/realtime/api/nothing", "", "", 404, "Not found."},
		{"another method", "DELETE", generate, "", "", 404, "Not found."},
	}
	for _, tt := range tests {
		if tt.says == "Not found." && !home.can(responses, t.Name()+", "+tt.name) {
			continue
		}
		code, _, text := d.call(tt.method, tt.path, tt.contentType, tt.body)
		if code != tt.code || !strings.Contains(string(text), tt.says) {
			t.Errorf("%s: %s %s: %d %.200s; want %d with %q", tt.name, tt.method, tt.path, code, text, tt.code, tt.says)
		}
	}
}

// Whatever is asked for where there is nothing, with a token or without, is not found.
func TestWhereThereIsNothing(t *testing.T) {
	d := enter(t, home)
	for _, token := range []string{"", d.token, "no token"} {
		d.token = token
		for _, path := range []string{"/", "/nothing", base + "batch/generate-upload-url/more", documentQueries} {
			for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "DELETE"} {
				code, header, text := d.call(method, path, "text/plain", "")
				body := string(text) == `{"message": "Not found."}`
				if code != 404 || header.Get("Content-Type") != "application/json" || body == (method == "HEAD") {
					t.Errorf("%s %s: %d %v %s", method, path, code, header, text)
				}
			}
		}
	}
}
