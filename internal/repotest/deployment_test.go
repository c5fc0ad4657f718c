package repotest

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// at returns the node below a path of members and whether there is one.
func at(n *yaml.Node, path ...string) (*yaml.Node, bool) {
	for _, name := range path {
		i := -1
		for j := 0; n.Kind == yaml.MappingNode && j+1 < len(n.Content); j += 2 {
			if n.Content[j].Value == name {
				i = j + 1
			}
		}
		if i < 0 {
			return nil, false
		}
		n = n.Content[i]
	}
	return n, true
}

// flow returns what a node says in one line, such as !Ref Arch or [!If [Holds, yes, no]].
func flow(n *yaml.Node) string {
	tag := ""
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		tag = n.Tag + " "
	}
	switch n.Kind {
	case yaml.SequenceNode:
		var items []string
		for _, item := range n.Content {
			items = append(items, flow(item))
		}
		return tag + "[" + strings.Join(items, ", ") + "]"
	case yaml.MappingNode:
		var members []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			members = append(members, n.Content[i].Value+": "+flow(n.Content[i+1]))
		}
		return tag + "{" + strings.Join(members, ", ") + "}"
	}
	return tag + n.Value
}

// What a deployment on AWS needs, and what nothing but an account would show if it were missing. make test-template
// asserts the same of what SAM makes of the template.
func TestTheTemplateIsReadyForADeployment(t *testing.T) {
	root := loadTemplate(t).root
	for _, test := range []struct{ why, path, want string }{
		{"lines below Lambda's own level never reach the log, and records without a level count as INFO",
			"Globals.Function.LoggingConfig.ApplicationLogLevel", "!If [LogsDebug, DEBUG, INFO]"},
		{"SAM would make a second public stage, named Stage", "Resources.Api.Properties.OpenApiVersion", "3.0.1"},
		{"mutual TLS would not be deployed", "Resources.Api.Properties.AlwaysDeploy", "true"},
		{"the API's own address would accept requests without a certificate",
			"Resources.Api.Properties.DisableExecuteApiEndpoint", "!If [MutualTls, true, false]"},
		{"requests without a token would run the authorizer",
			"Resources.Api.Properties.Auth.Authorizers.BearerToken.Identity.Headers", "[Authorization]"},
		{"a disabled client would be let in for minutes",
			"Resources.Api.Properties.Auth.Authorizers.BearerToken.Identity.ReauthorizeEvery", "0"},
		{"it cannot be changed later", "Resources.SigningKey.Properties.MultiRegion", "true"},
		{"it cannot be changed later", "Resources.ReceiptKey.Properties.MultiRegion", "true"},
		{"it cannot be changed later", "Resources.SecretsKey.Properties.MultiRegion", "true"},
		{"browsers could not upload", "Resources.UploadsBucket.Properties.CorsConfiguration",
			"!If [HasUploadOrigins, {CorsRules: [{Id: Uploads, AllowedOrigins: !Ref UploadOrigins, " +
				"AllowedMethods: [PUT], AllowedHeaders: [if-none-match, content-type, x-amz-*], ExposedHeaders: " +
				"[ETag, x-amz-request-id], MaxAge: 3600}]}, !Ref AWS::NoValue]"},
	} {
		n, ok := at(root, strings.Split(test.path, ".")...)
		if !ok || flow(n) != test.want {
			got := "nothing"
			if ok {
				got = flow(n)
			}
			t.Errorf("%s is %s, want %s: else %s", test.path, got, test.want, test.why)
		}
	}
	methods, _ := at(root, "Resources", "Api", "Properties", "MethodSettings")
	if got := flow(methods); !strings.Contains(got, "MetricsEnabled: !If [MetersMethods, true, false]") {
		t.Errorf("the settings of methods are %s: CloudWatch charges for the metrics of each method", got)
	}
}

// What a deployment creates must outlive the stack, but must not be in the way of the next one if the first fails:
// names are fixed, so what is left makes it fail, too. Tables can be protected against deletion.
func TestResourcesOutliveTheStack(t *testing.T) {
	kept := 0
	for id, node := range loadTemplate(t).Resources {
		kind, _ := at(&node, "Type")
		deletion, isKept := at(&node, "DeletionPolicy")
		if isKept && deletion.Value == "Retain" {
			t.Errorf("%s has the DeletionPolicy Retain, want RetainExceptOnCreate", id)
		}
		isMomentary := slices.Contains(momentaryTables, strings.TrimSuffix(id, "Table"))
		if !isMomentary && slices.Contains([]string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key"},
			kind.Value) {
			kept++
			if replaced, ok := at(&node, "UpdateReplacePolicy"); !isKept || deletion.Value != "RetainExceptOnCreate" ||
				!ok || replaced.Value != "Retain" {
				t.Errorf("%s does not have the DeletionPolicy RetainExceptOnCreate and the UpdateReplacePolicy Retain",
					id)
			}
		}
		if isMomentary || kind.Value != "AWS::DynamoDB::Table" {
			continue
		}
		if n, ok := at(&node, "Properties", "DeletionProtectionEnabled"); !ok ||
			flow(n) != "!If [ProtectsTables, true, false]" {
			t.Errorf("%s is not protected by the parameter DeletionProtection", id)
		}
	}
	if kept < 15 {
		t.Errorf("found %d tables, buckets and keys, want at least 15", kept)
	}
}
