package repotest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

var (
	versionReference = regexp.MustCompile(`^!Ref (\w+Function)\.Version$`)
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
		for i := 1; i < len(substitutions.Content); i += 2 {
			text := textAt(substitutions.Content[i])
			if text == "!Ref AWS::Partition" {
				continue
			}
			to := versionReference.FindStringSubmatch(text)
			if to == nil {
				t.Errorf("%s has the substitution %s, want a version: !Ref XFunction.Version", id, text)
				continue
			}
			out[to[1]] = true
			want := "!Sub ${" + to[1] + ".Arn}:*"
			if !strings.Contains(textAt(&node, "Properties", "Policies"), want) {
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
	shared := textAt(m.root, "Globals", "Function", "Environment", "Variables")
	for id := range versionedFunctions(t, m) {
		node := m.Resources[id]
		alias := textAt(&node, "Properties", "AutoPublishAlias")
		if alias != "live" || textAt(&node, "UpdateReplacePolicy") != "Retain" {
			t.Errorf("%s does not have the UpdateReplacePolicy Retain and the AutoPublishAlias live", id)
		}
		want := []string{"${Arch}"}
		for form, path := range map[string][]string{"%s s": {"Timeout"}, "%s MB": {"EphemeralStorage", "Size"}} {
			if text := textAt(&node, append([]string{"Properties"}, path...)...); text != "" {
				want = append(want, fmt.Sprintf(form, text))
			}
		}
		variables := textAt(&node, "Properties", "Environment", "Variables")
		for _, mention := range parameterMention.FindAllStringSubmatch(shared+variables, -1) {
			name := mention[1] + mention[2]
			if _, isParameter := m.Parameters[name]; isParameter && !slices.Contains(unneeded, name) {
				want = append(want, "${"+name+"}")
			}
		}
		description := textAt(&node, "Properties", "VersionDescription")
		for _, w := range want {
			if !strings.Contains(description, w) {
				t.Errorf("the VersionDescription of %s is %q and does not have %s: a change of it would not reach the "+
					"function", id, description, w)
			}
		}
	}
}

// Concurrency can be reserved for each function, by a parameter that reserves none unless it is set: an account that is
// new has none to reserve. ReservedConcurrency reserves some for the functions that all others need.
func TestConcurrencyIsReservedByParameters(t *testing.T) {
	m := loadTemplate(t)
	form := regexp.MustCompile(`^!If \[Reserves(\w+?)s?, !Ref (\w+)Concurrency, (!Ref AWS::NoValue|` +
		`!If \[ReservesByItself, \d+, !Ref AWS::NoValue\])\]$`)
	functions, byItself := 0, []string{}
	for id, node := range m.Resources {
		if textAt(&node, "Type") != "AWS::Serverless::Function" {
			continue
		}
		functions++
		text := textAt(&node, "Properties", "ReservedConcurrentExecutions")
		match := form.FindStringSubmatch(text)
		if match == nil || match[1] != match[2] {
			t.Errorf("%s reserves %q, want the form %s", id, text, form)
			continue
		}
		if match[3] != "!Ref AWS::NoValue" {
			byItself = append(byItself, match[1])
		}
		if p := m.Parameters[match[2]+"Concurrency"]; p.Default == nil || *p.Default != "0" {
			t.Errorf("%s is reserved by %sConcurrency, which does not have the default 0", id, match[2])
		}
	}
	slices.Sort(byItself)
	difftest.Equal(t, "by itself, concurrency is reserved for", []string{"Authorizer", "Close", "Token"}, byItself)
	if functions < 30 {
		t.Errorf("found %d functions, want at least 30", functions)
	}
	for name, node := range m.Conditions {
		what, ok := strings.CutPrefix(name, "Reserves")
		want := "!Not [!Equals [!Ref " + strings.TrimSuffix(what, "s") + "Concurrency, 0]]"
		if ok && what != "ByItself" && textAt(&node) != want {
			t.Errorf("the condition %s is %s, want %s", name, textAt(&node), want)
		}
	}
}
