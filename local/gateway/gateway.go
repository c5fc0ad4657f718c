// Package gateway serves the REST API of the template as API Gateway does: its routes, its authorizer, its gateway
// responses and limits, and the REST proxy events that functions receive.
package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"sluice/local/lambda"
	"sluice/local/template"
)

// Limits of API Gateway.
const (
	// MaxBody is the largest size in bytes of a request body.
	MaxBody = 10 << 20
	// MaxHeaders is the largest size in bytes of the values of all headers together, and maxURL the greatest length of
	// the path and query of a regional API.
	MaxHeaders = 10_240
	maxURL     = 10_240

	defaultTimeout = 29 * time.Second
)

// Functions invokes the Lambda functions of the routes.
type Functions interface {
	// Invoke runs a function and returns its result, also if the function failed. It returns an error only if the
	// function was not reached or the context has ended.
	Invoke(ctx context.Context, name string, payload []byte) (lambda.Result, error)
}

// Config describes a Gateway.
type Config struct {
	API template.API
	// Names holds the name of each function by its logical ID.
	Names     map[string]string
	Functions Functions
	Region    string
	Account   string
	// Hosts are the names under which the API is reached beside localhost and addresses.
	Hosts []string
	// NewID returns a UUID, used as the ID of a request.
	NewID func() string
	Now   func() time.Time
	// Throttles makes the API refuse what its ThrottlingRate and ThrottlingBurst do not admit.
	Throttles bool
	// Timeout limits the duration of a request; 0 means the 29 seconds of API Gateway.
	Timeout time.Duration
}

// Gateway is the HTTP handler of the API.
type Gateway struct {
	Config
	routes   routes
	throttle *throttle
}

// New returns the gateway of an API.
func New(c Config) *Gateway {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return &Gateway{Config: c, routes: sortRoutes(c.API.Routes), throttle: newThrottle(c)}
}

// apiID is the ID of the API in ARNs and events.
const apiID = "local"

// request is a request with everything that is known about it so far.
type request struct {
	*http.Request
	id     string
	route  template.Route
	params map[string]string
	body   []byte
}

// ServeHTTP answers a request, within the timeout.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req := &request{Request: r, id: g.NewID()}
	w.Header().Set("x-amzn-RequestId", req.id)
	ctx, cancel := context.WithTimeout(r.Context(), g.Timeout)
	defer cancel()
	if err := g.serve(ctx, w, req); err != nil {
		var known *gatewayError
		if !errors.As(err, &known) {
			known = internalError
		}
		g.writeError(w, req, known)
	}
}

// serve answers a request unless it returns an error. A gatewayError is to be sent to the client.
func (g *Gateway) serve(ctx context.Context, w http.ResponseWriter, r *request) error {
	if !g.answersFor(r.Host) {
		return wrongHost
	}
	if err := r.checkHead(); err != nil {
		return err
	}
	var found bool
	if r.route, r.params, found = g.routes.find(r.Method, r.URL.EscapedPath()); !found {
		if r.Header.Get("Authorization") != "" {
			return invalidSignature
		}
		return missingToken
	}
	if !g.throttle.admits(r.route.Method + " " + r.route.Path) {
		return throttled
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
		if slices.ContainsFunc(r.route.Identity, func(header string) bool { return r.Header.Get(header) == "" }) {
			return unauthorized
		}
		if caller, err = g.authorize(ctx, r); err != nil {
			return err
		}
	}
	payload, err := json.Marshal(g.proxyEvent(r, caller))
	if err != nil {
		return err
	}
	payload, err = g.invoke(ctx, r.route.Function, payload)
	if err != nil {
		return err
	}
	return g.writeResponse(w, r, payload)
}

// checkHead returns an error for a request whose URL or headers API Gateway does not accept. See "Quotas for
// configuring and running a REST API" and "Important notes for REST APIs" in the Developer Guide.
func (r *request) checkHead() error {
	size := len(r.Host)
	for _, values := range r.Header {
		for _, value := range values {
			size += len(value)
		}
	}
	switch {
	case size > MaxHeaders:
		return headersTooLarge
	case len(r.URL.RequestURI()) > maxURL:
		return urlTooLong
	case strings.ContainsAny(r.URL.RawQuery, "|{}"):
		return malformedQuery
	}
	return nil
}

