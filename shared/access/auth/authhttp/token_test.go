package authhttp_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/access/auth"
	"sluice/shared/access/httpapi"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestToken(t *testing.T) {
	id := newIdentity(t, "")
	status, body, header := id.post(t, id.form().Encode(), nil)
	if status != 200 || body["expires_in"] != 3600.0 || body["token_type"] != "Bearer" || len(body) != 3 {
		t.Fatalf("got %d %v, want 200 with a token", status, body)
	}
	if header["Cache-Control"][0] != "no-store" || header["Pragma"][0] != "no-cache" ||
		header["Content-Type"][0] != "application/json" {
		t.Errorf("got the headers %v, want no-store, no-cache and application/json", header)
	}
	for name, change := range map[string]func(*events.APIGatewayProxyRequest){
		"base64": func(e *events.APIGatewayProxyRequest) {
			e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(e.Body)), true
		},
		"encoded as a whole": func(e *events.APIGatewayProxyRequest) { e.Body = url.QueryEscape(e.Body) },
		"with a charset": func(e *events.APIGatewayProxyRequest) {
			setContentType(e, "application/x-www-form-urlencoded; charset=UTF-8")
		},
		"in upper case": func(e *events.APIGatewayProxyRequest) {
			setContentType(e, "Application/X-WWW-Form-Urlencoded")
		},
		"with other fields":   func(e *events.APIGatewayProxyRequest) { e.Body += "&resource=x" },
		"with the URL's":      func(e *events.APIGatewayProxyRequest) { setQuery(e, "scope", "tenant/other") },
		"with an empty field": func(e *events.APIGatewayProxyRequest) { e.Body += "&audience=" },
	} {
		t.Run(name, func(t *testing.T) {
			if status, body, _ := id.post(t, id.form().Encode(), change); status != 200 {
				t.Errorf("got %d %v, want 200", status, body)
			}
		})
	}
	if strings.Contains(id.log.String(), id.secret) || strings.Contains(id.log.String(),
		body["access_token"].(string)) {
		t.Error("the log holds a secret")
	}
}

// setContentType sets the content type of an event.
func setContentType(e *events.APIGatewayProxyRequest, value string) {
	e.Headers["Content-Type"], e.MultiValueHeaders["Content-Type"] = value, []string{value}
}

// setQuery sets a query parameter of an event.
func setQuery(e *events.APIGatewayProxyRequest, name, value string) {
	e.MultiValueQueryStringParameters = map[string][]string{name: {value}}
}

// Every error is a 400 with a code of RFC 6749 that no cache may keep.
func TestRefusedTokenRequests(t *testing.T) {
	id := newIdentity(t, "")
	with := func(name string, values ...string) string {
		form := id.form()
		form[name] = values
		return form.Encode()
	}
	tests := []struct{ name, body, code string }{
		{"empty", "", "invalid_request"},
		{"not a form", "{}", "invalid_request"},
		{"a broken escape", "grant_type=%zz", "invalid_request"},
		{"a semicolon", "grant_type=client_credentials;client_id=x", "invalid_request"},
		{"no grant_type", with("grant_type"), "invalid_request"},
		{"an empty grant_type", with("grant_type", ""), "invalid_request"},
		{"another grant_type", with("grant_type", "password"), "unsupported_grant_type"},
		{"only another grant_type", "grant_type=authorization_code", "unsupported_grant_type"},
		{"no client_id", with("client_id"), "invalid_request"},
		{"no client_secret", with("client_secret"), "invalid_request"},
		{"an empty client_secret", with("client_secret", ""), "invalid_request"},
		{"no scope", with("scope"), "invalid_request"},
		{"grant_type twice", with("grant_type", "client_credentials", "client_credentials"), "invalid_request"},
		{"client_id twice", with("client_id", id.client.ID, id.client.ID), "invalid_request"},
		{"scope twice", with("scope", "tenant/"+id.tenant.ID, ""), "invalid_request"},
		{"an unknown field twice", id.form().Encode() + "&x=1&x=2", "invalid_request"},
		{"another client", with("client_id", uuid.NewString()), "invalid_client"},
		{"a client that is not UTF-8", with("client_id", "\xff\x00"), "invalid_client"},
		{"a very long client", with("client_id", strings.Repeat("x", 10_000)), "invalid_client"},
		{"another secret", with("client_secret", "x"), "invalid_client"},
		{"a secret with a space", with("client_secret", id.secret+" "), "invalid_client"},
		{"another tenant", with("scope", "tenant/"+uuid.NewString()), "invalid_scope"},
		{"no tenant", with("scope", "tenant/"), "invalid_scope"},
		{"another kind of scope", with("scope", "openid"), "invalid_scope"},
		{"two scopes", with("scope", "tenant/"+id.tenant.ID+" openid"), "invalid_scope"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body, header := id.post(t, tt.body, nil)
			if status != 400 || body["error"] != tt.code || body["error_description"] == "" || len(body) != 2 {
				t.Errorf("got %d %v, want 400 %s with a description", status, body, tt.code)
			}
			if header["Cache-Control"][0] != "no-store" || header["Pragma"][0] != "no-cache" {
				t.Errorf("got the headers %v, want no-store and no-cache", header)
			}
		})
	}
	secret, hash := auth.NewSecret()
	errtest.Fatal(t, errtest.Of(id.registry.AddSecret(t.Context(), id.client.ID, hash, time.Time{})))
	for _, form := range []string{id.form().Encode(), with("client_secret", secret)} {
		if status, body, _ := id.post(t, form, nil); status != 200 {
			t.Errorf("one of two secrets: got %d %v, want 200", status, body)
		}
	}
	errtest.Fatal(t, errtest.Of(id.registry.RemoveSecret(t.Context(), id.client.ID, false)))
	if status, _, _ := id.post(t, id.form().Encode(), nil); status != 400 {
		t.Errorf("a secret that was removed: got %d, want 400", status)
	}
	if status, _, _ := id.post(t, with("client_secret", secret), nil); status != 200 {
		t.Errorf("the secret that is left: got %d, want 200", status)
	}
	errtest.Fatal(t, errtest.Of(id.registry.DisableClient(t.Context(), id.client.ID)))
	if status, body, _ := id.post(t, id.form().Encode(), nil); status != 400 || body["error"] != "invalid_client" {
		t.Errorf("a disabled client: got %d %v, want 400 invalid_client", status, body)
	}
}

