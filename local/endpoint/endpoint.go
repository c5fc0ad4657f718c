// Package endpoint serves the one address of all AWS services but S3, the one that AWS_ENDPOINT_URL names. It forwards
// a request to its service once the signature is verified and the caller is allowed everything that the request asks
// for.
package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/local/eventbridge"
	"sluice/local/faults"
	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/states"
)

// Services holds the services that the endpoint serves, and what is needed to determine the resources of a request.
type Services struct {
	// IAM decides who may do what.
	IAM *iam.Service
	Now func() time.Time
	// DynamoDB is the address of the DynamoDB server, to which requests are forwarded.
	DynamoDB *url.URL
	// LimitWrites wraps the handler that passes requests to the DynamoDB server; nil leaves it as it is.
	LimitWrites func(http.Handler) http.Handler
	States      http.Handler
	KMS         http.Handler
	Lambda      http.Handler
	// Events serves the event bus.
	Events http.Handler
	// GuardDuty serves Malware Protection for S3.
	GuardDuty http.Handler
	// Faults serves the API of package faults; nil if there are no faults.
	Faults http.Handler
	// Logs serves the part of CloudWatch Logs that the operator uses.
	Logs http.Handler

	// ARN returns the ARN of a resource in the account and region of the local cloud.
	ARN func(service, resource string) string
	// PartitionKeys holds the name of the partition key of each table.
	PartitionKeys map[string]string
	// MachineOfToken returns the ARN of the state machine to which a task token belongs, and "" for what is not a
	// token.
	MachineOfToken func(taskToken string) string
	// TagOfKey returns the value of a tag of a KMS key, and "" if it has none. Names of tags are compared ignoring
	// case.
	TagOfKey func(key, tag string) string
}

// service is one of the services, with the form of its authorization and its errors.
type service struct {
	http.Handler
	// requests returns what a request asks permission for. A request that cannot be read yields a resource of "*" or
	// none: the service itself will report the error.
	requests func(r *http.Request, operation string, body []byte) []iam.Request
	// errorPrefix precedes the types of its errors.
	errorPrefix string
	// deniedStatus is the HTTP status of a denial.
	deniedStatus int
}

// New returns the handler of the endpoint. The header X-Amz-Target of a request names its service; Lambda, GuardDuty
// and the report of permissions are recognized by their paths.
func New(s Services) http.Handler {
	var dynamo http.Handler = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(s.DynamoDB) },
		// The server lets every web page read its answers; AWS does not.
		ModifyResponse: func(r *http.Response) error {
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					r.Header.Del(name)
				}
			}
			return nil
		},
		// The default transport keeps two idle connections and would open a new one for every further parallel request.
		Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256},
	}
	if s.LimitWrites != nil {
		dynamo = s.LimitWrites(dynamo)
	}
	byTarget := map[string]service{
		"DynamoDB_20120810.": {dynamo, s.dynamoDBRequests, "com.amazon.coral.service#", http.StatusBadRequest},
		states.TargetPrefix:  {s.States, s.statesRequests, "", http.StatusBadRequest},
		"Logs_20140328.":     {s.Logs, s.logsRequests, "", http.StatusBadRequest},
		"TrentService.":      {s.KMS, s.kmsRequests, "", http.StatusBadRequest},

		eventbridge.TargetPrefix: {s.Events, s.eventsRequests, "", http.StatusBadRequest},
	}
	if s.Faults != nil {
		byTarget[faults.TargetPrefix] = service{s.Faults, operatorRequests, "", http.StatusForbidden}
	}
	guardDuty := service{s.GuardDuty, s.guardDutyRequests, "", http.StatusForbidden}
	functions := service{s.Lambda, s.lambdaRequests, "", http.StatusForbidden}
	report := service{s.IAM, operatorRequests, "", http.StatusForbidden}
	a := &authenticator{iam: s.IAM, now: s.Now, signer: v4.NewSigner()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target := r.Header.Get("X-Amz-Target")
		prefix, operation, _ := strings.Cut(target, ".")
		if found, ok := byTarget[prefix+"."]; ok {
			serve(a, w, r, found, operation)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, lambda.PathPrefix):
			serve(a, w, r, functions, "InvokeFunction")
		case r.URL.Path == guardduty.Path:
			serve(a, w, r, guardDuty, "SendObjectMalwareScan")
		case r.URL.Path == iam.ReportPath:
			serve(a, w, r, report, "GetPolicies")
		default:
			writeError(w, http.StatusNotFound, "UnknownOperationException",
				fmt.Sprintf("The local cloud does not serve %s %s %s.", r.Method, target, r.URL.Path))
		}
	})
}

// serve authenticates and authorizes a request and passes it to its service.
func serve(a *authenticator, w http.ResponseWriter, r *http.Request, to service, operation string) {
	principal, body, err := a.authenticate(r)
	var rejected authError
	switch {
	case errors.As(err, &rejected):
		writeError(w, to.deniedStatus, to.errorPrefix+string(rejected), rejected.Error())
		return
	case err != nil:
		return // the body could not be read: the client has disconnected
	case principal.IsOperator():
		to.ServeHTTP(w, r) // the operator may do everything
		return
	}
	for _, request := range to.requests(r, operation, body) {
		var denied iam.DeniedError
		if err := principal.Authorize(request); errors.As(err, &denied) {
			writeError(w, to.deniedStatus, to.errorPrefix+"AccessDeniedException", denied.Error())
			return
		}
	}
	to.ServeHTTP(w, r)
}

// writeError sends an error in the form that the JSON protocols of AWS share. Clients look for the type and the message
// under various names, so each is sent twice.
func writeError(w http.ResponseWriter, status int, errorType, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-ErrorType", errorType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": errorType, "Message": message, "message": message})
}
