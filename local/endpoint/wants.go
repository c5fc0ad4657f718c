package endpoint

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice/local/lambda"
	"sluice/local/policy"
)

// executions says what a request to Step Functions asks for.
func (s Services) executions(_ *http.Request, operation string, body []byte) []policy.Request {
	var in struct{ StateMachineArn, ExecutionArn, TaskToken string }
	_ = json.Unmarshal(body, &in) // what is no JSON the service refuses
	resource := "*"
	switch {
	case in.TaskToken != "":
		resource = s.MachineOf(in.TaskToken)
	case in.ExecutionArn != "":
		resource = in.ExecutionArn
	case in.StateMachineArn != "":
		resource = in.StateMachineArn
	}
	return []policy.Request{{Action: "states:" + operation, Resource: resource}}
}

const resourceTag = "aws:resourcetag/"

// keys says what a request to KMS asks for.
func (s Services) keys(_ *http.Request, operation string, body []byte) []policy.Request {
	var in struct {
		KeyID string `json:"KeyId"`
	}
	_ = json.Unmarshal(body, &in)
	want := policy.Request{Action: "kms:" + operation, Resource: "*"}
	if in.KeyID != "" {
		want.Resource = in.KeyID
		if !strings.HasPrefix(in.KeyID, "arn:") {
			want.Resource = s.ARN("kms", "key/"+in.KeyID)
		}
		want.Value = func(name string) []string {
			if tag, ok := strings.CutPrefix(name, resourceTag); ok {
				if value := s.TagOf(want.Resource, tag); value != "" {
					return []string{value}
				}
			}
			return nil
		}
	}
	return []policy.Request{want}
}

// functions says what a request to Lambda asks for.
func (s Services) functions(r *http.Request, operation string, _ []byte) []policy.Request {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), lambda.PathPrefix), "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if !strings.HasPrefix(name, "arn:") {
		name = s.ARN("lambda", "function:"+name)
	}
	return []policy.Request{{Action: "lambda:" + operation, Resource: name}}
}

// scans says what a request to GuardDuty asks for. Its action knows no resources.
func (s Services) scans(_ *http.Request, operation string, _ []byte) []policy.Request {
	return []policy.Request{{Action: "guardduty:" + operation, Resource: "*"}}
}
