// Package httpapi is the kit of every function that answers HTTP: routes, the caller and its permissions, strict JSON
// bodies, the one map from kinds of errors to statuses, and the size of replies. An endpoint is a function of a caller
// and a request; everything else is done here. Package platform adds the rules of the platform interface.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"sluice/shared/access/audit"
	"sluice/shared/access/idempotency"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/deadline"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/routing"
)

// Endpoint answers one route. Path parameters are decoded once: r.PathValue. Of the Reply beside an error, the header
// is sent with it.
type Endpoint func(ctx context.Context, c Caller, r *http.Request) (Reply, error)

// Route is one method of one path of the interface.
type Route struct {
	Method string
	// Path has {parameters}.
	Path string
	// Public routes need no token; their endpoints get the zero Caller.
	Public bool
	// Permissions are constants of package permission. The caller needs one of them; with none, a valid token is
	// enough.
	Permissions []string
	// Beside is a permission that the caller needs beside one of Permissions; "" for none.
	Beside string
	// Feature is the feature that the tenant must have; "" for none.
	Feature string
	// Limit is the limit of requests that the tenant has for this route and others with the same name. A public route
	// has no tenant: its limit is TokenRequests, which counts for the source address, or WholeAPI.
	Limit ratelimit.Name
	// ObjectLimit is a second limit, for each object that the first parameter of the path names by its UUID; "" for
	// none.
	ObjectLimit ratelimit.Name
	// Opens are the settings of the tenant that bound what requests to the route may leave open.
	Opens []ratelimit.Setting
	// Idempotency says how the route takes idempotency keys; nil if it takes none, and ignores them.
	Idempotency *Idempotency
	// Query names the query parameters of a route that the original interface does not have: others, and repeated ones
	// unless dots follow the name, are refused, so that a misspelt one is not left out in silence. A route with nil
	// ignores what it does not know, as clients of the original interface may send more, or checks the names itself.
	Query []string
	// MaxBody is the size of the largest request body in bytes; 0 means DefaultMaxBody.
	MaxBody  int64
	Endpoint Endpoint
}

// BodyLimit returns the size of the largest request body in bytes.
func (r Route) BodyLimit() int64 { return cmp.Or(r.MaxBody, DefaultMaxBody) }

// NoQuery is the Query of routes without parameters.
var NoQuery = []string{}

// checkQuery returns a validation error for each query parameter that the route refuses.
func (r Route) checkQuery(query url.Values) error {
	if r.Query == nil {
		return nil
	}
	var wrong []fault.Detail
	for _, name := range slices.Sorted(maps.Keys(query)) {
		d := fault.Detail{Source: fault.InQuery, Path: []any{name}}
		switch {
		case slices.Contains(r.Query, name+"..."):
			continue
		case !slices.Contains(r.Query, name):
			d.Message, d.Code = "This parameter is not known here.", "extra_forbidden"
		case len(query[name]) > 1:
			d.Message, d.Code = "The parameter must not be repeated.", "repeated"
		default:
			continue
		}
		wrong = append(wrong, d)
	}
	if len(wrong) == 0 {
		return nil
	}
	return fault.NewInvalid(wrong...)
}

// WithLimit returns routes of which those without a Limit have the given one.
func WithLimit(limit ratelimit.Name, routes ...Route) []Route {
	for i := range routes {
		routes[i].Limit = cmp.Or(routes[i].Limit, limit)
	}
	return routes
}

// API is a group of routes with one convention for errors.
type API struct {
	Routes []Route
	Errors ErrorFormat
	// Limits decides whether a request is within the limit of its route; nil if nothing is limited.
	Limits *ratelimit.Limiter
	// TokenRequests is the limit of token requests from one address.
	TokenRequests ratelimit.Limit
	// Idempotency decides about requests with an idempotency key; nil if no route takes keys.
	Idempotency *idempotency.Keys
	// Audit gets one record of each request; nil for none.
	Audit *audit.Log
	Log   *slog.Logger
	Now   func() time.Time
}

// DefaultMaxBody is 1 MiB: no valid request comes near it, except on routes that set MaxBody.
const DefaultMaxBody = 1 << 20

// Handler serves the routes. It never panics and always writes a reply.
func (a API) Handler() http.Handler {
	var handlers routing.Table[http.Handler]
	for _, r := range a.Routes {
		handlers.Add(r.Method, r.Path, a.serve(r))
	}
	notFound := a.serve(Route{Path: "/", Endpoint: answerNotFound})
	malformed := a.serve(Route{Path: "/", Public: true,
		Endpoint: func(context.Context, Caller, *http.Request) (Reply, error) {
			return Reply{}, fault.New(fault.BadRequest, "malformed_request",
				"The request cannot be read: check the percent-encoding of its path.")
		}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.URL.EscapedPath()
		h, parameters, found := handlers.Find(r.Method, sent)
		switch {
		case r.Context().Value(malformedKey{}) != nil:
			h = malformed
		case !found || path.Clean(sent) != sent: // with . or .. as a segment
			h = notFound
		}
		for name, value := range parameters {
			decoded, _ := url.PathUnescape(value) // an escaped path has no broken escapes
			r.SetPathValue(name, decoded)
		}
		h.ServeHTTP(w, r)
	})
}

