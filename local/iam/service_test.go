package iam

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const (
	things = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
	key    = "arn:aws:kms:us-east-1:000000000000:key/"
	object = "arn:aws:s3:::bucket/a"
)

func policyOf(statements ...map[string]any) map[string]any {
	var list []any
	for _, s := range statements {
		list = append(list, s)
	}
	return map[string]any{"Statement": list}
}

func newStatement(sid, effect, resource string, actions ...any) map[string]any {
	return map[string]any{"Sid": sid, "Effect": effect, "Action": actions, "Resource": resource}
}

func forPrincipal(statement map[string]any, principal any) map[string]any {
	statement["Principal"] = principal
	return statement
}

func newTestService(t *testing.T, denials *[]DeniedError) *Service {
	t.Helper()
	account := map[string]any{"AWS": "arn:aws:iam::000000000000:root"}
	s := errtest.Must(New(Config{Account: "000000000000", Operator: Key{"ROOT", "root"},
		Roles: []Role{
			{Name: "f", Key: Key{"F", "f"}, Policies: []any{
				policyOf(newStatement("Things", "Allow", things, "dynamodb:GetItem", "dynamodb:Put*")),
				policyOf(newStatement("Keys", "Allow", key+"*", "kms:Sign"),
					newStatement("Objects", "Allow", object, "s3:GetObject")),
			}},
			{
				Name: "states/m",
				Policies: []any{
					policyOf(
						newStatement("Run", "Allow", "arn:aws:lambda:us-east-1:000000000000:function:f",
							"lambda:InvokeFunction"),
					),
				},
			},
		},
		Resources: []Resource{
			{
				ARN:    key + "ours",
				Policy: policyOf(forPrincipal(newStatement("Account", "Allow", "*", "kms:*"), account)),
			},
			{
				ARN: key + "theirs",
				Policy: policyOf(
					forPrincipal(newStatement("Other", "Allow", "*", "kms:*"),
						map[string]any{"AWS": "arn:aws:iam::111111111111:root"}),
				),
			},
			{
				ARN: "arn:aws:s3:::bucket",
				Policy: policyOf(
					forPrincipal(newStatement("Nobody", "Deny", "arn:aws:s3:::bucket/refused", "s3:GetObject"), "*"),
				),
			},
		},
		Permissions: []Permission{{"function", "events.amazonaws.com", "rule"}},
		OnDenied:    func(d DeniedError) { *denials = append(*denials, d) },
	}))(t)
	return s
}

func TestAuthorize(t *testing.T) {
	var denials []DeniedError
	s := newTestService(t, &denials)
	for _, test := range []struct {
		key, action, resource string
		denied                bool
		bySid                 string
	}{
		{"F", "dynamodb:GetItem", things, false, ""},
		{"F", "dynamodb:PutItem", things, false, ""},
		{"F", "dynamodb:Query", things, true, ""},
		{"F", "s3:GetObject", object, false, ""},
		{"F", "s3:GetObject", "arn:aws:s3:::bucket/refused", true, "Nobody"},
		{"F", "kms:Sign", key + "ours", false, ""},
		{"F", "kms:Sign", key + "made-later", false, ""},
		{"F", "kms:Sign", key + "theirs", true, ""}, // the key's policy names another account only
		{"ROOT", "dynamodb:DeleteTable", things, false, ""},
		{"ROOT", "s3:GetObject", "arn:aws:s3:::bucket/refused", true, "Nobody"},
	} {
		t.Run(test.key+" "+test.action+" "+test.resource, func(t *testing.T) {
			p, ok := s.PrincipalByKey(test.key)
			if !ok {
				t.Fatalf("no principal has the key %s", test.key)
			}
			err := p.Authorize(Request{Action: test.action, Resource: test.resource})
			var denied DeniedError
			if got := errors.As(err, &denied); got != test.denied || denied.Statement != test.bySid {
				t.Errorf("denied = %v by %q, want %v by %q (error: %v)", got, denied.Statement, test.denied, test.bySid,
					err)
			}
		})
	}
	if _, ok := s.PrincipalByKey(""); ok {
		t.Error("the empty key ID belongs to a role that has no key")
	}
	errtest.Is(t, "invocation for the permitted source",
		s.AuthorizeInvocation("events.amazonaws.com", "rule", "function"), nil)
	if err := s.AuthorizeInvocation("events.amazonaws.com", "other", "function"); err == nil {
		t.Error("invocation for another source: no error, want a denial")
	}
	difftest.Equal(t, fmt.Sprintf("times that OnDenied was called: %v", denials), 5, len(denials))
}

