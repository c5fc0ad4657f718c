// Package httpapi is the edge of every HTTP function: routes, the caller, permissions, strict JSON, and the one map from
// error kinds to statuses. An endpoint is a function of a caller and a request; everything else is done here.
package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"sluice/shared/deadline"
	"sluice/shared/fault"
)

// Reply is an answer. A nil Body sends none.
type Reply struct {
	Status int // 0: 200
	Header http.Header
	Body   any // sent as JSON
}

// Endpoint answers one route. Path parameters are decoded once: r.PathValue.
type Endpoint func(ctx context.Context, c Caller, r *http.Request) (Reply, error)

// Route is one method of one path of template.yaml.
type Route struct {
	Method      string
	Path        string   // with {parameters}, as in the template
	Public      bool     // no token is needed
	Permissions []string // any of them lets the caller in; none: a valid token is enough
	Feature     string   // that the tenant must have; "": none
	Endpoint    Endpoint
}

// API is a group of routes with one shape of error bodies.
type API struct {
	Routes      []Route
	Errors      func(e *fault.Error) any // body of an error
	ErrorHeader http.Header              // sent with every error; nil: none
	MaxBody     int64                    // largest request body, in bytes; 0: DefaultMaxBody
	Log         *slog.Logger
	Now         func() time.Time
}

// DefaultMaxBody is 1 MiB: no request of any endpoint comes near it.
const DefaultMaxBody = 1 << 20

// Handler serves the routes. It never panics and always writes a reply.
func (a API) Handler() http.Handler {
	// A mux refuses /error/{id} beside /{id}/clone, because both fit /error/clone. API Gateway takes the one whose fixed
	// segment comes first, and so do two muxes one after the other.
	first, mux := http.NewServeMux(), http.NewServeMux()
	for _, r := range a.Routes {
		to := first
		if _, behind, ok := strings.Cut(r.Path, "}/"); ok && !strings.HasPrefix(behind, "{") {
			to = mux
		}
		to.Handle(r.Method+" "+r.Path, a.serve(r))
	}
	// API Gateway sends no other path here; a home without it gets its answer all the same.
	missing := a.serve(Route{Path: "/", Public: true, Endpoint: func(context.Context, Caller, *http.Request) (Reply, error) {
		return Reply{}, fault.New(fault.NotFound, "not_found", "Not found.")
	}})
	mux.Handle("/", missing)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect from a path with "//" or ".." in it, to an address that is not the API's.
		if p := r.URL.EscapedPath(); path.Clean(p) != p && path.Clean(p)+"/" != p {
			missing.ServeHTTP(w, r)
			return
		}
		if _, pattern := first.Handler(r); pattern != "" {
			first.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (a API) serve(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := a.Now()
		ctx, cancel := deadline.Shorten(r.Context(), margin)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, cmp.Or(a.MaxBody, DefaultMaxBody))
		reply, err := a.answer(route, r)
		if err != nil {
			reply = a.failure(r.Context(), route, err)
		}
		status := a.write(r.Context(), w, reply)
		a.Log.InfoContext(r.Context(), "served", "method", r.Method, "route", route.Path, "status", status,
			"ms", a.Now().Sub(start).Milliseconds())
	})
}

// margin is how long before the end of its invocation a request is given up: a late one would get the gateway's words and
// leave none in the log.
const margin = time.Second

var errLate = fault.New(fault.Unavailable, "late", "The service did not answer in time. Try again.")

// answer lets the caller in and calls the endpoint. A panic is an internal error like any other.
func (a API) answer(route Route, r *http.Request) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	var c Caller
	if !route.Public {
		if c, err = callerOf(r.Context(), a.Now()); err != nil {
			return Reply{}, err
		}
		if err := admit(route, c); err != nil {
			return Reply{}, err
		}
	}
	return route.Endpoint(r.Context(), c, r)
}

func (a API) failure(ctx context.Context, route Route, err error) Reply {
	if errors.Is(err, context.DeadlineExceeded) {
		err = errLate.Because(err)
	}
	e := fault.As(err)
	if e.Kind == fault.Internal || e.Kind == fault.Unavailable {
		a.Log.ErrorContext(ctx, "request failed", "route", route.Path, "error", err)
	}
	return Reply{Status: statusOf(e.Kind), Header: a.ErrorHeader, Body: a.Errors(e)}
}

func (a API) write(ctx context.Context, w http.ResponseWriter, reply Reply) int {
	header := w.Header()
	for name, values := range reply.Header {
		header[name] = values
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		header.Set("X-Request-Id", lc.AwsRequestID)
	}
	status := reply.Status
	if status == 0 {
		status = http.StatusOK
	}
	var text []byte
	if reply.Body != nil {
		var err error
		if text, err = encode(reply.Body); err != nil {
			a.Log.ErrorContext(ctx, "reply cannot be encoded", "error", err)
			status, text = http.StatusInternalServerError, []byte(`{"message":"Internal server error."}`)
		}
		header.Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		a.Log.WarnContext(ctx, "reply was not sent", "error", err)
	}
	return status
}

// encode writes & as it is: a person can copy a signed URL out of the reply.
func encode(body any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(body)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
