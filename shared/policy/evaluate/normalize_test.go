package evaluate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy/evaluate"
)

// randomResult returns a result with up to four collections of up to thirty items. Some fields are shared by address,
// others are equal copies, and others differ in one property.
func randomResult(r *rand.Rand) evaluate.Result {
	out := evaluate.Result{
		EvaluatedFields: []evaluate.EvaluatedField{}, EvaluatedCollectionDataGroups: []evaluate.CollectionDataGroup{},
		EvaluatedCustomDataGroups: []evaluate.CustomDataGroup{},
		EvaluatedJurisdictions:    []evaluate.EvaluatedJurisdiction{},
	}
	for range r.IntN(4) {
		out.EvaluatedFields = append(out.EvaluatedFields, evaluate.EvaluatedField{GroupField: randomField(r),
			Category: "c"})
		out.EvaluatedCustomDataGroups = append(out.EvaluatedCustomDataGroups, evaluate.CustomDataGroup{
			DataKey: "custom", SingleFields: []evaluate.GroupField{randomField(r)}})
	}
	for n := range r.IntN(5) {
		out.EvaluatedCollectionDataGroups = append(out.EvaluatedCollectionDataGroups, evaluate.CollectionDataGroup{
			CollectionHeader: evaluate.CollectionHeader{
				DataKey: fmt.Sprint("collection", n), IsReadOnly: r.IntN(2) == 0,
				DisableMultiselectPrimaryFieldOnAdd: true,
				ValidationData: map[string]evaluate.ResolvedRule{
					"collectionMinimumCount": {Active: true},
				},
				Columns: []evaluate.Column{{DataKey: "a"}},
				ValidationErrors: []evaluate.ValidationError{{Validator: "collectionMinimumCount",
					Message: "m"}},
			},
			EvaluatedItems: randomItems(r),
		})
	}
	return out
}

func randomItems(r *rand.Rand) map[string]evaluate.EvaluatedItem {
	var known []*evaluate.GroupField
	items := map[string]evaluate.EvaluatedItem{}
	for range r.IntN(31) {
		fields := []*evaluate.GroupField{}
		for range r.IntN(8) {
			if len(known) == 0 || r.IntN(3) == 0 {
				f := randomField(r)
				known = append(known, &f)
			}
			f := known[r.IntN(len(known))]
			if r.IntN(4) == 0 {
				copied := *f
				f = &copied
			}
			fields = append(fields, f)
		}
		items[fmt.Sprintf("item %x", r.Uint32())] = evaluate.EvaluatedItem{EvaluatedFields: fields}
	}
	return items
}

// randomField returns one of a few hundred fields, so that equal ones are frequent.
func randomField(r *rand.Rand) evaluate.GroupField {
	text := func() *string {
		if r.IntN(4) > 0 {
			return nil
		}
		s := []string{"", "v", "<&>\"\\\u2028"}[r.IntN(3)]
		return &s
	}
	f := evaluate.GroupField{DataKey: []string{"a", "b"}[r.IntN(2)], Name: "n", DefaultValue: text(),
		EvaluatedConditionalValue: text(), IsRequired: r.IntN(4) == 0, ShouldClearValue: r.IntN(4) == 0,
		Order: []float64{0, 0.5}[r.IntN(2)]}
	if r.IntN(4) == 0 {
		f.ValidationData = map[string]evaluate.ResolvedRule{"mandatory": {Active: true, Message: "m"},
			"regex": {RegexValue: []string{"a", "b"}[r.IntN(2)]}}
		f.ValidationErrors = []evaluate.ValidationError{{Validator: "regex", Message: "m"}}
	}
	return f
}

const unlimited = math.MaxInt

func normalize(t *testing.T, r evaluate.Result) evaluate.NormalizedResult {
	t.Helper()
	return errtest.Must(evaluate.Normalize(r, unlimited))(t)
}

// A client that resolves the indices of a normalized reply gets the plain one.
func TestNormalizedIsPlain(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		result := randomResult(rand.New(rand.NewPCG(15, seed)))
		plain, normalized := decoded(t, result), decoded(t, normalize(t, result))
		checkFieldLists(t, normalized)
		if got := denormalized(t, normalized); !reflect.DeepEqual(got, plain) { // cmp.Diff takes ten times as long
			t.Fatalf("seed %d: denormalized (+) is not plain (-):\n%s", seed, cmp.Diff(plain, got))
		}
	}
}

