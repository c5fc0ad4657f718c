package authhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/auth"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/tenancy"
	"sluice/shared/kit/routing"
)

// tokenVerifier returns the claims of a token. The error is auth.ErrInvalidToken if the token is not valid now, or was
// not issued by issuer.
type tokenVerifier interface {
	Verify(ctx context.Context, issuer, token string) (auth.Claims, error)
}

// clientReader reads a client and a tenant. The error is auth.ErrNotFound if either does not exist.
type clientReader interface {
	ClientAndTenant(ctx context.Context, client, tenant string) (auth.Client, auth.Tenant, error)
}

// Authorizer turns a bearer token into the caller that the functions are given. The rights of the client are read for
// each request: disabling a client or a feature has effect at once, even for existing tokens.
type Authorizer struct {
	Tokens   tokenVerifier
	Registry clientReader
	// Issuer is the issuer of valid tokens; "" means the address of the API.
	Issuer string
	// Audit gets a record of each request that is not authorized; nil for none. The function to which the others go
	// records them.
	Audit *audit.Log
	Log   *slog.Logger
}

// AuthorizerRequest is the event of a REQUEST authorizer, with the fields of its context that package events leaves
// out.
type AuthorizerRequest struct {
	events.APIGatewayCustomAuthorizerRequestTypeRequest
	RequestContext AuthorizerContext `json:"requestContext"`
}

// AuthorizerContext is the request context of an authorizer's event.
type AuthorizerContext struct {
	events.APIGatewayCustomAuthorizerRequestTypeRequestContext
	Identity events.APIGatewayRequestIdentity `json:"identity"`
	// DomainName is the host under which the API was called.
	DomainName   string `json:"domainName"`
	DomainPrefix string `json:"domainPrefix"`
	Protocol     string `json:"protocol"`
	RequestTime  string `json:"requestTime"`
	// RequestTimeEpoch is in milliseconds.
	RequestTimeEpoch  int64  `json:"requestTimeEpoch"`
	ExtendedRequestID string `json:"extendedRequestId"`
}

// The reasons for which a request is not authorized. The client is not told which.
var (
	errTokenMissing   = fmt.Errorf("%w: there is no bearer token", auth.ErrInvalidToken)
	errClientDisabled = fmt.Errorf("%w: the client is disabled", auth.ErrInvalidToken)
)

// errUnauthorized has the one text that API Gateway answers with 401; it answers every other error with 500.
var errUnauthorized = errors.New("Unauthorized")

// Run authorizes one request.
func (a *Authorizer) Run(ctx context.Context, r AuthorizerRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
	ctx = audit.WithRequestID(ctx, r.RequestContext.RequestID)
	c, err := a.identifyCaller(ctx, r)
	if err != nil {
		a.record(ctx, r, err)
	}
	if errors.Is(err, auth.ErrInvalidToken) || errors.Is(err, auth.ErrNotFound) {
		a.Log.InfoContext(ctx, "request was not authorized", "reason", err)
		return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
	}
	if err != nil {
		a.Log.ErrorContext(ctx, "cannot authorize", "error", err)
		return events.APIGatewayCustomAuthorizerResponse{}, errors.New("the client registry cannot be read")
	}
	values := c.Context()
	if r.isGreedy() {
		values[httpapi.ContextRoute], _ = r.route()
	}
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: c.Client,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Action: []string{"execute-api:Invoke"}, Effect: "Allow", Resource: []string{stageARN(r.MethodArn)},
			}},
		},
		Context: values,
	}, nil
}

