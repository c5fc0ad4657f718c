package authhttp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"

	"sluice/shared/access/auth"
	"sluice/shared/access/auth/authhttp"
	"sluice/shared/access/httpapi"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// newRequest returns the sample event of the authorizer with a value of the Authorization header.
func newRequest(t *testing.T, header string) authhttp.AuthorizerRequest {
	t.Helper()
	var r authhttp.AuthorizerRequest
	readSampleEvent(t, "authorizer", &r)
	r.Headers["Authorization"], r.MultiValueHeaders["Authorization"] = header, []string{header}
	return r
}

func TestAuthorizer(t *testing.T) {
	for name, issuerURL := range map[string]string{"issuer from the API": "",
		"issuer from the settings": "https://issuer.test"} {
		t.Run(name, func(t *testing.T) {
			id := newIdentity(t, issuerURL)
			reply := errtest.Must(id.authorizer.Run(t.Context(), newRequest(t, "Bearer "+id.issueToken(t))))(t)
			wantStatement := []events.IAMPolicyStatement{{
				Effect: "Allow", Action: []string{"execute-api:Invoke"},
				Resource: []string{"arn:aws:execute-api:eu-central-1:123456789012:abc123/live/*"},
			}}
			difftest.Equal(t, "policy", wantStatement, reply.PolicyDocument.Statement)
			wantContext := httpapi.Caller{
				Tenant: id.tenant.ID, Client: id.client.ID, TokenID: tokenID, Permissions: id.client.Permissions,
				Features:   []string{"batch"},
				Attributes: auth.DefaultSettings().Attributes(), Expires: id.now.Add(65 * time.Minute),
			}.Context()
			difftest.Equal(t, "context", wantContext, reply.Context)
			difftest.Equal(t, "principal", id.client.ID, reply.PrincipalID)
		})
	}
}

// documentRoute is a route below a greedy path.
const documentRoute = "/documentmanagementcommand/api/v2/documentmanagement/error/{id}"

// onGreedyPath returns a request for documentRoute, if the method is PUT, as the gateway sends it.
func onGreedyPath(t *testing.T, token, method string) authhttp.AuthorizerRequest {
	t.Helper()
	r := newRequest(t, "Bearer "+token)
	r.HTTPMethod, r.Resource = method, "/documentmanagementcommand/{proxy+}"
	r.PathParameters = map[string]string{"proxy": "api/v2/documentmanagement/error/7"}
	r.Path = "/documentmanagementcommand/" + r.PathParameters["proxy"]
	return r
}

// The gateway logs the route of a request below a greedy path, of which it knows none.
func TestRouteBelowAGreedyPath(t *testing.T) {
	id := newIdentity(t, "")
	for method, want := range map[string]string{"PUT": documentRoute, "GET": "/"} {
		reply, err := id.authorizer.Run(t.Context(), onGreedyPath(t, id.issueToken(t), method))
		if err != nil || reply.Context["route"] != want {
			t.Errorf("%s: got the route %v, %v, want %s", method, reply.Context["route"], err, want)
		}
	}
}

// withoutHeader returns the sample event without the Authorization header.
func withoutHeader(t *testing.T) authhttp.AuthorizerRequest {
	t.Helper()
	r := newRequest(t, "")
	delete(r.MultiValueHeaders, "Authorization")
	return r
}

func TestAcceptedHeaders(t *testing.T) {
	id := newIdentity(t, "")
	token := id.issueToken(t)
	otherCase := withoutHeader(t)
	otherCase.MultiValueHeaders["aUTHORIZATION"] = []string{"Bearer " + token}
	singleValue := newRequest(t, "Bearer "+token)
	singleValue.MultiValueHeaders = nil
	for name, r := range map[string]authhttp.AuthorizerRequest{
		"as usual":                    newRequest(t, "Bearer "+token),
		"scheme in lower case":        newRequest(t, "bearer "+token),
		"scheme in upper case":        newRequest(t, "BEARER  "+token),
		"header name in another case": otherCase,
		"only single-value headers":   singleValue,
	} {
		t.Run(name, func(t *testing.T) {
			errtest.Is(t, "Run", errtest.Of(id.authorizer.Run(t.Context(), r)), nil)
		})
	}
}

// expectUnauthorized checks that a request gets the one error that API Gateway answers with 401.
func (id *identity) expectUnauthorized(t *testing.T, r authhttp.AuthorizerRequest) {
	t.Helper()
	reply, err := id.authorizer.Run(t.Context(), r)
	if err == nil || err.Error() != "Unauthorized" || reply.PolicyDocument.Statement != nil || reply.Context != nil {
		t.Errorf("got %v %+v, want Unauthorized", err, reply)
	}
}

