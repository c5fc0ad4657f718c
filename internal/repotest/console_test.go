package repotest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// consoleRoute matches the address of a page in console/web/routes.ts.
var consoleRoute = regexp.MustCompile(`pattern: "([^"]+)"`)

// preparedPages are the addresses of pages that show nothing to a tenant as such: tests of their own open them.
var preparedPages = []string{"/operator"}

// Every page of the console that needs nothing to exist is opened, and checked for accessibility, by the browser tests.
func TestPagesOfTheConsoleAreOpened(t *testing.T) {
	routes := consoleRoute.FindAllStringSubmatch(string(readFile(t, "console/web/routes.ts")), -1)
	if len(routes) < 10 {
		t.Fatalf("found %d routes in console/web/routes.ts, want 10 or more", len(routes))
	}
	const shell = "console/browsertest/shell_test.go"
	tests := string(readFile(t, shell))
	for _, route := range routes {
		path := route[1]
		if strings.Contains(path, ":") || slices.Contains(preparedPages, path) {
			continue
		}
		if !strings.Contains(tests, `{"`+path+`", "`) {
			t.Errorf("%s does not open %s: add it, with its heading, to the table pages", shell, path)
		}
	}
}