func TestReport(t *testing.T) {
	var denials []DeniedError
	s := newTestService(t, &denials)
	f, _ := s.PrincipalByKey("F")
	m, _ := s.RoleByName("states/m")
	for range 3 {
		_ = f.Authorize(Request{Action: "dynamodb:PutItem", Resource: things})
		_ = f.Authorize(Request{Action: "dynamodb:Query", Resource: things})
	}
	_ = m.Authorize(
		Request{Action: "lambda:InvokeFunction", Resource: "arn:aws:lambda:us-east-1:000000000000:function:f"},
	)
	if !f.IsAllowed(Request{Action: "s3:GetObject", Resource: object}) ||
		f.IsAllowed(Request{Action: "s3:PutObject", Resource: object}) {
		t.Error("IsAllowed differs from the role's own policies")
	}
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, nil)
	var got Report
	errtest.Fatal(t, json.Unmarshal(answer.Body.Bytes(), &got))
	want := Report{
		Statements: []Grant{
			{"f", 1, "Things", "dynamodb:GetItem", 0}, {"f", 1, "Things", "dynamodb:Put*", 3},
			{"f", 2, "Keys", "kms:Sign", 0}, {"f", 3, "Objects", "s3:GetObject", 0},
			{"states/m", 1, "Run", "lambda:InvokeFunction", 1},
		},
		Denied: []Denial{{DeniedError{Principal: "f", Action: "dynamodb:Query", Resource: things}, 3}},
	}
	difftest.Equal(t, "result", want, got, cmpopts.IgnoreUnexported(DeniedError{}))
}

// A policy of a resource can name a role by its own ARN and an account by its number.
func TestDenialsForOneRoleOrAccount(t *testing.T) {
	for principal, want := range map[string]bool{
		"*": true, "000000000000": true, "arn:aws:iam::000000000000:root": true,
		"arn:aws:iam::000000000000:role/f": true, "arn:aws:sts::000000000000:assumed-role/f/f": true,
		"arn:aws:iam::000000000000:role/g": false, "111111111111": false,
	} {
		deny := forPrincipal(newStatement("No", "Deny", object, "s3:GetObject"), map[string]any{"AWS": principal})
		s := errtest.Must(New(Config{Account: "000000000000",
			Roles: []Role{{Name: "f", Key: Key{"F", "f"},
				Policies: []any{policyOf(newStatement("Objects", "Allow", object, "s3:GetObject"))}}},
			Resources: []Resource{{ARN: "arn:aws:s3:::bucket", Policy: policyOf(deny)}},
		}))(t)
		f, _ := s.RoleByName("f")
		if err := f.Authorize(Request{Action: "s3:GetObject", Resource: object}); (err != nil) != want {
			t.Errorf("denial for %s: %v, want one = %v", principal, err, want)
		}
	}
}

func TestUnreadablePolicies(t *testing.T) {
	role := func(statements ...map[string]any) Config {
		return Config{Roles: []Role{{Name: "f", Policies: []any{policyOf(statements...)}}}}
	}
	one := func() map[string]any { return newStatement("A", "Allow", object, "s3:GetObject") }
	for name, c := range map[string]Config{
		"of a role with a condition on tags": role(map[string]any{"Effect": "Deny", "Action": "s3:GetObject",
			"Resource":  object,
			"Condition": map[string]any{"StringEquals": map[string]any{"s3:ExistingObjectTag/a": "b"}}}),
		"of a role with a Principal":       role(forPrincipal(one(), "*")),
		"of a role with one Sid twice":     role(one(), one()),
		"of a role with a hyphen in a Sid": role(newStatement("A-B", "Allow", object, "s3:GetObject")),
		"of a resource without a Principal": {Resources: []Resource{{ARN: "arn:aws:s3:::bucket",
			Policy: policyOf(one())}}},
		"of a role":     {Roles: []Role{{Name: "f", Policies: []any{"AWSLambdaBasicExecutionRole"}}}},
		"of a resource": {Resources: []Resource{{ARN: things, Policy: map[string]any{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			errtest.Fails(t, "New", errtest.Of(New(c)))
		})
	}
}
