package endpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/local/iam"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func allow(action, resource string) map[string]any {
	return map[string]any{"Effect": "Allow", "Action": action, "Resource": resource}
}

const (
	thingsARN  = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
	keyARN     = "arn:aws:kms:us-east-1:000000000000:key/one"
	machineARN = "arn:aws:states:us-east-1:000000000000:stateMachine:m"
)

// newTestEndpoint starts an endpoint whose services answer with their name and what they got, for an operator and one
// function.
func newTestEndpoint(t *testing.T, statements ...any) (address string, service *iam.Service) {
	t.Helper()
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			errtest.Is(t, "error", err, nil)
			_, _ = io.WriteString(w, name+" "+r.URL.Path+" "+string(body))
		})
	}
	dynamo := httptest.NewServer(named("dynamo"))
	t.Cleanup(dynamo.Close)
	target := errtest.Must(url.Parse(dynamo.URL))(t)
	service = errtest.Must(iam.New(iam.Config{Account: "000000000000", Operator: iam.Key{ID: "ROOT", Secret: "root"},
		Roles: []iam.Role{
			{Name: "f", Key: iam.Key{ID: "F", Secret: "f"}, Policies: []any{map[string]any{"Statement": statements}}},
		}}))(t)
	server := httptest.NewServer(New(Services{
		IAM: service, Now: func() time.Time { return now }, DynamoDB: target,
		States: named("states"), KMS: named("kms"), Lambda: named("lambda"), GuardDuty: named("guardduty"),
		ARN: func(service, resource string) string {
			return "arn:aws:" + service + ":us-east-1:000000000000:" + resource
		},
		PartitionKeys:  map[string]string{"things": "id"},
		MachineOfToken: func(token string) string { return map[string]string{"open": machineARN}[token] },
		TagOfKey: func(key, tag string) string {
			return map[string]string{"arn:aws:kms:us-east-1:000000000000:key/tagged " +
				"sluice-signing": "sluice"}[key+" "+tag]
		},
	}))
	t.Cleanup(server.Close)
	return server.URL, service
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func sign(t *testing.T, r *http.Request, key iam.Key, body string) {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	err := v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: key.ID, SecretAccessKey: key.Secret}, r,
		hex.EncodeToString(sum[:]), "any", "us-east-1", now)
	errtest.Fatal(t, err)
}

