package template

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// resolveAttribute returns the value of GetAtt for a resource, or of Ref if the attribute is "".
func (r *resolver) resolveAttribute(id, attribute string) (any, error) {
	res, ok := r.resources[id]
	if function, isRole := strings.CutSuffix(id, "Role"); !ok && isRole && attribute == "Arn" &&
		r.resources[function].kind == "AWS::Serverless::Function" {
		// SAM makes the role of a function that names none.
		name, err := r.physicalName(function)
		return r.target.RoleARN(name), err
	}
	if !ok {
		return nil, fmt.Errorf("refers to %s, which the template does not define", id)
	}
	leave, err := r.enter(id)
	if err != nil {
		return nil, err
	}
	defer leave()
	if res.condition != "" {
		if holds, err := r.conditionHolds(res.condition); err != nil || !holds {
			return nil, errorOr(err, "refers to %s, which its condition leaves out", id)
		}
	}
	return r.attributeOf(id, res, attribute)
}

// attributeOf returns the value of an attribute of a resource in the template; the attribute "" stands for Ref.
func (r *resolver) attributeOf(id string, res resource, attribute string) (any, error) {
	switch res.kind + " " + attribute {
	case "AWS::Serverless::Function ",
		"AWS::DynamoDB::Table ",
		"AWS::S3::Bucket ",
		"AWS::Serverless::StateMachine Name",
		"AWS::SQS::Queue QueueName",
		"AWS::Logs::LogGroup ",
		"AWS::Events::Rule ",
		"AWS::KinesisFirehose::DeliveryStream ",
		"AWS::IAM::Role ":
		return r.physicalName(id)
	case "AWS::KinesisFirehose::DeliveryStream Arn":
		return r.arn(id, "firehose", "deliverystream/")
	case "AWS::Serverless::Function Arn":
		return r.arn(id, "lambda", "function:")
	// extensions of SAM: !Ref Function.Version
	case "AWS::Serverless::Function Version", "AWS::Serverless::Function Alias":
		alias, version, err := r.aliasOf(id)
		if err != nil || alias == "" {
			return nil, errorOr(err, "refers to the %s of %s, which has no AutoPublishAlias", attribute, id)
		}
		if attribute == "Version" {
			alias = version
		}
		arn, err := r.arn(id, "lambda", "function:")
		return arn + ":" + alias, err
	case "AWS::DynamoDB::Table Arn":
		return r.arn(id, "dynamodb", "table/")
	case "AWS::Serverless::StateMachine ", "AWS::Serverless::StateMachine Arn":
		return r.arn(id, "states", "stateMachine:")
	case "AWS::WAFv2::WebACL Arn":
		return r.target.ARN("wafv2", "regional/webacl/"+id), nil
	case "AWS::SQS::Queue Arn":
		return r.arn(id, "sqs", "")
	case "AWS::Logs::LogGroup Arn":
		return r.arn(id, "logs", "log-group:")
	case "AWS::Events::Rule Arn":
		return r.arn(id, "events", "rule/")
	case "AWS::IAM::Role Arn":
		name, err := r.physicalName(id)
		return r.target.RoleARN(name), err
	case "AWS::S3::Bucket Arn":
		name, err := r.physicalName(id)
		return "arn:" + Partition + ":s3:::" + name, err
	case "AWS::KMS::Key ", "AWS::KMS::Key KeyId":
		return KeyID(id), nil
	case "AWS::KMS::Key Arn":
		return r.target.ARN("kms", "key/"+KeyID(id)), nil
	case "AWS::Serverless::Api ":
		return apiID, nil
	case "AWS::Serverless::Api Stage": // an extension of SAM: !Ref Api.Stage
		return r.resolve(res.properties["StageName"])
	}
	if attribute == "" {
		return id, nil
	}
	return nil, fmt.Errorf("uses the attribute %s of %s, which the local cloud does not support", attribute, id)
}

// aliasOf returns the alias of a function and the number of the version that it names, both "" without
// AutoPublishAlias.
func (r *resolver) aliasOf(id string) (alias, version string, err error) {
	given, err := r.resolve(r.resources[id].properties["AutoPublishAlias"])
	if alias = scalarText(given); err != nil || alias == "" {
		return "", "", err
	}
	name, err := r.physicalName(id)
	if err != nil || r.target.Publish == nil {
		return alias, "1", err
	}
	version, err = r.target.Publish(name, r.binaryName(id))
	return alias, version, err
}

// errorOr returns err if it is not nil, and else a formatted error.
func errorOr(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fmt.Errorf(format, args...)
}

// apiID is the physical ID of the API.
const apiID = "local"

// KeyID returns the ID of the KMS key with a logical ID. It is the same at every start.
func KeyID(logicalID string) string {
	sum := sha256.Sum256([]byte("sluice local key " + logicalID))
	id, _ := uuid.FromBytes(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// nameProperty holds the property with the physical name for each kind of resource that has one.
var nameProperty = map[string]string{
	"AWS::Serverless::Function":     "FunctionName",
	"AWS::DynamoDB::Table":          "TableName",
	"AWS::S3::Bucket":               "BucketName",
	"AWS::Serverless::StateMachine": "Name",
	"AWS::SQS::Queue":               "QueueName",
	"AWS::Logs::LogGroup":           "LogGroupName",
	"AWS::Events::Rule":             "Name",
	"AWS::IAM::Role":                "RoleName",
}

// physicalName returns the physical name of a resource. Where the template gives none, it consists of the stack and the
// logical ID.
func (r *resolver) physicalName(id string) (string, error) {
	res := r.resources[id]
	given, ok := res.properties[nameProperty[res.kind]]
	if !ok {
		name := r.target.Stack + "-" + id
		if res.kind == "AWS::S3::Bucket" {
			name = strings.ToLower(name)
		}
		return name, nil
	}
	v, err := r.resolve(given)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok && s != "" {
		return s, nil
	}
	return "", fmt.Errorf("has a %s that is not a string", nameProperty[res.kind])
}

// arn returns the ARN of a resource, in which the prefix precedes its name.
func (r *resolver) arn(id, service, prefix string) (string, error) {
	name, err := r.physicalName(id)
	return r.target.ARN(service, prefix+name), err
}
