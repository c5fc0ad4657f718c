// Package endpoint is the one address of all AWS services but S3, as AWS_ENDPOINT_URL names it. A request is passed on once its
// access key is known and everything that it asks for is allowed.
package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/policy"
	"sluice/local/states"
)

// Services are the handlers behind the endpoint, and what is needed to say what a request to them asks for.
type Services struct {
	IAM      *iam.Service
	DynamoDB *url.URL // requests are passed on to it
	States   http.Handler
	Keys     http.Handler
	Lambda   http.Handler
	Malware  http.Handler // GuardDuty

	ARN           func(service, resource string) string // of this place
	PartitionKeys map[string]string                     // by table
	MachineOf     func(taskToken string) string         // ARN; "" for a token that nobody waits for
	TagOf         func(key, tag string) string          // of a KMS key; names of tags in any case
}

// service is one of them.
type service struct {
	http.Handler
	// wants says what a request asks for. What cannot be read asks for nothing: the service itself says what is wrong with it.
	wants func(r *http.Request, operation string, body []byte) []policy.Request
	// kind begins the types of its errors.
	kind string
	// status is that of a denial.
	status int
}

// New returns the handler of the endpoint. A request says by its X-Amz-Target, or for Lambda by its path, whom it is for.
func New(s Services) http.Handler {
	dynamo := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.DynamoDB) },
		// The default keeps two connections and makes a new one for every further request at a time.
		Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256},
	}
	services := map[string]service{
		"DynamoDB_20120810.": {dynamo, s.tables, "com.amazon.coral.service#", http.StatusBadRequest},
		states.TargetPrefix:  {s.States, s.executions, "", http.StatusBadRequest},
		"TrentService.":      {s.Keys, s.keys, "", http.StatusBadRequest},
	}
	malware := service{s.Malware, s.scans, "", http.StatusForbidden}
	functions := service{s.Lambda, s.functions, "", http.StatusForbidden}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target := r.Header.Get("X-Amz-Target")
		prefix, operation, _ := strings.Cut(target, ".")
		if found, ok := services[prefix+"."]; ok {
			s.serve(w, r, found, operation)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, lambda.PathPrefix):
			s.serve(w, r, functions, "InvokeFunction")
		case r.URL.Path == guardduty.Path:
			s.serve(w, r, malware, "SendObjectMalwareScan")
		case r.URL.Path == iam.ReportPath:
			s.IAM.ServeHTTP(w, r)
		default:
			refuse(w, http.StatusNotFound, "UnknownOperationException", fmt.Sprintf("The local cloud does not know %s %s %s.",
				r.Method, target, r.URL.Path))
		}
	})
}

func (s Services) serve(w http.ResponseWriter, r *http.Request, to service, operation string) {
	who, ok := s.IAM.ByKey(accessKey(r))
	if !ok {
		refuse(w, to.status, to.kind+"UnrecognizedClientException", "The security token included in the request is invalid.")
		return
	}
	body, err := read(r)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	for _, want := range to.wants(r, operation, body) {
		var denied iam.Denied
		if err := who.Allow(want); errors.As(err, &denied) {
			refuse(w, to.status, to.kind+"AccessDeniedException", denied.Error())
			return
		}
	}
	to.ServeHTTP(w, r)
}

// accessKey is the id of the key that signed a request: ... Credential=ID/date/region/service/aws4_request, ...
func accessKey(r *http.Request) string {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	id, _, _ := strings.Cut(credential, "/")
	return id
}

// largest is the most bytes of a request to any of the services: DynamoDB's.
const largest = 16 << 20

func read(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > largest {
		return io.ReadAll(io.LimitReader(r.Body, largest+1))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}