// The same result gives the same text, independently of the order of map iteration.
func TestNormalizeIsDeterministic(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		result := randomResult(rand.New(rand.NewPCG(15, seed)))
		one, two := normalize(t, result), normalize(t, result)
		if !reflect.DeepEqual(one, two) {
			t.Fatalf("seed %d: %s", seed, cmp.Diff(one, two))
		}
	}
}

// Fields that differ in any property are distinct, and fields without a difference are not.
func TestDistinctFields(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[evaluate.GroupField]()
	for i := range fields.NumField() {
		t.Run(fields.Field(i).Name, func(t *testing.T) {
			var one, same, other evaluate.GroupField
			setSomething(t, reflect.ValueOf(&other).Elem().Field(i))
			result := evaluate.Result{EvaluatedCollectionDataGroups: []evaluate.CollectionDataGroup{{
				EvaluatedItems: map[string]evaluate.EvaluatedItem{
					"1": {EvaluatedFields: []*evaluate.GroupField{&other, &one}},
					"2": {EvaluatedFields: []*evaluate.GroupField{&same, &same}},
				},
			}}}
			got := normalize(t, result).EvaluatedCollectionDataGroups[0]
			want := map[string]evaluate.NormalizedItem{"1": {EvaluatedFieldRefs: []int{0, 1}},
				"2": {EvaluatedFieldRefs: []int{1, 1}}}
			if diff := cmp.Diff(want, got.EvaluatedItems); diff != "" || len(got.EvaluatedFields) != 2 {
				t.Errorf("got %d fields, want 2; items: %s", len(got.EvaluatedFields), diff)
			}
		})
	}
}

// The distinct fields of all collections together are within the limit; equal ones count once in each.
func TestNormalizeIsLimited(t *testing.T) {
	t.Parallel()
	one, two := &evaluate.GroupField{DataKey: "a"}, &evaluate.GroupField{DataKey: "b"}
	items := map[string]evaluate.EvaluatedItem{"1": {EvaluatedFields: []*evaluate.GroupField{one, two, one}},
		"2": {EvaluatedFields: []*evaluate.GroupField{two}}}
	result := evaluate.Result{EvaluatedCollectionDataGroups: []evaluate.CollectionDataGroup{
		{EvaluatedItems: items}, {EvaluatedItems: items}}}
	sizeOf := func(v any) int {
		text := errtest.Must(json.Marshal(v))(t)
		return len(text)
	}
	size, shownSize := 4*sizeOf(one), 4*sizeOf(evaluate.DisplayField{DataKey: "a"})
	for n, want := range map[int]error{-1: evaluate.ErrTooLarge, 0: nil} {
		errtest.Is(t, fmt.Sprintf("normalized within %d bytes of %d", size+n, size),
			errtest.Of(evaluate.Normalize(result, size+n)), want)
		errtest.Is(t, fmt.Sprintf("read-only within %d bytes of %d", shownSize+n, shownSize),
			errtest.Of(evaluate.ReadOnly(result, shownSize+n)), want)
	}
}

// setSomething sets a value to one that is not its zero.
func setSomething(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x"), reflect.Zero(v.Type().Elem()))
	default:
		t.Fatalf("the test knows no value of %s", v.Type())
	}
}

// readOnlyCollection lists the properties of a collection in a read-only reply, docs/contract/policy.md.
const (
	displayed = "dataKey name description fieldType fieldTypeId order linkChildFieldDataKey linkedParentFieldDataKey " +
		"isMasked isSensitiveData uiDecoration uiDecorationColor timeZoneId"
	readOnlyCollection = "dataKey dataGroupId dataGroupVersionNumber dataGroupName name description category order " +
		"isConditional primaryDataGroupField columns evaluatedFields evaluatedItems"
)

