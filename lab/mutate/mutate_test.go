package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `package p

import "x"

func (s *Store) Put() error {
	in := &Input{ConditionExpression: aws.String("a"), KeyConditionExpression: key}
	if again {
		in.ConditionExpression = other()
	}
	for range maxAttempts {
	}
	for range 3 {
	}
	for range items {
	}
	o.MaxAttempts = 5
	s.table.Update(key, "SET a = :a", "c", nil)
	s.table.Put(item, "", nil)
	return retry(ctx, func() (bool, error) {
		if ok {
			return false, nil
		}
		return isThrottled(err), err
	})
}

func load() { retry(ctx, func() (Thing, error) { return Thing{}, nil }) }
`

func TestPlantGo(t *testing.T) {
	text, mutants, err := plantGo("a/p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range mutants {
		names = append(names, m.name)
		if m.dir != "a" {
			t.Errorf("%s is in %q, want a", m.name, m.dir)
		}
	}
	want := []string{"a/p.go Put condition 1", "a/p.go Put condition 2", "a/p.go Put attempts 1",
		"a/p.go Put attempts 2", "a/p.go Put attempts 3", "a/p.go Put condition 3", "a/p.go Put repetition 1"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
	for _, want := range []string{
		`import mutantactive "sluice/internal/mutantactive"`,
		`ConditionExpression: mutantactive.Condition("a/p.go Put condition 1", aws.String("a")), Key`,
		`in.ConditionExpression = mutantactive.Condition("a/p.go Put condition 2", other())`,
		`s.table.Update(key, "SET a = :a", mutantactive.Expression("a/p.go Put condition 3", "c"), nil)`,
		`s.table.Put(item, "", nil)`,
		`for range mutantactive.Count("a/p.go Put attempts 1", maxAttempts) {`,
		`return mutantactive.Repeats("a/p.go Put repetition 1", isThrottled(err)), err`,
		`return false, nil`, `return Thing{}, nil`, `for range items {`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the planted text lacks %s:\n%s", want, text)
		}
	}
	if text, mutants, err := plantGo("a/q.go", []byte("package p\n")); text != nil || mutants != nil || err != nil {
		t.Errorf("a file without places: %q, %v, %v", text, mutants, err)
	}
}

func TestPlantMachine(t *testing.T) {
	mutants, err := plantMachine("m.json",
		[]byte(`{"States": {"A": {"Retry": [{"ErrorEquals": ["X"]}, {"ErrorEquals": ["Y", "Z"]}]},
		"M": {"ItemProcessor": {"States": {"B": {"Retry": [{"ErrorEquals": ["X"]}]}}}},
		"P": {"Branches": [{"States": {"C": {"Retry": [{"ErrorEquals": ["Z"]}]}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, fmt.Sprint(m.name, " leaves ", strings.Count(string(m.text), "ErrorEquals")))
	}
	want := []string{"m.json A retry of X leaves 3", "m.json A retry of Y leaves 3", "m.json B retry of X leaves 3",
		"m.json C retry of Z leaves 3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mutants (-want +got):\n%s", diff)
	}
}

func TestSurvivors(t *testing.T) {
	reasons, err := parseSurvivors("# a comment\n\nm 1\tharmless\n")
	if err != nil || len(reasons) != 1 || reasons["m 1"] != "harmless" {
		t.Fatalf("got %v, %v, want one reason", reasons, err)
	}
	if err := checkSurvivors(reasons, []mutant{{name: "m 1"}}); err != nil {
		t.Errorf("a survivor that is a mutant: %v", err)
	}
	if err := checkSurvivors(reasons, nil); err == nil {
		t.Error("a survivor that is no mutant: got no error")
	}
	for _, text := range []string{"m 1\n", "m 1\t \n", "m 1\ta\nm 1\tb\n"} {
		if _, err := parseSurvivors(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

// The listed survivors are mutants of this repository, and no two mutants have the same name.
func TestSurvivorsOfTheRepository(t *testing.T) {
	reasons, err := parseSurvivors(survivorsText)
	if err != nil {
		t.Fatal(err)
	}
	all, err := findMutants("../..", func(string, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSurvivors(reasons, all); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.name] {
			t.Errorf("two mutants are called %s", m.name)
		}
		seen[m.name] = true
	}
	if len(all) < 100 {
		t.Errorf("%d mutants, want more: what are the conditions of writes called?", len(all))
	}
}
