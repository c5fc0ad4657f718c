// Package gateway is API Gateway for a REST API of the template: its routes, its authorizer, its own responses and limits, and
// the REST proxy events that functions get.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/lambda"
	"sluice/local/template"
)

// Limits of API Gateway.
const (
	MaxBody = 10 << 20
	timeout = 29 * time.Second
)

// Functions are the Lambda functions behind the routes.
type Functions interface {
	// Invoke returns an error only when the function was not reached, or the context has ended.
	Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error)
}

// Config is what a Gateway needs.
type Config struct {
	API       template.API
	Names     map[string]string // logical ids of functions to their names
	Functions Functions
	Region    string
	Account   string
	NewID     func() string
	Now       func() time.Time
	Timeout   time.Duration // of a request; 0 for 29 s
}

// Gateway answers requests to the API.
type Gateway struct {
	Config
	routes routes
}

// New returns the gateway of an API.
func New(c Config) *Gateway {
	if c.Timeout == 0 {
		c.Timeout = timeout
	}
	return &Gateway{Config: c, routes: sorted(c.API.Routes)}
}

const apiID = "local"

// request is one request on its way through the gateway.
type request struct {
	*http.Request
	id     string
	route  template.Route
	params map[string]string
	body   []byte
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &request{Request: r, id: g.NewID()}
	w.Header().Set("x-amzn-RequestId", req.id)
	ctx, cancel := context.WithTimeout(r.Context(), g.Timeout)
	defer cancel()
	if err := g.serve(ctx, w, req); err != nil {
		var refused *refusal
		if !errors.As(err, &refused) {
			refused = internalError
		}
		g.refuse(w, refused)
	}
}

func (g *Gateway) serve(ctx context.Context, w http.ResponseWriter, r *request) error {
	var found bool
	if r.route, r.params, found = g.routes.find(r.Method, r.URL.EscapedPath()); !found {
		if r.Header.Get("Authorization") != "" {
			return noSignature
		}
		return missingToken
	}
	var err error
	if r.body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBody)); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return requestTooLarge
		}
		return badRequest
	}
	var caller map[string]any
	if r.route.Authorizer != "" {
		if caller, err = g.authorize(ctx, r); err != nil {
			return err
		}
	}
	payload, err := json.Marshal(g.event(r, caller))
	if err != nil {
		return err
	}
	answer, err := g.invoke(ctx, r.route.Function, payload)
	if err != nil {
		return err
	}
	return g.reply(w, answer)
}

// invoke runs a function and returns what it answered; a function that failed is a 502, one that is too slow a 504.
func (g *Gateway) invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	result, err := g.Functions.Invoke(ctx, g.Names[function], payload)
	switch {
	case errors.Is(err, lambda.ErrTooLarge):
		return nil, requestTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		return nil, integrationTimeout
	case err != nil:
		return nil, err
	case result.Failed:
		return nil, integrationFailure
	}
	return result.Payload, nil
}

func (g *Gateway) event(r *request, caller map[string]any) events.APIGatewayProxyRequest {
	e := events.APIGatewayProxyRequest{
		Resource:                        r.route.Path,
		Path:                            r.URL.EscapedPath(), // REST APIs pass it on as it was sent
		HTTPMethod:                      r.Method,
		Headers:                         map[string]string{},
		MultiValueHeaders:               map[string][]string{},
		QueryStringParameters:           map[string]string{},
		MultiValueQueryStringParameters: map[string][]string{},
		PathParameters:                  r.params,
		RequestContext: events.APIGatewayProxyRequestContext{
			AccountID: g.Account, ResourceID: "local", APIID: apiID, Stage: g.API.Stage,
			DomainName: r.Host, DomainPrefix: apiID, RequestID: r.id, ExtendedRequestID: r.id,
			Protocol: r.Proto, ResourcePath: r.route.Path, Path: "/" + g.API.Stage + r.URL.EscapedPath(), HTTPMethod: r.Method,
			RequestTime:      g.Now().UTC().Format("02/Jan/2006:15:04:05 -0700"),
			RequestTimeEpoch: g.Now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: sourceIP(r), UserAgent: r.UserAgent()},
			Authorizer:       caller,
		},
	}
	for name, values := range headers(r) {
		e.Headers[name] = values[len(values)-1]
		e.MultiValueHeaders[name] = values
	}
	for name, values := range r.URL.Query() {
		e.QueryStringParameters[name] = values[len(values)-1]
		e.MultiValueQueryStringParameters[name] = values
	}
	if g.binary(r.Header.Get("Content-Type")) {
		e.Body, e.IsBase64Encoded = base64(r.body), true
	} else {
		// Bytes that are no UTF-8 do not survive on AWS either.
		e.Body = strings.ToValidUTF8(string(r.body), "\uFFFD")
	}
	return e
}

// headers are those of the request as a function sees them.
func headers(r *request) map[string][]string {
	out := map[string][]string{"X-Amzn-Trace-Id": {"Root=" + r.id}}
	for name, values := range r.Header {
		out[name] = values
	}
	out["Host"] = []string{r.Host}
	out["X-Forwarded-Proto"] = []string{"http"}
	out["X-Forwarded-For"] = []string{strings.Join(append(r.Header["X-Forwarded-For"], sourceIP(r)), ", ")}
	return out
}

func sourceIP(r *request) string {
	host, _, found := strings.Cut(r.RemoteAddr, "]") // [::1]:1234
	if found {
		return strings.TrimPrefix(host, "[")
	}
	host, _, _ = strings.Cut(r.RemoteAddr, ":")
	return host
}

func (g *Gateway) binary(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	for _, t := range g.API.BinaryMediaTypes {
		if t == "*/*" || t == kind {
			return true
		}
	}
	return false
}

// renamed are the headers of a function that API Gateway does not pass on under their own name.
var renamed = map[string]bool{"Www-Authenticate": true, "Authorization": true, "Date": true, "Server": true}

var dropped = map[string]bool{"Connection": true, "Content-Length": true, "Transfer-Encoding": true, "Upgrade": true, "Trailer": true, "Te": true}

// reply turns the answer of a function into the response.
func (g *Gateway) reply(w http.ResponseWriter, answer []byte) error {
	var a events.APIGatewayProxyResponse
	if err := json.Unmarshal(answer, &a); err != nil || a.StatusCode < 100 || a.StatusCode > 599 {
		return malformedAnswer
	}
	body := []byte(a.Body)
	if a.IsBase64Encoded {
		var err error
		if body, err = unbase64(a.Body); err != nil {
			return malformedAnswer
		}
	}
	all := http.Header{}
	for name, value := range a.Headers {
		all.Add(name, value)
	}
	for name, values := range a.MultiValueHeaders {
		for _, value := range values {
			if all.Get(name) != value {
				all.Add(name, value)
			}
		}
	}
	for name, values := range all {
		switch {
		case dropped[name]:
			continue
		case renamed[name]:
			name = "X-Amzn-Remapped-" + name
		}
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.StatusCode)
	_, _ = w.Write(body) // the client may be gone
	return nil
}