func TestUnauthorized(t *testing.T) {
	id := newIdentity(t, "")
	token := id.issueToken(t)
	for _, header := range []string{"", " ", "Bearer", "Bearer ", token, "Basic " + token, "Bearer x", "Bearer x.y.z",
		"Bearer " + token + "x", "Bearer " + token + " " + token, "Bearer " + token + ", Bearer " + token,
		"Bearer " + strings.Repeat("x", 100_000)} {
		t.Run(fmt.Sprintf("header %.12q of %d bytes", header, len(header)), func(t *testing.T) {
			id.expectUnauthorized(t, newRequest(t, header))
		})
	}
	t.Run("no header", func(t *testing.T) { id.expectUnauthorized(t, withoutHeader(t)) })
	for name, change := range map[string]func(r *authhttp.AuthorizerRequest){
		"two headers": func(r *authhttp.AuthorizerRequest) {
			r.MultiValueHeaders["authorization"] = []string{"Bearer " + token}
		},
		"a token of another address": func(r *authhttp.AuthorizerRequest) {
			r.RequestContext.DomainName = "other.test"
		},
		"a token of another stage": func(r *authhttp.AuthorizerRequest) { r.RequestContext.Stage = "test" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRequest(t, "Bearer "+token)
			change(&r)
			id.expectUnauthorized(t, r)
		})
	}
	t.Run("an expired token", func(t *testing.T) {
		id.now = id.now.Add(65 * time.Minute)
		id.expectUnauthorized(t, newRequest(t, "Bearer "+token))
	})
	if strings.Contains(id.log.String(), token) {
		t.Error("the log holds a token")
	}
}

// A change of the registry has effect on tokens that were issued earlier.
func TestRegistryChangesHaveEffectAtOnce(t *testing.T) {
	id := newIdentity(t, "")
	token := id.issueToken(t)
	errtest.Fatal(t, errtest.Of(id.registry.EnableBatch(t.Context(), id.tenant.ID, false)))
	reply, err := id.authorizer.Run(t.Context(), newRequest(t, "Bearer "+token))
	if err != nil || reply.Context["features"] != "" {
		t.Errorf("without the feature: got %v, %v, want no features", reply.Context, err)
	}
	errtest.Fatal(t, errtest.Of(id.registry.DisableClient(t.Context(), id.client.ID)))
	id.expectUnauthorized(t, newRequest(t, "Bearer "+token))
}

// fixedClaims is a verifier that finds the same claims in every token.
type fixedClaims auth.Claims

func (c fixedClaims) Verify(context.Context, string, string) (auth.Claims, error) {
	return auth.Claims(c), nil
}

func TestTokensOfUnknownClients(t *testing.T) {
	id := newIdentity(t, "")
	other := auth.Tenant{ID: uuid.NewString()}
	errtest.Fatal(t, id.registry.CreateTenant(t.Context(), other))
	for name, claims := range map[string]fixedClaims{
		"an unknown client":            {Client: uuid.NewString(), Tenant: id.tenant.ID},
		"an unknown tenant":            {Client: id.client.ID, Tenant: uuid.NewString()},
		"a tenant of another client's": {Client: id.client.ID, Tenant: other.ID},
	} {
		t.Run(name, func(t *testing.T) {
			id.authorizer.Tokens = claims
			id.expectUnauthorized(t, newRequest(t, "Bearer x"))
		})
	}
}

// An outage is not a 401, which would make a client ask for tokens: API Gateway answers every other error with 500.
func TestAuthorizerOutage(t *testing.T) {
	id := newIdentity(t, "")
	token := id.issueToken(t)
	for _, method := range []string{"Keys", "ClientAndTenant"} {
		t.Run(method, func(t *testing.T) {
			id.registry.Fail = func(m string) error {
				if m == method {
					return errors.New("a secret of the store")
				}
				return nil
			}
			id.authorizer.Tokens = auth.NewVerifier(id.registry, "sluice", func() time.Time { return id.now })
			_, err := id.authorizer.Run(t.Context(), newRequest(t, "Bearer "+token))
			if err == nil || err.Error() == "Unauthorized" || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want an error other than Unauthorized that hides its cause", err)
			}
		})
	}
	difftest.Equal(t, "cause: times in the log", 2, strings.Count(id.log.String(), "a secret of the store"))
}
