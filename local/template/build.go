package template

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// builder creates a Template from the resources.
type builder struct {
	*resolver
	// baseDir is the folder of the template, to which file names are relative.
	baseDir string
	out     *Template
}

// ignoredKinds are the kinds of resources that have no local counterpart and do not affect clients.
var ignoredKinds = map[string]bool{
	"AWS::SQS::Queue": true, "AWS::Logs::LogGroup": true, "AWS::CloudWatch::Alarm": true,
	"AWS::KMS::Alias": true, "AWS::SNS::Topic": true, "AWS::SQS::QueuePolicy": true, "AWS::IAM::Role": true,
	"AWS::CloudWatch::Dashboard": true, "AWS::Logs::MetricFilter": true, "AWS::Logs::SubscriptionFilter": true,
	"AWS::KinesisFirehose::DeliveryStream": true, "AWS::ApiGateway::Account": true,
	"AWS::WAFv2::WebACL": true, "AWS::WAFv2::WebACLAssociation": true,
}

// step adds the resources of a kind.
type step struct {
	kind  string
	build func(id string, p *properties) error
}

// steps are in the order in which they are taken: functions are added after everything to which their events refer.
func (b *builder) steps() []step {
	return []step{
		{"AWS::Serverless::Api", b.addAPI},
		{"AWS::DynamoDB::Table", b.addTable},
		{"AWS::S3::Bucket", b.addBucket},
		{"AWS::S3::BucketPolicy", b.addBucketPolicy},
		{"AWS::KMS::Key", b.addKey},
		{"AWS::Serverless::Function", b.addFunction},
		{"AWS::Serverless::StateMachine", b.addMachine},
		{"AWS::Events::Rule", b.addRule},
		{"AWS::Lambda::Permission", b.addPermission},
		{"AWS::GuardDuty::MalwareProtectionPlan", b.addPlan},
	}
}

// buildAll adds all resources.
func (b *builder) buildAll() error {
	known := map[string]bool{}
	for _, step := range b.steps() {
		known[step.kind] = true
		for _, id := range sortedKeys(b.resources) {
			if b.resources[id].kind != step.kind {
				continue
			}
			if err := b.buildResource(id, step.build); err != nil {
				return fmt.Errorf("%s %w", id, err)
			}
		}
	}
	if err := b.checkRoutePermissions(); err != nil {
		return err
	}
	for _, id := range sortedKeys(b.resources) {
		kind := b.resources[id].kind
		switch {
		case ignoredKinds[kind]:
			// The resource is not created, but its references must be valid.
			if err := b.buildResource(id, func(string, *properties) error { return nil }); err != nil {
				return fmt.Errorf("%s %w", id, err)
			}
		case !known[kind]:
			if c := b.resources[id].condition; c != "" {
				if holds, err := b.conditionHolds(c); err != nil {
					return fmt.Errorf("%s %w", id, err)
				} else if !holds {
					continue
				}
			}
			b.out.Unserved = append(b.out.Unserved, fmt.Sprintf("%s of kind %s", id, kind))
		}
	}
	return nil
}

// buildResource adds one resource unless its condition excludes it.
func (b *builder) buildResource(id string, build func(string, *properties) error) error {
	if c := b.resources[id].condition; c != "" {
		if holds, err := b.conditionHolds(c); err != nil || !holds {
			return err
		}
	}
	v, err := b.resolve(b.resources[id].properties)
	if err != nil {
		return err
	}
	p := newProperties(v)
	if err := build(id, p); err != nil {
		return err
	}
	return p.err
}

// addTable adds a table.
func (b *builder) addTable(id string, p *properties) error {
	name, err := b.physicalName(id)
	if err != nil {
		return err
	}
	definition := map[string]any{"TableName": name, "BillingMode": "PAY_PER_REQUEST"}
	for _, key := range []string{"AttributeDefinitions", "KeySchema"} {
		if v, ok := p.values[key]; ok {
			definition[key] = v
		}
	}
	if len(p.list("KeySchema")) == 0 {
		return fmt.Errorf("has no KeySchema")
	}
	var indexes []any
	for _, v := range p.list("GlobalSecondaryIndexes") {
		index, _ := v.(map[string]any)
		indexes = append(indexes, map[string]any{
			"IndexName": index["IndexName"], "KeySchema": index["KeySchema"], "Projection": index["Projection"],
		})
	}
	if indexes != nil {
		definition["GlobalSecondaryIndexes"] = indexes
	}
	ttl := p.object("TimeToLiveSpecification")
	b.out.Tables = append(b.out.Tables,
		Table{Name: name, Definition: definition, TTLAttribute: ttl.text("AttributeName"),
			Provisioned: p.text("BillingMode") != "PAY_PER_REQUEST"})
	return nil
}

