package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// builder turns resolved resources into what the local cloud runs.
type builder struct {
	*resolver
	baseDir string
	out     *Template
}

// ignoredKinds resources have no local counterpart and change nothing a client could see.
var ignoredKinds = map[string]bool{
	"AWS::SQS::Queue": true, "AWS::Logs::LogGroup": true, "AWS::CloudWatch::Alarm": true,
	"AWS::KMS::Alias": true, "AWS::SNS::Topic": true, "AWS::SQS::QueuePolicy": true, "AWS::IAM::Role": true,
	"AWS::CloudWatch::Dashboard": true, "AWS::Logs::MetricFilter": true,
}

// buildAll builds the functions after everything that they may be routed from.
func (b *builder) buildAll() error {
	steps := []struct {
		kind  string
		build func(id string, p *properties) error
	}{
		{"AWS::Serverless::Api", b.addAPI}, {"AWS::DynamoDB::Table", b.addTable}, {"AWS::S3::Bucket", b.addBucket}, {"AWS::S3::BucketPolicy", b.addBucketPolicy},
		{"AWS::KMS::Key", b.addKey}, {"AWS::Serverless::Function", b.addFunction}, {"AWS::Serverless::StateMachine", b.addMachine},
		{"AWS::Events::Rule", b.addRule}, {"AWS::Lambda::Permission", b.addPermission},
		{"AWS::GuardDuty::MalwareProtectionPlan", b.addPlan},
	}
	known := map[string]bool{}
	for _, step := range steps {
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
	for _, id := range sortedKeys(b.resources) {
		kind := b.resources[id].kind
		switch {
		case ignoredKinds[kind]:
			// Nothing is made of it, yet a reference that leads nowhere is as wrong here as anywhere.
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

func (b *builder) addTable(id string, p *properties) error {
	name, err := b.physicalName(id)
	if err != nil {
		return err
	}
	definition := map[string]any{"TableName": name, "BillingMode": "PAY_PER_REQUEST"}
	for _, key := range []string{"AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes"} {
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
	b.out.Tables = append(b.out.Tables, Table{Name: name, Definition: definition, TTLAttribute: ttl.text("AttributeName")})
	return nil
}

func (b *builder) addBucket(id string, _ *properties) error {
	name, err := b.physicalName(id)
	b.out.Buckets = append(b.out.Buckets, Bucket{ID: id, Name: name})
	return err
}

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

func (b *builder) addPermission(_ string, p *properties) error {
	function := p.requiredText("FunctionName")
	if action := p.text("Action"); action != "lambda:InvokeFunction" {
		return fmt.Errorf("permits %q: the local cloud knows only lambda:InvokeFunction", action)
	}
	for _, f := range b.out.Functions {
		if function == f.Name || function == f.ARN {
			b.out.Permissions = append(b.out.Permissions, Permission{f.ARN, p.requiredText("Principal"), p.requiredText("SourceArn")})
			return p.err
		}
	}
	return fmt.Errorf("names a function that the template does not define")
}

func (b *builder) addKey(id string, p *properties) error {
	if usage := p.text("KeyUsage"); usage != "SIGN_VERIFY" {
		return fmt.Errorf("has the KeyUsage %q: the local cloud knows only SIGN_VERIFY", usage)
	}
	b.out.Keys = append(b.out.Keys, Key{LogicalID: id, ID: KeyID(id), ARN: b.target.ARN("kms", "key/"+KeyID(id)),
		Spec: p.requiredText("KeySpec"), Policy: p.values["KeyPolicy"]})
	return nil
}

var definitionVariable = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

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
		return fmt.Errorf("has no DefinitionSubstitutions for ${%s}", missing)
	}
	arn, err := b.arn(id, "states", "stateMachine:")
	b.out.Machines = append(b.out.Machines, Machine{ID: id, Name: name, ARN: arn, Definition: text, Policies: p.list("Policies")})
	return err
}

func (b *builder) readDefinition(p *properties) ([]byte, error) {
	if inline := p.object("Definition").values; inline != nil {
		return json.Marshal(inline)
	}
	uri := p.requiredText("DefinitionUri")
	if uri == "" {
		return nil, p.err
	}
	text, err := os.ReadFile(filepath.Join(b.baseDir, uri))
	if err != nil {
		return nil, fmt.Errorf("has a DefinitionUri that cannot be read: %w", err)
	}
	return text, nil
}

func binaryName(logicalID string) string {
	return strings.ToLower(strings.TrimSuffix(logicalID, "Function"))
}
