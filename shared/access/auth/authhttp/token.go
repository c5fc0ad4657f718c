// Package authhttp serves the token endpoint and the published keys, and authorizes the requests of every other route.
package authhttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/auth"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
)

// tokenIssuer issues tokens and publishes the keys that verify them.
type tokenIssuer interface {
	Issue(ctx context.Context, issuer, clientID, secret, scope string) (string, error)
	KeySet(ctx context.Context) (any, error)
}

// Tokens answers the public routes: the token endpoint, its metadata and its keys.
type Tokens struct {
	Issuer tokenIssuer
	// URL is the issuer in tokens; "" means the address of the API.
	URL string
	// Lifetime is how long a token is valid.
	Lifetime time.Duration
}

// Routes returns the public routes.
func (s *Tokens) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodPost, Path: "/oauth2/token", Public: true, Limit: ratelimit.TokenRequests,
			Endpoint: s.token},
		{Method: http.MethodGet, Path: "/.well-known/jwks.json", Public: true, Limit: ratelimit.WholeAPI,
			Endpoint: s.keys},
		{Method: http.MethodGet, Path: "/.well-known/oauth-authorization-server", Public: true,
			Limit: ratelimit.WholeAPI, Endpoint: s.metadata},
	}
}

// uncacheable is sent with every reply of the token endpoint, errors included: no cache may keep any of them.
func uncacheable() http.Header {
	return http.Header{"Cache-Control": {"no-store"}, "Pragma": {"no-cache"}}
}

// cacheable is sent with what may be kept as long as the key set.
func cacheable() http.Header {
	return http.Header{"Cache-Control": {fmt.Sprintf("public, max-age=%d", int64(auth.KeySetMaxAge/time.Second))}}
}

// Errors is the convention for errors of the public routes (RFC 6749, section 5.2).
var Errors = httpapi.ErrorFormat{Body: errorBody, Header: uncacheable()}

func errorBody(e *fault.Error, _ int, _ *http.Request) any {
	code := e.Code
	switch rfcCodes := []string{"invalid_request", "invalid_client", "invalid_scope", "unsupported_grant_type"}; {
	case slices.Contains(rfcCodes, code):
	case e.Kind == fault.Internal || e.Kind == fault.Unavailable:
		code = "server_error"
	case e.Kind == fault.Throttled:
		code = "temporarily_unavailable"
	default:
		code = "invalid_request"
	}
	return map[string]string{"error": code, "error_description": e.Message}
}

