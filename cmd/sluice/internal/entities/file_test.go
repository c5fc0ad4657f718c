package entities

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sluice/shared/platform/entity"
)

// entityLines are lines in the usual form, in other forms, and broken ones.
var entityLines = []string{
	`{"id":"c8f7f286-b640-4530-b33e-777161e30a4e","lifecycleStatus":"Compliant"}`,
	`{"id":"a b","lifecycleStatus":""}`,
	`{"id":"a b","status":"Compliant"}`,
	`{"id":"a","status":"Compliant","type":"Company"}`,
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
	if want, err := unmarshalEntity(line); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is %v, the library reads %v, %v", line, got, want, err)
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

// TestParseEntityErrors checks that errors name the field in plain words.
func TestParseEntityErrors(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a"}`:                      "status is missing or empty",
		`{"status":"Compliant"}`:          "id is missing or empty",
		`{"id":7,"status":"Compliant"}`:   "id must be a string, not a number",
		`{"id":"a","status":"compliant"}`: `status "compliant" is not one of ` + entity.StatusNames(),
		`{"id":"a","status":"Compliant","lifecycleStatus":"Compliant"}`: "lifecycleStatus is the former name of " +
			"status: give one of them",
		`{"id":"a","status":"Compliant","type":"Bank"}`: `type "Bank" is not one of Company, Individual, Other, ` +
			`Entity Group`,
		`{"id":"a","status":"Compliant","targetEntity":"x"}`: `targetEntity "x" is not one of Client, Related Party`,
		`{"id":"a","status":"Compliant","name":"x"}`: `there is no field "name"; there are id, status, type, ` +
			"targetEntity, properties",
		`{"id":"a","status":"Compliant","properties":[]}`:           "properties must be an object, not an array",
		`{"id":"a","status":"Compliant","properties":{"n":"ACME"}}`: "properties.n must be an object, not a string",
		`{"id":"a","status":"Compliant","properties":{"n":{"type":"Single","value":1}}}`: "properties.n.value " +
			"must be a string, not a number",
		`{"id":"a","status":"Compliant","properties":{"n":{"type":"Single","values":"1"}}}`: "there is no field " +
			"properties.n.values",
		`{"id":"a","status":"Compliant","properties":{"n":{"type":"x"}}}`: "properties.n.type: The type must " +
			"be one of Single, Collection, Custom.",
		`{"id":"a","id":"b"}`: `the key "id" is given twice`,
		`["a"]`:               "the line must be an object, not an array",
		`null`:                "the line must be an object, not null",
		`{"id":"a"`:           "not JSON from byte 10 on",
	} {
		if _, err := parseEntity([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", line, err, want)
		}
	}
	e, err := parseEntity([]byte(`{"id":"a", "status":"Compliant", "type":"Company", "targetEntity":"Related Party",
		"properties":{"name":{"type":"Single","value":"ACME"}}}`))
	if err != nil || e.ID != "a" || e.Type != "Company" || e.Role != "Related Party" ||
		entity.DisplayName(e.Properties) != "ACME" {
		t.Errorf("got %+v, %v, want the whole entity", e, err)
	}
}