func TestReadOnly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		result := randomResult(rand.New(rand.NewPCG(15, seed)))
		shown := errtest.Must(evaluate.ReadOnly(result, unlimited))(t)
		got := decoded(t, shown)
		expectKeys(t, got, "evaluatedFields evaluatedCollectionDataGroups")
		checkFieldLists(t, got)
		want := 0
		for _, f := range result.EvaluatedFields {
			if !f.ShouldClearValue {
				want++
			}
		}
		fields := got["evaluatedFields"].([]any)
		if len(fields) != want {
			t.Fatalf("seed %d: got %d fields, want the %d that are not there only to be cleared", seed, len(fields),
				want)
		}
		for _, f := range fields {
			expectKeys(t, f.(map[string]any), displayed+" category")
		}
		for n, g := range got["evaluatedCollectionDataGroups"].([]any) {
			group := g.(map[string]any)
			expectKeys(t, group, readOnlyCollection)
			for _, f := range group["evaluatedFields"].([]any) {
				expectKeys(t, f.(map[string]any), displayed)
			}
			expectItemsOf(t, group, result.EvaluatedCollectionDataGroups[n])
		}
	}
}

// expectItemsOf checks that the items of a read-only collection have the fields of the plain one that are shown.
func expectItemsOf(t *testing.T, group map[string]any, plain evaluate.CollectionDataGroup) {
	t.Helper()
	items := denormalizedItems(t, group)
	difftest.Equal(t, "items", len(plain.EvaluatedItems), len(items))
	for id, item := range plain.EvaluatedItems {
		want := []any{}
		for _, f := range item.EvaluatedFields {
			if !f.ShouldClearValue {
				all := decoded(t, f)
				shown := map[string]any{}
				for _, key := range strings.Fields(displayed) {
					shown[key] = all[key]
				}
				want = append(want, shown)
			}
		}
		if !reflect.DeepEqual(items[id], any(map[string]any{"evaluatedFields": want})) {
			t.Fatalf("item %s: got %v, want %v", id, items[id], want)
		}
	}
}

func expectKeys(t *testing.T, object map[string]any, want string) {
	t.Helper()
	var got []string
	for key := range object {
		got = append(got, key)
	}
	names := strings.Fields(want)
	slices.Sort(got)
	slices.Sort(names)
	difftest.Equal(t, "keys", names, got)
}

// decoded returns a value as a client sees it.
func decoded(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	errtest.Fatal(t, err)
	return out
}

// denormalized returns a normalized reply in the form of the plain one.
func denormalized(t *testing.T, reply map[string]any) map[string]any {
	t.Helper()
	for _, g := range reply["evaluatedCollectionDataGroups"].([]any) {
		group := g.(map[string]any)
		items := denormalizedItems(t, group)
		delete(group, "evaluatedFields")
		group["evaluatedItems"] = items
	}
	return reply
}

// denormalizedItems resolves the indices of the items of a collection.
func denormalizedItems(t *testing.T, group map[string]any) map[string]any {
	t.Helper()
	fields, items := group["evaluatedFields"].([]any), map[string]any{}
	for id, item := range group["evaluatedItems"].(map[string]any) {
		resolved := []any{}
		for _, ref := range item.(map[string]any)["evaluatedFieldRefs"].([]any) {
			i := ref.(float64)
			if i < 0 || int(i) >= len(fields) || float64(int(i)) != i {
				t.Fatalf("item %s refers to field %v of %d", id, i, len(fields))
			}
			resolved = append(resolved, fields[int(i)])
		}
		items[id] = map[string]any{"evaluatedFields": resolved}
	}
	return items
}

// checkFieldLists checks that no collection of a normalized reply has a field twice or one that no item uses, and that
// fields are in the order of their first use.
func checkFieldLists(t *testing.T, reply map[string]any) {
	t.Helper()
	for _, g := range reply["evaluatedCollectionDataGroups"].([]any) {
		group := g.(map[string]any)
		seen := map[string]bool{}
		for _, f := range group["evaluatedFields"].([]any) {
			text := errtest.Must(json.Marshal(f))(t)
			if seen[string(text)] {
				t.Fatalf("the field %s is listed twice", text)
			}
			seen[string(text)] = true
		}
		items := group["evaluatedItems"].(map[string]any)
		var ids []string
		for id := range items {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		next := 0
		for _, id := range ids {
			for _, ref := range items[id].(map[string]any)["evaluatedFieldRefs"].([]any) {
				switch i := int(ref.(float64)); {
				case i > next:
					t.Fatalf("item %s refers to field %d before field %d was used", id, i, next)
				case i == next:
					next++
				}
			}
		}
		if next != len(seen) {
			t.Fatalf("%d of %d fields are used", next, len(seen))
		}
	}
}
