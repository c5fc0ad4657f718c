package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/lambda"
	"sluice/local/template"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestAuthorizer(t *testing.T) {
	policy := func(effect, resource string) events.APIGatewayCustomAuthorizerPolicy {
		return events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
			{Effect: effect, Action: []string{"execute-api:Invoke"}, Resource: []string{resource}}}}
	}
	type response = events.APIGatewayCustomAuthorizerResponse
	failed := func(message string) func(context.Context, []byte) (lambda.Result, error) {
		return func(context.Context, []byte) (lambda.Result, error) {
			return lambda.Result{Failed: true, Payload: []byte(`{"errorMessage":"` + message + `"}`)}, nil
		}
	}
	const methodARN = "arn:aws:execute-api:eu-west-1:000000000000:local/live/GET/closed"
	tests := []struct {
		name       string
		authorizer func(context.Context, []byte) (lambda.Result, error)
		status     int
	}{
		{"allowed", respond(response{PrincipalID: "p", PolicyDocument: policy("Allow", methodARN)}), 200},
		{"wildcard", respond(response{PrincipalID: "p",
			PolicyDocument: policy("Allow", "arn:aws:execute-api:*:*:local/live/*")}), 200},
		{"another resource", respond(response{PrincipalID: "p", PolicyDocument: policy("Allow", methodARN+"x")}), 403},
		{"denied", respond(response{PrincipalID: "p", PolicyDocument: policy("Deny", "*")}), 403},
		{"no principal", respond(response{PolicyDocument: policy("Allow", "*")}), 500},
		{"nested context", respond(response{PrincipalID: "p", PolicyDocument: policy("Allow", "*"),
			Context: map[string]any{"a": []string{"b"}}}), 500},
		{"no policy", respond("x"), 500},
		{"unauthorized", failed("Unauthorized"), 401},
		{"another failure", failed("unauthorized"), 500},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp, text := send(t, "GET", newTestServer(t, functions{"guard": test.authorizer}).URL+"/closed", "",
				"X-Correlation-Id", "mine")
			difftest.Equal(t, "status: "+text, test.status, resp.StatusCode)
			if (resp.Header.Get("WWW-Authenticate") == "Bearer") != (test.status == 401) {
				t.Errorf("headers %v, want the template's exactly for status 401", resp.Header)
			}
			if test.status == 401 &&
				(resp.Header.Get("X-Request-Id") != "the-id" || resp.Header.Get("X-Correlation-Id") != "mine") {
				t.Errorf("headers %v, want the request's ID and correlation ID", resp.Header)
			}
		})
	}
	var received events.APIGatewayCustomAuthorizerRequestTypeRequest
	server := newTestServer(t, functions{"guard": func(_ context.Context, payload []byte) (lambda.Result, error) {
		if err := json.Unmarshal(payload, &received); err != nil {
			return lambda.Result{}, err
		}
		return respond(response{PrincipalID: "p", PolicyDocument: policy("Allow", "*"),
			Context: map[string]any{"tenant": "t", "n": 1, "b": true}})(t.Context(), nil)
	}})
	_, text := send(t, "GET", server.URL+"/closed?a=b", "", "Authorization", "Bearer x")
	var e events.APIGatewayProxyRequest
	errtest.Fatal(t, json.Unmarshal([]byte(text), &e))
	want := map[string]any{"principalId": "p", "integrationLatency": 0.0, "tenant": "t", "n": "1", "b": "true"}
	difftest.Equal(t, "Authorizer", want, e.RequestContext.Authorizer)
	if received.Type != "REQUEST" || received.MethodArn != methodARN ||
		received.Headers["Authorization"] != "Bearer x" ||
		received.QueryStringParameters["a"] != "b" {
		t.Errorf("the authorizer received %+v, want method ARN %s, header and query string", received, methodARN)
	}
}

// A request without what identifies its caller is refused by the gateway itself, with the answer of the template; any
// value there is judged by the authorizer.
func TestAuthorizerIsNotAskedWithoutIdentity(t *testing.T) {
	closed := api
	closed.Routes = []template.Route{
		{Method: "GET", Path: "/closed", Function: "Echo", Authorizer: "Guard", Identity: []string{"Authorization"}},
	}
	asked := 0
	server := httptest.NewServer(New(Config{
		API: closed, Names: map[string]string{"Guard": "guard", "Echo": "echo"}, NewID: func() string { return "id" },
		Now: time.Now,
		Functions: functions{"guard": func(context.Context, []byte) (lambda.Result, error) {
			asked++
			return lambda.Result{Failed: true, Payload: []byte(`{"errorMessage": "Unauthorized"}`)}, nil
		}},
	}))
	defer server.Close()
	for want, header := range []string{"", "Bearer x"} {
		var headers []string
		if header != "" {
			headers = []string{"Authorization", header}
		}
		resp, text := send(t, "GET", server.URL+"/closed", "", headers...)
		if resp.StatusCode != 401 || text != `{"message": "Unauthorized"}` ||
			resp.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("with %q: %d %s %v, want the template's 401", header, resp.StatusCode, text, resp.Header)
		}
		difftest.Equal(t, fmt.Sprintf("times that with %q the authorizer was asked", header), want, asked)
	}
}
