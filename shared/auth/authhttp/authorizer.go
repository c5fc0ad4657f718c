package authhttp

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/auth"
	"sluice/shared/httpapi"
)

type verifier interface {
	Verify(ctx context.Context, issuer, token string) (auth.Claims, error)
}

type registry interface {
	ClientAndTenant(ctx context.Context, client, tenant string) (auth.Client, auth.Tenant, error)
}

// Authorizer turns a bearer token into the caller that functions see. What a client may do is read anew for each request: a
// client that is disabled, or a tenant that loses a feature, is out at once, whatever its tokens say.
type Authorizer struct {
	Tokens   verifier
	Registry registry
	Issuer   string // "": the address of the API
	Log      *slog.Logger
}

// AuthorizerRequest is the event of a REQUEST authorizer, with the fields of its context that the events package leaves out.
type AuthorizerRequest struct {
	events.APIGatewayCustomAuthorizerRequestTypeRequest
	RequestContext AuthorizerContext `json:"requestContext"`
}

// AuthorizerContext is the request context of an authorizer's event.
type AuthorizerContext struct {
	events.APIGatewayCustomAuthorizerRequestTypeRequestContext
	Identity          events.APIGatewayRequestIdentity `json:"identity"`
	DomainName        string                           `json:"domainName"` // under which the API was called
	DomainPrefix      string                           `json:"domainPrefix"`
	Protocol          string                           `json:"protocol"`
	RequestTime       string                           `json:"requestTime"`
	RequestTimeEpoch  int64                            `json:"requestTimeEpoch"` // milliseconds
	ExtendedRequestID string                           `json:"extendedRequestId"`
}

// errUnauthorized is the one text that API Gateway answers with 401.
var errUnauthorized = errors.New("Unauthorized")

// Run authorizes one request.
func (a *Authorizer) Run(ctx context.Context, r AuthorizerRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
	c, err := a.caller(ctx, r)
	if errors.Is(err, auth.ErrInvalidToken) || errors.Is(err, auth.ErrNotFound) {
		a.Log.InfoContext(ctx, "refused", "reason", err)
		return events.APIGatewayCustomAuthorizerResponse{}, errUnauthorized
	}
	if err != nil {
		a.Log.ErrorContext(ctx, "cannot authorize", "error", err)
		return events.APIGatewayCustomAuthorizerResponse{}, errors.New("the registry does not answer")
	}
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: c.Client,
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{
			Version: "2012-10-17",
			Statement: []events.IAMPolicyStatement{{
				Action: []string{"execute-api:Invoke"}, Effect: "Allow", Resource: []string{everything(r.MethodArn)},
			}},
		},
		Context: c.Context(),
	}, nil
}

func (a *Authorizer) caller(ctx context.Context, r AuthorizerRequest) (httpapi.Caller, error) {
	token, ok := bearer(r)
	if !ok {
		return httpapi.Caller{}, auth.ErrInvalidToken
	}
	claims, err := a.Tokens.Verify(ctx, issuerURL(a.Issuer, r.RequestContext.DomainName, r.RequestContext.Stage), token)
	if err != nil {
		return httpapi.Caller{}, err
	}
	client, tenant, err := a.Registry.ClientAndTenant(ctx, claims.Client, claims.Tenant)
	if err != nil {
		return httpapi.Caller{}, err
	}
	if client.Disabled || client.Tenant != tenant.ID {
		return httpapi.Caller{}, auth.ErrInvalidToken
	}
	c := httpapi.Caller{
		Tenant: tenant.ID, Client: client.ID, Permissions: client.Permissions, Layers: client.AccessLayers, Settings: tenant.Settings, Expires: claims.Expires,
	}
	if tenant.BatchEnabled {
		c.Features = append(c.Features, httpapi.FeatureBatch)
	}
	return c, nil
}

// everything widens a method's ARN to its whole stage: the answer counts for one request only, and a path with stars or
// question marks in it would be read as a pattern.
func everything(methodARN string) string {
	api, rest, _ := strings.Cut(methodARN, "/")
	stage, _, _ := strings.Cut(rest, "/")
	return api + "/" + stage + "/*"
}

// bearer reads the Authorization header, which must be there once. Header names come in any case.
func bearer(r AuthorizerRequest) (string, bool) {
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

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
