package template

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

var testTarget = Target{Region: "eu-west-1", Account: "000000000000", Stack: "sluice"}

// newFolder returns a folder with the definition of a state machine, machine.asl.json.
func newFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	errtest.Fatal(t, os.WriteFile(filepath.Join(dir, "machine.asl.json"), []byte(`{"StartAt": "${EchoArn}"}`),
		0o600))
	return dir
}

func loadText(t *testing.T, text string, overrides map[string]string) (*Template, error) {
	t.Helper()
	path := filepath.Join(newFolder(t), "template.yaml")
	errtest.Fatal(t, os.WriteFile(path, []byte(text), 0o600))
	return Load(path, testTarget, overrides)
}

// loadReplaced loads a template in which one text is replaced by another.
func loadReplaced(t *testing.T, text, from, to string) (*Template, error) {
	t.Helper()
	replaced := strings.Replace(text, from, to, 1)
	if replaced == text {
		t.Fatal("the replacement changes nothing")
	}
	return loadText(t, replaced, nil)
}

// checkRefusal checks the error of loading a template: that it has the text want, or that there is none if that is "".
func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

const fullTemplate = `
Parameters:
  Prefix: {Type: String, Default: toy, AllowedPattern: "[a-z]+", MinLength: 2}
  Limit: {Type: Number, Default: 10, MinValue: 1, MaxValue: 20}
  Level: {Type: String, Default: INFO, AllowedValues: [DEBUG, INFO]}
  Topic: {Type: String, Default: ""}
Conditions:
  HasTopic: !Not [!Equals [!Ref Topic, ""]]
  Loud: !Equals [!Sub "${Topic}-${Level}", t-DEBUG]
Globals:
  Function:
    Runtime: provided.al2023
    Timeout: 28
    Environment: {Variables: {LEVEL: !Ref Level}}
Resources:
  Api:
    Type: AWS::Serverless::Api
    Properties:
      StageName: live
      BinaryMediaTypes: ["image~1png"]
      MethodSettings: [{ResourcePath: "/*", HttpMethod: "*", ThrottlingRateLimit: 5, ThrottlingBurstLimit: !Ref Limit}]
      Auth:
        DefaultAuthorizer: Token
        Authorizers:
          Token: {FunctionArn: !GetAtt GuardFunction.Arn, FunctionPayloadType: REQUEST, Identity: {ReauthorizeEvery: 0}}
      GatewayResponses:
        UNAUTHORIZED:
          StatusCode: "401"
          ResponseParameters: {Headers: {WWW-Authenticate: "'Bearer'"}}
          ResponseTemplates: {application/json: '{"message": "Unauthorized"}'}
      DefinitionBody:
        paths:
          "/a/{id}":
            get:
              x-amazon-apigateway-integration:
                type: aws_proxy
                httpMethod: POST
                uri: !Sub "arn:x:lambda:path/2015-03-31/functions/${EchoFunction.Arn}/invocations"
          /b:
            post:
              security: [{NONE: []}]
              x-amazon-apigateway-integration:
                type: aws_proxy
                httpMethod: POST
                uri: !Sub "arn:x:lambda:path/2015-03-31/functions/${EchoFunction.Arn}/invocations"
            x-amazon-apigateway-any-method:
              x-amazon-apigateway-integration:
                type: aws_proxy
                httpMethod: POST
                uri: !Sub "arn:x:lambda:path/2015-03-31/functions/${EchoFunction.Arn}/invocations"
  EchoServesApi:
    Type: AWS::Lambda::Permission
    Properties:
      FunctionName: !Ref EchoFunction
      Action: lambda:InvokeFunction
      Principal: apigateway.amazonaws.com
      SourceArn: !Sub "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Api}/*/*/*"
  GuardFunction:
    Type: AWS::Serverless::Function
    Metadata: {BuildMethod: makefile, Program: guardian}
    Properties: {FunctionName: !Sub "${Prefix}-guard", Timeout: 5}
  EchoFunction:
    Type: AWS::Serverless::Function
    Properties:
      MemorySize: 512
      EventInvokeConfig: {MaximumRetryAttempts: 1, MaximumEventAgeInSeconds: 60}
      Environment:
        Variables:
          LIMIT: !Ref Limit
          TABLE: !Ref Things
          ARN: !GetAtt Things.Arn
          BUCKET: !Join ["-", [!Ref Prefix, in, !Ref AWS::Region]]
          NOT_SET: !If [HasTopic, !Ref Topic, ""]
          GONE: !If [Loud, yes, !Ref AWS::NoValue]
          KEY: !GetAtt Signing.Arn
          LITERAL: !Sub "${!Kept} x"
          OWN: !Sub "${Machine}/${AWS::AccountId}"
      Events:
        Put:
          Type: S3
          Properties:
            Bucket: !Ref In
            Events: "s3:ObjectCreated:*"
            Filter: {S3Key: {Rules: [{Name: prefix, Value: up/}]}}
        Tick: {Type: Schedule, Properties: {Schedule: rate(5 minutes)}}
  Things:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "${Prefix}-things"
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: by
          KeySchema: [{AttributeName: id, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ContributorInsightsSpecification: {Enabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
  In:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: !Sub "${Prefix}-in"
      CorsConfiguration:
        CorsRules:
          - {Id: Pages, AllowedOrigins: ["https://a.example"], AllowedMethods: [PUT], AllowedHeaders: ["x-*"],
             ExposedHeaders: [ETag], MaxAge: 60}
  Signing:
    Type: AWS::KMS::Key
    Properties: {KeySpec: ECC_NIST_P256, KeyUsage: SIGN_VERIFY, KeyPolicy: {Statement: []}}
  InPolicy:
    Type: AWS::S3::BucketPolicy
    Properties: {Bucket: !Ref In, PolicyDocument: {Statement: [{Resource: !GetAtt In.Arn}]}}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      Name: !Sub "${Prefix}-machine"
      DefinitionUri: machine.asl.json
      Policies: [{Statement: [{Effect: Allow, Action: "lambda:InvokeFunction", Resource: !GetAtt EchoFunction.Arn}]}]
      DefinitionSubstitutions: {EchoArn: !GetAtt EchoFunction.Arn}
  Louder:
    Type: AWS::DynamoDB::Table
    Condition: Loud
    Properties: {TableName: loud}
`
