package repotest

import (
	"path/filepath"
	"strings"
	"testing"
)

// domainImports are the domain packages and the one module that each may import beside the standard library and the
// domain.
var domainImports = map[string]string{
	"shared/fault":                           "",
	"shared/batch":                           "github.com/google/uuid",
	"shared/chunk":                           "",
	"shared/transaction":                     "",
	"shared/transaction/schema":              "",
	"shared/transaction/scanner":             "",
	"shared/transaction/scanner/genfastpath": "",
	"shared/transaction/swar":                "",
	"shared/duplicate":                       "github.com/dchest/siphash",
	"shared/report":                          "",
	"shared/validation":                      "golang.org/x/sync",
	"shared/entity":                          "",
	"shared/access":                          "",
	"shared/document":                        "",
	"shared/property":                        "github.com/google/uuid",
}

// adapters import the domain and their own SDK, never each other.
var adapters = []string{"shared/dynamo", "shared/objects", "shared/auth", "shared/malware"}

func TestImports(t *testing.T) {
	for _, p := range modulePackages(t) {
		for path := range p.Imports {
			if reason := forbiddenImport(folderOf(p), path); reason != "" {
				t.Errorf("%s imports %s: %s", folderOf(p), path, reason)
			}
		}
	}
}

// forbiddenImport returns why the package in a folder may not import a path, "" if it may.
func forbiddenImport(folder, path string) string {
	imported, isOurs := strings.CutPrefix(path, modulePath+"/")
	extra, isDomain := domainImports[folder]
	_, importsDomain := domainImports[imported]
	switch {
	case isOurs && strings.HasPrefix(imported, "functions/"):
		return "nothing imports a function"
	case strings.HasPrefix(folder, "shared/") && isOurs && !strings.HasPrefix(imported, "shared/"):
		return "shared imports nothing but shared"
	case isDomain && isOurs && !importsDomain:
		return "a domain package imports only the domain"
	case isDomain && !isOurs && strings.Contains(path, ".") && (extra == "" || !strings.HasPrefix(path, extra)):
		return "a domain package imports only the standard library"
	case imported == "openapi" && !strings.HasPrefix(folder, "openapi/") && folder != "e2e":
		return "the interface description is for tests and the reference"
	case strings.Contains(path, "lestrrat-go/jwx") && !strings.HasPrefix(folder, "shared/auth"):
		return "only auth knows jwx"
	}
	own, other := adapterOf(folder), adapterOf(imported)
	if isOurs && own != "" && other != "" && own != other && imported != "shared/auth" && imported != "shared/dynamo" {
		return "an adapter does not import another adapter"
	}
	return ""
}

// adapterOf returns the adapter that a folder belongs to, "" if it belongs to none.
func adapterOf(folder string) string {
	for _, a := range adapters {
		if folder == a || strings.HasPrefix(folder, a+"/") {
			return a
		}
	}
	return ""
}

func TestMainsAreShort(t *testing.T) {
	const limit = 40
	mains, err := filepath.Glob("functions/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("found %d mains of functions: %v", len(mains), err)
	}
	for _, path := range mains {
		if n := strings.Count(string(readFile(t, path)), "\n"); n >= limit {
			t.Errorf("%s has %d lines, want fewer than %d", path, n, limit)
		}
	}
}
