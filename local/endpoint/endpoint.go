// Package endpoint is the one address of all AWS services but S3, as AWS_ENDPOINT_URL names it.
package endpoint

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"sluice/local/guardduty"
	"sluice/local/lambda"
	"sluice/local/states"
)

// Services are the handlers behind the endpoint.
type Services struct {
	DynamoDB *url.URL // requests are passed on to it
	States   http.Handler
	Keys     http.Handler
	Lambda   http.Handler
	Malware  http.Handler // GuardDuty
}

// New returns the handler of the endpoint. A request says by its X-Amz-Target, or for Lambda by its path, whom it is for.
//
// Every request of a function comes through here with an access key of that function: this is the place to hold its policies
// against what it asks for.
func New(s Services) http.Handler {
	dynamo := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.DynamoDB) },
		// The default keeps two connections and makes a new one for every further request at a time.
		Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target := r.Header.Get("X-Amz-Target")
		switch {
		case strings.HasPrefix(target, "DynamoDB"):
			dynamo.ServeHTTP(w, r)
		case strings.HasPrefix(target, states.TargetPrefix):
			s.States.ServeHTTP(w, r)
		case strings.HasPrefix(target, "TrentService."):
			s.Keys.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, lambda.PathPrefix):
			s.Lambda.ServeHTTP(w, r)
		case r.URL.Path == guardduty.Path:
			s.Malware.ServeHTTP(w, r)
		default:
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(w, `{"__type":"UnknownOperationException","message":"The local cloud does not know %s %s %s."}`,
				r.Method, strings.ReplaceAll(target, `"`, ""), url.PathEscape(r.URL.Path))
		}
	})
}
