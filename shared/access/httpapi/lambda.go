package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"sluice/shared/access/audit"
	"sluice/shared/kit/fault"
)

// Lambda returns a Lambda function that answers REST proxy events with a handler. The path of an event is
// percent-encoded as it was sent, so that each path parameter is decoded exactly once. An event that does not make a
// request (a broken escape in its path, a body that is not base64) is answered with 400.
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	proxy := httpadapter.New(h)
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		ctx = audit.WithRequestID(ctx, event.RequestContext.RequestID)
		reply, err := proxy.ProxyWithContext(ctx, event)
		if err != nil {
			event.Path, event.Body, event.IsBase64Encoded = "/", "", false
			return proxy.ProxyWithContext(context.WithValue(ctx, malformedKey{}, true), event)
		}
		return reply, nil
	}
}

// malformedKey marks the context of an event that does not make a request, which the handler refuses and records.
type malformedKey struct{}

// Gateway is what API Gateway adds to a request.
type Gateway struct {
	// DomainName and Stage are parts of the address under which the API was called.
	DomainName, Stage string
	// RequestID is the ID of the request in the gateway's log, SourceIP the address from which it came.
	RequestID, SourceIP string
	// Authorizer is the context that the authorizer has returned, nil for a public route.
	Authorizer map[string]any
}

// GatewayOf returns what API Gateway has added to the request of a context; it is empty outside Lambda.
func GatewayOf(ctx context.Context) Gateway {
	c, _ := core.GetAPIGatewayContextFromContext(ctx)
	return Gateway{
		DomainName: c.DomainName, Stage: c.Stage, RequestID: c.RequestID, SourceIP: c.Identity.SourceIP,
		Authorizer: c.Authorizer,
	}
}

// APIURL returns the setting or, without one, the address under which API Gateway was called, because a function
// cannot be told the API's address when it is deployed. API Gateway answers under its own names only, so clients cannot
// choose it. Its own address for the API contains the stage; a custom domain is mapped to the stage.
func APIURL(setting, domain, stage string) string {
	switch {
	case setting != "":
		return setting
	case strings.Contains(domain, ".execute-api."):
		return "https://" + domain + "/" + stage
	}
	return "https://" + domain
}

// CorrelationHeader is the header by which a client gives its requests an ID of its own. It is logged and sent back.
const CorrelationHeader = "X-Correlation-Id"

// maxCorrelationBytes is the size of the longest correlation ID.
const maxCorrelationBytes = 128

var errCorrelationTooLong = fault.Newf(fault.BadRequest, "correlation_id_too_long",
	"The header X-CORRELATION-ID has more than %d bytes.", maxCorrelationBytes)

// correlate sends the correlation ID of a request back and logs it. An ID that is too long is left to answer to refuse.
func (a API) correlate(w http.ResponseWriter, r *http.Request) {
	if id := r.Header.Get(CorrelationHeader); id != "" && len(id) <= maxCorrelationBytes {
		w.Header().Set(CorrelationHeader, id)
		a.Log.InfoContext(r.Context(), "correlated", "correlation_id", id)
	}
}
