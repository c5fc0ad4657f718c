package template

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	got := errtest.Must(loadText(t, fullTemplate, map[string]string{"Limit": "20"}))(t)
	key := KeyID("Signing")
	want := &Template{
		Parameters: map[string]string{"Prefix": "toy", "Limit": "20", "Level": "INFO", "Topic": ""},
		Functions: []Function{
			{
				ID:       "EchoFunction",
				Name:     "sluice-EchoFunction",
				ARN:      "arn:aws:lambda:eu-west-1:000000000000:function:sluice-EchoFunction",
				Binary:   "echo",
				Timeout:  28,
				MemoryMB: 512,
				Retries:  1, MaxEventAge: 60,
				Environment: map[string]string{
					"LEVEL": "INFO", "LIMIT": "20", "TABLE": "toy-things", "NOT_SET": "", "BUCKET": "toy-in-eu-west-1",
					"ARN":     "arn:aws:dynamodb:eu-west-1:000000000000:table/toy-things",
					"KEY":     "arn:aws:kms:eu-west-1:000000000000:key/" + key,
					"LITERAL": "${Kept} x",
					"OWN":     "arn:aws:states:eu-west-1:000000000000:stateMachine:toy-machine/000000000000",
				},
			},
			{ID: "GuardFunction", Name: "toy-guard", ARN: "arn:aws:lambda:eu-west-1:000000000000:function:toy-guard",
				Binary: "guardian", Timeout: 5, MemoryMB: 128, Retries: 2,
				Environment: map[string]string{"LEVEL": "INFO"}},
		},
		API: API{ID: "Api", Stage: "live", BinaryMediaTypes: []string{"image/png"}, ThrottlingRate: 5,
			ThrottlingBurst: 20, Routes: []Route{
				{Method: "GET", Path: "/a/{id}", Function: "EchoFunction", Authorizer: "GuardFunction"},
				{Method: "POST", Path: "/b", Function: "EchoFunction"},
				{Method: "ANY", Path: "/b", Function: "EchoFunction", Authorizer: "GuardFunction"},
			},
			Responses: map[string]GatewayResponse{"UNAUTHORIZED": {Status: 401,
				Headers: map[string]string{"WWW-Authenticate": "'Bearer'"}, Body: `{"message": "Unauthorized"}`}},
		},
		Tables: []Table{{Name: "toy-things", Provisioned: true, Definition: map[string]any{
			"TableName": "toy-things", "BillingMode": "PAY_PER_REQUEST",
			"AttributeDefinitions": []any{map[string]any{"AttributeName": "id", "AttributeType": "S"}},
			"KeySchema":            []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}},
			"GlobalSecondaryIndexes": []any{map[string]any{
				"IndexName": "by", "Projection": map[string]any{"ProjectionType": "ALL"},
				"KeySchema": []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}}}},
		}}},
		Buckets: []Bucket{{ID: "In", Name: "toy-in", Notifications: []Notification{
			{Events: []string{"s3:ObjectCreated:*"}, Prefix: "up/", Function: "EchoFunction"}},
			CORS: []CORSRule{{ID: "Pages", Origins: []string{"https://a.example"}, Methods: []string{"PUT"},
				Headers: []string{"x-*"}, Exposed: []string{"ETag"}, MaxAge: 60}},
			Policy: map[string]any{"Statement": []any{map[string]any{"Resource": "arn:aws:s3:::toy-in"}}}}},
		Machines: []Machine{
			{ID: "Machine", Name: "toy-machine", ARN: "arn:aws:states:eu-west-1:000000000000:stateMachine:toy-machine",
				Definition: []byte(`{"StartAt": "arn:aws:lambda:eu-west-1:000000000000:function:sluice-EchoFunction"}`),
				Policies: []any{
					map[string]any{
						"Statement": []any{map[string]any{"Effect": "Allow", "Action": "lambda:InvokeFunction",
							"Resource": "arn:aws:lambda:eu-west-1:000000000000:function:sluice-EchoFunction"}},
					},
				}},
		},
		Keys: []Key{{LogicalID: "Signing", ID: key, Spec: "ECC_NIST_P256",
			ARN: "arn:aws:kms:eu-west-1:000000000000:key/" + key, Policy: map[string]any{"Statement": []any{}}}},
		Unserved: []string{"Schedule event of EchoFunction"},
		Permissions: []Permission{{Function: "arn:aws:lambda:eu-west-1:000000000000:function:sluice-EchoFunction",
			Service: "apigateway.amazonaws.com", Source: "arn:aws:execute-api:eu-west-1:000000000000:local/*/*/*"}},
	}
	difftest.Equal(t, "template", want, got)
}