func TestOtherTokenErrors(t *testing.T) {
	id := newIdentity(t, "")
	for _, contentType := range []string{"", "application/json", "multipart/form-data; boundary=x", "text/plain"} {
		status, body, _ := id.post(t, id.form().Encode(),
			func(e *events.APIGatewayProxyRequest) { setContentType(e, contentType) })
		if status != 415 || body["error"] != "invalid_request" {
			t.Errorf("%q: got %d %v, want 415 invalid_request", contentType, status, body)
		}
	}
	if status, body, _ := id.post(t, "x="+strings.Repeat("x", httpapi.DefaultMaxBody), nil); status != 413 ||
		body["error"] != "invalid_request" {
		t.Errorf("a form over the limit: got %d %v, want 413 invalid_request", status, body)
	}
	id.registry.Fail = func(string) error { return errors.New("a secret of the store") }
	status, body, _ := id.post(t, id.form().Encode(), nil)
	want := map[string]any{"error": "server_error", "error_description": "Internal server error."}
	if diff := cmp.Diff(want, body); status != 500 || diff != "" {
		t.Errorf("got %d, want 500; want (-), got (+):\n%s", status, diff)
	}
}

// get reads a public document.
func (id *identity) get(t *testing.T, path string) (map[string]any, map[string][]string) {
	t.Helper()
	var e events.APIGatewayProxyRequest
	readSampleEvent(t, "token", &e)
	e.HTTPMethod, e.Path, e.Body = "GET", path, ""
	status, body, header := id.send(t, e)
	if status != 200 {
		t.Fatalf("%s: got %d %v, want 200", path, status, body)
	}
	return body, header
}

func TestKeysAndMetadata(t *testing.T) {
	id := newIdentity(t, "https://issuer.test")
	set, header := id.get(t, "/.well-known/jwks.json") // before the first token
	keys := set["keys"].([]any)
	if len(keys) != 1 || keys[0].(map[string]any)["crv"] != "P-256" {
		t.Errorf("got %v, want one key on P-256", set)
	}
	if want := fmt.Sprintf("public, max-age=%d",
		int(auth.KeySetMaxAge/time.Second)); header["Cache-Control"][0] != want {
		t.Errorf("got Cache-Control %v, want %s", header["Cache-Control"], want)
	}
	if auth.KeySetMaxAge >= auth.KeySetLifetime {
		t.Errorf("caches keep the keys for %v, longer than the %v of a key set", auth.KeySetMaxAge, auth.KeySetLifetime)
	}
	got, _ := id.get(t, "/.well-known/oauth-authorization-server")
	want := map[string]any{
		"issuer": "https://issuer.test", "token_endpoint": "https://issuer.test/oauth2/token",
		"jwks_uri":                              "https://issuer.test/.well-known/jwks.json",
		"grant_types_supported":                 []any{"client_credentials"},
		"token_endpoint_auth_methods_supported": []any{"client_secret_basic", "client_secret_post"},
		"response_types_supported":              []any{},
	}
	difftest.Equal(t, "the result", want, got)
	derived, _ := newIdentity(t, "").get(t, "/.well-known/oauth-authorization-server")
	if derived["issuer"] != "https://abc123.execute-api.eu-central-1.amazonaws.com/live" {
		t.Errorf("got the issuer %v, want the address of the API", derived["issuer"])
	}
}

