package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// entityLines are lines in the usual form, in other forms, and broken ones.
var entityLines = []string{
	`{"id":"c8f7f286-b640-4530-b33e-777161e30a4e","lifecycleStatus":"Compliant"}`,
	`{"id":"a b","lifecycleStatus":""}`,
	`{"id":"","lifecycleStatus":"Unknown"}`,
	`{"id":"J\u00fcrgen","lifecycleStatus":"Unknown"}`,
	`{"id":"Jürgen","lifecycleStatus":"Unknown"}`,
	"{\"id\":\"J\xFCrgen\",\"lifecycleStatus\":\"Unknown\"}",
	"{\"id\":\"a\tb\",\"lifecycleStatus\":\"Unknown\"}",
	"{\"id\":\"a\x7Fb\",\"lifecycleStatus\":\"Unknown\"}",
	`{"id":"a","lifecycleStatus":"Unknown","lifecycleStatus":"Unknown"}`,
	`{"id":"a","id":"b","lifecycleStatus":"Unknown"}`,
	`{"id":"a","lifecycleStatus":"Unknown","more":"x"}`,
	`{"id":"a\","lifecycleStatus":"Unknown"}`,
	`{"id":"a","lifecycleStatus":"Unknown\"}`,
	`{"id":"a","lifecycleStatus":"Unknown"}}`,
	`{"id":"a","lifecycleStatus":"Unknown"}"}`,
	`{"id":"a","lifecycleStatus":"Unknown"} `,
	`{"lifecycleStatus":"Unknown","id":"a"}`,
	`{"id":"a","lifecycleStatus":null}`,
	`{"id":"a","lifecycleStatus":"}`,
	`{"id":"a"}`,
	`{"id":"`,
	``,
}

// FuzzParsePlainEntity checks that the JSON library reads every line that parsePlainEntity reads, and reads the same.
func FuzzParsePlainEntity(f *testing.F) {
	for _, line := range entityLines {
		f.Add([]byte(line))
	}
	f.Fuzz(comparePlainWithLibrary)
}

func comparePlainWithLibrary(t *testing.T, line []byte) {
	got, ok := parsePlainEntity(line)
	if !ok {
		return
	}
	if want, err := unmarshalEntity(line); err != nil || got != want {
		t.Fatalf("%q is %q, the library reads %q, %v", line, got, want, err)
	}
}

// TestParsePlainEntity splices pieces of lines, so that what makes one special occurs everywhere in others.
func TestParsePlainEntity(t *testing.T) {
	if _, ok := parsePlainEntity([]byte(entityLines[0])); !ok {
		t.Errorf("%s is left to the library, want it read", entityLines[0])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	piece := func() []byte {
		line := []byte(entityLines[rng.IntN(len(entityLines))])
		start := rng.IntN(len(line) + 1)
		return line[start : start+rng.IntN(len(line)-start+1)]
	}
	read := 0
	for range 200_000 {
		line := []byte(entityLines[rng.IntN(len(entityLines))])
		start := rng.IntN(len(line) + 1)
		line = slices.Replace(line, start, start+rng.IntN(min(3, len(line)-start+1)), bytes.Clone(piece())...)
		if _, ok := parsePlainEntity(line); ok {
			read++
		}
		comparePlainWithLibrary(t, line)
	}
	if read < 1000 {
		t.Errorf("only %d lines were read without the library, want at least 1000", read)
	}
}
