package httpapi

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Lambda returns a Lambda function that answers REST proxy events with a handler. The path of an event is
// percent-encoded as it was sent, so that the mux decodes each path parameter exactly once. An event that does not make
// a request (a broken escape in its path, a body that is not base64) is answered with 400.
func Lambda(h http.Handler) func(context.Context,
	events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	proxy := httpadapter.New(h)
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		reply, err := proxy.ProxyWithContext(ctx, event)
		if err != nil {
			return events.APIGatewayProxyResponse{
				StatusCode: http.StatusBadRequest,
				Headers: map[string]string{
					"Content-Type": "application/json", "X-Request-Id": event.RequestContext.RequestID,
				},
				Body: `{"message":"The request is not valid."}`,
			}, nil
		}
		return reply, nil
	}
}

// Gateway is what API Gateway adds to a request.
type Gateway struct {
	// DomainName and Stage are parts of the address under which the API was called.
	DomainName, Stage string
	// RequestID is the ID of the request in the gateway's log.
	RequestID string
	// Authorizer is the context that the authorizer has returned, nil for a public route.
	Authorizer map[string]any
}

// GatewayOf returns what API Gateway has added to the request of a context; it is empty outside Lambda.
func GatewayOf(ctx context.Context) Gateway {
	c, _ := core.GetAPIGatewayContextFromContext(ctx)
	return Gateway{DomainName: c.DomainName, Stage: c.Stage, RequestID: c.RequestID, Authorizer: c.Authorizer}
}
