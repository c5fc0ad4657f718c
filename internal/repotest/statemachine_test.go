package repotest

import (
	"encoding/json"
	"go/types"
	"slices"
	"strings"
	"testing"

	"sluice/shared/kit/errtest"
)

// Lambda reports the name of an error's type, and Retry and Catch match only that name: one that no type has never
// matches.
func TestStateMachineNamesRealErrors(t *testing.T) {
	for file, folder := range map[string]string{
		"batch": "ingest/pipeline", "delivery": "connect/delivery", "screening": "screening/execution",
		"resolution": "screening/execution",
	} {
		t.Run(file, func(t *testing.T) { checkErrorNames(t, file, folder) })
	}
}

// checkErrorNames checks a state machine, of which the types of errors are in a folder of shared.
func checkErrorNames(t *testing.T, file, folder string) {
	var definition any
	errtest.Fatal(t, json.Unmarshal(readFile(t, "statemachine/"+file+".asl.json"), &definition))
	known := append(errorTypes(t, modulePath+"/shared/"+folder), "Runtime.ExitError", "Sandbox.Timedout")
	names := 0
	visitMembers(definition, func(key string, value any) {
		if key != "ErrorEquals" {
			return
		}
		for _, name := range value.([]any) {
			names++
			name := name.(string)
			isAWS := strings.HasPrefix(name, "States.") || strings.HasPrefix(name, "Lambda.")
			if !isAWS && !slices.Contains(known, name) {
				t.Errorf("ErrorEquals names %s, which is not an error that a step or Lambda returns", name)
			}
		}
	})
	if names == 0 {
		t.Error("the state machine has no ErrorEquals")
	}
}

// errorTypes returns the names of a package's exported types that implement error by pointer.
func errorTypes(t *testing.T, path string) []string {
	t.Helper()
	builtin := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	var names []string
	for _, p := range modulePackages(t) {
		if p.PkgPath != path {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			o, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if ok && o.Exported() && types.Implements(types.NewPointer(o.Type()), builtin) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s has no exported error types", path)
	}
	return names
}

// visitMembers calls visit for each member of each object in a decoded JSON value.
func visitMembers(v any, visit func(key string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			visit(key, value)
			visitMembers(value, visit)
		}
	case []any:
		for _, value := range v {
			visitMembers(value, visit)
		}
	}
}
