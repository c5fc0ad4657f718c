package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const examplePolicies = "../sampledata/policies/"

// editFile writes a copy of a file in which texts are replaced, and returns its path.
func editFile(t *testing.T, path string, replace ...string) string {
	t.Helper()
	text := ok(os.ReadFile(path))(t)
	edited := strings.NewReplacer(replace...).Replace(string(text))
	require(t, edited != string(text), "%s has none of %q", path, replace)
	copied := writeFile(t, filepath.Base(path), edited)
	return copied
}

// A policy file becomes a policy, and what is exported is the same file again.
func TestPolicyFiles(t *testing.T) {
	c := beginTenant(t)
	for name, kind := range map[string]string{"company": "Company", "individual": "Individual"} {
		file := examplePolicies + name + ".yaml"
		c.runFor(0, []string{"+ a policy for the type " + kind, "+ field", "Nothing was changed"},
			"policy", "import", file, "--dry-run")
		c.runFor(0, []string{"Version 1 of the policy"}, "policy", "import", file, "--publish")
		c.runFor(0, []string{"Nothing to change: the policy is as the file has it"},
			"policy", "import", file, "--publish")
		exported := filepath.Join(t.TempDir(), "exported.yaml")
		c.run(0, "policy", "export", kind, "-o", exported)
		c.run(0, "policy", "diff", file, exported)
		c.run(0, "policy", "diff", exported, kind+"@1")
		c.runFor(0, []string{"Nothing to change: the policy is as the file has it"}, "policy", "import", exported)
		if out := c.run(0, "policy", "list", kind); strings.Count(out, "\n") != 1 {
			t.Errorf("got the versions\n%s\nwant one", out)
		}
	}

	edited := editFile(t, examplePolicies+"company.yaml", "Enter the stock exchange.", "Name the exchange.",
		"name: LEI", "name: Legal entity identifier",
		"{name: City, dataKey: officeCity", "{name: Town, dataKey: officeCity")
	changes := []string{"~ field lei (Identification)\n    name: \"LEI\" -> \"Legal entity identifier\"\n",
		"~ field stockExchange", "~ field Office/officeCity\n    name: \"City\" -> \"Town\"\n"}
	c.runFor(1, changes, "policy", "diff", "Company@1", edited)
	c.runFor(0, append(changes, "The draft is version 2"), "policy", "import", edited, "--workspace", "spring")
	c.runFor(0, []string{"Version 2 of the data group Office is published", "Version 2 of the policy"},
		"policy", "publish", "Company", "--workspace", "spring")
	c.run(0, "policy", "diff", "Company@2", edited)
	var outcome struct {
		Outcome       string
		VersionNumber int64
		Changes       struct{ Fields []struct{ DataKey string } }
	}
	back := c.run(0, "policy", "import", examplePolicies+"company.yaml", "--publish", "--json")
	if err := json.Unmarshal([]byte(back), &outcome); err != nil || outcome.Outcome != "published" ||
		outcome.VersionNumber != 3 || len(outcome.Changes.Fields) != 3 {
		t.Errorf("got %s (%v), want version 3 with 3 changes, published", back, err)
	}
	c.run(0, "policy", "diff", "Company@1", "Company@3")
	out := c.run(1, "policy", "diff", "Company@1", "Company@2", "--json")
	var comparison struct {
		Fields []struct{ ChangeType, DataKey string }
	}
	if err := json.Unmarshal([]byte(out), &comparison); err != nil || len(comparison.Fields) != 3 {
		t.Errorf("got %s (%v), want 3 fields that have changed", out, err)
	}
}

// What others have changed is refused before anything is sent, and what the service refuses is shown with its line.
func TestPolicyImportRefusals(t *testing.T) {
	c := beginTenant(t)
	file := examplePolicies + "individual.yaml"
	c.run(0, "policy", "import", file, "--publish")
	edited := editFile(t, file, "name: First names", "name: Given names")
	c.run(0, "policy", "import", edited, "--workspace", "one")
	c.runFor(2, []string{"nothing was changed: others have locked firstNames (workspace one)"},
		"policy", "import", edited, "--workspace", "two")
	wrong := editFile(t, file, "    dataKey: firstNames\n",
		"    dataKey: firstNames\n    conditions: [{operands: [{operation: sounds like, fieldName: a}]}]\n")
	c.runFor(2, []string{"has 1 problem", "field firstNames, conditions[0]"}, "policy", "import", wrong)
	long := strings.Repeat("x", 701)
	out := c.runFor(2, nil, "policy", "import", editFile(t, file, "name: Employer", "name: "+long))
	assert(t, regexp.MustCompile(`individual.yaml:61: data group Employment, dataGroupFields`).MatchString(out),
		"got %.2000s, want the line of the data group's field", out)
	out = c.runFor(2, nil, "policy", "import", editFile(t, file, "name: Family name", "name: "+long))
	assert(t, regexp.MustCompile(`individual.yaml:\d+: field familyName, name: `).MatchString(out),
		"got %.2000s, want the line of the field", out)
}

