package house

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// granted is one statement of any policy in the template.
type granted struct {
	Owner     string // logical id of the resource that has the policy
	Sid       string
	Effect    string
	Actions   []string
	Resources []string // as written: what GetAtt, Ref and Sub name
	Condition bool
}

func (g granted) String() string { return g.Owner + " " + g.Sid }

// statements finds every statement of the template, wherever its policy stands: who adds a new kind of policy need not think
// of this test.
func statements(t *testing.T) []granted {
	t.Helper()
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]yaml.Node `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	var out []granted
	for id, node := range template.Resources {
		collect(t, id, &node, &out)
	}
	if len(out) < 40 {
		t.Fatalf("only %d statements are found", len(out))
	}
	return out
}

func collect(t *testing.T, owner string, n *yaml.Node, out *[]granted) {
	t.Helper()
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch n.Content[i].Value {
		case "Statement":
			for _, s := range n.Content[i+1].Content {
				*out = append(*out, read(t, owner, s))
			}
		case "ManagedPolicyArns", "NotAction", "NotResource", "NotPrincipal":
			t.Errorf("%s has %s: say what is allowed, statement by statement", owner, n.Content[i].Value)
		}
	}
	for _, child := range n.Content {
		collect(t, owner, child, out)
	}
}

func read(t *testing.T, owner string, n *yaml.Node) granted {
	t.Helper()
	var s struct {
		Sid       string    `yaml:"Sid"`
		Effect    string    `yaml:"Effect"`
		Action    yaml.Node `yaml:"Action"`
		Resource  yaml.Node `yaml:"Resource"`
		Condition any       `yaml:"Condition"`
	}
	if err := n.Decode(&s); err != nil {
		t.Fatalf("%s: %v", owner, err)
	}
	return granted{owner, s.Sid, s.Effect, resources(s.Action), resources(s.Resource), s.Condition != nil}
}

func resources(n yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return []string{n.Value}
	}
	var out []string
	for _, item := range n.Content {
		out = append(out, item.Value)
	}
	return out
}

// wide are the statements that reach further than a table, a prefix or a key of their own, each with the reason.
var wide = map[string]string{
	"SigningKey AccountDecides":         "the policy of a key leaves it to the account's identities, whose policies are those here",
	"TokenFunction SignWithRotatedKeys": "a rotated key is made after the stack; its tag, which only this deployment's keys have, narrows it",
	"ScanFunction ScanAgain":            "the action knows no resources; it reaches what the account's protection plans cover",
	"MalwarePlanRole OwnRule":           "GuardDuty chooses the end of its rule's name; the condition leaves rules that it manages itself",
	"MalwarePlanRole WatchOwnRule":      "GuardDuty chooses the end of its rule's name",
}

var (
	action = regexp.MustCompile(`^[a-z0-9]+:[A-Z][A-Za-z]+$`)
	// A whole prefix of a bucket is the widest that an object's ARN may be.
	prefix = regexp.MustCompile(`^arn:\$\{AWS::Partition\}:s3:::\$\{Prefix\}-(uploads|work)-\$\{AWS::AccountId\}-\$\{AWS::Region\}/(uploads|documents|work|reports)/\*$`)
)

// Every statement has a name, says its actions one by one, and reaches no further than a function's own tables, prefixes and keys.
func TestPoliciesAreNarrow(t *testing.T) {
	seen, exceptions := map[string]bool{}, map[string]bool{}
	for _, s := range statements(t) {
		if s.Owner == "MalwarePlanRole" && s.Sid == "" {
			continue // who may assume the role, not what it may do
		}
		if s.Sid == "" || seen[s.String()] {
			t.Errorf("a statement of %s has no name of its own: %q", s.Owner, s.Sid)
		}
		seen[s.String()] = true
		if s.Effect == "Deny" {
			continue // as wide as it likes
		}
		if problem := reach(s); problem != "" && wide[s.String()] == "" {
			t.Errorf("%s %s", s, problem)
		} else if problem != "" {
			exceptions[s.String()] = true
		}
	}
	for name := range wide {
		if !exceptions[name] {
			t.Errorf("%s needs no exception", name)
		}
	}
}

// reach says what is too wide about a statement.
func reach(s granted) string {
	if len(s.Actions) == 0 || len(s.Resources) == 0 {
		return "names no action or no resource"
	}
	for _, a := range s.Actions {
		if !action.MatchString(a) {
			return fmt.Sprintf("allows %q", a)
		}
	}
	for _, r := range s.Resources {
		if strings.ContainsAny(r, "*?") && !prefix.MatchString(r) {
			return fmt.Sprintf("reaches %q", r)
		}
	}
	return ""
}

func TestReach(t *testing.T) {
	const own = "arn:${AWS::Partition}:s3:::${Prefix}-work-${AWS::AccountId}-${AWS::Region}"
	for _, test := range []struct {
		action, resource string
		narrow           bool
	}{
		{"s3:GetObject", own + "/work/*", true},
		{"s3:ListBucket", own, true},
		{"dynamodb:GetItem", "BatchesTable.Arn", true},
		{"s3:*", own + "/work/*", false},
		{"*", own + "/work/*", false},
		{"s3:Get*", own + "/work/*", false},
		{"s3:GetObject", "*", false},
		{"s3:GetObject", own + "/*", false},
		{"s3:GetObject", own + "*", false},
		{"s3:GetObject", "arn:${AWS::Partition}:s3:::*/work/*", false},
		{"dynamodb:GetItem", "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/*", false},
		{"dynamodb:GetItem", "${BatchesTable.Arn}/index/*", false},
	} {
		if problem := reach(granted{Actions: []string{test.action}, Resources: []string{test.resource}}); (problem == "") != test.narrow {
			t.Errorf("%s on %s: %q", test.action, test.resource, problem)
		}
	}
}

// A function reaches the tables and buckets that its environment names, and no others.
func TestPoliciesNameWhatTheFunctionIsGiven(t *testing.T) {
	declared, _ := functionsOf(t)
	for _, s := range statements(t) {
		f, isFunction := declared[strings.ToLower(strings.TrimSuffix(s.Owner, "Function"))]
		if !isFunction {
			continue
		}
		given := map[string]bool{}
		for name := range f.Properties.Environment.Variables {
			given[name] = true
		}
		for _, r := range s.Resources {
			var needs string
			if table := regexp.MustCompile(`([A-Za-z]+)Table\.Arn`).FindStringSubmatch(r); table != nil {
				needs = "TABLE_" + strings.ToUpper(table[1])
			}
			if bucket := prefix.FindStringSubmatch(r); bucket != nil {
				needs = "BUCKET_" + strings.ToUpper(bucket[1])
			}
			if needs != "" && !given[needs] {
				t.Errorf("%s reaches %s, and the function is not given %s", s, r, needs)
			}
		}
	}
}
