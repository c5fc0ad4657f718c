package house

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi"
)

// The template and the interface description name the same operations, except for greedy paths, which are no operation but the
// answer to all that is none. Who may call is in both what the functions check.
func TestTheDescriptionHasTheRoutesOfTheTemplate(t *testing.T) {
	d, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]openapi.Operation{}
	for _, o := range d.Operations {
		described[o.String()] = o
	}
	want, got := map[string]bool{}, map[string]bool{}
	declared, _ := functionsOf(t)
	for _, f := range declared {
		for _, event := range f.Properties.Events {
			if p := event.Properties; event.Type == "Api" && !strings.Contains(p.Path, "+}") {
				want[strings.ToUpper(p.Method)+" "+p.Path] = p.Auth.Authorizer == "NONE"
			}
		}
	}
	for name, o := range described {
		got[name] = o.Public
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("template (-), description (+): %s", diff)
	}
	for _, routes := range served() {
		for _, r := range routes {
			o := described[r.Method+" "+r.Path]
			if !slices.Equal(slices.Sorted(slices.Values(r.Permissions)), slices.Sorted(slices.Values(o.Permissions))) {
				t.Errorf("%s wants one of %v; described are %v", o, r.Permissions, o.Permissions)
			}
		}
	}
}
