package repotest

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
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

// textAt returns the node below a path of members in one line, such as !Ref Arch or [!If [Holds, yes, no]], "" if there
// is none.
func textAt(n *yaml.Node, path ...string) string {
	n, ok := at(n, path...)
	if !ok {
		return ""
	}
	tag := ""
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		tag = n.Tag + " "
	}
	var parts []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, textAt(item))
		}
		return tag + "[" + strings.Join(parts, ", ") + "]"
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+": "+textAt(n.Content[i+1]))
		}
		return tag + "{" + strings.Join(parts, ", ") + "}"
	}
	return tag + n.Value
}

// What a deployment on AWS needs, and what nothing but an account would show if it were missing. make test-template
// looks at what SAM makes of the template.
func TestTheTemplateIsReadyForADeployment(t *testing.T) {
	root := loadTemplate(t).root
	for _, test := range []struct{ why, path, want string }{
		{"mutual TLS would not be deployed", "Api.Properties.AlwaysDeploy", "true"},
		{"the API's own address would accept requests without a certificate",
			"Api.Properties.DisableExecuteApiEndpoint", "!If [MutualTls, true, false]"},
		{"it cannot be changed later", "SigningKey.Properties.MultiRegion", "true"},
		{"it cannot be changed later", "ReceiptKey.Properties.MultiRegion", "true"},
		{"it cannot be changed later", "SecretsKey.Properties.MultiRegion", "true"},
		{"browsers could not upload", "UploadsBucket.Properties.CorsConfiguration",
			"!If [HasUploadOrigins, {CorsRules: [{Id: Uploads, AllowedOrigins: !Ref UploadOrigins, " +
				"AllowedMethods: [PUT], AllowedHeaders: [if-none-match, content-type, x-amz-*], ExposedHeaders: " +
				"[ETag, x-amz-request-id], MaxAge: 3600}]}, !Ref AWS::NoValue]"},
	} {
		difftest.Equal(t, test.path+": else "+test.why, test.want,
			textAt(root, strings.Split("Resources."+test.path, ".")...))
	}
	methods := textAt(root, "Resources", "Api", "Properties", "MethodSettings")
	if !strings.Contains(methods, "MetricsEnabled: !If [MetersMethods, true, false]") {
		t.Errorf("the settings of methods are %s: CloudWatch charges for the metrics of each method", methods)
	}
}

// What a deployment creates must outlive the stack, but must not be in the way of the next one if the first fails:
// names are fixed, so what is left makes it fail, too. Tables can be protected against deletion.
func TestResourcesOutliveTheStack(t *testing.T) {
	kept := 0
	for id, node := range loadTemplate(t).Resources {
		kind, deletion := textAt(&node, "Type"), textAt(&node, "DeletionPolicy")
		if deletion == "Retain" {
			t.Errorf("%s has the DeletionPolicy Retain, want RetainExceptOnCreate", id)
		}
		if slices.Contains(momentaryTables, strings.TrimSuffix(id, "Table")) ||
			!slices.Contains([]string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key"}, kind) {
			continue
		}
		kept++
		if deletion != "RetainExceptOnCreate" || textAt(&node, "UpdateReplacePolicy") != "Retain" {
			t.Errorf("%s does not have the DeletionPolicy RetainExceptOnCreate and the UpdateReplacePolicy Retain", id)
		}
		protection := textAt(&node, "Properties", "DeletionProtectionEnabled")
		if kind == "AWS::DynamoDB::Table" && protection != "!If [ProtectsTables, true, false]" {
			t.Errorf("%s is not protected by the parameter DeletionProtection", id)
		}
	}
	if kept < 15 {
		t.Errorf("found %d tables, buckets and keys, want at least 15", kept)
	}
}

// The outputs name the buckets, queues, keys, log groups and state machines of the stack.
func TestOutputsNameWhatOperatorsLookAt(t *testing.T) {
	m := loadTemplate(t)
	outputs, _ := at(m.root, "Outputs")
	named := textAt(outputs) + "}"
	for id, node := range m.Resources {
		condition := textAt(&node, "Condition")
		switch textAt(&node, "Type") {
		case "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::Logs::LogGroup", "AWS::Serverless::StateMachine":
			if !strings.Contains(named, "Value: !Ref "+id+"}") {
				t.Errorf("no output has the value !Ref %s", id)
			}
		case "AWS::KMS::Key":
			if !strings.Contains(named, "Value: !GetAtt "+id+".Arn}") {
				t.Errorf("no output has the value !GetAtt %s.Arn", id)
			}
		default:
			continue
		}
		if condition != "" && !strings.Contains(named, "{Condition: "+condition+", ") {
			t.Errorf("the output of %s lacks its condition, %s", id, condition)
		}
	}
}

// One address may send fewer requests than the API takes of all, unless WAF has no rule.
func TestOneAddressDoesNotTakeTheWholeAPI(t *testing.T) {
	m := loadTemplate(t)
	number := func(parameter string) int {
		return errtest.Must(strconv.Atoi(*m.Parameters[parameter].Default))(t)
	}
	if all := number("ThrottlingRate") * 300; number("AddressRequests") >= all {
		t.Errorf("AddressRequests is %d in five minutes, want fewer than %d", number("AddressRequests"), all)
	}
	acl, association := m.Resources["AddressLimit"], m.Resources["WebAcl"]
	difftest.Equal(t, "the condition of the rule", "LimitsAddresses", textAt(&acl, "Condition"))
	difftest.Equal(t, "the web ACL of the API", "!If [HasWebAcl, !Ref WebAclArn, !GetAtt AddressLimit.Arn]",
		textAt(&association, "Properties", "WebACLArn"))
}

// Names of resources begin with the partition, which is another one in China and in GovCloud. Packages whose folders
// begin with "fake" or end in "test" are for tests, and the local cloud is the partition aws.
func TestNothingNamesThePartition(t *testing.T) {
	read := 0
	for _, name := range filesNamed(t, "*.go", "*.yaml", "*.asl.json") {
		top, _, isBelow := strings.Cut(name, "/")
		folder := path.Base(path.Dir(name))
		isDeployed := !isBelow || slices.Contains([]string{"client", "cmd", "functions", "shared", "statemachine"}, top)
		isTest := strings.HasSuffix(strings.TrimSuffix(name, ".go"), "_test") || strings.HasSuffix(folder, "test") ||
			strings.HasPrefix(folder, "fake")
		if !isDeployed || isTest {
			continue
		}
		read++
		if text := string(readFile(t, name)); strings.Contains(text, "arn:aws:") {
			t.Errorf("%s names the partition aws: write ${AWS::Partition} in the template, ${Partition} in a "+
				"definition", name)
		}
	}
	if read < 300 {
		t.Errorf("read %d files, want at least 300", read)
	}
}