// An import that ends anywhere is continued by the same command.
func TestPolicyImportContinues(t *testing.T) {
	c := beginTenant(t)
	target := ok(url.Parse(environment.APIURL))(t)
	var left atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && left.Add(-1) < 0 {
			w.WriteHeader(http.StatusForbidden) // is not repeated, and changes nothing
			return
		}
		r.Host = target.Host
		_ = http.NewResponseController(w).EnableFullDuplex() // for whole answers; see package lateend
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	file, ends := examplePolicies+"company.yaml", 0
	for n := int64(1); ; n += 6 {
		left.Store(n)
		stdout, stderr, code, err := environment.runSluice(append([]string{"policy", "import", file, "--publish"},
			append(c.connection(), "--api-url", server.URL)...)...)
		must(t, err)
		if code == 0 {
			break
		}
		if ends++; !strings.Contains(stderr, "403") || ends > 30 {
			t.Fatalf("exit code %d after %d calls:\n%s%s", code, n, stdout, stderr)
		}
	}
	assert(t, ends >= 3, "the import ended early %d times, want 3 or more", ends)
	c.run(0, "policy", "diff", file, "Company@1")
	out := c.run(0, "policy", "list")
	assert(t, strings.Count(out, "\n") == 1, "got the policies\n%s\nwant one", out)
}

// A version that is exported is evaluated on this machine as the service does, in all forms.
func TestPolicyEvaluateCommand(t *testing.T) {
	c := beginTenant(t)
	c.run(0, "policy", "import", examplePolicies+"company.yaml", "--publish")
	exported := filepath.Join(t.TempDir(), "company.yaml")
	c.run(0, "policy", "export", "Company", "-o", exported)
	for _, form := range [][]string{
		{"--json"}, {"--json", "--normalized"}, {"--json", "--read-only"}, {"--json", "--explain"}, {},
		{"--json", "--jurisdiction", "Germany"}, {"--json", "--category", "Risk", "--target", "Client"},
		{"--read-only"}, {"--json", "--skip-values", "--filter-layers"},
	} {
		code := 1 // the example has values that are wrong
		if strings.Contains(strings.Join(form, " "), "--read-only") {
			code = 0
		}
		entity := append([]string{"--entity", examplePolicies + "acme.yaml"}, form...)
		here := c.runFor(code, nil, append([]string{"policy", "evaluate", exported}, entity...)...)
		there := c.runFor(code, nil, append([]string{"policy", "evaluate", "--policy", "Company"}, entity...)...)
		// Files do not have the versions of data groups.
		there = strings.ReplaceAll(there, `"dataGroupVersionNumber": 1`, `"dataGroupVersionNumber": 0`)
		there = strings.ReplaceAll(there, `"versionNumber": 1`, `"versionNumber": 0`)
		if diff := cmp.Diff(here, there); diff != "" {
			t.Errorf("%v (-here +there):\n%s", form, diff)
		}
	}
	for _, policy := range [][]string{{exported}, {"--policy", "Company"}} {
		args := append([]string{"policy", "evaluate", "--entity", examplePolicies + "acme.yaml"}, policy...)
		c.runFor(2, []string{`"NOPE"; there are `}, append(args, "--category", "NOPE")...)
	}
}

// The commands of docs/policy.md work as they are.
func TestPolicyGuide(t *testing.T) {
	c := beginTenant(t)
	c.runGuide("docs/policy.md", nil, "version 1 is Published", `["legalName",true,null,["Enter the name."]`,
		`["cashRatio",false,"7.5",[]`, `["exposed"]`, `"distinct":4`, `{"evaluatedFieldRefs":[0,1,2,3]}`, "/normalized")
}
