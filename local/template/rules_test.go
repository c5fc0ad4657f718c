package template

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const rules = `
Parameters:
  Subnets: {Type: CommaDelimitedList, Default: ""}
  Scan: {Type: String, Default: "yes"}
Conditions:
  Scans: !Equals [!Ref Scan, "yes"]
  InVpc: !Not [!Equals [!Join ["", !Ref Subnets], ""]]
Resources:
  WorkFunction:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: work
      Runtime: provided.al2023
      Environment: {Variables: {SUBNETS: !Join [" ", !Ref Subnets], VPC: !If [InVpc, "in", ""]}}
  In:
    Type: AWS::S3::Bucket
    Properties: {BucketName: in}
  Protection:
    Type: AWS::GuardDuty::MalwareProtectionPlan
    Condition: Scans
    Properties: {Role: !GetAtt Role.Arn, ProtectedResource: {S3Bucket: {BucketName: !Ref In, ObjectPrefixes: [up/]}}}
  Role: {Type: AWS::IAM::Role, Condition: Scans, Properties: {}}
  Found:
    Type: AWS::Events::Rule
    Condition: Scans
    Properties:
      Name: found
      EventPattern: {source: [aws.guardduty], detail: {s3ObjectDetails: {bucketName: [!Ref In, other]}}}
      Targets: [{Id: work, Arn: !GetAtt WorkFunction.Arn}]
  Tick:
    Type: AWS::Events::Rule
    Properties: {Name: tick, ScheduleExpression: rate(5 minutes), Targets: [{Id: work, Arn: !GetAtt WorkFunction.Arn}]}
  FoundInvokes:
    Type: AWS::Lambda::Permission
    Condition: Scans
    Properties:
      FunctionName: !Ref WorkFunction
      Action: lambda:InvokeFunction
      Principal: events.amazonaws.com
      SourceArn: !GetAtt Found.Arn
  Domain: {Type: AWS::ApiGateway::DomainName, Condition: InVpc, Properties: {DomainName: x}}
`

func TestRulesAndPlans(t *testing.T) {
	t.Parallel()
	got := errtest.Must(loadText(t, rules, map[string]string{"Subnets": "a, b"}))(t)
	difftest.Equal(t, "Plans",
		[]Plan{{ID: "Protection", Bucket: "in", Prefixes: []string{"up/"},
			Role: "arn:aws:iam::000000000000:role/sluice-Role"}}, got.Plans)
	if env := got.Functions[0].Environment; env["SUBNETS"] != "a b" || env["VPC"] != "in" {
		t.Errorf("environment %v, want SUBNETS \"a b\" and VPC \"in\"", env)
	}
	if len(got.Unserved) != 1 || len(got.Rules) != 2 || got.Rules[1].Every != 5*time.Minute {
		t.Fatalf("template %+v, want one unserved resource, two rules and an interval of 5 minutes", got)
	}
	difftest.Equal(t, "Permissions", []Permission{{got.Functions[0].ARN, "events.amazonaws.com", got.Rules[0].ARN}},
		got.Permissions)
	detail := func(bucket string) any {
		return map[string]any{"s3ObjectDetails": map[string]any{"bucketName": bucket}}
	}
	for _, tt := range []struct {
		event map[string]any
		want  bool
	}{
		{map[string]any{"source": "aws.guardduty", "detail": detail("in")}, true},
		{map[string]any{"source": "aws.guardduty", "detail": detail("other"), "more": 1}, true},
		{map[string]any{"source": "aws.guardduty", "detail": detail("out")}, false},
		{map[string]any{"source": "aws.s3", "detail": detail("in")}, false},
		{map[string]any{"source": "aws.guardduty"}, false},
		{map[string]any{"source": []any{"aws.s3", "aws.guardduty"}, "detail": detail("in")}, true},
		{map[string]any{"source": []any{"aws.s3", 1}, "detail": detail("in")}, false},
	} {
		if first, second := got.Rules[0].Matches(tt.event), got.Rules[1].Matches(tt.event); first != tt.want || second {
			t.Errorf("Matches(%v) = %v and, without a pattern, %v; want %v and false", tt.event, first, second, tt.want)
		}
	}
	without, err := loadText(t, rules, map[string]string{"Scan": "no"})
	if err != nil || len(without.Plans) != 0 || len(without.Rules) != 1 || len(without.Unserved) != 0 ||
		without.Functions[0].Environment["VPC"] != "" {
		t.Errorf("template without scans: %+v, %v; want one rule and nothing of GuardDuty", without, err)
	}
}