func send(t *testing.T, address, key, target, path, body string) (int, string) {
	t.Helper()
	r := errtest.Must(http.NewRequest(http.MethodPost, address+path, strings.NewReader(body)))(t)
	r.Header.Set("X-Amz-Target", target)
	sign(t, r, iam.Key{ID: key, Secret: strings.ToLower(key)}, body)
	resp := errtest.Must(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	got := errtest.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, string(got)
}

func TestDispatch(t *testing.T) {
	address, _ := newTestEndpoint(t)
	for _, test := range []struct{ target, path, want string }{
		{"DynamoDB_20120810.GetItem", "/", "dynamo / x"},
		{"AWSStepFunctions.StartExecution", "/", "states / x"},
		{"TrentService.Sign", "/", "kms / x"},
		{"", "/2015-03-31/functions/f/invocations", "lambda /2015-03-31/functions/f/invocations x"},
	} {
		t.Run(test.want, func(t *testing.T) {
			if status, got := send(t, address, "ROOT", test.target, test.path, "x"); status != 200 || got != test.want {
				t.Errorf("signed by the operator: %d %s, want 200 %s", status, got, test.want)
			}
			status, got := send(t, address, "NOBODY", test.target, test.path, "x")
			if status/100 != 4 || !strings.Contains(got, string(unknownKey)) {
				t.Errorf("signed with an unknown key: %d %s, want a 4xx with %s", status, got, unknownKey)
			}
		})
	}
	difftest.Reply(t, "unknown service", 404, "POST AmazonSQS.SendMessage /.")(
		send(t, address, "ROOT", "AmazonSQS.SendMessage", "/", "x"))
}

// Each service denies what the statements do not allow, with errors in its own form.
func TestAuthorization(t *testing.T) {
	leading := allow("dynamodb:PutItem", thingsARN)
	leading["Condition"] = map[string]any{
		"ForAllValues:StringEquals": map[string]any{"dynamodb:LeadingKeys": []any{"mine"}},
	}
	tagged := allow("kms:Sign", "arn:aws:kms:us-east-1:000000000000:key/*")
	tagged["Condition"] = map[string]any{"StringEquals": map[string]any{"aws:ResourceTag/sluice-signing": "sluice"}}
	forPurpose := allow("kms:Decrypt", keyARN)
	forPurpose["Condition"] = map[string]any{"StringEquals": map[string]any{"kms:EncryptionContext:purpose": "mine"}}
	address, service := newTestEndpoint(t, allow("dynamodb:GetItem", thingsARN),
		allow("dynamodb:Query", thingsARN+"/index/by"), allow("dynamodb:BatchWriteItem", thingsARN),
		allow("dynamodb:UpdateItem", thingsARN), leading, allow("states:StartExecution", machineARN),
		allow("states:SendTaskSuccess", machineARN), allow("kms:Sign", keyARN), tagged, forPurpose,
		allow("lambda:InvokeFunction", "arn:aws:lambda:us-east-1:000000000000:function:g"))
	const dynamo, states, kms, invoke = "DynamoDB_20120810.", "AWSStepFunctions.", "TrentService.",
		"/2015-03-31/functions/"
	for _, test := range []struct {
		target, path, body string
		// denied is the denied action, and empty if the request is allowed.
		denied string
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
		{dynamo + "TransactWriteItems", "/", `{"TransactItems":[{"Update":{"TableName":"things"}},` +
			`{"Put":{"TableName":"things","Item":{"id":{"S":"mine"}}}}]}`, ""},
		{dynamo + "TransactWriteItems", "/", `{"TransactItems":[{"Update":{"TableName":"things"}},` +
			`{"Delete":{"TableName":"things"}}]}`, "dynamodb:DeleteItem"},
		{dynamo + "TransactWriteItems", "/", `{"TransactItems":[{"Put":{"TableName":"things","Item":{"id":{` +
			`"S":"yours"}}}}]}`, "dynamodb:PutItem"},
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
		{kms + "Decrypt", "/", `{"KeyId":"one","EncryptionContext":{"purpose":"mine","tenant":"t"}}`, ""},
		{kms + "Decrypt", "/", `{"KeyId":"one","EncryptionContext":{"purpose":"yours"}}`, "kms:Decrypt"},
		{kms + "Decrypt", "/", `{"KeyId":"one"}`, "kms:Decrypt"},
		{"", invoke + "g/invocations", `{}`, ""},
		{"", invoke + "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Ag/invocations", `{}`, ""},
		{"", invoke + "h/invocations", `{}`, "lambda:InvokeFunction"},
		{"", invoke + "g:3/invocations", `{}`, "lambda:InvokeFunction"},
		{"", invoke + "g/invocations?Qualifier=3", `{}`, "lambda:InvokeFunction"},
	} {
		t.Run(test.target+test.path+" "+test.body, func(t *testing.T) {
			status, got := send(t, address, "F", test.target, test.path, test.body)
			if test.denied == "" {
				if status != 200 || !strings.HasSuffix(got, " "+test.body) {
					t.Errorf("got %d %s, want 200 with the body", status, got)
				}
				return
			}
			wantStatus, wantType := 400, "AccessDeniedException"
			if test.target == "" {
				wantStatus = 403
			}
			if strings.HasPrefix(test.target, dynamo) {
				wantType = "com.amazon.coral.service#" + wantType
			}
			wantMessage := "assumed-role/f/f is not authorized to perform: " + test.denied + " on resource: "
			var failure struct {
				Type    string `json:"__type"`
				Message string
			}
			err := json.Unmarshal([]byte(got), &failure)
			if err != nil || status != wantStatus || failure.Type != wantType ||
				!strings.Contains(failure.Message, wantMessage) {
				t.Errorf("got %d %s, want %d %s with %q", status, got, wantStatus, wantType, wantMessage)
			}
		})
	}
	if n := len(service.Report().Denied); n == 0 {
		t.Error("the report contains no denials")
	}
}

// The report of permissions is for the operator alone.
func TestReport(t *testing.T) {
	address, _ := newTestEndpoint(t, allow("sluice:*", "arn:aws:dynamodb:us-east-1:000000000000:table/*"))
	for key, want := range map[string]string{"ROOT": `"statements"`, "F": "AccessDeniedException",
		"NOBODY": string(unknownKey)} {
		status, got := send(t, address, key, "", iam.ReportPath, "")
		if wantStatus := map[bool]int{true: 200, false: 403}[key == "ROOT"]; status != wantStatus ||
			!strings.Contains(got, want) {
			t.Errorf("signed by %s: got %d %s, want %d %s", key, status, got, wantStatus, want)
		}
	}
	resp := errtest.Must(http.Get(address + iam.ReportPath))(t)
	got := errtest.Must(io.ReadAll(resp.Body))(t)
	resp.Body.Close()
	if resp.StatusCode != 403 || !strings.Contains(string(got), string(noSignature)) {
		t.Errorf("not signed: got %d %s, want 403 %s", resp.StatusCode, got, noSignature)
	}
}

// A request is accepted only if it is unchanged since it was signed.
func TestSignatures(t *testing.T) {
	address, _ := newTestEndpoint(t, allow("dynamodb:GetItem", thingsARN))
	const body = `{"TableName":"things"}`
	for name, test := range map[string]struct {
		key    iam.Key
		change func(r *http.Request)
		// want is the type of the error, and empty if the request is accepted.
		want string
	}{
		"unchanged": {iam.Key{ID: "F", Secret: "f"}, func(*http.Request) {}, ""},
		"an additional header": {iam.Key{ID: "F", Secret: "f"}, func(r *http.Request) {
			r.Header.Set("User-Agent",
				"x")
		}, ""},
		"no signature": {iam.Key{ID: "F", Secret: "f"}, func(r *http.Request) { r.Header.Del("Authorization") },
			"MissingAuthenticationTokenException"},
		"another scheme": {iam.Key{ID: "F", Secret: "f"}, func(r *http.Request) {
			r.Header.Set("Authorization",
				"Bearer x")
		}, "MissingAuthenticationTokenException"},
		"a malformed header": {iam.Key{ID: "F", Secret: "f"}, func(r *http.Request) {
			r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=F, SignedHeaders=host")
		}, "MissingAuthenticationTokenException"},
		"an unknown key": {iam.Key{ID: "G", Secret: "f"}, func(*http.Request) {}, "UnrecognizedClientException"},
		"a wrong secret": {iam.Key{ID: "F", Secret: "g"}, func(*http.Request) {}, "InvalidSignatureException"},
		"another operation": {iam.Key{ID: "F", Secret: "f"}, func(
			r *http.Request) {
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
		},
			"InvalidSignatureException"},
		"another body": {iam.Key{ID: "F", Secret: "f"}, func(
			r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.ToUpper(body)))
		},
			"InvalidSignatureException"},
		"no time": {iam.Key{ID: "F", Secret: "f"}, func(r *http.Request) { r.Header.Del("X-Amz-Date") },
			"InvalidSignatureException"},
		"the operator's secret": {iam.Key{ID: "ROOT", Secret: "f"}, func(*http.Request) {},
			"InvalidSignatureException"},
		"another key ID": {iam.Key{ID: "ROOT", Secret: "root"}, func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "ROOT", "F", 1))
		}, "InvalidSignatureException"},
	} {
		t.Run(name, func(t *testing.T) {
			r := errtest.Must(http.NewRequest(http.MethodPost, address, strings.NewReader(body)))(t)
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
			sign(t, r, test.key, body)
			test.change(r)
			resp := errtest.Must(http.DefaultClient.Do(r))(t)
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || (resp.StatusCode == 200) != (test.want == "") ||
				!strings.Contains(string(got), test.want) {
				t.Errorf("got %d %s, %v; want error %q", resp.StatusCode, got, err, test.want)
			}
		})
	}
}

func TestSignatureTime(t *testing.T) {
	service := errtest.Must(iam.New(iam.Config{Operator: iam.Key{ID: "ROOT", Secret: "root"}}))(t)
	for skew, want := range map[time.Duration]error{
		0: nil, maxSkew: nil, -maxSkew: nil, maxSkew + time.Second: badSignature, -maxSkew - time.Second: badSignature,
	} {
		t.Run(skew.String(), func(t *testing.T) {
			a := &authenticator{iam: service, signer: v4.NewSigner(), now: func() time.Time { return now.Add(skew) }}
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
			sign(t, r, iam.Key{ID: "ROOT", Secret: "root"}, "{}")
			if _, _, err := a.authenticate(r); err != want {
				t.Errorf("authenticate: %v, want %v", err, want)
			}
		})
	}
}
