package repotest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// statement is one statement of any policy in the template.
type statement struct {
	// Owner is the logical ID of the resource that has the policy.
	Owner   string
	Sid     string
	Effect  string
	Actions []string
	// Resources are as written: what GetAtt, Ref and Sub name.
	Resources []string
}

func (s statement) String() string { return s.Owner + " " + s.Sid }

// policyStatements finds every statement of the template wherever its policy is, so that a new kind of policy needs no
// change here.
func policyStatements(t *testing.T) []statement {
	t.Helper()
	var found []statement
	for id, node := range loadTemplate(t).Resources {
		if textAt(&node, "Type") != "AWS::WAFv2::WebACL" { // what its rules call a statement is none of a policy
			found = append(found, statementsBelow(t, id, &node)...)
		}
	}
	if len(found) < 40 {
		t.Fatalf("found %d statements, want at least 40", len(found))
	}
	return found
}

func statementsBelow(t *testing.T, owner string, n *yaml.Node) []statement {
	t.Helper()
	var found []statement
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; key {
		case "Statement":
			for _, s := range n.Content[i+1].Content {
				found = append(found, decodeStatement(t, owner, s))
			}
		case "ManagedPolicyArns", "NotAction", "NotResource", "NotPrincipal":
			t.Errorf("%s has %s: list what is allowed, statement by statement", owner, key)
		}
	}
	for _, child := range n.Content {
		found = append(found, statementsBelow(t, owner, child)...)
	}
	return found
}

func decodeStatement(t *testing.T, owner string, n *yaml.Node) statement {
	t.Helper()
	var s struct {
		Sid      string    `yaml:"Sid"`
		Effect   string    `yaml:"Effect"`
		Action   yaml.Node `yaml:"Action"`
		Resource yaml.Node `yaml:"Resource"`
	}
	if err := n.Decode(&s); err != nil {
		t.Fatalf("a statement of %s: %v", owner, err)
	}
	return statement{owner, s.Sid, s.Effect, oneOrMore(s.Action), oneOrMore(s.Resource)}
}

// oneOrMore returns the values of a node that is one scalar or a list of them.
func oneOrMore(n yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return []string{n.Value}
	}
	var values []string
	for _, item := range n.Content {
		values = append(values, item.Value)
	}
	return values
}

// allowedToBeWide are the statements that reach further than tables, prefixes and keys of their owner, each with the
// reason.
var allowedToBeWide = map[string]string{
	"SigningKey AccountDecides": "the policy of a key leaves the decision to the account's identities, " +
		"whose policies are tested here",
	"SecretsKey AccountDecides": "as of SigningKey",
	"ReceiptKey AccountDecides": "as of SigningKey",
	"TokenFunction SignWithRotatedKeys": "a rotated key is created after the stack; " +
		"the condition requires a tag that only keys of this deployment have",
	"ReceiptFunction SignWithRotatedKeys": "as of TokenFunction",
	"NotifyFunction SignWithClientKeys":   "as of DeliverFunction",
	"DeliverFunction SignWithClientKeys": "an administrator creates the client keys of tenants after the stack; " +
		"the condition requires a tag that only keys of this deployment have",
	"AskFunction SignWithClientKeys":         "as of DeliverFunction",
	"TestAdapterFunction SignWithClientKeys": "as of DeliverFunction",
	"ScanFunction ScanAgain": "the action supports no resources; " +
		"it reaches what the account's protection plans cover",
	"ScanFunction LookAtExecutions": "each batch has an execution of its own; " +
		"all are those of the state machine of this deployment",
	"ConductFunction LookAtExecutions": "as of ScanFunction: each run has an execution of its own",
	"ApiAccountRole AccessLogs": "API Gateway has one role for the logs of all APIs of the account and region, " +
		"and checks that it allows these actions",
	"MalwarePlanRole OwnRule": "GuardDuty chooses the end of its rule's name; " +
		"the condition admits only rules that it manages",
	"MalwarePlanRole WatchOwnRule": "GuardDuty chooses the end of its rule's name",
}

var (
	actionPattern = regexp.MustCompile(`^[a-z0-9]+:[A-Z][A-Za-z]+$`)
	// prefixPattern matches the widest resource that a statement about objects may have: one prefix of a bucket.
	prefixPattern = regexp.MustCompile(`^arn:\$\{AWS::Partition\}:s3:::\$\{Prefix\}-(uploads|work|audit|export)-` +
		`\$\{AWS::AccountId\}-\$\{AWS::Region\}/(uploads|unpacked|documents|work|answers|reports|records|errors|` +
		`watchlists|policies|parquet|index)/\*$`)
	// tablePattern matches a table by its parameter, or one that has none.
	tablePattern = regexp.MustCompile(`:table/\$\{Prefix\}-\$\{([A-Za-z]+)TableName\}|([A-Za-z]+)Table\.Arn`)
	// versionsPattern matches the versions of one function: a running execution calls older ones than the newest.
	versionsPattern = regexp.MustCompile(`^\$\{[A-Za-z]+Function\.Arn\}:\*$`)
)

