package evaluate_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// withCollections returns the policy with two more collections, whose group has fields of any kind.
func (p *fuzzedPolicy) withCollections(c policy.Contents) policy.Contents {
	for n, key := range []string{"owners", "directors"} {
		c.Fields = append(c.Fields, policy.Field{ID: p.id(), DataKey: key, FieldType: policy.TypeCollection,
			FieldTypeID: key})
		g := policy.DataGroup{ID: key, Version: 1, Status: policy.DataGroupPublished, Name: key}
		for range 3 + 3*n {
			g.Fields = append(g.Fields, p.field([]string{"Text"}, "", ""))
		}
		c.DataGroups = append(c.DataGroups, g)
	}
	return c
}

// withItems gives the request items of every collection of a policy, most of which are like others. Most requests ask
// for everything.
func (p *fuzzedPolicy) withItems(c policy.Contents, r evaluate.Request) evaluate.Request {
	texts := []string{"a", "12", "true"}
	for _, f := range c.Fields {
		if f.FieldType != policy.TypeCollection {
			continue
		}
		items := map[string]property.SplitItem{}
		for i := range p.roll(25) {
			values := map[string]property.Text{}
			for range p.roll(3) {
				values[p.key()] = property.Text{Value: &texts[p.roll(len(texts))]}
			}
			items[fmt.Sprint("item ", i)] = property.SplitItem{Properties: values}
		}
		r.Properties.CollectionProperties[f.DataKey] = property.SplitCollection{Items: items}
	}
	if p.roll(4) > 0 {
		r.TargetEntity, r.Categories, r.Jurisdictions, r.EvaluateJurisdictions = "", nil, nil, false
	}
	return r
}

// For random policies and entities, a client that resolves the indices of a normalized result gets the plain one, and
// that of the read-only one what the plain one of the same request shows.
func TestNormalizedIsPlainForPolicies(t *testing.T) {
	t.Parallel()
	const seeds = 150
	var policies, collections, items, fields, distinct int
	for seed := range uint64(seeds) {
		p := newFuzzedPolicy(seed)
		c := p.withCollections(p.contents())
		program, err := evaluate.Compile(c)
		if err != nil {
			continue
		}
		policies++
		r := p.withItems(c, p.request())
		result, normalized := evaluateBoth(t, program, r)
		plain, shown := decoded(t, result), decoded(t, normalized)
		checkFieldLists(t, shown)
		for i, g := range normalized.EvaluatedCollectionDataGroups {
			collections, items, distinct = collections+1, items+len(g.EvaluatedItems), distinct+len(g.EvaluatedFields)
			for _, item := range result.EvaluatedCollectionDataGroups[i].EvaluatedItems {
				fields += len(item.EvaluatedFields)
			}
		}
		if got := denormalized(t, shown); !reflect.DeepEqual(got, plain) {
			t.Fatalf("seed %d: denormalized (+) is not plain (-):\n%s", seed, cmp.Diff(plain, got))
		}
		checkReadOnly(t, program, r)
	}
	t.Logf("%d policies, %d collections, %d items, %d fields of items, %d of them distinct", policies, collections,
		items, fields, distinct)
	if policies < seeds/2 || collections < policies || items < 5*collections || fields < 2*distinct {
		t.Error("the random policies have too little in them")
	}
}

// evaluateBoth returns the result of a request, plain and normalized from two evaluations.
func evaluateBoth(t *testing.T, program *evaluate.Program, r evaluate.Request) (evaluate.Result,
	evaluate.NormalizedResult) {
	t.Helper()
	plain, err := program.Evaluate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := program.Evaluate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plain, normalize(t, again)
}

// checkReadOnly checks that the read-only result has of each field that is shown just what is needed to display it, and
// no values, rules and errors, whatever the options of the request.
func checkReadOnly(t *testing.T, program *evaluate.Program, r evaluate.Request) {
	t.Helper()
	r.Explain = false
	plain, err := program.Evaluate(t.Context(), r.ForReadOnly(), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := evaluate.ReadOnly(plain, unlimited)
	if err != nil {
		t.Fatal(err)
	}
	got := decoded(t, result)
	checkFieldLists(t, got)
	i := 0
	for _, f := range plain.EvaluatedFields {
		if f.HasEvaluatedDefaultValue || f.HasEvaluatedConditionalValue || f.HasCalculatedValue ||
			len(f.ValidationErrors) > 0 {
			t.Fatalf("the read-only evaluation has computed values or errors: %+v", f)
		}
		if f.ShouldClearValue {
			continue
		}
		all, want := decoded(t, f), map[string]any{}
		for _, key := range strings.Fields(displayed + " category") {
			want[key] = all[key]
		}
		if shown := got["evaluatedFields"].([]any)[i]; !reflect.DeepEqual(shown, any(want)) {
			t.Fatalf("got %v, want %v", shown, want)
		}
		i++
	}
	for n, g := range got["evaluatedCollectionDataGroups"].([]any) {
		expectItemsOf(t, g.(map[string]any), plain.EvaluatedCollectionDataGroups[n])
	}
}
