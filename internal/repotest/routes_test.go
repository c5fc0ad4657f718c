package repotest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/openapi"
	"sluice/shared/access/permission"
	"sluice/shared/kit/errtest"
)

// The tables of the functions and the interface description name the same operations, and agree about which of them are
// open to everybody.
func TestTheDescriptionHasTheRoutes(t *testing.T) {
	want, got := map[string]bool{}, map[string]bool{}
	for _, routes := range servedRoutes() {
		for _, r := range routes {
			want[r.Method+" "+r.Path] = r.Public
		}
	}
	for name, o := range describedOperations(t) {
		got[name] = o.Public
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes of the functions (-) and of the description (+):\n%s", diff)
	}
}

// The interface description names the permissions that the functions check.
func TestTheDescriptionHasThePermissionsOfTheRoutes(t *testing.T) {
	described := describedOperations(t)
	for _, routes := range servedRoutes() {
		for _, r := range routes {
			var want [][]string
			for _, name := range r.Permissions {
				if r.Beside != "" {
					want = append(want, []string{r.Beside, name})
				} else {
					want = append(want, []string{name})
				}
			}
			got := slices.Clone(described[r.Method+" "+r.Path].Permissions)
			slices.SortFunc(want, slices.Compare)
			slices.SortFunc(got, slices.Compare)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: permissions (-) and those of the description (+):\n%s", r.Method, r.Path, diff)
			}
		}
	}
}

// Every permission that a route asks for can be granted to a client.
func TestPermissionsOfTheRoutesExist(t *testing.T) {
	for function, routes := range servedRoutes() {
		for _, r := range routes {
			for _, name := range slices.Concat(r.Permissions, strings.Fields(r.Beside)) {
				if !permission.Exists(name) {
					t.Errorf("%s: %s %s asks for %q, which package permission does not list", function, r.Method,
						r.Path, name)
				}
			}
		}
	}
}

func describedOperations(t *testing.T) map[string]openapi.Operation {
	t.Helper()
	d := errtest.Must(openapi.Load())(t)
	out := map[string]openapi.Operation{}
	for _, o := range d.Operations {
		out[o.String()] = o
	}
	return out
}
