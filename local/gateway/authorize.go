package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/lambda"
)

// authorize asks the authorizer of the route and returns the context that it hands to the function.
func (g *Gateway) authorize(ctx context.Context, r *request) (map[string]any, error) {
	arn := fmt.Sprintf("arn:aws:execute-api:%s:%s:%s/%s/%s%s", g.Region, g.Account, apiID, g.API.Stage, r.Method, r.URL.EscapedPath())
	proxy := g.event(r, nil)
	payload, err := json.Marshal(events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: arn, Resource: proxy.Resource, Path: proxy.Path, HTTPMethod: proxy.HTTPMethod,
		Headers: proxy.Headers, MultiValueHeaders: proxy.MultiValueHeaders,
		QueryStringParameters:           proxy.QueryStringParameters,
		MultiValueQueryStringParameters: proxy.MultiValueQueryStringParameters,
		PathParameters:                  proxy.PathParameters,
		RequestContext: events.APIGatewayCustomAuthorizerRequestTypeRequestContext{
			Path: proxy.RequestContext.Path, AccountID: g.Account, ResourceID: proxy.RequestContext.ResourceID, Stage: g.API.Stage,
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
		return nil, refusedBy(result)
	}
	var answer events.APIGatewayCustomAuthorizerResponse
	if err := json.Unmarshal(result.Payload, &answer); err != nil || answer.PrincipalID == "" {
		return nil, authorizerWrong
	}
	if !allows(answer.PolicyDocument, arn) {
		return nil, accessDenied
	}
	caller := map[string]any{"principalId": answer.PrincipalID, "integrationLatency": 0}
	for name, value := range answer.Context {
		switch value.(type) {
		case string, float64, bool:
			caller[name] = fmt.Sprint(value) // functions get them all as text
		case nil:
		default:
			return nil, authorizerWrong
		}
	}
	return caller, nil
}

// refusedBy turns the failure of an authorizer into a response: the one message Unauthorized means a 401.
func refusedBy(r lambda.Result) error {
	var failure struct{ ErrorMessage string }
	if json.Unmarshal(r.Payload, &failure) == nil && failure.ErrorMessage == "Unauthorized" {
		return unauthorized
	}
	return authorizerFailure
}

// allows evaluates a policy for invoking a method: a Deny that matches outweighs every Allow.
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

func matchesAny(patterns []string, s string) bool {
	for _, p := range patterns {
		if wildcard(p, s) {
			return true
		}
	}
	return false
}

// wildcard matches * with any text and ? with any character.
func wildcard(pattern, s string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			rest := strings.TrimLeft(pattern, "*")
			for i := 0; i <= len(s); i++ {
				if wildcard(rest, s[i:]) {
					return true
				}
			}
			return false
		case s == "" || pattern[0] != '?' && pattern[0] != s[0]:
			return false
		}
		pattern, s = pattern[1:], s[1:]
	}
	return s == ""
}
