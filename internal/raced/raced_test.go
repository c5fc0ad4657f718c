package main

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestRacedPackages(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod":        "module example\n\ngo 1.26\n",
		"nested/go.mod": "// Another module.\nmodule example/nested\n",

		"sequential/a.go":      "package sequential\n\nvar mu sync.Mutex\n",
		"sequential/a_test.go": "package sequential\n",

		"statement/a.go":      "package statement\n\nfunc f() { go f() }\n",
		"statement/a_test.go": "package statement\n",

		"group/a.go":      "package group\n\nfunc f() { g.Go(f) }\n",
		"group/a_test.go": "package group\n",

		"server/a.go":      "package server\n",
		"server/a_test.go": "package server\n\nvar s = httptest.NewServer(nil)\n",

		"untested/a.go": "package untested\n\nfunc f() { go f() }\n",

		"helper/a.go": "package helper\n\nimport \"testing\"\n\nfunc Run(t *testing.T) { go Run(t) }\n",
		// What does not test, such as the start of a server, does not count for those that import it.
		"launcher/a.go":        "package launcher\n\nfunc f() { go f() }\n",
		"helped/a.go":          "package helped\n",
		"helped/a_test.go":     "package helped\n\nimport \"example/helper\"\n",
		"launches/a.go":        "package launches\n",
		"launches/a_test.go":   "package launches\n\nimport \"example/launcher\"\n",
		"nested/in/a_test.go":  "package in\n\nimport \"example/helper\"\n",
		"testdata/x/a_test.go": "package x\n\nfunc f() { go f() }\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	packages, err := readPackages(files)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"example/group", "example/helped", "example/server", "example/statement"}
	if diff := cmp.Diff(want, racedPackages(packages, "example")); diff != "" {
		t.Errorf("example: want (-), got (+):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"example/nested/in"}, racedPackages(packages, "example/nested")); diff != "" {
		t.Errorf("example/nested: want (-), got (+):\n%s", diff)
	}
}

// The packages that the rule was made for: one that the race detector must watch and one that it only slows down.
func TestRacedPackagesOfThisRepository(t *testing.T) {
	t.Chdir("../..")
	packages, err := readPackages(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	raced := racedPackages(packages, "sluice")
	for name, want := range map[string]bool{
		"sluice/shared/validation":          true,
		"sluice/shared/batch/batchdb":       true,
		"sluice/shared/transaction/scanner": false,
	} {
		if got := slices.Contains(raced, name); got != want {
			t.Errorf("%s is raced: %v, want %v", name, got, want)
		}
	}
}
