package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestConcurrentTests(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod":        "module example\n\ngo 1.26\n",
		"nested/go.mod": "// Another module.\nmodule example/nested\n",

		"sequential/a.go":      "package sequential\n\nvar mu sync.Mutex\n",
		"sequential/a_test.go": "package sequential\n\nfunc TestA(t *testing.T) { mu.Lock() }\n",

		// Three ways to start goroutines, in the code and in a test; what is reached by a variable, a method, an
		// external test, an example or a fuzz test.
		"statement/a.go": "package statement\n\nfunc F() { go f() }\n\nfunc G() {}\n\nvar all = []func(){F}\n\n" +
			"func (s S) Each() { F() }\n",
		"statement/a_test.go": "package statement\n\nfunc TestF(t *testing.T) { F() }\n\n" +
			"func TestG(t *testing.T) { G() }\n\nfunc TestAll(t *testing.T) { all[0]() }\n",
		"statement/b_test.go": "package statement_test\n\nimport \"example/statement\"\n\n" +
			"func ExampleF() { statement.F() }\n\nfunc FuzzEach(f *testing.F) { s.Each() }\n\n" +
			"func TestMain(m *testing.M) { statement.F() }\n",
		"group/a_test.go": "package group\n\nfunc run() { g.Go(f) }\n\nfunc TestRun(t *testing.T) { run() }\n\n" +
			"func TestServer(t *testing.T) { httptest.NewServer(nil) }\n\nfunc TestNothing(t *testing.T) {}\n",

		// A package that runs what its callers give it, and one that only starts something of its own.
		"helper/a.go": "package helper\n\nimport \"testing\"\n\n" +
			"func Conform(t *testing.T, s Store) { go s.Put() }\n\nfunc Start(t *testing.T) { go f() }\n",
		"each/a.go":   "package each\n\nfunc Each(f func()) { inner(f) }\n\nfunc inner(f func()) { go f() }\n",
		"server/a.go": "package server\n\nfunc Start() { go f() }\n",
		"helped/a.go": "package helped\n\nimport \"example/each\"\n\nfunc F() { each.Each(f) }\n",
		"helped/a_test.go": "package helped\n\nimport (\n\"example/helper\"\n\"example/server\"\n)\n\n" +
			"func TestConform(t *testing.T) { helper.Conform(t, s) }\n\n" +
			"func TestStart(t *testing.T) { helper.Start(t) }\n\n" +
			"func TestServer(t *testing.T) { server.Start() }\n\nfunc TestF(t *testing.T) { F() }\n",
		"nested/in/a_test.go":  "package in\n\nfunc TestGo(t *testing.T) { go f() }\n",
		"testdata/x/a_test.go": "package x\n\nfunc TestGo(t *testing.T) { go f() }\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	packages, err := readPackages(files)
	if err != nil {
		t.Fatal(err)
	}
	markConcurrent(packages)
	type tests struct{ Concurrent, Sequential []string }
	got := map[string]tests{}
	for name, p := range packages {
		if concurrent, sequential := p.tests(); len(concurrent)+len(sequential) > 0 {
			got[name] = tests{concurrent, sequential}
		}
	}
	want := map[string]tests{
		"example/sequential": {nil, []string{"TestA"}},
		"example/statement":  {[]string{"ExampleF", "FuzzEach", "TestAll", "TestF"}, []string{"TestG"}},
		"example/group":      {[]string{"TestRun", "TestServer"}, []string{"TestNothing"}},
		"example/helped":     {[]string{"TestConform", "TestF"}, []string{"TestServer", "TestStart"}},
		"example/nested/in":  {[]string{"TestGo"}, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// A few sequential tests run with the concurrent ones of their package.
func TestFewTests(t *testing.T) {
	for _, test := range []struct{ concurrent, sequential, want int }{
		{0, 0, 0}, {0, 9, 0}, {1, 0, 1}, {1, fewTests - 1, fewTests}, {1, fewTests, 1}, {3, fewTests + 1, 3},
	} {
		p := &goPackage{functions: map[string]*function{"helper": {isConcurrent: true}}}
		for i := range test.concurrent + test.sequential {
			p.functions[fmt.Sprint("Test", i)] = &function{isTest: true, isConcurrent: i < test.concurrent}
		}
		raced, others := p.racedTests()
		if len(raced) != test.want || len(others) != test.concurrent+test.sequential-test.want {
			t.Errorf("%+v: raced are %q, the others %q", test, raced, others)
		}
		if got, want := pattern(map[string]*goPackage{"p": p}), "^("+strings.Join(raced, "|")+")$"; got != want {
			t.Errorf("%+v: the pattern is %s, want %s", test, got, want)
		}
	}
}

// The tests that the rule was made for: some that the race detector must watch and some that it only slows down.
func TestConcurrentTestsOfThisRepository(t *testing.T) {
	t.Chdir("../..")
	packages, err := readPackages(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	markConcurrent(packages)
	raced, err := regexp.Compile(pattern(packages))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]map[string]bool{
		"sluice/shared/ingest/validation": {"TestAgainstOracle": true},
		"sluice/shared/ingest/batch/batchdb": {
			"TestConformanceOfSuccessiveCalls": false, "TestConformanceOfConcurrentCalls": true},
		"sluice/shared/access/idempotency/idempotencydb": {"TestConformance": true},
		"sluice/shared/ingest/transaction/scanner":       {"TestNoAllocations": false},
		"sluice/shared/ingest/intake":                    {"TestEveryOrderOfEvents": false},
	} {
		for test, isConcurrent := range want {
			if f := packages[name].functions[test]; f == nil || !f.isTest || f.isConcurrent != isConcurrent {
				t.Errorf("%s, %s: got %+v, want a test that is concurrent: %v", name, test, f, isConcurrent)
			}
			if raced.MatchString(test) != isConcurrent {
				t.Errorf("%s: the pattern matches it: %v; a test of another package may have its name", test,
					!isConcurrent)
			}
		}
	}
	if names := slices.Collect(maps.Keys(packages)); len(names) < 100 {
		t.Errorf("only %d packages were read: %v", len(names), names)
	}
}
