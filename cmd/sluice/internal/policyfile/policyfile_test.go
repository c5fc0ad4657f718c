package policyfile_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/cmd/sluice/internal/policyfile"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

func parse(t *testing.T, text string) *policyfile.File {
	t.Helper()
	f, err := policyfile.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

const small = `entityType: Company
jurisdictions:
  - name: United Kingdom
    conditions:
      - operands:
          - {fieldName: country, operation: equal, value: [GB]}
dataGroups:
  - name: Owner
    primaryDataGroupField: role
    dataGroupFields:
      - {name: Role, dataKey: role, fieldType: Text}
fields:
  - name: Legal name
    dataKey: legalName
    fieldType: Text
    categories: [Basic]
    jurisdictions: [United Kingdom]
    validationRules:
      characterLimit:
        isActive: true
        staticRule: {limit: 100}
        dynamicRules:
          - {value: {limit: 50}, priority: 1, operands: [{fieldName: a, operation: isEmpty}]}
  - name: Owners
    dataKey: owners
    fieldType: Collection
    dataGroup: Owner
    categories: [Ownership]
    order: 10
  - {name: Notes, dataKey: notes, fieldType: Text, categories: [Basic]}
`

func TestParse(t *testing.T) {
	c := parse(t, small).Contents
	f := c.Fields
	if len(f) != 3 || f[0].JurisdictionIDs[0] != c.Jurisdictions[0].ID || f[1].FieldTypeID != c.DataGroups[0].ID {
		t.Errorf("names are not resolved: %+v", c)
	}
	difftest.Equal(t, "orders", []any{float64(1), float64(10), float64(11)}, []any{f[0].Order, f[1].Order, f[2].Order})
	rule := f[0].ValidationRules.CharacterLimit
	if rule == nil || *rule.StaticRule.Limit != 100 || rule.DynamicRules[0].ID != "characterLimit-1" ||
		c.Jurisdictions[0].Conditions[0].ID != "condition-1" {
		t.Errorf("rule %+v, conditions %+v", rule, c.Jurisdictions[0].Conditions)
	}
	difftest.Equal(t, "the file read again is another one", c, parse(t, small).Contents)
}

// Everything wrong with a file is reported at once, with its line and place.
func TestParseProblems(t *testing.T) {
	field := func(rest string) string {
		return "entityType: Company\nfields:\n  - name: A\n    dataKey: a\n    fieldType: Text\n    categories: [x]\n" +
			rest
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"", "p:1: the file is empty"},
		"not YAML":       {"a: [", "p:1: not YAML: did not find expected node content"},
		"not JSON":       {"{\n\"entityType\": x}", "p:2: not JSON: invalid character 'x' at start of value"},
		"more than JSON": {"{} {}", "p:1: not JSON: something follows the end of the object"},
		"two documents": {"entityType: Company\n---\na: b\n",
			"p:2: a second document begins here; a file has one"},
		"a list": {"- a\n", "p:1: must be an object, not a list"},
		"no type": {"fields: []\n",
			"p:1: entityType is missing; it is one of " + strings.Join(policy.EntityTypes, ", ")},
		"unknown key": {field("    catgories: [y]\n"),
			`p:7: fields[0].catgories: there is no such key; did you mean "categories"?`},
		"versions":          {field("    fieldVersion: 2\n"), "p:7: fields[0].fieldVersion: there is no such key"},
		"key twice":         {field("    name: B\n"), "p:7: fields[0].name: this key is in line 3 already"},
		"key twice in JSON": {"{\"fields\": [],\n\"fields\": []}", "p:2: fields: this key is in line 1 already"},
		"number for text": {field("    defaultValue: 007\n"),
			`p:7: fields[0].defaultValue: must be text, not a number: put it in quotes, "007"`},
		"date for text": {field("    defaultValue: 2024-01-01\n"),
			`must be text, not a date without quotes: put it in quotes`},
		"text for a list":   {field("    tags: a\n"), "p:7: fields[0].tags: must be a list, not text"},
		"nothing for text":  {field("    description:\n"), "p:7: fields[0].description: must be text, not nothing"},
		"text for a number": {field("    order: \"1\"\n"), "p:7: fields[0].order: must be a number, not text"},
		"infinite number":   {field("    order: .inf\n"), "p:7: fields[0].order: must be a decimal number"},
		"yes for true": {field("    isReadOnly: yes\n"),
			"p:7: fields[0].isReadOnly: must be true or false, not text"},
		"fraction of a rule": {field("    validationRules: {regex: {isActive: true, staticRule: {limit: 1.5}}}\n"),
			"p:7: fields[0].validationRules.regex.staticRule.limit: must be a whole number, not a number"},
		"unknown target": {field("    targetEntities: [Client, Other]\n"),
			`p:7: field a, targetEntities[1]: "Other" is not one of Client, Related Party`},
		"no jurisdiction": {field("    jurisdictions: [Mars]\n"),
			`p:7: field a: there is no jurisdiction "Mars" in this file`},
		"no group": {field("  - {name: B, dataKey: b, fieldType: Custom, categories: [x]}\n"),
			"p:7: field b: dataGroup is missing: a field of the type Custom names one"},
		"group of a text": {field("    dataGroup: B\n"),
			"p:7: field a: only fields of the types Collection and Custom have a dataGroup"},
		"same field twice": {field("  - {name: B, dataKey: a, fieldType: Text, categories: [x]}\n"),
			"p:7: field a: a field above has the same data key, categories and jurisdictions: give both a fieldId"},
		"no UUID": {field("    fieldId: a\n"), `p:3: field a: the ID "a" is not a UUID`},
		"no categories": {"entityType: Company\nfields:\n  - {name: A, dataKey: a, fieldType: Text}\n",
			"p:3: field a: categories are missing: a field has at least one"},
		"no data key": {"entityType: Company\nfields:\n  - {name: A, fieldType: Text, categories: [x]}\n",
			"p:3: field[0]: dataKey is missing"},
		"one name": {"entityType: Company\njurisdictions:\n  - name: A\n  - name: A\n",
			"p:4: jurisdiction A: this name is used above already: give both an ID, or one of them another name"},
		"merge": {"entityType: Company\nfields:\n  - &a {name: A}\n  - <<: *a\n",
			"<<: there is no such key"},
		"itself": {"entityType: Company\nfields: &a [{conditions: [{operands: &o [{operands: *o}]}]}]\n",
			"values are nested more than 100 deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := policyfile.Parse("p", []byte(c.text))
			if all := new(policyfile.Error); !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
	_, err := policyfile.Parse("p", []byte(field("    order: x\n    nothing: 1\n    tags: {}\n")))
	if all := new(policyfile.Error); !errors.As(err, &all) || len(all.Problems) != 3 {
		t.Errorf("got %v, want 3 problems", err)
	}
}

// An alias stands for a value as often as it is used, but a small file cannot stand for an endless one.
func TestAliases(t *testing.T) {
	c := parse(t, `entityType: Company
fields:
  - name: A
    dataKey: a
    fieldType: Text
    categories: &c [x, y]
    conditions: [&set {operands: [{fieldName: b, operation: isNotEmpty}]}]
  - {name: B, dataKey: b, fieldType: Text, categories: *c, conditions: [*set]}
`).Contents
	second := c.Fields[1]
	if !slices.Equal(second.Categories, []string{"x", "y"}) || second.Conditions[0].Operands[0].FieldName != "b" {
		t.Errorf("got %+v", second)
	}
	text, ten := "entityType: Company\nfields:\n  - tags: &t0 [a, a, a, a, a, a, a, a, a, a]\n", ""
	for i := range 9 {
		ten = strings.Repeat(fmt.Sprintf("*t%d, ", i), 10)
		text += fmt.Sprintf("  - tags: &t%d [%s]\n", i+1, strings.TrimSuffix(ten, ", "))
	}
	errtest.Fails(t, "a file of 10^10 values was read", errtest.Of(policyfile.Parse("p", []byte(text))))
}

// What Format writes, in YAML or JSON, Parse reads as the same.
func TestFormatAndParse(t *testing.T) {
	const rounds = 25
	for seed := range uint64(rounds) {
		g := generator{rand.New(rand.NewPCG(seed, 15))}
		c := g.contents()
		for form, format := range map[string]func(policy.Contents) ([]byte, error){
			"YAML": policyfile.Format, "JSON": policyfile.FormatJSON,
		} {
			text, err := format(c)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, form, err)
			}
			f, err := policyfile.Parse("policy", text)
			if err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, form, err, text)
			}
			if want, got := sorted(c), sorted(f.Contents); !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d, %s (-want +got):\n%s\n%s", seed, form, cmp.Diff(want, got), text)
			}
			if d := policyfile.Compare(c, f.Contents); !d.IsEmpty() {
				t.Fatalf("seed %d, %s: %d changes: %+v", seed, form, d.Count(), d)
			}
		}
	}
}

