package policy

import (
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func parse(t *testing.T, text string) ([]*Statement, error) {
	t.Helper()
	var document any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return Parse(document)
}

func TestEvaluate(t *testing.T) {
	const upload = "arn:aws:s3:::uploads/a/1"
	names := map[Effect]string{None: "none", Allow: "allow", Deny: "deny"}
	for name, test := range map[string]struct {
		policy   string
		request  Request
		has      map[string][]string
		want     Effect
		deciding string
	}{
		"no statement": {`{Statement: []}`, Request{Action: "s3:GetObject", Resource: upload}, nil, None, ""},
		"one that fits": {`{Statement: {Sid: A, Effect: Allow, Action: "s3:GetObject", Resource: "arn:aws:s3:::uploads/a/*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"actions in any case": {`{Statement: {Sid: A, Effect: Allow, Action: "S3:getobject", Resource: "*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"resources as they are": {`{Statement: {Effect: Allow, Action: "s3:GetObject", Resource: "arn:aws:s3:::Uploads/a/*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, None, ""},
		"wildcards in actions": {`{Statement: {Sid: A, Effect: Allow, Action: ["s3:Put*", "s3:Get?bject"], Resource: "*"}}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"another action": {`{Statement: {Effect: Allow, Action: "s3:GetObject", Resource: "*"}}`,
			Request{Action: "s3:GetObjectTagging", Resource: upload}, nil, None, ""},
		"a prefix is not the folder": {`{Statement: {Effect: Allow, Action: "s3:GetObject", Resource: "arn:aws:s3:::uploads/a/*"}}`,
			Request{Action: "s3:GetObject", Resource: "arn:aws:s3:::uploads/ab"}, nil, None, ""},
		"the bucket is not its objects": {`{Statement: {Effect: Allow, Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads/*"}}`,
			Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads"}, nil, None, ""},
		"a table is not its index": {`{Statement: {Effect: Allow, Action: "dynamodb:Query", Resource: "arn:aws:dynamodb:r:1:table/t"}}`,
			Request{Action: "dynamodb:Query", Resource: "arn:aws:dynamodb:r:1:table/t/index/i"}, nil, None, ""},
		"a star stays within its part": {`{Statement: {Effect: Allow, Action: "kms:Sign", Resource: "arn:aws:kms:*:1:key/k"}}`,
			Request{Action: "kms:Sign", Resource: "arn:aws:kms:r:2:1:key/k"}, nil, None, ""},
		"but in the last": {`{Statement: {Sid: A, Effect: Allow, Action: "logs:Put", Resource: "arn:aws:logs:r:1:log-group:/f*"}}`,
			Request{Action: "logs:Put", Resource: "arn:aws:logs:r:1:log-group:/f:stream:1"}, nil, Allow, "A"},
		"a resource only for what has none": {`{Statement: {Effect: Allow, Action: "s3:ListAllMyBuckets", Resource: "arn:aws:s3:::*"}}`,
			Request{Action: "s3:ListAllMyBuckets", Resource: "*"}, nil, None, ""},
		"a denial outweighs what comes before": {`{Statement: [{Sid: A, Effect: Allow, Action: "s3:*", Resource: "*"}, {Sid: B, Effect: Deny, Action: "s3:GetObject", Resource: "*"}]}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Deny, "B"},
		"and what comes after": {`{Statement: [{Sid: B, Effect: Deny, Action: "s3:GetObject", Resource: "*"}, {Sid: A, Effect: Allow, Action: "s3:*", Resource: "*"}]}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Deny, "B"},
		"the first that allows counts": {`{Statement: [{Sid: A, Effect: Allow, Action: "s3:*", Resource: "*"}, {Sid: B, Effect: Allow, Action: "s3:*", Resource: "*"}]}`,
			Request{Action: "s3:GetObject", Resource: upload}, nil, Allow, "A"},
		"a condition that holds": {`{Statement: {Sid: A, Effect: Allow, Action: "s3:*", Resource: "*", Condition: {StringLike: {"S3:Prefix": ["b/*", "a/*"]}}}}`,
			Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads"}, map[string][]string{"s3:prefix": {"a/1"}}, Allow, "A"},
		"one of two does not": {`{Statement: {Effect: Allow, Action: "s3:*", Resource: "*", Condition: {StringLike: {"s3:prefix": "a/*"}, StringEquals: {"s3:delimiter": "/"}}}}`,
			Request{Action: "s3:ListBucket", Resource: "arn:aws:s3:::uploads"}, map[string][]string{"s3:prefix": {"a/1"}, "s3:delimiter": {"-"}}, None, ""},
	} {
		statements, err := parse(t, test.policy)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		test.request.Value = func(key string) []string { return test.has[key] }
		got, by := Evaluate(statements, test.request)
		sid := ""
		if by != nil {
			sid = by.Sid
		}
		if got != test.want || sid != test.deciding {
			t.Errorf("%s: %s by %q, want %s by %q", name, names[got], sid, names[test.want], test.deciding)
		}
	}
}

func TestConditions(t *testing.T) {
	for _, test := range []struct {
		operator, value string
		own             []string
		want            bool
	}{
		{"StringEquals", "a", []string{"a"}, true},
		{"StringEquals", "a", []string{"A"}, false},
		{"StringEquals", "a*", []string{"ab"}, false},
		{"StringEquals", "a", nil, false},
		{"StringEqualsIfExists", "a", nil, true},
		{"StringEqualsIfExists", "a", []string{"b"}, false},
		{"StringNotEquals", "a", []string{"b"}, true},
		{"StringNotEquals", "a", []string{"a"}, false},
		{"StringNotEquals", "a", nil, true},
		{"StringEqualsIgnoreCase", "a", []string{"A"}, true},
		{"StringNotEqualsIgnoreCase", "a", []string{"A"}, false},
		{"StringLike", "a*", []string{"ab"}, true},
		{"StringNotLike", "a*", []string{"ab"}, false},
		{"ArnLike", "arn:aws:s3:::a*", []string{"arn:aws:s3:::ab"}, true},
		{"ArnNotEquals", "arn:aws:s3:::a", []string{"arn:aws:s3:::a"}, false},
		{"Bool", "false", []string{"false"}, true},
		{"Bool", "false", []string{"true"}, false},
		{"Bool", "false", nil, false},
		{"ForAllValues:StringLike", "a*", []string{"a", "ab"}, true},
		{"ForAllValues:StringLike", "a*", []string{"a", "b"}, false},
		{"ForAllValues:StringLike", "a*", nil, true},
		{"ForAnyValue:StringLike", "a*", []string{"b", "a"}, true},
		{"ForAnyValue:StringLike", "a*", []string{"b"}, false},
		{"ForAnyValue:StringLike", "a*", nil, false},
		{"ForAnyValue:StringNotEquals", "a", nil, false},
		{"ForAnyValue:StringNotEquals", "a", []string{"a", "b"}, true},
		{"ForAllValues:StringNotEquals", "a", []string{"a", "b"}, false},
	} {
		statements, err := parse(t, `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {"`+test.operator+`": {"k": "`+test.value+`"}}}}`)
		if err != nil {
			t.Errorf("%s: %v", test.operator, err)
			continue
		}
		got, _ := Evaluate(statements, Request{Action: "a:b", Resource: "*", Value: func(string) []string { return test.own }})
		if (got == Allow) != test.want {
			t.Errorf("%s %s of %v: not %v", test.operator, test.value, test.own, test.want)
		}
	}
	statements, _ := parse(t, `{Statement: {Effect: Deny, Action: "a:b", Resource: "*", Condition: {Bool: {k: false}}}}`)
	if got, _ := Evaluate(statements, Request{Action: "a:b", Resource: "*"}); got != None {
		t.Error("a request without values has one")
	}
}

func TestFor(t *testing.T) {
	statements, err := parse(t, `{Version: "2012-10-17", Statement: [
		{Sid: A, Effect: Deny, Principal: "*", Action: "s3:*", Resource: "*"},
		{Sid: B, Effect: Allow, Principal: {AWS: ["arn:aws:iam::1:root", "arn:aws:iam::1:role/r"]}, Action: "s3:*", Resource: "*"},
		{Sid: C, Effect: Allow, Principal: {AWS: "arn:aws:iam::2:root"}, Action: "s3:*", Resource: "*"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, s := range For(statements, "arn:aws:iam::1:role/r") {
		got += s.Sid
	}
	if got != "AB" {
		t.Errorf("%s speak of the role", got)
	}
}

// What is not known is refused: to skip it would be to decide something else than AWS.
func TestUnknownPoliciesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a managed policy":      `AWSLambdaBasicExecutionRole`,
		"a policy template":     `{DynamoDBReadPolicy: {TableName: t}}`,
		"another element":       `{Statement: [], Rule: x}`,
		"a statement of text":   `{Statement: [x]}`,
		"NotAction":             `{Statement: {Effect: Allow, NotAction: "a:b", Resource: "*"}}`,
		"NotResource":           `{Statement: {Effect: Allow, Action: "a:b", NotResource: "*"}}`,
		"no action":             `{Statement: {Effect: Allow, Resource: "*"}}`,
		"no resource":           `{Statement: {Effect: Allow, Action: "a:b"}}`,
		"no effect":             `{Statement: {Action: "a:b", Resource: "*"}}`,
		"another effect":        `{Statement: {Effect: allow, Action: "a:b", Resource: "*"}}`,
		"a resource of no form": `{Statement: {Effect: Allow, Action: "a:b", Resource: "table/t"}}`,
		"a short ARN":           `{Statement: {Effect: Allow, Action: "a:b", Resource: "arn:aws:s3:*"}}`,
		"an action of no form":  `{Statement: {Effect: Allow, Action: [{a: b}], Resource: "*"}}`,
		"a variable":            `{Statement: {Effect: Allow, Action: "a:b", Resource: "arn:aws:s3:::b/${aws:username}"}}`,
		"a service":             `{Statement: {Effect: Allow, Principal: {Service: s3.amazonaws.com}, Action: "a:b", Resource: "*"}}`,
		"an operator":           `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {DateLessThan: {k: v}}}}`,
		"Null":                  `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {Null: {k: "true"}}}}`,
		"both quantors":         `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {"ForAllValues:ForAnyValue:StringLike": {k: v}}}}`,
		"Bool turned round":     `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {NotBool: {k: v}}}}`,
		"a condition of text":   `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: k}}`,
		"a test of text":        `{Statement: {Effect: Allow, Action: "a:b", Resource: "*", Condition: {StringLike: k}}}`,
	} {
		if got, err := parse(t, text); err == nil {
			t.Errorf("%s is taken: %+v", name, got)
		}
	}
}

func FuzzMatches(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"*", "x"}, {"a*b?c", "axxbyc"}, {"**", ""}, {"*a*a*", "aa"}, {"?", ""}, {"a?*", "a"}, {"*ab", "aab"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 30 || len(text) > 60 {
			return
		}
		// As bytes: the patterns know no characters of several.
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
		if got := Matches(pattern, text); got != want {
			t.Errorf("%q of %q: %v, want %v", pattern, text, got, want)
		}
	})
}