// Every statement has a name, lists its actions one by one, and reaches only tables, prefixes and keys of its owner.
func TestPoliciesAreNarrow(t *testing.T) {
	seen, exceptions := map[string]bool{}, map[string]bool{}
	for _, s := range policyStatements(t) {
		if strings.HasSuffix(s.Owner, "Role") && s.Sid == "" && slices.Equal(s.Actions, []string{"sts:AssumeRole"}) {
			continue // who may assume the role, not what the role may do
		}
		if s.Sid == "" || seen[s.String()] {
			t.Errorf("a statement of %s has no name of its own: %q", s.Owner, s.Sid)
		}
		seen[s.String()] = true
		if s.Effect == "Deny" {
			continue // may be as wide as it likes
		}
		problem := tooWide(s)
		switch {
		case problem != "" && allowedToBeWide[s.String()] == "":
			t.Errorf("%s %s", s, problem)
		case problem != "":
			exceptions[s.String()] = true
		}
	}
	for name := range allowedToBeWide {
		if !exceptions[name] {
			t.Errorf("%s is narrow or does not exist: remove it from allowedToBeWide", name)
		}
	}
}

// tooWide returns what is too wide about a statement, "" if nothing is.
func tooWide(s statement) string {
	if len(s.Actions) == 0 || len(s.Resources) == 0 {
		return "names no action or no resource"
	}
	for _, action := range s.Actions {
		if !actionPattern.MatchString(action) {
			return fmt.Sprintf("allows %q", action)
		}
	}
	for _, resource := range s.Resources {
		areVersions := versionsPattern.MatchString(resource) && slices.Equal(s.Actions,
			[]string{"lambda:InvokeFunction"})
		if strings.ContainsAny(resource, "*?") && !prefixPattern.MatchString(resource) && !areVersions {
			return fmt.Sprintf("reaches %q", resource)
		}
	}
	return ""
}

// A function reaches the tables and buckets that its environment names, and no others.
func TestPoliciesNameWhatTheFunctionIsGiven(t *testing.T) {
	functions := loadTemplate(t).functions(t)
	for _, s := range policyStatements(t) {
		f, isFunction := functions[strings.ToLower(strings.TrimSuffix(s.Owner, "Function"))]
		if !isFunction {
			continue
		}
		for _, resource := range s.Resources {
			variable := variableNaming(resource)
			if _, given := f.Environment.Variables[variable]; variable != "" && !given {
				t.Errorf("%s reaches %s, but its function is not given %s", s, resource, variable)
			}
		}
	}
}

// No function that clients reach through the API may put objects under the keys of reports and work files: an upload
// URL counts as a request of its signer, so that there cannot be one for these keys, and what is read there was never
// uploaded.
func TestNoUploadURLsForReports(t *testing.T) {
	writers := 0
	for _, s := range policyStatements(t) {
		if s.Effect != "Allow" || !slices.Contains(s.Actions, "s3:PutObject") {
			continue
		}
		isSigner := slices.Contains([]string{"BatchFunction", "DocumentFunction", "ScreeningFunction"}, s.Owner)
		for _, resource := range s.Resources {
			area := prefixPattern.FindStringSubmatch(resource)
			if area == nil {
				continue // GuardDuty's test object
			}
			if area[1] == "work" {
				writers++
			}
			if area[1] == "audit" && !isSigner {
				continue // records of the audit trail, which no function writes
			}
			if isSigner == (area[1] != "uploads") && s.Owner != "ScanFunction" {
				t.Errorf("%s may put objects under %s/%s", s, area[1], area[2])
			}
		}
	}
	if writers == 0 {
		t.Error("found no statement that writes reports")
	}
}

// variableNaming returns the environment variable that names a table or bucket to a function, "" for other resources.
func variableNaming(resource string) string {
	if table := tablePattern.FindStringSubmatch(resource); table != nil {
		return "TABLE_" + strings.ToUpper(table[1]+table[2])
	}
	if bucket := prefixPattern.FindStringSubmatch(resource); bucket != nil {
		return "BUCKET_" + strings.ToUpper(bucket[1])
	}
	return ""
}