// token issues a token for client credentials.
func (s *Tokens) token(ctx context.Context, _ httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	form, err := readForm(r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	audit.SetClaimedCaller(ctx, claimedTenant(form.Get("scope")), form.Get("client_id"), "")
	if grant := form.Get("grant_type"); grant != "" && grant != "client_credentials" {
		return httpapi.Reply{}, fault.New(fault.BadRequest, "unsupported_grant_type",
			"The grant_type must be client_credentials.")
	}
	client, err := readCredentials(r, form)
	audit.SetClaimedCaller(ctx, claimedTenant(form.Get("scope")), client.clientID, "")
	if err != nil {
		return httpapi.Reply{}, err
	}
	for _, field := range []struct{ name, value string }{{"grant_type", form.Get("grant_type")},
		{"client_id", client.clientID}, {"client_secret", client.secret}, {"scope", form.Get("scope")}} {
		if field.value == "" {
			return httpapi.Reply{}, fault.Newf(fault.BadRequest, "invalid_request", "The field %s is missing.",
				field.name)
		}
	}
	token, err := s.Issuer.Issue(ctx, s.issuerURL(ctx), client.clientID, client.secret, form.Get("scope"))
	if errors.Is(err, auth.ErrInvalidClient) {
		audit.SetDenied(ctx)
		return httpapi.Reply{Header: client.challenge()}, err
	}
	if err != nil {
		return httpapi.Reply{}, err
	}
	claims := unverifiedClaims(token)
	audit.SetCaller(ctx, claims.tenant(), claims.Client, claims.TokenID)
	reply := wire.Token{AccessToken: token, ExpiresIn: int64(s.Lifetime / time.Second), TokenType: "Bearer"}
	return httpapi.Reply{Header: uncacheable(), Body: reply}, nil
}

// readForm reads the form, in which no field may appear twice. Parameters of the URL are ignored: secrets do not belong
// there.
func readForm(r *http.Request) (url.Values, error) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		t != "application/x-www-form-urlencoded" {
		return nil, fault.New(fault.UnsupportedMedia, "invalid_request",
			"The content type must be application/x-www-form-urlencoded.")
	}
	text, err := httpapi.ReadAll(r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(undoDoubleEncoding(string(text)))
	if err != nil {
		return nil, fault.New(fault.BadRequest, "invalid_request", "The body is not a valid form.")
	}
	for name, values := range form {
		if len(values) > 1 {
			return nil, fault.Newf(fault.BadRequest, "invalid_request", "The field %s is given more than once.", name)
		}
	}
	return form, nil
}

// undoDoubleEncoding undoes what LocalStack's gateway does to a form: the form arrives percent-encoded as a whole,
// without a bare "=". No valid form of the token endpoint looks like that by itself.
func undoDoubleEncoding(form string) string {
	if strings.Contains(form, "=") {
		return form
	}
	if decoded, err := url.PathUnescape(form); err == nil {
		return decoded
	}
	return form
}

// keys returns the keys that verify tokens.
func (s *Tokens) keys(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
	set, err := s.Issuer.KeySet(ctx)
	return httpapi.Reply{Header: cacheable(), Body: set}, err
}

// metadata returns what RFC 8414 asks of a server that knows only client credentials.
func (s *Tokens) metadata(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
	base := s.issuerURL(ctx)
	return httpapi.Reply{Header: cacheable(), Body: map[string]any{
		"issuer":                                base,
		"token_endpoint":                        base + "/oauth2/token",
		"jwks_uri":                              base + "/.well-known/jwks.json",
		"grant_types_supported":                 []string{"client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"response_types_supported":              []string{},
	}}, nil
}

func (s *Tokens) issuerURL(ctx context.Context) string {
	gateway := httpapi.GatewayOf(ctx)
	return httpapi.APIURL(s.URL, gateway.DomainName, gateway.Stage)
}

// tokenClaims are the claims of a token that the audit trail names.
type tokenClaims struct {
	Client  string `json:"client_id"`
	Scope   string `json:"scope"`
	TokenID string `json:"jti"`
}

// unverifiedClaims returns the claims of a token without verification; zero if they cannot be read.
func unverifiedClaims(token string) tokenClaims {
	var c tokenClaims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &c) != nil {
		return tokenClaims{}
	}
	return c
}

func (c tokenClaims) tenant() string { return claimedTenant(c.Scope) }

// claimedTenant returns the tenant that a scope names, "" if it names none.
func claimedTenant(scope string) string {
	tenant, _ := strings.CutPrefix(scope, "tenant/")
	if tenant == scope {
		return ""
	}
	return tenant
}

// credentials prove the identity of a client.
type credentials struct {
	clientID, secret string
	// isBasic reports that they came by HTTP Basic and not in the form.
	isBasic bool
}

// challenge returns the header of the refusal of the credentials: those of HTTP Basic are asked for again (RFC 6749,
// section 5.2).
func (c credentials) challenge() http.Header {
	if !c.isBasic {
		return nil
	}
	return http.Header{"Www-Authenticate": {`Basic realm="sluice"`}}
}

// readCredentials reads a client's credentials from the Authorization header (client_secret_basic) or from the form
// (client_secret_post), and never from both: RFC 6749, section 2.3, allows one method for each request. The form may
// repeat the ID of the header.
func readCredentials(r *http.Request, form url.Values) (credentials, error) {
	c := credentials{clientID: form.Get("client_id"), secret: form.Get("client_secret")}
	header, ok, err := basicHeader(r)
	if err != nil || !ok {
		return c, err
	}
	if c.secret != "" || c.clientID != "" && c.clientID != header.clientID {
		return header, fault.New(fault.BadRequest, "invalid_request",
			"The credentials are given twice: by HTTP Basic and in the form. Use one of the two.")
	}
	return header, nil
}

// basicHeader returns the credentials of the Authorization header, false if there are none. Another scheme than Basic
// is ignored.
func basicHeader(r *http.Request) (credentials, bool, error) {
	for _, value := range r.Header.Values("Authorization") {
		scheme, encoded, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "Basic") {
			continue
		}
		c := credentials{isBasic: true}
		text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
		id, secret, found := strings.Cut(string(text), ":")
		if err == nil {
			c.clientID, err = url.QueryUnescape(id) // RFC 6749, section 2.3.1
		}
		if err == nil {
			c.secret, err = url.QueryUnescape(secret)
		}
		if err != nil || !found || len(r.Header.Values("Authorization")) > 1 {
			return c, true, fault.New(fault.BadRequest, "invalid_request",
				"The Authorization header must be Basic and the base64 of client_id:client_secret, given once.")
		}
		return c, true, nil
	}
	return credentials{}, false, nil
}