// A policy whose parts have other IDs is the same policy: they are found by their names, and what is resolved against
// it is what it has.
func TestResolveByNames(t *testing.T) {
	for seed := range uint64(25) {
		g := generator{rand.New(rand.NewPCG(seed, 16))}
		c := g.contents()
		g.name(&c)
		text := errtest.Must(policyfile.Format(c))(t)
		// The file without IDs is one that somebody has written by hand.
		lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
			return isID.MatchString(line)
		})
		f := parse(t, strings.Join(lines, "\n"))
		if d := policyfile.Compare(c, f.Contents); !d.IsEmpty() {
			t.Fatalf("seed %d: %d changes: %+v", seed, d.Count(), d)
		}
		if want, got := sorted(c), sorted(f.Resolve(c)); !reflect.DeepEqual(want, got) {
			t.Fatalf("seed %d (-want +got):\n%s", seed, cmp.Diff(want, got))
		}
		if len(c.Fields) == 0 {
			continue
		}
		changed := f.Resolve(c)
		changed.Fields = slices.Clone(changed.Fields)
		changed.Fields[0].Categories, changed.Fields[0].Name = []string{"elsewhere"}, "another name"
		d := policyfile.Compare(c, changed)
		if len(d.Fields) != 1 || d.Fields[0].Type != policy.Updated || d.Fields[0].ID != changed.Fields[0].ID {
			t.Fatalf("seed %d: got %+v, want one update", seed, d)
		}
	}
}

