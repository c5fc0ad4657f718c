package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A test leaves the race detector to another one that reaches the same goroutines.
func TestDirectives(t *testing.T) {
	const code = "package a\n\nimport \"example/each\"\n\nfunc One() { go f() }\n\nfunc Two() { each.Each(f) }\n\n" +
		"func Three() { Two() }\n\nfunc f() {}\n"
	const each = "package each\n\nfunc Each(f func()) { go f() }\n"
	const elsewhere = "package b\n\nfunc TestElsewhere(t *testing.T) { go f() }\n"
	for name, test := range map[string]struct {
		tests string
		// raced are the tests that run under the race detector, wrong is what is said of the directive.
		raced, wrong string
	}{
		"the same": {"TestA One\nTestB One by TestA", "TestA", ""},
		"less":     {"TestA One Three\nTestB Two by TestA", "TestA", ""},
		"two":      {"TestA One Two\nTestB Two by TestA\nTestC One by TestA", "TestA", ""},
		"no other program for few sequential tests": {"TestA One\nTestB f", "TestA TestB", ""},
		"sequential tests beside one that has it":   {"TestA One\nTestB f\nTestC One by TestA", "TestA", ""},
		"more": {"TestA One\nTestB One Three by TestA", "",
			"example/a: TestB is to be raced by TestA, which does not reach the goroutines of example/each.Each"},
		"another goroutine": {"TestA Two\nTestB One by TestA", "",
			"example/a: TestB is to be raced by TestA, which does not reach the goroutines of example/a.One"},
		"its own goroutine": {"TestA One\nTestB One go by TestA", "",
			"example/a: TestB is to be raced by TestA, which does not reach the goroutines of example/a.TestB"},
		"unknown": {"TestB One by TestA", "",
			"example/a: TestB is to be raced by TestA, which is no test of its package that is raced"},
		"not a test": {"TestB One by One", "",
			"example/a: TestB is to be raced by One, which is no test of its package that is raced"},
		"by each other": {"TestA One by TestB\nTestB One by TestA", "",
			"example/a: TestA is to be raced by TestB, which is no test of its package that is raced\n" +
				"example/a: TestB is to be raced by TestA, which is no test of its package that is raced"},
		"sequential": {"TestA One\nTestB f by TestA", "",
			"example/a: TestB is not raced anyway: take the directive //raced:by out"},
		"by a sequential one": {"TestA f\nTestB One by TestA", "",
			"example/a: TestB is to be raced by TestA, which is no test of its package that is raced"},
		"raced elsewhere": {"TestA One\nTestElsewhere One by TestA", "",
			"example/a: TestElsewhere has the name of a test of another package that is raced: " +
				"give it another one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for name, text := range map[string]string{"go.mod": "module example\n", "a/a.go": code,
				"a/a_test.go": testFile(test.tests), "b/b_test.go": elsewhere, "each/each.go": each} {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			packages, err := readPackages(files)
			if err != nil {
				t.Fatal(err)
			}
			markConcurrent(packages)
			wrong := ""
			if err := checkDirectives(packages); err != nil {
				wrong = err.Error()
			}
			if diff := cmp.Diff(test.wrong, wrong); diff != "" {
				t.Fatalf("want (-), got (+):\n%s", diff)
			}
			if raced, _ := packages["example/a"].racedTests(); wrong == "" && strings.Join(raced, " ") != test.raced {
				t.Errorf("raced are %q, want %s", raced, test.raced)
			}
		})
	}
}

// testFile returns a file of tests. Each line of the description has the name of one, what it calls, "go" if it starts
// a goroutine itself, and after "by" the test that its directive names.
func testFile(description string) string {
	var b strings.Builder
	b.WriteString("package a\n")
	for line := range strings.Lines(description) {
		words, by, _ := strings.Cut(strings.TrimSpace(line), " by ")
		name, calls, _ := strings.Cut(words, " ")
		if b.WriteString("\n// It is a test.\n"); by != "" {
			b.WriteString("//\n//raced:by " + by + "\n")
		}
		b.WriteString("func " + name + "(t *testing.T) {\n")
		for call := range strings.FieldsSeq(calls) {
			if call == "go" {
				call = "go f"
			}
			b.WriteString("\t" + call + "()\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}
