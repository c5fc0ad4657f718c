// Package httpapitest makes the requests that API Gateway hands to the functions, for tests of handlers.
package httpapitest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"sluice/shared/access/httpapi"
)

// NewPlatformRequest returns a request with a JSON body on a platform path, as the authorizer lets it pass on behalf of
// a caller: with the caller in its context and the tenant in its header. The target is a path, with a query or without.
func NewPlatformRequest(t testing.TB, c httpapi.Caller, method, target, body string) events.APIGatewayProxyRequest {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	parameters, err := url.ParseQuery(query)
	if err != nil {
		t.Fatalf("the query of %s: %v", target, err)
	}
	return events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: path, Body: body, MultiValueQueryStringParameters: parameters,
		MultiValueHeaders: map[string][]string{"X-TENANT-ID": {c.Tenant}, "Content-Type": {"application/json"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Authorizer: c.Context()},
	}
}