// A custom domain is mapped to the stage: its addresses do not contain the stage.
func TestMetadataOfACustomDomain(t *testing.T) {
	id := newIdentity(t, "")
	var e events.APIGatewayProxyRequest
	readSampleEvent(t, "token", &e)
	e.HTTPMethod, e.Path, e.Body = "GET", "/.well-known/oauth-authorization-server", ""
	e.RequestContext.DomainName = "api.bank.example"
	_, body, _ := id.send(t, e)
	if body["issuer"] != "https://api.bank.example" ||
		body["token_endpoint"] != "https://api.bank.example/oauth2/token" {
		t.Errorf("got %v, want addresses below https://api.bank.example", body)
	}
}

// Credentials may come by HTTP Basic instead of the form (RFC 6749, section 2.3.1), and not by both.
func TestBasicCredentials(t *testing.T) {
	id := newIdentity(t, "")
	encoded := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
	}
	good := encoded(id.client.ID, id.secret)
	const invalidRequest, invalidClient = "invalid_request", "invalid_client"
	for _, tt := range []struct {
		name    string
		headers []string
		form    map[string]string // fields beside grant_type and scope
		code    string            // "" for a token
	}{
		{"right", []string{good}, nil, ""},
		{"the scheme in lower case", []string{"basic" + good[5:]}, nil, ""},
		{"every byte escaped", []string{encoded(strings.ReplaceAll(id.client.ID, "-", "%2D"),
			"%"+fmt.Sprintf("%02x", id.secret[0])+id.secret[1:])}, nil, ""},
		{"the ID in the form too", []string{good}, map[string]string{"client_id": id.client.ID}, ""},
		{"another ID in the form", []string{good}, map[string]string{"client_id": uuid.NewString()}, invalidRequest},
		{"the secret in the form too", []string{good}, map[string]string{"client_secret": id.secret}, invalidRequest},
		{"both", []string{good}, map[string]string{"client_id": id.client.ID, "client_secret": id.secret},
			invalidRequest},
		{"twice", []string{good, good}, nil, invalidRequest},
		{"not base64", []string{"Basic ***"}, nil, invalidRequest},
		{"no colon", []string{"Basic " + base64.StdEncoding.EncodeToString([]byte("x"))}, nil, invalidRequest},
		{"a broken escape", []string{encoded(id.client.ID, "%zz")}, nil, invalidRequest},
		{"nothing", []string{"Basic"}, nil, invalidRequest},
		{"no secret", []string{encoded(id.client.ID, "")}, nil, invalidRequest},
		{"another secret", []string{encoded(id.client.ID, "x")}, nil, invalidClient},
		{"another client", []string{encoded(uuid.NewString(), id.secret)}, nil, invalidClient},
		{"another scheme", []string{"Bearer x"}, nil, invalidRequest},
		{"another scheme beside the form", []string{"Bearer x"},
			map[string]string{"client_id": id.client.ID, "client_secret": id.secret}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			form := id.form()
			form.Del("client_id")
			form.Del("client_secret")
			for name, value := range tt.form {
				form.Set(name, value)
			}
			status, body, header := id.post(t, form.Encode(), func(e *events.APIGatewayProxyRequest) {
				e.MultiValueHeaders["Authorization"] = tt.headers
			})
			wantStatus := 400
			if tt.code == "" {
				wantStatus = 200
			}
			if code, _ := body["error"].(string); status != wantStatus || code != tt.code {
				t.Errorf("got %d %v, want %d with the error %q", status, body, wantStatus, tt.code)
			}
			challenge := strings.Join(header["Www-Authenticate"], " ")
			if strings.HasPrefix(challenge, "Basic") != (tt.code == invalidClient) {
				t.Errorf("got WWW-Authenticate %q with the error %q", challenge, tt.code)
			}
			if header["Cache-Control"][0] != "no-store" {
				t.Errorf("got the headers %v, want no-store", header)
			}
		})
	}
	if strings.Contains(id.log.String(), id.secret) {
		t.Error("the log holds the secret")
	}
}
