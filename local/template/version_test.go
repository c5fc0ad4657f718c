package template

import (
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const versioned = `
Resources:
  StepFunction:
    Type: AWS::Serverless::Function
    Properties:
      FunctionName: step
      Runtime: provided.al2023
      AutoPublishAlias: live
      EventInvokeConfig: {MaximumRetryAttempts: 1}
  PlainFunction:
    Type: AWS::Serverless::Function
    Properties: {FunctionName: plain, Runtime: provided.al2023}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      Name: machine
      DefinitionUri: machine.asl.json
      DefinitionSubstitutions: {EchoArn: !Ref StepFunction.Version}
      Policies:
        - Statement: [{Effect: Allow, Action: lambda:InvokeFunction, Resource: !Sub "${StepFunction.Arn}:*"}]
  Tick:
    Type: AWS::Events::Rule
    Properties:
      Name: tick
      ScheduleExpression: rate(5 minutes)
      Targets: [{Id: step, Arn: !Ref StepFunction.Alias}, {Id: plain, Arn: !GetAtt PlainFunction.Arn}]
  TickInvokes:
    Type: AWS::Lambda::Permission
    Properties:
      FunctionName: !Ref StepFunction.Alias
      Action: lambda:InvokeFunction
      Principal: events.amazonaws.com
      SourceArn: !GetAtt Tick.Arn
`

func TestVersions(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws:lambda:eu-west-1:000000000000:function:step"
	target := testTarget
	target.Publish = func(function, binary string) (string, error) { return function + binary + "7", nil }
	for want, load := range map[string]func() (*Template, error){
		"1":         func() (*Template, error) { return loadText(t, versioned, nil) },
		"stepstep7": func() (*Template, error) { return buildTemplate([]byte(versioned), newFolder(t), target, nil) },
	} {
		got := errtest.Must(load())(t)
		i := slices.IndexFunc(got.Functions, func(f Function) bool { return f.ID == "StepFunction" })
		if f := got.Functions[i]; f.Alias != "live" || f.Version != want || f.ARN != arn {
			t.Errorf("alias %q of version %q of %s, want live, %s and the ARN without a version", f.Alias, f.Version,
				f.ARN, want)
		}
		if !strings.Contains(string(got.Machines[0].Definition), `"`+arn+":"+want+`"`) {
			t.Errorf("definition %s, want it to name version %s", got.Machines[0].Definition, want)
		}
		difftest.Equal(t, "targets", []string{"StepFunction:live", "PlainFunction"}, got.Rules[0].Functions)
		if p := got.Permissions[0]; p.Function != arn+":live" {
			t.Errorf("permission for %s, want one for the alias", p.Function)
		}
	}
	for name, test := range map[string]struct{ from, to, named string }{
		"no alias": {"      AutoPublishAlias: live\n", "", "no AutoPublishAlias"},
		"settings of an alias": {"Arn: !Ref StepFunction.Alias}", "Arn: !GetAtt StepFunction.Arn}",
			"use !Ref StepFunction.Alias"},
	} {
		_, err := loadText(t, strings.Replace(versioned, test.from, test.to, 1), nil)
		errtest.Fails(t, name, err, test.named)
	}
}