// record writes the record of a request that is not authorized because of err. It names whom the token claims to be of.
func (a *Authorizer) record(ctx context.Context, r AuthorizerRequest, err error) {
	path, parameters := r.route()
	ctx, trail := audit.NewContext(ctx, audit.Record{
		Method: r.HTTPMethod, Route: path, Source: r.RequestContext.Identity.SourceIP,
		Outcome: audit.Denied, Status: http.StatusUnauthorized,
	}, a.Audit)
	token, _ := bearerToken(r)
	claims := unverifiedClaims(token)
	audit.SetClaimedCaller(ctx, claims.tenant(), claims.Client, claims.TokenID)
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		audit.AddObject(ctx, name, parameters[name])
	}
	switch {
	case errors.Is(err, errTokenMissing):
		trail.Reason = "token_missing"
	case errors.Is(err, errClientDisabled):
		trail.Reason = "client_disabled"
	case errors.Is(err, auth.ErrNotFound):
		trail.Reason = "client_unknown"
	case errors.Is(err, auth.ErrInvalidToken):
		trail.Reason = "token_invalid"
	default:
		trail.Outcome, trail.Status, trail.Reason = audit.Failed, http.StatusInternalServerError, "internal"
	}
	a.Audit.Write(ctx, trail.Record)
}

// isGreedy reports whether the gateway has a greedy path, and not the route, of a request.
func (r AuthorizerRequest) isGreedy() bool { return strings.HasSuffix(r.Resource, "+}") }

// operations are the routes of the interface with their paths.
var operations = sync.OnceValue(func() *routing.Table[string] {
	var all routing.Table[string]
	for line := range strings.Lines(wire.Operations) {
		method, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all.Add(method, path, path)
	}
	return &all
})

// route returns the path of the route of a request, with its parameters by name. It is / if there is no such route, as
// in the records of functions.
func (r AuthorizerRequest) route() (path string, parameters map[string]string) {
	if !r.isGreedy() {
		return r.Resource, r.PathParameters
	}
	path, parameters, _ = operations().Find(r.HTTPMethod, r.Path)
	return cmp.Or(path, "/"), parameters
}

func (a *Authorizer) identifyCaller(ctx context.Context, r AuthorizerRequest) (httpapi.Caller, error) {
	token, ok := bearerToken(r)
	if !ok {
		return httpapi.Caller{}, errTokenMissing
	}
	claims, err := a.Tokens.Verify(ctx, httpapi.APIURL(a.Issuer, r.RequestContext.DomainName, r.RequestContext.Stage),
		token)
	if err != nil {
		return httpapi.Caller{}, err
	}
	client, tenant, err := a.Registry.ClientAndTenant(ctx, claims.Client, claims.Tenant)
	if err != nil {
		return httpapi.Caller{}, err
	}
	if client.Disabled {
		return httpapi.Caller{}, errClientDisabled
	}
	if client.Tenant != tenant.ID {
		return httpapi.Caller{}, fmt.Errorf("%w: the client is another tenant's", auth.ErrInvalidToken)
	}
	c := httpapi.Caller{
		Tenant: tenant.ID, Client: client.ID, TokenID: claims.TokenID, Permissions: client.Permissions,
		Layers:     client.AccessLayers,
		Attributes: tenant.Attributes(), Expires: claims.Expires,
	}
	if tenant.BatchEnabled {
		c.Features = append(c.Features, tenancy.BatchFeature)
	}
	return c, nil
}

// stageARN widens a method's ARN to its whole stage. The policy is used for one request only, and a path with stars or
// question marks in it would be read as a pattern.
func stageARN(methodARN string) string {
	api, rest, _ := strings.Cut(methodARN, "/")
	stage, _, _ := strings.Cut(rest, "/")
	return api + "/" + stage + "/*"
}

// bearerToken returns the token of the Authorization header, which must be there exactly once. Header names come in any
// case.
func bearerToken(r AuthorizerRequest) (string, bool) {
	var found []string
	for name, values := range r.MultiValueHeaders {
		if strings.EqualFold(name, "Authorization") {
			found = append(found, values...)
		}
	}
	if len(r.MultiValueHeaders) == 0 {
		for name, value := range r.Headers {
			if strings.EqualFold(name, "Authorization") {
				found = append(found, value)
			}
		}
	}
	if len(found) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(found[0], " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}
