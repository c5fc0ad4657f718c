package policyfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/cmd/sluice/internal/policyfile"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
)

func text(s string) property.Text { return property.Text{Value: &s} }

// An entity means the same in each form of its properties.
func TestParseEntity(t *testing.T) {
	want := property.Split{
		SingleProperties: map[string]property.Text{"name": text("Acme"), "countries": text(`["GB","LU"]`), "none": {}},
		CollectionProperties: map[string]property.SplitCollection{"owners": {Items: map[string]property.SplitItem{
			"1": {Properties: map[string]property.Text{"share": text("12.50")}},
			"2": {Properties: map[string]property.Text{"share": text("1e3")}},
		}}},
		CustomProperties: map[string]property.Split{"contact": {
			SingleProperties:     map[string]property.Text{"isNew": text("true")},
			CustomProperties:     map[string]property.Split{},
			CollectionProperties: map[string]property.SplitCollection{},
		}},
	}
	type collections map[string]property.SplitCollection
	withoutEmpty := cmp.Transformer("withoutEmpty", func(m map[string]property.SplitCollection) collections {
		if len(m) == 0 {
			return nil
		}
		return m
	})
	for name, source := range map[string]string{
		"plain": `
properties:
  name: Acme
  countries: [GB, LU]
  none:
  owners: [{share: 12.50}, {share: 1e3}]
  contact: {isNew: true}
`,
		"by kinds": `{"properties": {
			"name": {"type": "Single", "value": "Acme"},
			"none": {"type": "Single"},
			"countries": {"type": "Single", "value": "[\"GB\",\"LU\"]"},
			"owners": {"type": "Collection", "collections": {
				"1": {"properties": {"share": "12.50"}}, "2": {"properties": {"share": "1e3"}}}},
			"contact": {"type": "Custom", "properties": {"isNew": {"type": "Single", "value": "true"}}}}}`,
		"split": `{"properties": {
			"singleProperties": {"name": {"value": "Acme"}, "none": {}, "countries": {"value": "[\"GB\",\"LU\"]"}},
			"collectionProperties": {"owners": {"items": {
				"1": {"properties": {"share": {"value": "12.50"}}}, "2": {"properties": {"share": {"value": "1e3"}}}}}},
			"customProperties": {"contact": {
				"singleProperties": {"isNew": {"value": "true"}}, "customProperties": {}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := errtest.Must(policyfile.ParseEntity("entity", []byte(source)))(t)
			difftest.Equal(t, "the result", want, e.Properties, withoutEmpty)
		})
	}
}

func TestParseEntityMetadata(t *testing.T) {
	e := errtest.Must(policyfile.ParseEntity("entity", []byte(`{"id": "e-1", "type": "Company", "status": "Compliant",
		"targetEntity": "Client", "journeyId": "j", "properties": {}, "dataSources": {
			"screeningMateriality": {"mainEntity": true, "n": 0.10, "list": ["a", 1, null]}}}`)))(t)
	difftest.Equal(t, "metadata", `{"entityId":"e-1","entityType":"Company"}`,
		string(e.DataSources["entityDataMetadata"]))
	want := `{"list":["a",1,null],"mainEntity":true,"n":0.10}`
	got := string(e.DataSources["screeningMateriality"])
	if got != want || e.TargetEntity != "Client" || e.JourneyID != "j" {
		t.Errorf("got %s, %+v, want %s", got, e, want)
	}
}

func TestParseEntityProblems(t *testing.T) {
	for source, want := range map[string]string{
		"id: a\n":          "entity:1: properties are missing",
		"properties: []\n": "entity:1: properties: must be an object, not a list",
		"properties: {a: [{b: {c: d}}]}\n": "properties.a[0].b: must be a single value, as all of an item " +
			"are, not an object",
		"properties: {a: [[b]]}\n":                "properties.a[0]: must be a single value, not a list",
		"properties: {a: 1, a: 2}\n":              "properties.a: this key is in line 1 already",
		"properties: {a: 1, ? [b] : 2}\n":         "properties: a key must be text, not a list",
		"properties: {}\nid: 7\n":                 "entity:2: id: must be text, not a number",
		"properties: {}\ntargetEntity: x\n":       `"x" is not one of Client, Related Party`,
		"properties: {a: {type: Single, x: 1}}\n": "properties.a.x: there is no such key",
		"properties: {singleProperties: []}\n": "properties.singleProperties: has another form than such " +
			"properties have",
		"properties: &a {b: *a}\n": "nested more than",
	} {
		_, err := policyfile.ParseEntity("entity", []byte(source))
		errtest.Fails(t, source, err, want)
	}
}

// An entity with more values than are read is an error, and not an entity without them. Aliases count each time.
func TestParseEntityTooLarge(t *testing.T) {
	const n = 1050 // twice its square is more than 2^21
	source := strings.Builder{}
	source.WriteString("properties:\n  first: &first\n")
	for i := range n {
		fmt.Fprintf(&source, "    p%d: 1\n", i)
	}
	for i := range n {
		fmt.Fprintf(&source, "  group%d: *first\n", i)
	}
	_, err := policyfile.ParseEntity("entity", []byte(source.String()))
	if want := "the file has too many values"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzParse: whatever is read as a policy can be written and read again as the same, and nothing makes a parser fail.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{small, "{\"entityType\": \"Company\"}", "a: &a [*a]\n",
		"entityType: Company\nfields: [{}]\n", "properties: {a: [{b: 1}], c: {d: null}}\n", "%YAML 1.1\n---\n!!map {}",
		"{", "[[[[", "? a\n: b\n", "\xff\xfe"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = policyfile.ParseEntity("entity", text)
		file, err := policyfile.Parse("policy", text)
		if err != nil {
			return
		}
		written := errtest.Must(policyfile.Format(file.Contents))(t)
		again, err := policyfile.Parse("policy", written)
		if err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
		if d := policyfile.Compare(file.Contents, again.Contents); !d.IsEmpty() {
			t.Fatalf("%+v\n%s", d, written)
		}
	})
}