func TestRefusedRules(t *testing.T) {
	t.Parallel()
	const target = "[{Id: work, Arn: !GetAtt WorkFunction.Arn}]"
	targets := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("{Id: t%d, Arn: !GetAtt WorkFunction.Arn}", i)
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	for _, tt := range []struct {
		name, from, to string
		// want is a part of the error; empty for success.
		want string
	}{
		{"one minute", "rate(5 minutes)", "rate(1 minute)", ""},
		{"two days", "rate(5 minutes)", "rate(2 days)", ""},
		{"a cron schedule", "rate(5 minutes)", `"cron(0 0 * * ? *)"`, "ScheduleExpression"},
		{"a rate of nothing", "rate(5 minutes)", "rate(0 minutes)", "ScheduleExpression"},
		{"one in the plural", "rate(5 minutes)", "rate(1 minutes)", "ScheduleExpression"},
		{"many in the singular", "rate(5 minutes)", "rate(5 minute)", "ScheduleExpression"},
		{"an open rate", "rate(5 minutes)", "rate(5 minutes", "ScheduleExpression"},
		{"a prefix pattern", "[aws.guardduty]", "[{prefix: aws}]", "other than strings"},
		{"a pattern of a text", "[aws.guardduty]", "aws.guardduty", "source is not a list"},
		{"a pattern of a number", "[aws.guardduty]", "5", "source is not a list"},
		{"an empty list", "[aws.guardduty]", "[]", "source is empty"},
		{"an empty mapping", "[aws.guardduty]", "{}", "source is empty"},
		{"a foreign target", target, "[{Id: work, Arn: x}]", "not a function of the template"},
		{"a target without Id", target, "[{Arn: !GetAtt WorkFunction.Arn}]", "has no Id"},
		{"another input", target, "[{Id: work, Arn: !GetAtt WorkFunction.Arn, Input: '{}'}]", "property Input"},
		{"five targets", target, targets(5), ""},
		{"six targets", target, targets(6), "has 6 targets"},
		{"two targets of one Id", target, strings.Replace(targets(2), "t1", "t0", 1), "two targets"},
		{"a rule that is off", "Name: tick", "Name: tick, State: DISABLED", "property State"},
		{"a foreign bucket", "BucketName: !Ref In, Obj", "BucketName: x, Obj", "names a bucket"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loadReplaced(t, rules, tt.from, tt.to)
			checkRefusal(t, err, tt.want)
		})
	}
}

// The template's rules and constraints reject some parameters. All its optional parts can be loaded.
func TestParametersOfTheOwnTemplate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set []string
		// wantErr is a part of the error; empty for success.
		wantErr string
	}{
		"production by default": {nil, ""},
		"production with clamd": {[]string{"MalwareScan=clamd", "ClamdAddress=tcp://clamd:3310"},
			""},
		"production without a real scanner":         {[]string{"MalwareScan=builtin"}, "no real malware"},
		"a test environment without a real scanner": {[]string{"MalwareScan=builtin", "Environment=test"}, ""},
		"clamd without an address":                  {[]string{"MalwareScan=clamd"}, "needs ClamdAddress"},
		"clamd with another scheme": {[]string{"MalwareScan=clamd", "ClamdAddress=http://clamd"},
			"does not match"},
		"clamd in a VPC": {[]string{"MalwareScan=clamd", "ClamdAddress=tcp://clamd:3310",
			"ClamdSubnetIds=subnet-1,subnet-2", "ClamdSecurityGroupIds=sg-1"}, ""},
		"a domain without a certificate": {[]string{"DomainName=api.example.com"}, "needs CertificateArn"},
		"a domain":                       {[]string{"DomainName=api.example.com", certificate}, ""},
		"mutual TLS without a domain": {[]string{"TruststoreUri=s3://b/trust.pem"},
			"needs a custom domain"},
		"mutual TLS": {[]string{"DomainName=api.example.com", certificate,
			"TruststoreUri=s3://b/trust.pem", "TruststoreVersion=v1"}, ""},
		"an invalid domain name": {[]string{"DomainName=https://api.example.com", certificate},
			"does not match"},
		"reserved concurrency": {[]string{"ApiConcurrency=10", "ScanConcurrency=2",
			"StepConcurrency=40"}, ""},
		"no reserved concurrency":                 {[]string{"ReservedConcurrency=no"}, ""},
		"another word about reserved concurrency": {[]string{"ReservedConcurrency=yes"}, "a new one has 10"},
		"an upload URL that lives too long":       {[]string{"UploadUrlLifetime=3601"}, "more than 3600"},
		"a download URL that lives too long":      {[]string{"DownloadUrlLifetime=3601"}, "more than 3600"},
		"an unsupported number of days for logs":  {[]string{"LogRetentionDays=31"}, "not one of"},
		"an issuer with a slash at its end":       {[]string{"Issuer=https://i.example.com/"}, "does not match"},
		"alarms to something that is not a topic": {[]string{"AlarmTopicArn=arn:aws:sqs:eu-west-1:123456789012:q"},
			"does not match"},
		"an upload larger than one PUT holds": {[]string{"MaxUploadBytes=5368709121"}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			set := map[string]string{}
			for _, s := range tt.set {
				name, value, _ := strings.Cut(s, "=")
				set[name] = value
			}
			got, err := Load("../../template.yaml", testTarget, set)
			if tt.wantErr != "" {
				errtest.Fails(t, "error", err, tt.wantErr)
				return
			}
			errtest.Fatal(t, err)
			guarded := got.Parameters["MalwareScan"] == "guardduty"
			hasResults := slices.ContainsFunc(got.Rules, func(r Rule) bool { return r.ID == "ScanResults" })
			if (len(got.Plans) == 1) != guarded || hasResults != guarded {
				t.Errorf("plans %v and rules %v, want those of GuardDuty = %v", got.Plans, got.Rules, guarded)
			}
			wantConcurrency := map[string]int{"reserved concurrency": 2}[name]
			for _, f := range got.Functions {
				if f.ID == "ScanFunction" && f.Concurrency != wantConcurrency {
					t.Errorf("concurrency of the scan %d, want %d", f.Concurrency, wantConcurrency)
				}
			}
		})
	}
}

const certificate = "CertificateArn=arn:aws:acm:eu-west-1:123456789012:certificate/x"
