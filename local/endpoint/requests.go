package endpoint

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"sluice/local/eventbridge"
	"sluice/local/iam"
	"sluice/local/lambda"
)

// transactActions holds the actions that the parts of a DynamoDB transaction require. A batch requires its own action.
var transactActions = map[string]string{
	"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem",
	"Get": "GetItem",
}

// dynamoDBRequests returns what a request to DynamoDB asks permission for: one action for each table, index or part of
// a transaction. A body can have 16 MB, of which only as much is examined as finding the tables requires.
func (s Services) dynamoDBRequests(_ *http.Request, operation string, body []byte) []iam.Request {
	var out []iam.Request
	var table, index string
	eachMember(body, func(name string, value []byte) {
		switch name {
		case "TableName":
			table = decodeString(value)
		case "IndexName":
			index = decodeString(value)
		case "RequestItems":
			eachMember(value, func(table string, items []byte) {
				out = append(out, s.tableRequest(operation, table, "", items))
			})
		case "TransactItems":
			eachElement(value, func(item []byte) {
				eachMember(item, func(kind string, part []byte) { out = append(out, s.transactRequest(kind, part)) })
			})
		}
	})
	if table != "" {
		out = append(out, s.tableRequest(operation, table, index, body))
	}
	if out == nil {
		out = []iam.Request{{Action: "dynamodb:" + operation, Resource: "*"}}
	}
	return out
}

// transactRequest returns what a part of a transaction asks permission for.
func (s Services) transactRequest(kind string, part []byte) iam.Request {
	var table string
	eachMember(part, func(name string, value []byte) {
		if name == "TableName" {
			table = decodeString(value)
		}
	})
	return s.tableRequest(transactActions[kind], table, "", part)
}

// tableRequest returns the request for an action on a table or one of its indexes. The items in body are examined only
// if a policy has a condition on them.
func (s Services) tableRequest(operation, table, index string, body []byte) iam.Request {
	if _, name, isARN := strings.Cut(table, ":table/"); isARN {
		table = name
	}
	resource := "table/" + table
	if index != "" {
		resource += "/index/" + index
	}
	conditionValues := func(key string) []string {
		if key != "dynamodb:leadingkeys" {
			return nil
		}
		return partitionKeyValues(body, s.PartitionKeys[table])
	}
	return iam.Request{
		Action: "dynamodb:" + operation, Resource: s.ARN("dynamodb", resource), ConditionValues: conditionValues,
	}
}

// partitionKeyValues returns the partition keys of all items in a request. For a request without items, such as a
// query, it returns the empty string, which no policy allows: expressions are not evaluated here.
func partitionKeyValues(body []byte, attribute string) []string {
	var out []string
	collectKey := func(item []byte) {
		eachMember(item, func(name string, value []byte) {
			if name == attribute {
				eachMember(value, func(_ string, value []byte) { out = append(out, decodeString(value)) })
			}
		})
	}
	var walk func(value []byte)
	walk = func(value []byte) {
		eachElement(value, walk)
		eachMember(value, func(name string, value []byte) {
			switch name {
			case "Key", "Item":
				collectKey(value)
			case "Keys":
				eachElement(value, collectKey)
			case "PutRequest", "DeleteRequest":
				walk(value)
			}
		})
	}
	walk(body)
	if out == nil {
		return []string{""}
	}
	return out
}

// decodeString returns the string that a JSON value is, and "" for any other value.
func decodeString(value []byte) string {
	var s string
	_ = json.Unmarshal(value, &s)
	return s
}

// statesRequests returns what a request to Step Functions asks permission for.
func (s Services) statesRequests(_ *http.Request, operation string, body []byte) []iam.Request {
	var in struct{ StateMachineArn, ExecutionArn, TaskToken string }
	_ = json.Unmarshal(body, &in) // the service reports invalid JSON
	resource := "*"
	switch {
	case in.TaskToken != "":
		resource = s.MachineOfToken(in.TaskToken)
	case in.ExecutionArn != "":
		resource = in.ExecutionArn
	case in.StateMachineArn != "":
		resource = in.StateMachineArn
	}
	return []iam.Request{{Action: "states:" + operation, Resource: resource}}
}

