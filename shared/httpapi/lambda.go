package httpapi

import (
	"context"
	"net/http"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
)

// Lambda serves REST proxy events with a handler. The path of an event is percent-encoded as it was sent, so that a path
// parameter is decoded once, by the mux. An event that makes no request (a broken escape in its path, a body that is no
// base64) is the client's mistake.
func Lambda(h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	proxy := httpadapter.New(h)
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		reply, err := proxy.ProxyWithContext(ctx, event)
		if err != nil {
			return events.APIGatewayProxyResponse{
				StatusCode: http.StatusBadRequest, Headers: map[string]string{"Content-Type": "application/json"},
				Body: `{"message":"The request is not valid."}`,
			}, nil
		}
		return reply, nil
	}
}