// addBucket adds a bucket with its CORS rules.
func (b *builder) addBucket(id string, p *properties) error {
	name, err := b.physicalName(id)
	bucket := Bucket{ID: id, Name: name}
	for _, values := range p.object("CorsConfiguration").list("CorsRules") {
		rule := newProperties(values)
		rule.firstError = p.firstError
		bucket.CORS = append(bucket.CORS, CORSRule{
			ID: rule.text("Id"), Origins: rule.textList("AllowedOrigins"), Methods: rule.textList("AllowedMethods"),
			Headers: rule.textList("AllowedHeaders"), Exposed: rule.textList("ExposedHeaders"),
			MaxAge: rule.number("MaxAge", 0),
		})
	}
	b.out.Buckets = append(b.out.Buckets, bucket)
	return errors.Join(err, p.err)
}

// addBucketPolicy adds the policy to its bucket.
func (b *builder) addBucketPolicy(_ string, p *properties) error {
	name := p.requiredText("Bucket")
	for i := range b.out.Buckets {
		if b.out.Buckets[i].Name == name {
			b.out.Buckets[i].Policy = p.values["PolicyDocument"]
			return p.err
		}
	}
	return fmt.Errorf("names a bucket that the template does not define")
}

// addPermission adds the permission of a service to invoke a function.
func (b *builder) addPermission(_ string, p *properties) error {
	function := p.requiredText("FunctionName")
	if action := p.text("Action"); action != "lambda:InvokeFunction" {
		return fmt.Errorf("permits %q: the local cloud supports only lambda:InvokeFunction", action)
	}
	for _, f := range b.out.Functions {
		if function == f.Name {
			function = f.ARN
		}
		if function == f.ARN || f.Alias != "" && function == f.ARN+":"+f.Alias {
			b.out.Permissions = append(b.out.Permissions,
				Permission{function, p.requiredText("Principal"), p.requiredText("SourceArn")})
			return p.err
		}
	}
	return fmt.Errorf("names a function that the template does not define")
}

// addKey adds a key that signs or, as keys do by default, encrypts.
func (b *builder) addKey(id string, p *properties) error {
	usage, spec := p.text("KeyUsage"), p.text("KeySpec")
	if usage == "" {
		usage = "ENCRYPT_DECRYPT"
	}
	if spec == "" {
		spec = KeySpecSymmetric
	}
	if (usage != "SIGN_VERIFY" || spec != KeySpecSigning) && (usage != "ENCRYPT_DECRYPT" || spec != KeySpecSymmetric) {
		return fmt.Errorf("has the KeyUsage %s and the KeySpec %s: the local cloud supports only SIGN_VERIFY "+
			"with %s and ENCRYPT_DECRYPT with %s", usage, spec, KeySpecSigning, KeySpecSymmetric)
	}
	b.out.Keys = append(b.out.Keys, Key{LogicalID: id, ID: KeyID(id), ARN: b.target.ARN("kms", "key/"+KeyID(id)),
		Spec: spec, Policy: p.values["KeyPolicy"]})
	return nil
}

// definitionVariable matches a variable in the definition of a state machine.
var definitionVariable = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

// addMachine adds a state machine, with the variables in its definition replaced.
func (b *builder) addMachine(id string, p *properties) error {
	name, err := b.physicalName(id)
	if err != nil {
		return err
	}
	text, err := b.readDefinition(p)
	if err != nil {
		return err
	}
	values := p.object("DefinitionSubstitutions")
	var missing string
	text = definitionVariable.ReplaceAllFunc(text, func(m []byte) []byte {
		key := string(m[2 : len(m)-1])
		if _, ok := values.values[key]; !ok && missing == "" {
			missing = key
		}
		quoted, _ := json.Marshal(values.text(key))
		return quoted[1 : len(quoted)-1]
	})
	if missing != "" {
		return fmt.Errorf("has no entry in DefinitionSubstitutions for ${%s}", missing)
	}
	arn, err := b.arn(id, "states", "stateMachine:")
	b.out.Machines = append(b.out.Machines,
		Machine{ID: id, Name: name, ARN: arn, Definition: text, Policies: p.list("Policies")})
	return err
}

// readDefinition returns the definition of a state machine, which is in a file.
func (b *builder) readDefinition(p *properties) ([]byte, error) {
	uri := p.requiredText("DefinitionUri")
	if uri == "" {
		return nil, p.err
	}
	text, err := os.ReadFile(filepath.Join(b.baseDir, uri))
	if err != nil {
		return nil, fmt.Errorf("has an unreadable DefinitionUri: %w", err)
	}
	return text, nil
}

// binaryName returns the file name of the program of a function.
func (r *resolver) binaryName(logicalID string) string {
	return cmp.Or(r.resources[logicalID].program, strings.ToLower(strings.TrimSuffix(logicalID, "Function")))
}