const (
	// resourceTagPrefix begins the condition keys of a resource's tags.
	resourceTagPrefix = "aws:resourcetag/"
	// encryptionContextPrefix begins the condition keys of the pairs in an encryption context.
	encryptionContextPrefix = "kms:encryptioncontext:"
)

// kmsRequests returns what a request to KMS asks permission for.
func (s Services) kmsRequests(_ *http.Request, operation string, body []byte) []iam.Request {
	var in struct {
		KeyID             string            `json:"KeyId"`
		EncryptionContext map[string]string `json:"EncryptionContext"`
	}
	_ = json.Unmarshal(body, &in) // the service reports invalid JSON
	request := iam.Request{Action: "kms:" + operation, Resource: "*"}
	if in.KeyID == "" {
		return []iam.Request{request}
	}
	request.Resource = in.KeyID
	if !strings.HasPrefix(in.KeyID, "arn:") {
		request.Resource = s.ARN("kms", "key/"+in.KeyID)
	}
	request.ConditionValues = func(name string) []string {
		if tag, ok := strings.CutPrefix(name, resourceTagPrefix); ok {
			if value := s.TagOfKey(request.Resource, tag); value != "" {
				return []string{value}
			}
		}
		if wanted, ok := strings.CutPrefix(name, encryptionContextPrefix); ok {
			for name, value := range in.EncryptionContext {
				if strings.EqualFold(name, wanted) {
					return []string{value}
				}
			}
		}
		return nil
	}
	return []iam.Request{request}
}

// lambdaRequests returns what a request to Lambda asks permission for.
func (s Services) lambdaRequests(r *http.Request, operation string, _ []byte) []iam.Request {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), lambda.PathPrefix), "/")
	if unescaped, err := url.PathUnescape(name); err == nil {
		name = unescaped
	}
	if !strings.HasPrefix(name, "arn:") {
		name = s.ARN("lambda", "function:"+name)
	}
	if qualifier := r.URL.Query().Get("Qualifier"); qualifier != "" && strings.Count(name, ":") == 6 {
		name += ":" + qualifier
	}
	return []iam.Request{{Action: "lambda:" + operation, Resource: name}}
}

// eventsRequests returns what a request to EventBridge asks permission for: each bus of its entries.
func (s Services) eventsRequests(_ *http.Request, operation string, body []byte) []iam.Request {
	var in struct {
		Entries []struct{ EventBusName string }
	}
	_ = json.Unmarshal(body, &in) // the service reports invalid JSON
	out := []iam.Request{}
	for _, e := range in.Entries {
		bus := s.ARN("events", "event-bus/"+eventbridge.BusName(e.EventBusName))
		out = append(out, iam.Request{Action: "events:" + operation, Resource: bus})
	}
	if len(out) == 0 {
		out = append(out, iam.Request{Action: "events:" + operation, Resource: "*"})
	}
	return out
}

// operatorRequests returns what a request to kill functions, or for the report of permissions, asks permission for,
// which only the operator has.
func operatorRequests(_ *http.Request, operation string, _ []byte) []iam.Request {
	return []iam.Request{{Action: "sluice:" + operation, Resource: "*"}}
}

// guardDutyRequests returns what a request to GuardDuty asks permission for. Its action has no resource.
func (s Services) guardDutyRequests(_ *http.Request, operation string, _ []byte) []iam.Request {
	return []iam.Request{{Action: "guardduty:" + operation, Resource: "*"}}
}

// logsRequests returns what a request to CloudWatch Logs asks permission for. Functions print; none has this
// permission.
func (s Services) logsRequests(_ *http.Request, operation string, _ []byte) []iam.Request {
	return []iam.Request{{Action: "logs:" + operation, Resource: "*"}}
}
