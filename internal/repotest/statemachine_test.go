package repotest

import (
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Lambda reports the name of an error's type, and Retry and Catch match only that name: one that no type has never
// matches.
func TestStateMachineNamesRealErrors(t *testing.T) {
	for file, folder := range map[string]string{
		"batch": "ingest/pipeline", "delivery": "connect/delivery", "screening": "screening/execution",
		"resolution": "screening/execution",
	} {
		known := append(errorTypes(t, "shared/"+folder), "Runtime.ExitError", "Sandbox.Timedout")
		names := 0
		loadMachine(t, file).states(func(state string, s machineState) {
			for _, entry := range append(s.Retry, s.Catch...) {
				for _, name := range entry.ErrorEquals {
					names++
					isAWS := strings.HasPrefix(name, "States.") || strings.HasPrefix(name, "Lambda.")
					if !isAWS && !slices.Contains(known, name) {
						t.Errorf("%s, %s: ErrorEquals names %s, which no step and no Lambda returns", file, state, name)
					}
				}
			}
		})
		if names == 0 {
			t.Errorf("the state machine %s has no ErrorEquals", file)
		}
	}
}

// errorTypes returns the names of the exported types of the package in a folder that implement error by pointer.
func errorTypes(t *testing.T, folder string) (names []string) {
	t.Helper()
	builtin := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	scope := packageIn(t, folder).Types.Scope()
	for _, name := range scope.Names() {
		o, ok := scope.Lookup(name).(*types.TypeName)
		if ok && o.Exported() && types.Implements(types.NewPointer(o.Type()), builtin) {
			names = append(names, name)
		}
	}
	return names
}
