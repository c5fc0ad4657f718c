package template

import (
	"fmt"
	"strings"
	"testing"
)

// Each of these would be refused by AWS.
func TestRefusedTemplates(t *testing.T) {
	t.Parallel()
	paths := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "          /many/p%d: {}\n", i)
		}
		return b.String()
	}
	const (
		route = "          /b:\n"
		tick  = "        Tick: {"
	)
	another := func(event, rule string) string {
		return `        Another: {Type: S3, Properties: {Bucket: !Ref In, Events: "` + event +
			`", Filter: {S3Key: {Rules: [{Name: ` + rule + "}]}}}}\n" + tick
	}
	tests := []struct {
		name, from, to string
		// want is a part of the error; empty for success.
		want string
	}{
		// /, /a, /a/{id}, /b, /many and what is in it.
		{"300 resources", route, paths(295) + route, ""},
		{"301 resources", route, paths(296) + route, "paths of 301 resources"},
		{"short source of a permission", "execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*/*/*",
			"execute-api:*/*/*/*", "which API Gateway may not invoke"},
		{"a second parameter", route, "          \"/a/{other}/c\": {}\n" + route,
			"the parameters {id} and {other} under /a/: API"},
		{"one parameter in two paths", route, "          \"/a/{id}/c\": {}\n" + route, ""},
		{"a segment", route, "          /a+b: {}\n" + route, `does not allow "a+b"`},
		{"an empty segment", route, "          /b//c: {}\n" + route, `does not allow ""`},
		{"a greedy parameter inside", route, "          \"/g/{x+}/c\": {}\n" + route, "greedy parameter"},
		{"type of a response", "        UNAUTHORIZED:", "        UNAUTHORISED:", "not a type of API Gateway"},
		{"status of a response", `StatusCode: "401"`, `StatusCode: "1401"`, "the StatusCode 1401"},
		{"event that is not sent", "s3:ObjectCreated:*", "s3:ObjectRemoved:*", "asks for s3:ObjectRemoved:*"},
		{"misspelt event", "s3:ObjectCreated:*", "s3:ObjectCreate:*", "asks for s3:ObjectCreate:*"},
		{"no event", `Events: "s3:ObjectCreated:*"`, "Events: []", "names no Events"},
		{"overlapping events", tick, another("s3:ObjectCreated:Put", "prefix, Value: up/a"), "which S3 refuses"},
		{"another prefix", tick, another("s3:ObjectCreated:Put", "prefix, Value: down/"), ""},
		{"any prefix", tick, another("s3:ObjectCreated:*", "suffix, Value: .a"), "which S3 refuses"},
		{"nothing in a text", `!Sub "${!Kept} x"`, `!Sub "${AWS::NoValue}"`, "Fn::Sub with AWS::NoValue"},
		{"list of mappings", "[!Ref Prefix, in, !Ref AWS::Region]", "[{a: b}]", "Fn::Join with a list of other things"},
		{"not of two", `!Not [!Equals [!Ref Topic, ""]]`, `!Not [!Equals [a, b], !Equals [a, b]]`,
			"malformed condition"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadReplaced(t, fullTemplate, test.from, test.to)
			checkRefusal(t, err, test.want)
		})
	}
}
