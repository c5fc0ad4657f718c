package template

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	got, err := loadText(t, rules, map[string]string{"Subnets": "a, b"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Plan{{ID: "Protection", Bucket: "in", Prefixes: []string{"up/"}}}, got.Plans); diff != "" {
		t.Error(diff)
	}
	if env := got.Functions[0].Environment; env["SUBNETS"] != "a b" || env["VPC"] != "in" {
		t.Errorf("%v", env)
	}
	if len(got.Unserved) != 1 || len(got.Rules) != 2 || got.Rules[1].Every != 5*time.Minute {
		t.Fatalf("%+v", got)
	}
	if diff := cmp.Diff([]Permission{{got.Functions[0].ARN, "events.amazonaws.com", got.Rules[0].ARN}}, got.Permissions); diff != "" {
		t.Error(diff)
	}
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
		{map[string]any{"source": []any{"aws.guardduty"}, "detail": detail("in")}, false},
	} {
		if got.Rules[0].Matches(tt.event) != tt.want || got.Rules[1].Matches(tt.event) {
			t.Errorf("%v: want %v", tt.event, tt.want)
		}
	}
	without, err := loadText(t, rules, map[string]string{"Scan": "no"})
	if err != nil || len(without.Plans) != 0 || len(without.Rules) != 1 || len(without.Unserved) != 0 || without.Functions[0].Environment["VPC"] != "" {
		t.Errorf("%+v %v", without, err)
	}
	for name, change := range map[string][2]string{
		"a cron schedule":     {"rate(5 minutes)", "cron(0 0 * * ? *)"},
		"a rate of nothing":   {"rate(5 minutes)", "rate(0 minutes)"},
		"a prefix pattern":    {"[aws.guardduty]", "[{prefix: aws}]"},
		"a pattern of a text": {"[aws.guardduty]", "aws.guardduty"},
		"a foreign target":    {"Name: tick, ScheduleExpression: rate(5 minutes), Targets: [{Id: work, Arn: !GetAtt WorkFunction.Arn}]", "Name: tick, ScheduleExpression: rate(5 minutes), Targets: [{Id: work, Arn: x}]"},
		"a foreign bucket":    {"BucketName: !Ref In, Obj", "BucketName: x, Obj"},
	} {
		if _, err := loadText(t, strings.Replace(rules, change[0], change[1], 1), nil); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// What the template's rules refuse, and every optional part of it switched on.
func TestParametersOfTheOwnTemplate(t *testing.T) {
	for name, tt := range map[string]struct {
		set   []string
		wrong string // part of the refusal; "" for none
	}{
		"production by default":               {nil, ""},
		"production with clamd":               {[]string{"MalwareScan=clamd", "ClamdAddress=tcp://clamd:3310"}, ""},
		"production without a scanner":        {[]string{"MalwareScan=builtin"}, "no real malware"},
		"a test environment without one":      {[]string{"MalwareScan=builtin", "Environment=test"}, ""},
		"clamd nowhere":                       {[]string{"MalwareScan=clamd"}, "needs ClamdAddress"},
		"clamd of another kind":               {[]string{"MalwareScan=clamd", "ClamdAddress=http://clamd"}, "does not match"},
		"clamd in a VPC":                      {[]string{"MalwareScan=clamd", "ClamdAddress=tcp://clamd:3310", "ClamdSubnetIds=subnet-1,subnet-2", "ClamdSecurityGroupIds=sg-1"}, ""},
		"a domain without a certificate":      {[]string{"DomainName=api.example.com"}, "needs CertificateArn"},
		"a domain":                            {[]string{"DomainName=api.example.com", certificate}, ""},
		"mutual TLS without a domain":         {[]string{"TruststoreUri=s3://b/trust.pem"}, "needs a custom domain"},
		"mutual TLS":                          {[]string{"DomainName=api.example.com", certificate, "TruststoreUri=s3://b/trust.pem", "TruststoreVersion=v1"}, ""},
		"no domain's name":                    {[]string{"DomainName=https://api.example.com", certificate}, "does not match"},
		"reserved concurrency":                {[]string{"ApiConcurrency=10", "ScanConcurrency=2", "StepConcurrency=40"}, ""},
		"an upload URL that lives too long":   {[]string{"UploadUrlLifetime=3601"}, "more than 3600"},
		"a download URL that lives too long":  {[]string{"DownloadUrlLifetime=3601"}, "more than 3600"},
		"logs for a number of days unknown":   {[]string{"LogRetentionDays=31"}, "none of"},
		"an issuer with a slash at its end":   {[]string{"Issuer=https://i.example.com/"}, "does not match"},
		"alarms to what is no topic":          {[]string{"AlarmTopicArn=arn:aws:sqs:eu-west-1:123456789012:q"}, "does not match"},
		"an upload larger than one PUT holds": {[]string{"MaxUploadBytes=5368709121"}, "more than"},
	} {
		set := map[string]string{}
		for _, s := range tt.set {
			name, value, _ := strings.Cut(s, "=")
			set[name] = value
		}
		got, err := Load("../../template.yaml", testTarget, set)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		guarded := got.Parameters["MalwareScan"] == "guardduty"
		if (len(got.Plans) == 1) != guarded || (len(got.Rules) == 2) != guarded {
			t.Errorf("%s: plans %v, rules %v", name, got.Plans, got.Rules)
		}
		for _, f := range got.Functions {
			if f.ID == "ScanFunction" && f.Concurrency != map[string]int{"reserved concurrency": 2}[name] {
				t.Errorf("%s: %d scans at once", name, f.Concurrency)
			}
		}
	}
}

const certificate = "CertificateArn=arn:aws:acm:eu-west-1:123456789012:certificate/x"