// isID matches the lines of a file with IDs of the service.
var isID = regexp.MustCompile(`^ *(fieldId|jurisdictionId|dataGroupId): `)

// name gives all parts of a policy names of their own.
func (g generator) name(c *policy.Contents) {
	n := 0
	next := func(prefix string) string {
		n++
		return fmt.Sprintf("%s %d", prefix, n)
	}
	for i := range c.Jurisdictions {
		c.Jurisdictions[i].Name = next("jurisdiction")
	}
	for i := range c.DataGroups {
		c.DataGroups[i].Name = next("group")
		for k := range c.DataGroups[i].Fields {
			c.DataGroups[i].Fields[k].DataKey = next("key")
		}
	}
	for i := range c.Fields {
		c.Fields[i].DataKey = next("key")
	}
}

// Problems of compiling are shown where they are in the file.
func TestExplain(t *testing.T) {
	f := parse(t, strings.NewReplacer("operation: isEmpty", "operation: empty", "operation: equal", "operation: is",
		"Text}\nfields", "Text, conditions: [{operands: [{fieldName: a, operation: x}]}]}\nfields").Replace(small))
	_, err := evaluate.Compile(f.Contents)
	var problems evaluate.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got %v, want problems", err)
	}
	want := strings.Join([]string{
		`policy.yaml:6: jurisdiction United Kingdom, conditions[0].operands[0].operation: There is no operation "is".`,
		`policy.yaml:11: field Owner/role, conditions[0].operands[0].operation: There is no operation "x".`,
		`policy.yaml:23: field legalName, validationRules.characterLimit.dynamicRules[0].operands[0].operation: ` +
			`There is no operation "empty".`,
	}, "\n")
	difftest.Equal(t, "Error", want, f.Explain(problems).Error())
}

// sorted sorts fields as a file does.
func sorted(c policy.Contents) policy.Contents {
	sort := func(all []policy.Field) []policy.Field {
		return slices.SortedFunc(slices.Values(all), func(a, b policy.Field) int { return strings.Compare(a.ID, b.ID) })
	}
	c.Fields, c.DataGroups = sort(c.Fields), slices.Clone(c.DataGroups)
	for i := range c.DataGroups {
		c.DataGroups[i].Fields = sort(c.DataGroups[i].Fields)
	}
	return c
}

// The example policies are read, and written files are stable.
func TestExamples(t *testing.T) {
	for _, name := range []string{"company", "individual"} {
		text := errtest.Must(os.ReadFile("../../../../sampledata/policies/" + name + ".yaml"))(t)
		f := parse(t, string(text))
		first := errtest.Must(policyfile.Format(f.Contents))(t)
		again := errtest.Must(policyfile.Format(parse(t, string(first)).Contents))(t)
		difftest.Equal(t, name+": written twice: "+cmp.Diff(string(first), string(again)), string(again), string(first))
	}
}