// Each error names the resource in which it is.
func TestBrokenTemplates(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, from, to, named string }{
		{"dangling reference", "!Ref In\n", "!Ref Out\n", "EchoFunction"},
		{"dangling substitution", `!Sub "${!Kept} x"`, `!Sub "${Nothing}"`, "EchoFunction"},
		{"unknown attribute", "!GetAtt Things.Arn", "!GetAtt Things.Colour", "EchoFunction"},
		{"unknown function", "!Join", "!Cidr", "EchoFunction"},
		{"unknown condition", "HasTopic, !Ref", "HasNoTopic, !Ref", "EchoFunction"},
		{"circle", `!Sub "${Prefix}-things"`, "!Ref Things", "Things"},
		{"wrong runtime", "Runtime: provided.al2023", "Runtime: python3.13", "EchoFunction"},
		{"wrong timeout", "Timeout: 5", "Timeout: soon", "GuardFunction"},
		{"no stage", "StageName: live", "Description: none", "Api"},
		{"limit of one method", `HttpMethod: "*"`, "HttpMethod: GET", "Api"},
		{"limit that is no number", "ThrottlingRateLimit: 5", "ThrottlingRateLimit: many", "Api"},
		{"unquoted header", "\"'Bearer'\"", "Bearer", "Api"},
		{"unknown authorizer", "NONE: []", "Other: []", "Api"},
		{"cached authorizer", "ReauthorizeEvery: 0", "ReauthorizeEvery: 300", "Api"},
		{"foreign authorizer", "!GetAtt GuardFunction.Arn", "arn:aws:lambda:eu-west-1:1:function:x", "Api"},
		{"route by an event", "Tick: {Type: Schedule", "Tick: {Type: Api", "EchoFunction"},
		{"method", "            post:\n", "            fetch:\n", "Api"},
		{"relative path", "          /b:", "          b:", "Api"},
		{"another integration", "aws_proxy", "http", "Api"},
		{"route to nowhere", "functions/${EchoFunction.Arn}", "functions/x", "Api"},
		{"route without a permission", "/*/*/*", "/*/GET/a/*", "POST /b"},
		{"permission of another service", "Principal: apigateway", "Principal: events", "EchoFunction"},
		{"filter", "Name: prefix", "Name: middle", "EchoFunction"},
		{
			"no key schema",
			"      KeySchema: [{AttributeName: id, KeyType: HASH}]\n      Global",
			"      Global",
			"Things",
		},
		{"key usage", "SIGN_VERIFY", "ENCRYPT_DECRYPT", "Signing"},
		{"substitution missing", "{EchoArn: !GetAtt EchoFunction.Arn}", "{}", "Machine"},
		{"no definition", "DefinitionUri: machine", "DefinitionUri: other", "Machine"},
		{"no type", "Type: AWS::KMS::Key", "Kind: AWS::KMS::Key", "Signing"},
		{"unknown key twice", "MemorySize: 512", "MemorySize: 512\n      MemorySize: 512", "template.yaml"},
		{"not YAML", "Resources:", "Resources: [", "template.yaml"},
		{"nothing", fullTemplate, "", "template.yaml"},
		{"no resources", "Resources:", "Resourcen:", "Resources"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadReplaced(t, fullTemplate, test.from, test.to)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.named) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line naming %s", err, test.named)
			}
		})
	}
}

func TestParametersAreChecked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, value string
		ok          bool
	}{
		{
			"Limit",
			"0",
			false,
		}, {"Limit", "1", true}, {"Limit", "20", true}, {"Limit", "21", false}, {"Limit", "x", false},
		{"Level", "DEBUG", true}, {"Level", "debug", false},
		{"Prefix", "abc", true}, {"Prefix", "abc1", false}, {"Prefix", "abcdé", false},
		{"Topic", "topic", true}, {"Prefix", "a", false},
		{"Unknown", "x", false},
	}
	for _, test := range tests {
		_, err := loadText(t, fullTemplate, map[string]string{test.name: test.value})
		if (err == nil) != test.ok {
			t.Errorf("%s=%s: %v, want success = %v", test.name, test.value, err, test.ok)
		}
		if err != nil && !strings.Contains(err.Error(), test.name) {
			t.Errorf("error %v does not name %s", err, test.name)
		}
	}
}

