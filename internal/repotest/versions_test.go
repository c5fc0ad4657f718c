package repotest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	substitution     = regexp.MustCompile(`^!Ref (\w+Function)\.Version$`)
	parameterMention = regexp.MustCompile(`!Ref (\w+)|\$\{(\w+)\}`)
)

// versionedFunctions returns the functions that definitions of state machines name, by their versions.
func versionedFunctions(t *testing.T, m template) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for id, node := range m.Resources {
		substitutions, ok := at(&node, "Properties", "DefinitionSubstitutions")
		if !ok {
			continue
		}
		policies, _ := at(&node, "Properties", "Policies")
		for i := 1; i < len(substitutions.Content); i += 2 {
			to := substitution.FindStringSubmatch(flow(substitutions.Content[i]))
			if to == nil {
				t.Errorf("%s has the substitution %s, want a version: !Ref XFunction.Version", id,
					flow(substitutions.Content[i]))
				continue
			}
			out[to[1]] = true
			if want := "!Sub ${" + to[1] + ".Arn}:*"; !strings.Contains(flow(policies), want) {
				t.Errorf("%s may not invoke %s: an execution that runs while another version is deployed needs the "+
					"one with which it began", id, want)
			}
		}
	}
	if len(out) < 10 {
		t.Fatalf("found %d functions with versions, want at least 10", len(out))
	}
	return out
}

// An execution keeps the programs and the settings with which it began. SAM publishes another version if the program,
// the text of the variables or the memory has changed; what else a version has must be in VersionDescription, of which
// a change publishes one, too. Otherwise a parameter that is changed would not reach the function.
func TestFunctionsOfStateMachinesHaveVersions(t *testing.T) {
	m := loadTemplate(t)
	// Prefix names the function itself. The addresses are those of local clouds.
	unneeded := []string{"Prefix", "AwsEndpointUrl", "StorageEndpointUrl"}
	for id := range versionedFunctions(t, m) {
		node := m.Resources[id]
		for path, want := range map[string]string{"UpdateReplacePolicy": "Retain",
			"Properties.AutoPublishAlias": "live"} {
			if n, ok := at(&node, strings.Split(path, ".")...); !ok || n.Value != want {
				t.Errorf("%s does not have the %s %s", id, path, want)
			}
		}
		description, ok := at(&node, "Properties", "VersionDescription")
		if !ok {
			t.Errorf("%s has no VersionDescription", id)
			continue
		}
		want := []string{"${LogLevel}", "${Arch}"}
		for _, property := range []struct{ path, form string }{{"Timeout", "%s s"},
			{"EphemeralStorage.Size", "%s MB"}} {
			if n, ok := at(&node, strings.Split("Properties."+property.path, ".")...); ok {
				want = append(want, fmt.Sprintf(property.form, n.Value))
			}
		}
		if variables, ok := at(&node, "Properties", "Environment", "Variables"); ok {
			for _, mention := range parameterMention.FindAllStringSubmatch(flow(variables), -1) {
				name := mention[1] + mention[2]
				if _, isParameter := m.Parameters[name]; isParameter && !slices.Contains(unneeded, name) {
					want = append(want, "${"+name+"}")
				}
			}
		}
		for _, w := range want {
			if !strings.Contains(description.Value, w) {
				t.Errorf("the VersionDescription of %s is %q and does not have %s: a change of it would not reach "+
					"the function",
					id, description.Value, w)
			}
		}
	}
}

// SAM gives EventInvokeConfig to the alias alone. Events that reach the function past it would be retried by other
// rules, and lost in the end.
func TestEventsReachFunctionsByTheirAlias(t *testing.T) {
	m := loadTemplate(t)
	versioned := versionedFunctions(t, m)
	for id, node := range m.Resources {
		kind, _ := at(&node, "Type")
		var used string
		switch kind.Value {
		case "AWS::Events::Rule":
			targets, _ := at(&node, "Properties", "Targets")
			used = flow(targets)
		case "AWS::Lambda::Permission":
			function, _ := at(&node, "Properties", "FunctionName")
			used = flow(function) + "]"
		}
		for f := range versioned {
			if regexp.MustCompile(`!(GetAtt|Ref) ` + f + `(\.Arn)?[\]},]`).MatchString(used) {
				t.Errorf("%s names %s, want !Ref %s.Alias", id, f, f)
			}
		}
	}
}

// Concurrency can be reserved for each function, by a parameter that reserves none unless it is set: an account that is
// new has none to reserve.
func TestConcurrencyIsReservedByParameters(t *testing.T) {
	m := loadTemplate(t)
	reserved := regexp.MustCompile(`^!If \[Reserves(\w+), !Ref (\w+Concurrency), !Ref AWS::NoValue\]$`)
	functions := 0
	for id, node := range m.Resources {
		if kind, _ := at(&node, "Type"); kind.Value != "AWS::Serverless::Function" {
			continue
		}
		functions++
		n, ok := at(&node, "Properties", "ReservedConcurrentExecutions")
		if !ok {
			t.Errorf("%s has no ReservedConcurrentExecutions by a parameter", id)
			continue
		}
		match := reserved.FindStringSubmatch(flow(n))
		if match == nil {
			t.Errorf("%s reserves %s, want the form %s", id, flow(n), reserved)
			continue
		}
		if p := m.Parameters[match[2]]; p.Default == nil || *p.Default != "0" {
			t.Errorf("%s is reserved by %s, which does not have the default 0", id, match[2])
		}
	}
	if functions < 30 {
		t.Errorf("found %d functions, want at least 30", functions)
	}
	for name, node := range m.Conditions {
		if what, ok := strings.CutPrefix(name, "Reserves"); ok && flow(&node) != "!Not [!Equals [!Ref "+reservedBy(
			what)+", 0]]" {
			t.Errorf("the condition %s is %s", name, flow(&node))
		}
	}
}

// reservedBy returns the parameter of a condition, which drops the plural of the condition's name.
func reservedBy(what string) string { return strings.TrimSuffix(what, "s") + "Concurrency" }
