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
	dir string
	out *Template
}

// silent resources have no local counterpart and change nothing a client could see.
var silent = map[string]bool{
	"AWS::SQS::Queue": true, "AWS::Logs::LogGroup": true, "AWS::CloudWatch::Alarm": true,
	"AWS::KMS::Alias": true, "AWS::SNS::Topic": true, "AWS::SQS::QueuePolicy": true, "AWS::IAM::Role": true,
	"AWS::CloudWatch::Dashboard": true, "AWS::Logs::MetricFilter": true,
}

// all builds the functions after everything that they may be routed from.
func (b *builder) all() error {
	steps := []struct {
		kind  string
		build func(id string, p *properties) error
	}{
		{"AWS::Serverless::Api", b.api}, {"AWS::DynamoDB::Table", b.table}, {"AWS::S3::Bucket", b.bucket}, {"AWS::S3::BucketPolicy", b.bucketPolicy},
		{"AWS::KMS::Key", b.key}, {"AWS::Serverless::Function", b.function}, {"AWS::Serverless::StateMachine", b.machine},
		{"AWS::Events::Rule", b.rule}, {"AWS::Lambda::Permission", b.permission},
		{"AWS::GuardDuty::MalwareProtectionPlan", b.plan},
	}
	known := map[string]bool{}
	for _, step := range steps {
		known[step.kind] = true
		for _, id := range sorted(b.resources) {
			if b.resources[id].kind != step.kind {
				continue
			}
			if err := b.one(id, step.build); err != nil {
				return fmt.Errorf("%s %w", id, err)
			}
		}
	}
	for _, id := range sorted(b.resources) {
		kind := b.resources[id].kind
		switch {
		case silent[kind]:
			// Nothing is made of it, yet a reference that leads nowhere is as wrong here as anywhere.
			if err := b.one(id, func(string, *properties) error { return nil }); err != nil {
				return fmt.Errorf("%s %w", id, err)
			}
		case !known[kind]:
			if c := b.resources[id].condition; c != "" {
				if holds, err := b.condition(c); err != nil {
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

func (b *builder) one(id string, build func(string, *properties) error) error {
	if c := b.resources[id].condition; c != "" {
		if holds, err := b.condition(c); err != nil || !holds {
			return err
		}
	}
	v, err := b.value(b.resources[id].properties)
	if err != nil {
		return err
	}
	p := newProperties(v)
	if err := build(id, p); err != nil {
		return err
	}
	return p.err
}

func (b *builder) table(id string, p *properties) error {
	name, err := b.name(id)
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

func (b *builder) bucket(id string, _ *properties) error {
	name, err := b.name(id)
	b.out.Buckets = append(b.out.Buckets, Bucket{ID: id, Name: name})
	return err
}

func (b *builder) bucketPolicy(_ string, p *properties) error {
	name := p.required("Bucket")
	for i := range b.out.Buckets {
		if b.out.Buckets[i].Name == name {
			b.out.Buckets[i].Policy = p.values["PolicyDocument"]
			return p.err
		}
	}
	return fmt.Errorf("names a bucket that the template does not define")
}

func (b *builder) permission(_ string, p *properties) error {
	function := p.required("FunctionName")
	if action := p.text("Action"); action != "lambda:InvokeFunction" {
		return fmt.Errorf("permits %q: the local cloud knows only lambda:InvokeFunction", action)
	}
	for _, f := range b.out.Functions {
		if function == f.Name || function == f.ARN {
			b.out.Permitted = append(b.out.Permitted, Permission{f.ARN, p.required("Principal"), p.required("SourceArn")})
			return p.err
		}
	}
	return fmt.Errorf("names a function that the template does not define")
}

func (b *builder) key(id string, p *properties) error {
	if usage := p.text("KeyUsage"); usage != "SIGN_VERIFY" {
		return fmt.Errorf("has the KeyUsage %q: the local cloud knows only SIGN_VERIFY", usage)
	}
	b.out.Keys = append(b.out.Keys, Key{LogicalID: id, ID: KeyID(id), ARN: b.place.arn("kms", "key/"+KeyID(id)),
		Spec: p.required("KeySpec"), Policy: p.values["KeyPolicy"]})
	return nil
}

var substitution = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

func (b *builder) machine(id string, p *properties) error {
	name, err := b.name(id)
	if err != nil {
		return err
	}
	text, err := b.definition(p)
	if err != nil {
		return err
	}
	values := p.object("DefinitionSubstitutions")
	var missing string
	text = substitution.ReplaceAllFunc(text, func(m []byte) []byte {
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

func (b *builder) definition(p *properties) ([]byte, error) {
	if inline := p.object("Definition").values; inline != nil {
		return json.Marshal(inline)
	}
	uri := p.required("DefinitionUri")
	if uri == "" {
		return nil, p.err
	}
	text, err := os.ReadFile(filepath.Join(b.dir, uri))
	if err != nil {
		return nil, fmt.Errorf("has a DefinitionUri that cannot be read: %w", err)
	}
	return text, nil
}

func binary(logicalID string) string {
	return strings.ToLower(strings.TrimSuffix(logicalID, "Function"))
}