func TestTargetParameters(t *testing.T) {
	t.Parallel()
	target := testTarget
	target.Parameters = map[string]string{"Limit": "5", "Level": "DEBUG", "Undeclared": "x"}
	got := errtest.Must(buildTemplate([]byte(fullTemplate), newFolder(t), target, map[string]string{"Limit": "7"}))(t)
	if got.Parameters["Limit"] != "7" || got.Parameters["Level"] != "DEBUG" || len(got.Parameters) != 4 {
		t.Errorf("parameters %v, want Limit 7, Level DEBUG and nothing undeclared", got.Parameters)
	}
}

func TestConditionOfResource(t *testing.T) {
	t.Parallel()
	text := strings.Replace(fullTemplate, "TableName: loud}",
		"TableName: loud, AttributeDefinitions: [{AttributeName: id, AttributeType: S}], "+
			"KeySchema: [{AttributeName: id, KeyType: HASH}]}", 1)
	got := errtest.Must(loadText(t, text, map[string]string{"Topic": "t", "Level": "DEBUG"}))(t)
	if len(got.Tables) != 2 || got.Functions[0].Environment["GONE"] != "yes" ||
		got.Functions[0].Environment["NOT_SET"] != "t" {
		t.Errorf("tables %v and environment %v, want both tables, GONE yes and NOT_SET t", got.Tables,
			got.Functions[0].Environment)
	}
}

func TestProjectTemplate(t *testing.T) {
	t.Parallel()
	got := errtest.Must(Load("../../template.yaml", testTarget, nil))(t)
	for _, f := range got.Functions {
		errtest.Is(t, f.ID, errtest.Of(os.Stat("../../functions/"+f.Binary+"/main.go")), nil)
	}
	for _, m := range got.Machines {
		if !json.Valid(m.Definition) || strings.Contains(string(m.Definition), "${") {
			t.Errorf("%s: the definition is not JSON or has unreplaced variables: %s", m.Name, m.Definition)
		}
	}
	if len(got.API.Routes) == 0 || len(got.Tables) == 0 || len(got.Buckets) == 0 || len(got.Machines) == 0 ||
		len(got.Keys) == 0 {
		t.Errorf("the template lacks routes, tables, buckets, machines or keys: %+v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(fullTemplate))
	f.Add([]byte("Resources: {A: {Type: AWS::KMS::Key, Properties: !Ref A}}"))
	f.Add([]byte("a: &x [*x]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = buildTemplate(text, t.TempDir(), testTarget, nil)
	})
}

func TestConditionsOfOthers(t *testing.T) {
	equal := func(a, b string) any { return map[string]any{"Fn::Equals": []any{a, b}} }
	yes, no, malformed := equal("a", "a"), equal("a", "b"), any("a")
	r := &resolver{}
	for _, test := range []struct {
		name  string
		parts []any
		want  bool
	}{
		{"Fn::And", []any{yes, yes}, true},
		{"Fn::And", []any{yes, no}, false},
		{"Fn::And", []any{no, yes}, false},
		{"Fn::Or", []any{no, yes}, true},
		{"Fn::Or", []any{yes, no}, true},
		{"Fn::Or", []any{no, no}, false},
	} {
		got, err := r.evaluate(map[string]any{test.name: test.parts})
		if err != nil || got != test.want {
			t.Errorf("%s of %v is %t, %v; want %t", test.name, test.parts, got, err, test.want)
		}
	}
	for _, condition := range []any{map[string]any{"Fn::And": []any{yes, malformed}},
		map[string]any{"Fn::Or": []any{no, malformed}}, map[string]any{"Fn::Or": []any{}}} {
		errtest.Fails(t, fmt.Sprintf("%v is evaluated to", condition), errtest.Of(r.evaluate(condition)))
	}
}

func TestSelectAndSplit(t *testing.T) {
	r := &resolver{parameters: map[string]string{"Units": "12000,40000"}}
	split := map[string]any{"Fn::Split": []any{",", map[string]any{"Ref": "Units"}}}
	if got, err := r.resolve(map[string]any{"Fn::Select": []any{1, split}}); err != nil || got != "40000" {
		t.Errorf("selected %v, %v; want 40000", got, err)
	}
	for _, malformed := range []any{
		map[string]any{"Fn::Select": []any{2, split}}, map[string]any{"Fn::Select": []any{-1, split}},
		map[string]any{"Fn::Select": []any{0, "a"}}, map[string]any{"Fn::Select": "a"},
		map[string]any{"Fn::Split": []any{"", "a"}}, map[string]any{"Fn::Split": "a"},
	} {
		errtest.Fails(t, fmt.Sprintf("%v is resolved to", malformed), errtest.Of(r.resolve(malformed)))
	}
}
