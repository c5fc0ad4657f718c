package iam

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func parseYAML(t *testing.T, text string) ([]*Statement, error) {
	t.Helper()
	var document any
	errtest.Fatal(t, yaml.Unmarshal([]byte(text), &document))
	return parsePolicy(document)
}

func TestEvaluate(t *testing.T) {
	const upload = "arn:aws:s3:::uploads/a/1"
	names := map[Effect]string{NoDecision: "no decision", Allow: "allow", Deny: "deny"}
	for name, test := range map[string]struct {
		policy  string
		request Request
		values  map[string][]string
		want    Effect
		wantSid string
	}{
		"no statement": {`{Statement: []}`, Request{Action: "s3:GetObject", Resource: upload}, nil, NoDecision, ""},
		"a matching statement": {`{Statement: {Sid: A, Effect: Allow, Action: "s3:GetObject", Resource: ` +
			`"arn:aws:s3:::uploads/a/*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"actions in any case": {`{Statement: {Sid: A, Effect: Allow, Action: "S3:getobject", Resource: "*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"resources in their own case": {`{Statement: {Effect: Allow, Action: "s3:GetObject", Resource: ` +
			`"arn:aws:s3:::Uploads/a/*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, NoDecision, ""},
		"wildcards in actions": {`{Statement: {Sid: A, Effect: Allow, Action: ["s3:Put*", "s3:Get?bject"], ` +
			`Resource: "*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"another action": {`{Statement: {Effect: Allow, Action: "s3:GetObject", Resource: "*"}}`,
			Request{Action: "s3:GetObjectTagging", Resource: upload}, nil, NoDecision, ""},
		"a prefix is not the folder": {`{Statement: {Effect: Allow, Action: "s3:GetObject", Resource: ` +
			`"arn:aws:s3:::uploads/a/*"}}`,
			Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::uploads/ab"}, nil, NoDecision, ""},
		"the bucket is not its objects": {`{Statement: {Effect: Allow, Action: "s3:ListBucket", Resource: ` +
			`"arn:aws:s3:::uploads/*"}}`,
			Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads"}, nil, NoDecision, ""},
		"a table is not its index": {`{Statement: {Effect: Allow, Action: "dynamodb:Query", Resource: ` +
			`"arn:aws:dynamodb:r:1:table/t"}}`,
			Request{Action: "dynamodb:Query", Resource: "arn:aws:dynamodb:r:1:table/t/index/i"}, nil, NoDecision, ""},
		"a star stays within its part": {`{Statement: {Effect: Allow, Action: "kms:Sign", Resource: ` +
			`"arn:aws:kms:*:1:key/k"}}`,
			Request{Action: "kms:Sign", Resource: "arn:aws:kms:r:2:1:key/k"}, nil, NoDecision, ""},
		"except in the last part": {`{Statement: {Sid: A, Effect: Allow, Action: "logs:Put", Resource: ` +
			`"arn:aws:logs:r:1:log-group:/f*"}}`,
			Request{Action: "logs:Put", Resource: "arn:aws:logs:r:1:log-group:/f:stream:1"}, nil, Allow, "A"},
		"an action without a resource": {`{Statement: {Effect: Allow, Action: "s3:ListAllMyBuckets", Resource: ` +
			`"arn:aws:s3:::*"}}`,
			Request{Action: "s3:ListAllMyBuckets", Resource: "*"}, nil, NoDecision, ""},
		"a denial outweighs what comes before": {`{Statement: [{Sid: A, Effect: Allow, Action: "s3:*", Resource: ` +
			`"*"}, {Sid: B, Effect: Deny, Action: "s3:GetObject", Resource: "*"}]}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Deny, "B"},
		"a denial outweighs what comes after": {`{Statement: [{Sid: B, Effect: Deny, Action: "s3:GetObject", ` +
			`Resource: "*"}, {Sid: A, Effect: Allow, Action: "s3:*", Resource: "*"}]}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Deny, "B"},
		"the first that allows counts": {`{Statement: [{Sid: A, Effect: Allow, Action: "s3:*", Resource: "*"}, {Sid: ` +
			`B, Effect: Allow, Action: "s3:*", Resource: "*"}]}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"a condition that holds": {`{Statement: {Sid: A, Effect: Allow, Action: "s3:*", Resource: "*", Condition: ` +
			`{StringLike: {"S3:Prefix": ["b/*", "a/*"]}}}}`,
			Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads"},
			map[string][]string{"s3:prefix": {"a/1"}}, Allow, "A"},
		"one condition of two does not hold": {`{Statement: {Effect: Allow, Action: "s3:*", Resource: "*", ` +
			`Condition: {StringLike: {"s3:prefix": "a/*"}, StringEquals: {"s3:delimiter": "/"}}}}`,
			Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads"},
			map[string][]string{"s3:prefix": {"a/1"}, "s3:delimiter": {"-"}}, NoDecision, ""},
	} {
		t.Run(name, func(t *testing.T) {
			statements := errtest.Must(parseYAML(t, test.policy))(t)
			test.request.ConditionValues = func(key string) []string { return test.values[key] }
			got, by := evaluate(statements, test.request)
			sid := ""
			if by != nil {
				sid = by.Sid
			}
			if got != test.want || sid != test.wantSid {
				t.Errorf("%s by %q, want %s by %q", names[got], sid, names[test.want], test.wantSid)
			}
		})
	}
}

func TestConditions(t *testing.T) {
	for _, test := range []struct {
		operator, value string
		requestValues   []string
		want            bool
	}{
		{"StringEquals", "a", []string{"a"}, true},
		{"StringEquals", "a", []string{"A"}, false},
		{"StringEquals", "a*", []string{"ab"}, false},
		{"StringEquals", "a", nil, false},
		{"StringNotEquals", "a", []string{"b"}, true},
		{"StringNotEquals", "a", []string{"a"}, false},
		{"StringNotEquals", "a", nil, true},
		{"StringLike", "a*", []string{"ab"}, true},
		{"StringNotLike", "a*", []string{"ab"}, false},
		{"ArnEquals", "arn:aws:s3:::a*", []string{"arn:aws:s3:::ab"}, true},
		{"ArnNotEquals", "arn:aws:s3:::a", []string{"arn:aws:s3:::a"}, false},
		{"ArnEquals", "arn:aws:iam::*:role/a", []string{"arn:aws:iam::1:role/a"}, true},
		{"ArnEquals", "arn:aws:iam:*:role/a", []string{"arn:aws:iam::1:role/a"}, false},
		{"ArnEquals", "arn:aws:iam::1:role/*", []string{"arn:aws:iam::1:role/a:b"}, true},
		{"ArnEquals", "*", []string{"arn:aws:iam::1:role/a"}, true},
		{"ArnNotEquals", "arn:aws:*:role/a", []string{"arn:aws:iam::1:role/a"}, true},
		{"Bool", "false", []string{"false"}, true},
		{"Bool", "false", []string{"true"}, false},
		{"Bool", "false", nil, false},
		{"ForAllValues:StringLike", "a*", []string{"a", "ab"}, true},
		{"ForAllValues:StringLike", "a*", []string{"a", "b"}, false},
		{"ForAllValues:StringLike", "a*", nil, true},
		{"ForAllValues:StringNotEquals", "a", []string{"a", "b"}, false},
	} {
		t.Run(fmt.Sprintf("%s %s of %v", test.operator, test.value, test.requestValues), func(t *testing.T) {
			statements, err := parseYAML(t, `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {"`+
				test.operator+`": {"k": "`+test.value+`"}}}}`)
			errtest.Fatal(t, err)
			effect, _ := evaluate(statements, Request{
				Action: "a:b", Resource: "*", ConditionValues: func(string) []string { return test.requestValues },
			})
			difftest.Equal(t, "allowed", test.want, effect == Allow)
		})
	}
	statements := errtest.Must(parseYAML(t,
		`{Statement: {Effect: Deny, Action: "a:b", Resource: "*", Condition: {Bool: {k: false}}}}`))(t)
	if got, _ := evaluate(statements, Request{Action: "a:b", Resource: "*"}); got != NoDecision {
		t.Errorf("request without condition values: effect %v, want %v (no decision)", got, NoDecision)
	}
}

func TestStatementsFor(t *testing.T) {
	statements := errtest.Must(parseYAML(t, `{Version: "2012-10-17", Statement: [
		{Sid: A, Effect: Deny, Principal: "*", Action: "s3:*", Resource: "*"},
		{Sid: B, Effect: Allow, Principal: {AWS: ["arn:aws:iam::1:root", "arn:aws:iam::1:role/r"]},
			Action: "s3:*", Resource: "*"},
		{Sid: C, Effect: Allow, Principal: {AWS: "arn:aws:iam::2:root"}, Action: "s3:*", Resource: "*"}]}`))(t)
	var got string
	for _, s := range statementsFor(statements, "arn:aws:iam::1:role/r") {
		got += s.Sid
	}
	difftest.Equal(t, "statements: name the role", "AB", got)
}

// Unsupported elements must be errors: skipping them would lead to other decisions than on AWS.
func TestUnsupportedPoliciesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a managed policy":               `AWSLambdaBasicExecutionRole`,
		"a policy template":              `{DynamoDBReadPolicy: {TableName: t}}`,
		"another element":                `{Statement: [], Rule: x}`,
		"a statement that is a string":   `{Statement: [x]}`,
		"NotAction":                      `{Statement: {Effect: Allow, NotAction: "a:b", Resource: "*"}}`,
		"NotResource":                    `{Statement: {Effect: Allow, Action: "a:b", NotResource: "*"}}`,
		"no action":                      `{Statement: {Effect: Allow, Resource: "*"}}`,
		"no resource":                    `{Statement: {Effect: Allow, Action: "a:b"}}`,
		"no effect":                      `{Statement: {Action: "a:b", Resource: "*"}}`,
		"another effect":                 `{Statement: {Effect: allow, Action: "a:b", Resource: "*"}}`,
		"a resource that is not an ARN":  `{Statement: {Effect: Allow, Action: "a:b", Resource: "table/t"}}`,
		"a short ARN":                    `{Statement: {Effect: Allow, Action: "a:b", Resource: "arn:aws:s3:*"}}`,
		"an action without a service":    `{Statement: {Effect: Allow, Action: "GetObject", Resource: "*"}}`,
		"an action with an empty one":    `{Statement: {Effect: Allow, Action: ":GetObject", Resource: "*"}}`,
		"an action that is not a string": `{Statement: {Effect: Allow, Action: [{a: b}], Resource: "*"}}`,
		"a variable": `{Statement: {Effect: Allow, Action: "a:b", Resource: "arn:aws:s3:::b/${` +
			`aws:username}"}}`,
		"a service as principal": `{Statement: {Effect: Allow, Principal: {Service: s3.amazonaws.com}, Action: ` +
			`"a:b", Resource: "*"}}`,
		"an unsupported operator": `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: ` +
			`{DateLessThan: {k: v}}}}`,
		"a quantifier that the template does not use": `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", ` +
			`Condition: {"ForAnyValue:StringLike": {k: v}}}}`,
		"Null": `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {Null: ` +
			`{k: "true"}}}}`,
		"Bool negated": `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: ` +
			`{NotBool: {k: v}}}}`,
		"a condition that is a string": `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: k}}`,
		"an operator without keys": `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: ` +
			`{StringLike: k}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			errtest.Fails(t, "parsed as", errtest.Of(parseYAML(t, text)))
		})
	}
}

func TestMatchWildcard(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*": true, "abc": true, "a*": true, "*c": true, "a?c": true, "a*b*c": true, "a*bc*": true,
		"": false, "ab": false, "abcd": false, "b*": false, "a?": false, "*d": false,
	} {
		difftest.Equal(t, fmt.Sprintf(`MatchWildcard(%q, "abc")`, pattern), want, MatchWildcard(pattern, "abc"))
	}
}

func FuzzMatchWildcard(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"*", "x"}, {"a*b?c", "axxbyc"}, {"**", ""}, {"*a*a*", "aa"}, {"?", ""},
		{"a?*", "a"}, {"*ab", "aab"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 30 || len(text) > 60 {
			return
		}
		// MatchWildcard compares bytes, so that only ASCII can be compared with a regular expression.
		quoted := strings.NewReplacer("*", "(?:.*)", "?", ".")
		var expression strings.Builder
		for _, b := range []byte(pattern) {
			if b >= 0x80 {
				return
			}
			if b == '*' || b == '?' {
				expression.WriteString(quoted.Replace(string(b)))
			} else {
				expression.WriteString(regexp.QuoteMeta(string(b)))
			}
		}
		for _, b := range []byte(text) {
			if b >= 0x80 {
				return
			}
		}
		want := regexp.MustCompile(`(?s)\A` + expression.String() + `\z`).MatchString(text)
		difftest.Equal(t, fmt.Sprintf("%q of %q", pattern, text), want, MatchWildcard(pattern, text))
	})
}
