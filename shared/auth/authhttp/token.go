// Package authhttp serves the token endpoint, the published keys, and the authorizer that stands before every other route.
package authhttp

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"sluice/shared/auth"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
)

type issuer interface {
	Issue(ctx context.Context, issuer, clientID, secret, scope string) (string, error)
	KeySet(ctx context.Context) (any, error)
}

// Tokens is the token endpoint and what clients need to know of it.
type Tokens struct {
	Issuer   issuer
	URL      string // issuer of the tokens; "": the address of the API
	Lifetime time.Duration
}

// Routes returns the public routes.
func (s *Tokens) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: "POST", Path: "/oauth2/token", Public: true, Endpoint: s.token},
		{Method: "GET", Path: "/.well-known/jwks.json", Public: true, Endpoint: s.keys},
		{Method: "GET", Path: "/.well-known/oauth-authorization-server", Public: true, Endpoint: s.metadata},
	}
}

// TokenReply is a successful token response (RFC 6749, section 5.1).
type TokenReply struct {
	AccessToken string `json:"access_token"`
	ExpiresIn   int64  `json:"expires_in"` // seconds
	TokenType   string `json:"token_type"`
}

// NoStore is sent with every reply of the token endpoint, errors included: none of them may lie in a cache.
func NoStore() http.Header {
	return http.Header{"Cache-Control": {"no-store"}, "Pragma": {"no-cache"}}
}

func (s *Tokens) token(ctx context.Context, _ httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	form, err := readForm(r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if grant := form.Get("grant_type"); grant != "" && grant != "client_credentials" {
		return httpapi.Reply{}, fault.New(fault.BadRequest, "unsupported_grant_type", "The grant_type must be client_credentials.")
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if form.Get(name) == "" {
			return httpapi.Reply{}, fault.Newf(fault.BadRequest, "invalid_request", "The field %s is missing.", name)
		}
	}
	token, err := s.Issuer.Issue(ctx, s.issuerURL(ctx), form.Get("client_id"), form.Get("client_secret"), form.Get("scope"))
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Reply{Header: NoStore(), Body: TokenReply{token, int64(s.Lifetime / time.Second), "Bearer"}}, nil
}

// readForm reads the form, in which nothing may stand twice. Parameters of the URL count for nothing: secrets do not belong
// there.
func readForm(r *http.Request) (url.Values, error) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/x-www-form-urlencoded" {
		return nil, fault.New(fault.UnsupportedMedia, "invalid_request", "The content type must be application/x-www-form-urlencoded.")
	}
	text, err := httpapi.Body(r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(plain(string(text)))
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

// plain undoes what LocalStack's gateway does to a form: it arrives percent-encoded as a whole, without one bare "=". No form
// of the token endpoint looks like that by itself.
func plain(form string) string {
	if strings.Contains(form, "=") {
		return form
	}
	if once, err := url.PathUnescape(form); err == nil {
		return once
	}
	return form
}

func (s *Tokens) keys(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
	set, err := s.Issuer.KeySet(ctx)
	return httpapi.Reply{Header: cacheable(), Body: set}, err
}

func cacheable() http.Header {
	return http.Header{"Cache-Control": {"public, max-age=" + seconds(auth.KeySetMaxAge)}}
}

// metadata is RFC 8414, as far as it applies to client credentials.
func (s *Tokens) metadata(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
	base := s.issuerURL(ctx)
	return httpapi.Reply{Header: cacheable(), Body: map[string]any{
		"issuer":                                base,
		"token_endpoint":                        base + "/oauth2/token",
		"jwks_uri":                              base + "/.well-known/jwks.json",
		"grant_types_supported":                 []string{"client_credentials"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		"response_types_supported":              []string{},
	}}, nil
}

func (s *Tokens) issuerURL(ctx context.Context) string {
	gateway, _ := core.GetAPIGatewayContextFromContext(ctx)
	return issuerURL(s.URL, gateway.DomainName, gateway.Stage)
}

// issuerURL is the setting or, without one, the address under which API Gateway was called: the API cannot be told its own
// address when it is deployed. API Gateway answers to its own names only, so a client has no say in it.
func issuerURL(setting, domain, stage string) string {
	if setting != "" {
		return setting
	}
	return "https://" + domain + "/" + stage
}

// Errors is the shape of errors of the token endpoint (RFC 6749, section 5.2).
func Errors(e *fault.Error) any {
	code := e.Code
	switch known := []string{"invalid_request", "invalid_client", "invalid_scope", "unsupported_grant_type"}; {
	case slices.Contains(known, code):
	case e.Kind == fault.Internal || e.Kind == fault.Unavailable:
		code = "server_error"
	default:
		code = "invalid_request"
	}
	return map[string]string{"error": code, "error_description": e.Message}
}
