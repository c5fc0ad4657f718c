// Package house holds the tests of what no package can test alone: the import rules, and that the template, the state
// machine, the sample events and the Go types say the same.
package house

import (
	"encoding/json"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const module = "sluice/"

// domain packages know the standard library, each other, and what is named here.
var domain = map[string]string{
	"shared/fault":       "",
	"shared/batch":       "github.com/google/uuid",
	"shared/chunk":       "",
	"shared/transaction": "",
	"shared/duplicate":   "github.com/dchest/siphash",
	"shared/report":      "",
	"shared/validation":  "golang.org/x/sync",
	"shared/entity":      "",
	"shared/access":      "",
	"shared/document":    "",
	"shared/property":    "github.com/google/uuid",
}

// adapters know the domain and their own SDK, never each other.
var adapters = []string{"shared/dynamo", "shared/objects", "shared/auth", "shared/malware"}

func TestImports(t *testing.T) {
	for _, dir := range packages(t) {
		pkg, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pkg.Imports {
			if why := forbidden(dir, path); why != "" {
				t.Errorf("%s imports %s: %s", dir, path, why)
			}
		}
	}
}

func forbidden(dir, path string) string {
	own, inside := strings.CutPrefix(path, module)
	extra, isDomain := domain[dir]
	_, ownIsDomain := domain[own]
	switch {
	case inside && strings.HasPrefix(own, "functions/"):
		return "nothing imports a function"
	case strings.HasPrefix(dir, "shared/") && inside && !strings.HasPrefix(own, "shared/"):
		return "shared imports nothing but shared"
	case isDomain && inside && !ownIsDomain:
		return "a domain package imports only the domain"
	case isDomain && !inside && strings.Contains(path, ".") && (extra == "" || !strings.HasPrefix(path, extra)):
		return "a domain package imports only the standard library"
	case own == "openapi":
		return "the interface description is for tests and the reference"
	case strings.Contains(path, "lestrrat-go/jwx") && !strings.HasPrefix(dir, "shared/auth"):
		return "only auth knows jwx"
	}
	if inside && isAdapter(dir) && isAdapter(own) && family(dir) != family(own) && own != "shared/auth" {
		return "an adapter knows no other adapter"
	}
	return ""
}

func isAdapter(dir string) bool { return family(dir) != "" }

func family(dir string) string {
	for _, a := range adapters {
		if dir == a || strings.HasPrefix(dir, a+"/") {
			return a
		}
	}
	return ""
}

// packages returns the folders of the product's module that hold Go code.
func packages(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, root := range []string{"shared", "functions", "cmd", "client", "internal", "sampledata"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if goFiles, _ := filepath.Glob(filepath.Join(path, "*.go")); len(goFiles) > 0 {
				dirs = append(dirs, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return dirs
}

func TestMainsAreShort(t *testing.T) {
	mains, err := filepath.Glob("functions/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("no mains: %v", err)
	}
	for _, path := range mains {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n >= 40 {
			t.Errorf("%s has %d lines", path, n)
		}
	}
}

// Lambda reports the name of an error's type, and that is all that Retry and Catch can match: a name that no type has would
// never match.
func TestStateMachineNamesRealErrors(t *testing.T) {
	text, err := os.ReadFile("statemachine/batch.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("shared/pipeline/step.go")
	if err != nil {
		t.Fatal(err)
	}
	ours := map[string]bool{}
	for _, m := range regexp.MustCompile(`func \(e \*(\w+)\) Error\(\)`).FindAllSubmatch(source, -1) {
		ours[string(m[1])] = true
	}
	if !ours["Transient"] {
		t.Fatal("step.go declares no Transient")
	}
	var definition any
	if err := json.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	found := 0
	walk(definition, func(key string, value any) {
		if key != "ErrorEquals" {
			return
		}
		for _, name := range value.([]any) {
			found++
			n := name.(string)
			if !ours[n] && !strings.HasPrefix(n, "States.") && !strings.HasPrefix(n, "Lambda.") &&
				n != "Runtime.ExitError" && n != "Sandbox.Timedout" {
				t.Errorf("ErrorEquals names %s, which no step returns", n)
			}
		}
	})
	if found == 0 {
		t.Error("no ErrorEquals found")
	}
}

func walk(v any, visit func(key string, value any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			visit(key, value)
			walk(value, visit)
		}
	case []any:
		for _, value := range v {
			walk(value, visit)
		}
	}
}
