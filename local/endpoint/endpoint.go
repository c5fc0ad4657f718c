// Package endpoint is the one address of all AWS services but S3, as AWS_ENDPOINT_URL names it. A request is passed on once its
// signature is verified and everything that it asks for is allowed.
package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/policy"
	"sluice/local/states"
)

// Services are the handlers behind the endpoint, and what is needed to say what a request to them asks for.
type Services struct {
	IAM      *iam.Service
	Now      func() time.Time
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
	g := &gate{iam: s.IAM, now: s.Now, signer: v4.NewSigner()}
	functions := service{s.Lambda, s.functions, "", http.StatusForbidden}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target := r.Header.Get("X-Amz-Target")
		prefix, operation, _ := strings.Cut(target, ".")
		if found, ok := services[prefix+"."]; ok {
			s.serve(g, w, r, found, operation)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, lambda.PathPrefix):
			s.serve(g, w, r, functions, "InvokeFunction")
		case r.URL.Path == guardduty.Path:
			s.serve(g, w, r, malware, "SendObjectMalwareScan")
		case r.URL.Path == iam.ReportPath:
			s.IAM.ServeHTTP(w, r)
		default:
			refuse(w, http.StatusNotFound, "UnknownOperationException", fmt.Sprintf("The local cloud does not know %s %s %s.",
				r.Method, target, r.URL.Path))
		}
	})
}

func (s Services) serve(g *gate, w http.ResponseWriter, r *http.Request, to service, operation string) {
	who, body, refused, err := g.open(r)
	if err != nil {
		return // the client has gone
	}
	if refused != "" {
		refuse(w, to.status, to.kind+refused, because[refused])
		return
	}
	if who.Name == "" {
		to.ServeHTTP(w, r) // the operator may do everything: what it asks for need not be worked out
		return
	}
	for _, want := range to.wants(r, operation, body) {
		var denied iam.Denied
		if err := who.Allow(want); errors.As(err, &denied) {
			refuse(w, to.status, to.kind+"AccessDeniedException", denied.Error())
			return
		}
	}
	to.ServeHTTP(w, r)
}