// invoke runs a function and returns its payload. A function that failed leads to status 502, because what it returns
// then is no response, one that is too slow to 504, and one that is throttled to a gateway response that the template
// can replace.
func (g *Gateway) invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	result, err := g.Functions.Invoke(ctx, g.Names[function], payload)
	switch {
	case errors.Is(err, lambda.ErrTooLarge):
		return nil, requestTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		return nil, integrationTimeout
	case errors.As(err, new(*lambda.ThrottledError)):
		return nil, integrationFailure
	case err != nil:
		return nil, err
	case result.Failed:
		return nil, malformedResponse
	}
	return result.Payload, nil
}

// routes is a list of routes in the order in which they are tried.
type routes []template.Route

// sortRoutes orders routes as API Gateway prefers them: fixed segments first, then parameters, then greedy parameters.
func sortRoutes(all []template.Route) routes {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b template.Route) int {
		return cmp.Or(slices.Compare(segmentRanks(a.Path), segmentRanks(b.Path)),
			methodRank(a.Method)-methodRank(b.Method))
	})
	return out
}

// segmentRanks returns the ranks of the segments of a path.
func segmentRanks(path string) []int {
	var ranks []int
	for segment := range strings.SplitSeq(path, "/") {
		ranks = append(ranks, segmentRank(segment))
	}
	return ranks
}

// segmentRank orders segments: fixed ones before parameters, and greedy parameters last.
func segmentRank(segment string) int {
	switch {
	case strings.HasSuffix(segment, "+}"):
		return 2
	case strings.HasPrefix(segment, "{"):
		return 1
	}
	return 0
}

// methodRank orders methods: ANY after all others.
func methodRank(m string) int {
	if m == "ANY" {
		return 1
	}
	return 0
}

// find returns the route of a request and its path parameters. The path must be as it was sent, in its escaped form: an
// escaped slash does not separate segments. The path alone decides which resource is meant: one that matches best but
// lacks the method is not replaced by another that has it.
func (rs routes) find(method, path string) (template.Route, map[string]string, bool) {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for _, best := range rs {
		params, ok := match(strings.Split(best.Path, "/"), segments)
		if !ok {
			continue
		}
		for _, r := range rs {
			if r.Path == best.Path && (r.Method == method || r.Method == "ANY") {
				return r, params, true
			}
		}
		break
	}
	return template.Route{}, nil, false
}

// match compares the segments of a route with those of a path and returns the parameters.
func match(pattern, segments []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, p := range pattern {
		if i >= len(segments) {
			return nil, false
		}
		name, isParameter := strings.CutPrefix(p, "{")
		if greedy, ok := strings.CutSuffix(name, "+}"); isParameter && ok {
			params[greedy] = strings.Join(segments[i:], "/")
			return params, true
		}
		switch {
		case isParameter && segments[i] != "":
			params[strings.TrimSuffix(name, "}")] = segments[i]
		case isParameter || p != segments[i]:
			return nil, false
		}
	}
	return params, len(pattern) == len(segments)
}

// answersFor reports whether a request names the gateway's host: an address, this machine under a name that no name
// server decides about, or one of Hosts. Under another name a web page of its owner would reach the gateway (DNS
// rebinding). A request without a host is none of a browser.
func (g *Gateway) answersFor(host string) bool {
	name := host
	if before, _, err := net.SplitHostPort(host); err == nil {
		name = before
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	return name == "" || net.ParseIP(name) != nil || name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(g.Hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

// wrongHost is sent for a request whose host is another one.
var wrongHost = &gatewayError{"WRONG_HOST", http.StatusMisdirectedRequest, "The local cloud does not answer under " +
	"this host name: use its address, localhost, or the name of this machine or of --listen."}
