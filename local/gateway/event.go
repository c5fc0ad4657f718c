package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/iam"
	"sluice/local/lambda"
)

// proxyEvent returns the event that a function receives. The caller is what the authorizer returned about it, and nil
// without one.
func (g *Gateway) proxyEvent(r *request, caller map[string]any) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		Resource:                        r.route.Path,
		Path:                            r.URL.EscapedPath(), // as it was sent: REST APIs do not unescape it
		HTTPMethod:                      r.Method,
		Headers:                         map[string]string{},
		MultiValueHeaders:               map[string][]string{},
		QueryStringParameters:           map[string]string{},
		MultiValueQueryStringParameters: map[string][]string{},
		PathParameters:                  r.params,
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: g.Account, ResourceID: "local", APIID: apiID, Stage: g.API.Stage,
			DomainName: r.Host, DomainPrefix: apiID, RequestID: r.id, ExtendedRequestID: r.id,
			Protocol: r.Proto, ResourcePath: r.route.Path, Path: "/" + g.API.Stage + r.URL.EscapedPath(),
			HTTPMethod:       r.Method,
			RequestTime:      g.Now().UTC().Format("02/Jan/2006:15:04:05 -0700"),
			RequestTimeEpoch: g.Now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: sourceIP(r), UserAgent: r.UserAgent()},
			Authorizer:       caller,
		},
	}
	for name, values := range eventHeaders(r) {
		e.Headers[name] = values[len(values)-1]
		e.MultiValueHeaders[name] = values
	}
	for name, values := range r.URL.Query() {
		e.QueryStringParameters[name] = values[len(values)-1]
		e.MultiValueQueryStringParameters[name] = values
	}
	if g.isBinary(r.Header.Get("Content-Type")) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(r.body), true
	} else {
		// API Gateway does not preserve bytes that are not UTF-8 either.
		e.Body = strings.ToValidUTF8(string(r.body), "\uFFFD")
	}
	return e
}

// eventHeaders returns the headers of a request as a function receives them.
func eventHeaders(r *request) map[string][]string {
	out := map[string][]string{"X-Amzn-Trace-Id": {"Root=" + r.id}}
	for name, values := range r.Header {
		out[name] = values
	}
	out["Host"] = []string{r.Host}
	out["X-Forwarded-Proto"] = []string{"http"}
	out["X-Forwarded-For"] = []string{strings.Join(append(r.Header["X-Forwarded-For"], sourceIP(r)), ", ")}
	return out
}

// sourceIP returns the address of the client.
func sourceIP(r *request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "" // cannot happen: the server sets the address
	}
	return host
}

// isBinary reports whether the API treats bodies of a content type as binary.
func (g *Gateway) isBinary(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	for _, t := range g.API.BinaryMediaTypes {
		if t == "*/*" || t == kind {
			return true
		}
	}
	return false
}

// authorize invokes the authorizer of the route and returns its context of the caller, as the function receives it.
func (g *Gateway) authorize(ctx context.Context, r *request) (map[string]any, error) {
	arn := fmt.Sprintf("arn:aws:execute-api:%s:%s:%s/%s/%s%s", g.Region, g.Account, apiID, g.API.Stage, r.Method,
		r.URL.EscapedPath())
	proxy := g.proxyEvent(r, nil)
	payload, err := json.Marshal(events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: arn, Resource: proxy.Resource, Path: proxy.Path, HTTPMethod: proxy.HTTPMethod,
		Headers: proxy.Headers, MultiValueHeaders: proxy.MultiValueHeaders,
		QueryStringParameters:           proxy.QueryStringParameters,
		MultiValueQueryStringParameters: proxy.MultiValueQueryStringParameters,
		PathParameters:                  proxy.PathParameters,
		RequestContext: events.APIGatewayCustomAuthorizerRequestTypeRequestContext{
			Path: proxy.RequestContext.Path, AccountID: g.Account, ResourceID: proxy.RequestContext.ResourceID,
			Stage:     g.API.Stage,
			RequestID: r.id, ResourcePath: r.route.Path, HTTPMethod: r.Method, APIID: apiID,
			Identity: events.APIGatewayCustomAuthorizerRequestTypeRequestIdentity{SourceIP: sourceIP(r)},
		},
	})
	if err != nil {
		return nil, err
	}
	result, err := g.Functions.Invoke(ctx, g.Names[r.route.Authorizer], payload)
	if err != nil {
		return nil, authorizerFailure
	}
	if result.Failed {
		return nil, authorizerError(result)
	}
	var response events.APIGatewayCustomAuthorizerResponse
	if err := json.Unmarshal(result.Payload, &response); err != nil || response.PrincipalID == "" {
		return nil, authorizerConfigError
	}
	if !allows(response.PolicyDocument, arn) {
		return nil, accessDenied
	}
	caller := map[string]any{"principalId": response.PrincipalID, "integrationLatency": 0}
	for name, value := range response.Context {
		switch value.(type) {
		case string, float64, bool:
			caller[name] = fmt.Sprint(value) // functions receive all values as strings
		case nil:
		default:
			return nil, authorizerConfigError
		}
	}
	return caller, nil
}

// authorizerError returns the error for an authorizer that failed. The exact message "Unauthorized" means status 401.
func authorizerError(r lambda.Result) error {
	var failure struct{ ErrorMessage string }
	if json.Unmarshal(r.Payload, &failure) == nil && failure.ErrorMessage == "Unauthorized" {
		return unauthorized
	}
	return authorizerFailure
}

// allows reports whether a policy allows invoking a method. A matching Deny outweighs every Allow.
func allows(policy events.APIGatewayCustomAuthorizerPolicy, arn string) bool {
	allowed := false
	for _, s := range policy.Statement {
		if !matchesAny(s.Action, "execute-api:Invoke") || !matchesAny(s.Resource, arn) {
			continue
		}
		if s.Effect == "Deny" {
			return false
		}
		allowed = allowed || s.Effect == "Allow"
	}
	return allowed
}

// matchesAny reports whether any of the patterns matches s.
func matchesAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return iam.MatchWildcard(pattern, s) })
}
