package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

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

// FuzzCommonEntity: what commonEntity takes, the library takes for the same.
func FuzzCommonEntity(f *testing.F) {
	for _, line := range entityLines {
		f.Add([]byte(line))
	}
	f.Fuzz(sameEntity)
}

func sameEntity(t *testing.T, line []byte) {
	got, ok := commonEntity(line)
	if !ok {
		return
	}
	if want, err := anyEntity(line); err != nil || got != want {
		t.Fatalf("%q is %q, the library says %q, %v", line, got, want, err)
	}
}

// TestCommonEntity splices pieces of lines, so that what makes one special turns up everywhere in others.
func TestCommonEntity(t *testing.T) {
	if _, ok := commonEntity([]byte(entityLines[0])); !ok {
		t.Errorf("%s is read by the library", entityLines[0])
	}
	rng := rand.New(rand.NewPCG(1, 2))
	piece := func() []byte {
		line := []byte(entityLines[rng.IntN(len(entityLines))])
		from := rng.IntN(len(line) + 1)
		return line[from : from+rng.IntN(len(line)-from+1)]
	}
	taken := 0
	for range 200_000 {
		line := []byte(entityLines[rng.IntN(len(entityLines))])
		from := rng.IntN(len(line) + 1)
		line = slices.Replace(line, from, from+rng.IntN(min(3, len(line)-from+1)), bytes.Clone(piece())...)
		if _, ok := commonEntity(line); ok {
			taken++
		}
		sameEntity(t, line)
	}
	if taken < 1000 {
		t.Errorf("only %d lines were taken", taken)
	}
}
