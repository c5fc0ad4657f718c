package endpoint

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"sluice/local/iam"
)

func allow(action, resource string) map[string]any {
	return map[string]any{"Sid": "S", "Effect": "Allow", "Action": action, "Resource": resource}
}

const (
	thingsARN  = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
	keyARN     = "arn:aws:kms:us-east-1:000000000000:key/one"
	machineARN = "arn:aws:states:us-east-1:000000000000:stateMachine:m"
)

// open starts an endpoint whose services answer with their name and what they got, for an operator and one function.
func open(t *testing.T, statements ...any) (address string, keeper *iam.Service) {
	t.Helper()
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, name+" "+r.URL.Path+" "+string(body))
		})
	}
	dynamo := httptest.NewServer(named("dynamo"))
	t.Cleanup(dynamo.Close)
	behind, err := url.Parse(dynamo.URL)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err = iam.New(iam.Config{Account: "000000000000", Operator: iam.Key{ID: "ROOT", Secret: "root"},
		Roles: []iam.Role{{Name: "f", Key: iam.Key{ID: "F", Secret: "f"}, Policies: []any{map[string]any{"Statement": statements}}}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(Services{IAM: keeper, DynamoDB: behind, States: named("states"), Keys: named("keys"), Lambda: named("lambda"), Malware: named("malware"),
		ARN: func(service, resource string) string {
			return "arn:aws:" + service + ":us-east-1:000000000000:" + resource
		},
		PartitionKeys: map[string]string{"things": "id"},
		MachineOf:     func(token string) string { return map[string]string{"open": machineARN}[token] },
		TagOf: func(key, tag string) string {
			return map[string]string{"arn:aws:kms:us-east-1:000000000000:key/tagged sluice-signing": "sluice"}[key+" "+tag]
		},
	}))
	t.Cleanup(server.Close)
	return server.URL, keeper
}

func send(t *testing.T, address, key, target, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", target)
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20260101/us-east-1/any/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

func TestDispatch(t *testing.T) {
	address, _ := open(t)
	for _, test := range []struct{ target, path, want string }{
		{"DynamoDB_20120810.GetItem", "/", "dynamo / x"},
		{"AWSStepFunctions.StartExecution", "/", "states / x"},
		{"TrentService.Sign", "/", "keys / x"},
		{"", "/2015-03-31/functions/f/invocations", "lambda /2015-03-31/functions/f/invocations x"},
	} {
		if status, got := send(t, address, "ROOT", test.target, test.path, "x"); status != 200 || got != test.want {
			t.Errorf("%s %s: %d %s", test.target, test.path, status, got)
		}
		if status, got := send(t, address, "NOBODY", test.target, test.path, "x"); status/100 != 4 || !strings.Contains(got, "UnrecognizedClientException") {
			t.Errorf("%s %s by nobody: %d %s", test.target, test.path, status, got)
		}
	}
	if status, got := send(t, address, "ROOT", "AmazonSQS.SendMessage", "/", "x"); status != 404 || !strings.Contains(got, "POST AmazonSQS.SendMessage /.") {
		t.Errorf("%d %s", status, got)
	}
}

// What a request asks for decides, in each service's own words.
func TestDenied(t *testing.T) {
	leading := allow("dynamodb:PutItem", thingsARN)
	leading["Condition"] = map[string]any{"ForAllValues:StringEquals": map[string]any{"dynamodb:LeadingKeys": []any{"mine"}}}
	tagged := allow("kms:Sign", "arn:aws:kms:us-east-1:000000000000:key/*")
	tagged["Condition"] = map[string]any{"StringEquals": map[string]any{"aws:ResourceTag/sluice-signing": "sluice"}}
	address, keeper := open(t,
		allow("dynamodb:GetItem", thingsARN), allow("dynamodb:Query", thingsARN+"/index/by"), allow("dynamodb:BatchWriteItem", thingsARN),
		allow("dynamodb:UpdateItem", thingsARN), leading,
		allow("states:StartExecution", machineARN), allow("states:SendTaskSuccess", machineARN),
		allow("kms:Sign", keyARN), tagged, allow("lambda:InvokeFunction", "arn:aws:lambda:us-east-1:000000000000:function:g"))
	const dynamo, states, kms, invoke = "DynamoDB_20120810.", "AWSStepFunctions.", "TrentService.", "/2015-03-31/functions/"
	for _, test := range []struct {
		target, path, body string
		denied             string // action; "" if it is allowed
	}{
		{dynamo + "GetItem", "/", `{"TableName":"things","Key":{}}`, ""},
		{dynamo + "GetItem", "/", `{"Key":{"x":{"S":"TableName\":\"things"}},"TableName":"` + thingsARN + `"}`, ""},
		{dynamo + "GetItem", "/", `{"TableName":"others"}`, "dynamodb:GetItem"},
		{dynamo + "GetItem", "/", `{"TableName":"others","Key":{"TableName":"things"}}`, "dynamodb:GetItem"},
		{dynamo + "GetItem", "/", `no JSON`, "dynamodb:GetItem"},
		{dynamo + "Scan", "/", `{"TableName":"things"}`, "dynamodb:Scan"},
		{dynamo + "ListTables", "/", `{}`, "dynamodb:ListTables"},
		{dynamo + "Query", "/", `{"TableName":"things","IndexName":"by"}`, ""},
		{dynamo + "Query", "/", `{"TableName":"things","IndexName":"to"}`, "dynamodb:Query"},
		{dynamo + "Query", "/", `{"TableName":"things"}`, "dynamodb:Query"},
		{dynamo + "BatchWriteItem", "/", `{"RequestItems":{"things":[{"PutRequest":{"Item":{}}}]}}`, ""},
		{dynamo + "BatchWriteItem", "/", `{"RequestItems":{"things":[],"others":[]}}`, "dynamodb:BatchWriteItem"},
		{dynamo + "TransactWriteItems", "/", `{"TransactItems":[{"Update":{"TableName":"things"}},{"Put":{"TableName":"things","Item":{"id":{"S":"mine"}}}}]}`, ""},
		{dynamo + "TransactWriteItems", "/", `{"TransactItems":[{"Update":{"TableName":"things"}},{"Delete":{"TableName":"things"}}]}`, "dynamodb:DeleteItem"},
		{dynamo + "TransactWriteItems", "/", `{"TransactItems":[{"Put":{"TableName":"things","Item":{"id":{"S":"yours"}}}}]}`, "dynamodb:PutItem"},
		{dynamo + "PutItem", "/", `{"TableName":"things","Item":{"a":{"S":"b"},"id":{"S":"mine"}}}`, ""},
		{dynamo + "PutItem", "/", `{"TableName":"things","Item":{"id":{"S":"yours"}}}`, "dynamodb:PutItem"},
		{dynamo + "PutItem", "/", `{"TableName":"things","Item":{}}`, "dynamodb:PutItem"},
		{states + "StartExecution", "/", `{"stateMachineArn":"` + machineARN + `"}`, ""},
		{states + "StartExecution", "/", `{"stateMachineArn":"` + machineARN + `2"}`, "states:StartExecution"},
		{states + "DescribeExecution", "/", `{"executionArn":"e"}`, "states:DescribeExecution"},
		{states + "SendTaskSuccess", "/", `{"taskToken":"open"}`, ""},
		{states + "SendTaskSuccess", "/", `{"taskToken":"closed"}`, "states:SendTaskSuccess"},
		{states + "SendTaskFailure", "/", `{"taskToken":"open"}`, "states:SendTaskFailure"},
		{kms + "Sign", "/", `{"KeyId":"one"}`, ""},
		{kms + "Sign", "/", `{"KeyId":"` + keyARN + `"}`, ""},
		{kms + "Sign", "/", `{"KeyId":"two"}`, "kms:Sign"},
		{kms + "Sign", "/", `{"KeyId":"tagged"}`, ""},
		{kms + "GetPublicKey", "/", `{"KeyId":"one"}`, "kms:GetPublicKey"},
		{kms + "CreateKey", "/", `{}`, "kms:CreateKey"},
		{"", invoke + "g/invocations", `{}`, ""},
		{"", invoke + "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Ag/invocations", `{}`, ""},
		{"", invoke + "h/invocations", `{}`, "lambda:InvokeFunction"},
	} {
		status, got := send(t, address, "F", test.target, test.path, test.body)
		if test.denied == "" {
			if status != 200 || !strings.HasSuffix(got, " "+test.body) {
				t.Errorf("%s%s %s: %d %s", test.target, test.path, test.body, status, got)
			}
			continue
		}
		var failure struct {
			Type    string `json:"__type"`
			Message string
		}
		want, kind := 400, "AccessDeniedException"
		if test.target == "" {
			want = 403
		}
		if strings.HasPrefix(test.target, dynamo) {
			kind = "com.amazon.coral.service#" + kind
		}
		if err := json.Unmarshal([]byte(got), &failure); err != nil || status != want || failure.Type != kind ||
			!strings.Contains(failure.Message, "assumed-role/f/f is not authorized to perform: "+test.denied+" on resource: ") {
			t.Errorf("%s%s %s: %d %s", test.target, test.path, test.body, status, got)
		}
	}
	if n := len(keeper.Report().Denied); n == 0 {
		t.Error("no denial is recorded")
	}
}