// answerNotFound answers requests of no route as the gateway does, which sends those below a greedy path to a function:
// with 404, in every convention for errors, if they have a token.
func answerNotFound(ctx context.Context, _ Caller, _ *http.Request) (Reply, error) {
	audit.SetReason(ctx, "not_found")
	return Reply{Status: http.StatusNotFound, Body: map[string]string{"message": "Not found."}}, nil
}

func (a API) serve(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.Now()
		shortened, cancel := deadline.Shorten(r.Context(), replyMargin)
		defer cancel()
		ctx, trail := a.beginRecord(shortened, route, r)
		r = r.WithContext(ctx)
		a.correlate(w, r)
		r.Body = http.MaxBytesReader(w, r.Body, route.BodyLimit())
		limits := http.Header{}
		reply, err := a.answer(route, r, limits)
		if err != nil {
			header := reply.Header
			reply = a.errorReply(r, route, err)
			reply.Header = mergeHeaders(reply.Header, header)
		}
		reply.Header = mergeHeaders(reply.Header, limits)
		trail.Status = reply.write(ctx, w, a.Log)
		trail.Outcome = cmp.Or(trail.Outcome, audit.OutcomeOf(trail.Status))
		trail.Milliseconds = a.Now().Sub(start).Milliseconds()
		a.Audit.Write(ctx, trail.Record)
	})
}

// beginRecord begins the record of a request, to which the endpoint and the functions that it calls may add.
func (a API) beginRecord(ctx context.Context, route Route, r *http.Request) (context.Context, *audit.Request) {
	gateway := GatewayOf(ctx)
	ctx, trail := audit.NewContext(ctx, audit.Record{
		Method: r.Method, Route: route.Path, Source: gateway.SourceIP,
	}, a.Audit)
	for _, name := range route.parameters() {
		audit.AddObject(ctx, name, r.PathValue(name))
	}
	return ctx, trail
}

// parameters returns the names of the parameters in the path of a route.
func (r Route) parameters() []string {
	var names []string
	for segment := range strings.SplitSeq(r.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// mergeHeaders returns the headers of both; b overrides a.
func mergeHeaders(a, b http.Header) http.Header {
	merged := a.Clone()
	if merged == nil {
		merged = http.Header{}
	}
	maps.Copy(merged, b)
	return merged
}

// replyMargin is how long before the end of its invocation a request is given up. A later reply would be replaced by
// the gateway's own, and the log would not say why.
const replyMargin = time.Second

// answer authorizes the caller, takes the request from its limit and calls the endpoint, unless the request is answered
// already. It adds the header fields of the limit to limits. A panic is an internal error like any other.
func (a API) answer(route Route, r *http.Request, limits http.Header) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if len(r.Header.Get(CorrelationHeader)) > maxCorrelationBytes {
		return Reply{}, errCorrelationTooLong
	}
	var c Caller
	if !route.Public {
		if c, err = callerOf(r.Context(), a.Now()); err != nil {
			return Reply{}, err
		}
		audit.SetCaller(r.Context(), c.Tenant, c.Client, c.TokenID)
		if err := authorize(route, c); err != nil {
			return Reply{}, err
		}
	}
	if err := a.checkLimit(r.Context(), route, c, objectOf(route, r), limits); err != nil {
		return Reply{}, err
	}
	if r.URL.RawQuery != "" {
		if err := route.checkQuery(r.URL.Query()); err != nil {
			return Reply{}, err
		}
	}
	return a.callEndpoint(r.Context(), route, c, r)
}

var errLate = fault.New(fault.Unavailable, "late", "The service did not answer in time. Try again.")

// faultOf returns the fault that the client gets for an error.
func faultOf(err error) *fault.Error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errLate.WithCause(err)
	}
	e := fault.As(err)
	if e.Kind == fault.Internal && isThrottled(err) {
		e = errBusy.WithCause(err)
	}
	return e
}

func (a API) errorReply(r *http.Request, route Route, err error) Reply {
	ctx, e := r.Context(), faultOf(err)
	audit.SetReason(ctx, e.Code)
	if e.Kind == fault.Internal || e.Kind == fault.Unavailable {
		a.Log.ErrorContext(ctx, "request failed", "route", route.Path, "error", err)
	}
	status := a.Errors.statusOf(e.Kind)
	header := a.Errors.header(e.Kind)
	if e.RetryAfter > 0 {
		header = mergeHeaders(header, http.Header{"Retry-After": {inSeconds(e.RetryAfter)}})
	}
	return Reply{Status: status, Header: header, Body: a.Errors.Body(e, status, r)}
}
