package iam

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/local/policy"
)

const (
	things = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
	key    = "arn:aws:kms:us-east-1:000000000000:key/"
	object = "arn:aws:s3:::bucket/a"
)

func document(statements ...map[string]any) map[string]any {
	var list []any
	for _, s := range statements {
		list = append(list, s)
	}
	return map[string]any{"Statement": list}
}

func says(sid, effect, resource string, actions ...any) map[string]any {
	return map[string]any{"Sid": sid, "Effect": effect, "Action": actions, "Resource": resource}
}

func of(statement map[string]any, principal any) map[string]any {
	statement["Principal"] = principal
	return statement
}

func open(t *testing.T, told *[]Denied) *Service {
	t.Helper()
	account := map[string]any{"AWS": "arn:aws:iam::000000000000:root"}
	s, err := New(Config{Account: "000000000000", Operator: Key{"ROOT", "root"},
		Roles: []Role{
			{Name: "f", Key: Key{"F", "f"}, Policies: []any{
				document(says("Things", "Allow", things, "dynamodb:GetItem", "dynamodb:Put*")),
				document(says("Keys", "Allow", key+"*", "kms:Sign"), says("Objects", "Allow", object, "s3:GetObject")),
			}},
			{Name: "states/m", Policies: []any{document(says("Run", "Allow", "arn:aws:lambda:us-east-1:000000000000:function:f", "lambda:InvokeFunction"))}},
		},
		Resources: []Resource{
			{ARN: key + "ours", Policy: document(of(says("Account", "Allow", "*", "kms:*"), account))},
			{ARN: key + "theirs", Policy: document(of(says("Other", "Allow", "*", "kms:*"), map[string]any{"AWS": "arn:aws:iam::111111111111:root"}))},
			{ARN: "arn:aws:s3:::bucket", Policy: document(of(says("Nobody", "Deny", "arn:aws:s3:::bucket/refused", "s3:GetObject"), "*"))},
		},
		Permitted: []Permission{{"function", "events.amazonaws.com", "rule"}},
		Denied:    func(d Denied) { *told = append(*told, d) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAllow(t *testing.T) {
	var told []Denied
	s := open(t, &told)
	for _, test := range []struct {
		key, action, resource string
		denied                bool
		by                    string
	}{
		{"F", "dynamodb:GetItem", things, false, ""},
		{"F", "dynamodb:PutItem", things, false, ""},
		{"F", "dynamodb:Query", things, true, ""},
		{"F", "s3:GetObject", object, false, ""},
		{"F", "s3:GetObject", "arn:aws:s3:::bucket/refused", true, "Nobody"},
		{"F", "kms:Sign", key + "ours", false, ""},
		{"F", "kms:Sign", key + "made-later", false, ""},
		{"F", "kms:Sign", key + "theirs", true, ""}, // its policy does not leave it to this account
		{"ROOT", "dynamodb:DeleteTable", things, false, ""},
		{"ROOT", "s3:GetObject", "arn:aws:s3:::bucket/refused", true, "Nobody"},
	} {
		who, ok := s.ByKey(test.key)
		if !ok {
			t.Fatalf("%s is not known", test.key)
		}
		err := who.Allow(policy.Request{Action: test.action, Resource: test.resource})
		var denied Denied
		if errors.As(err, &denied) != test.denied || denied.Statement != test.by {
			t.Errorf("%s %s %s: %v", test.key, test.action, test.resource, err)
		}
	}
	if _, ok := s.ByKey(""); ok {
		t.Error("a role without a key has the empty one")
	}
	if s.Invocable("events.amazonaws.com", "rule", "function") != nil || s.Invocable("events.amazonaws.com", "other", "function") == nil {
		t.Error("not the permitted source alone may invoke")
	}
	if len(told) != 5 {
		t.Errorf("told of %d denials: %v", len(told), told)
	}
}

func TestReport(t *testing.T) {
	var told []Denied
	s := open(t, &told)
	f, _ := s.ByKey("F")
	m, _ := s.ByName("states/m")
	for range 3 {
		_ = f.Allow(policy.Request{Action: "dynamodb:PutItem", Resource: things})
		_ = f.Allow(policy.Request{Action: "dynamodb:Query", Resource: things})
	}
	_ = m.Allow(policy.Request{Action: "lambda:InvokeFunction", Resource: "arn:aws:lambda:us-east-1:000000000000:function:f"})
	if !f.May(policy.Request{Action: "s3:GetObject", Resource: object}) || f.May(policy.Request{Action: "s3:PutObject", Resource: object}) {
		t.Error("May says something else than Allow")
	}
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, nil)
	var got Report
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := Report{
		Statements: []Grant{
			{"f", 1, "Things", "dynamodb:GetItem", 0}, {"f", 1, "Things", "dynamodb:Put*", 3},
			{"f", 2, "Keys", "kms:Sign", 0}, {"f", 3, "Objects", "s3:GetObject", 0},
			{"states/m", 1, "Run", "lambda:InvokeFunction", 1},
		},
		Denied: []Refusal{{Denied{Principal: "f", Action: "dynamodb:Query", Resource: things}, 3}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Denied{})); diff != "" {
		t.Error(diff)
	}
}

func TestPoliciesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]Config{
		"a role":     {Roles: []Role{{Name: "f", Policies: []any{"AWSLambdaBasicExecutionRole"}}}},
		"a resource": {Resources: []Resource{{ARN: things, Policy: map[string]any{}}}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
