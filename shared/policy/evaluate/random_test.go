package evaluate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// random makes policies and requests in which the same few keys and values meet often.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 15))} }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

func (r random) key() string { return pick(r, "k0", "k1", "k2", "k3", "k4", "k5") }

func (r random) text() string {
	return pick(r, "a", "A", "ab", "b", "1", "1.0", "-2", "10", "2026-01-01", "2026-01-02", "2026-01-01T23:00:00Z",
		"2026-01-01T23:00:00-02:00", "", `["a","10"]`, `["2026-01-02"]`, "[]", "007", "true", "k1")
}

func (r random) single() property.Text {
	t := value(r.text())
	if r.IntN(4) == 0 {
		t.ValueID = pick(r, nil, new("i1"), new("i2"))
	}
	if r.IntN(8) == 0 {
		t.Value = nil
	}
	return t
}

func (r random) singles() map[string]property.Text {
	out := map[string]property.Text{}
	for range r.IntN(5) {
		out[r.key()] = r.single()
	}
	return out
}

func (r random) items() property.SplitCollection {
	c := property.SplitCollection{CollectionID: "g", Items: map[string]property.SplitItem{}}
	for i := range r.IntN(4) {
		c.Items[fmt.Sprint("item", i)] = property.SplitItem{Properties: r.singles()}
	}
	return c
}

func (r random) properties(depth int) property.Split {
	out := property.Split{
		SingleProperties: r.singles(), CollectionProperties: map[string]property.SplitCollection{},
		CustomProperties: map[string]property.Split{},
	}
	for _, key := range []string{"c0", "c1"} {
		if r.IntN(2) == 0 {
			out.CollectionProperties[key] = r.items()
		}
	}
	for _, key := range []string{"g0", "g1"} {
		if depth > 0 && r.IntN(2) == 0 {
			out.CustomProperties[key] = r.properties(depth - 1)
		}
	}
	return out
}

// source returns a data source in one of the forms that they have.
func (r random) source() any {
	switch r.IntN(7) {
	case 0:
		return r.properties(1)
	case 1:
		return map[string]any{"k5": r.text(), "properties": r.properties(0)}
	case 2:
		return map[string]any{"k4": 1.5, "properties": r.singles(), "k0": []any{r.text(), nil, 3, true}}
	case 3:
		return []any{
			map[string]any{"properties": r.properties(0)}, map[string]any{"k0": r.text(), "k1": r.single()}, r.text(),
		}
	case 4:
		return []string{r.key(), r.key(), r.text()}
	case 5:
		return map[string]any{
			"k0": map[string]any{"type": "Single", "value": r.text()},
			"c0": map[string]any{"type": "Collection", "collections": map[string]any{
				"x": map[string]any{"properties": map[string]any{"k0": r.text()}},
				"y": map[string]any{"properties": map[string]any{"k1": r.text(), "k0": nil}},
			}},
			"g0": map[string]any{"type": "Custom", "properties": map[string]any{"k1": r.single()}},
		}
	}
	return pick[any](r, "text", 7, nil, true, map[string]any{}, []any{})
}

// request returns a request with properties and data sources.
func (r random) request() evaluate.Request {
	out := evaluate.Request{Properties: r.properties(2), DataSources: map[string]jsontext.Value{},
		Explain: r.IntN(2) == 0}
	for _, name := range []string{"s0", "s1", "changedFields", "currentDataGroupItem", "currentField"} {
		text, err := json.Marshal(r.source())
		if err != nil {
			panic(err)
		}
		if r.IntN(4) > 0 {
			out.DataSources[name] = text
		}
	}
	return out
}

// name returns the name of something in the properties or in a source.
func (r random) name() string {
	switch r.IntN(6) {
	case 0:
		return pick(r, "c0", "c1", "g0", "g1", "properties")
	case 1:
		return pick(r, "c0", "g0", "g1", "g0.g1", "k0", "k1", "properties") + "." + r.key()
	default:
		return r.key()
	}
}

func (r random) operand(depth int, isInner bool) policy.Operand {
	o := policy.Operand{FieldName: r.name(), DataSource: pick(r, "", "", "", "s0", "s1", "currentDataGroupItem",
		"changedFields", "currentField", "absent")}
	if r.IntN(8) == 0 && (o.DataSource != "" || isInner) {
		o.FieldName = ""
	}
	switch kind := r.IntN(10); {
	case kind == 0 && depth > 0:
		return policy.Operand{LogicalOperation: r.logical(), Operands: r.operands(depth-1, isInner)}
	case kind <= 2 && depth > 0:
		if r.IntN(3) > 0 {
			o.FieldName = pick(r, "c0", "c1", "g0.c0")
		}
		o.Operation, o.LogicalOperation = pick(r, policy.Any, policy.All, policy.None), r.logical()
		o.Operands = r.operands(depth-1, true)
	case kind == 3:
		o.Operation = pick(r, policy.IsEmpty, policy.IsNotEmpty, policy.IsDefined, policy.IsNotDefined)
	case kind == 4:
		o.Operation = pick(r, policy.CountEqual, policy.CountNotEqual, policy.CountLessThan,
			policy.CountLessThanOrEqual,
			policy.CountGreaterThan, policy.CountGreaterThanOrEqual, policy.CountBetween, policy.CountNotBetween)
		low := r.IntN(3)
		o.Value = []string{fmt.Sprint(low), fmt.Sprint(low + r.IntN(2))}
	case kind <= 6:
		o.Operation = pick(r, policy.GreaterThan, policy.GreaterThanOrEqual, policy.LessThan, policy.LessThanOrEqual)
		o.Value = []string{pick(r, "1", "-2.0", "9.99", "2026-01-01", "2026-01-02", "2026-01-01T23:00:00Z")}
		if r.IntN(3) == 0 {
			o.Value, o.ValueField = nil, r.name()
		}
	default:
		o.Operation = pick(r, policy.Equal, policy.NotEqual, policy.Contains, policy.NotContains)
		switch r.IntN(4) {
		case 0:
			o.ValueField = r.name()
		case 1:
			o.ValueID = []string{"i1"}
		default:
			o.Value = []string{"b", pick(r, "a", "1.00", "2026-01-02", "7", "k1")}
		}
	}
	return o
}

func (r random) operands(depth int, isInner bool) []policy.Operand {
	out := make([]policy.Operand, 1+r.IntN(3))
	for i := range out {
		out[i] = r.operand(depth, isInner)
	}
	return out
}

func (r random) logical() policy.Logical { return pick(r, policy.And, policy.Or, "") }

func (r random) conditions() []policy.Condition {
	out := make([]policy.Condition, r.IntN(3))
	for i := range out {
		out[i] = policy.Condition{ID: fmt.Sprint("c", i), LogicalOperation: r.logical(), Operands: r.operands(3, false)}
	}
	return out
}

// hidingFields returns a sensitive field with layers that nobody has for each of the keys.
func hidingFields(hidden map[string]bool) []policy.Field {
	var out []policy.Field
	for key := range hidden {
		out = append(out, policy.Field{
			ID: "hides " + key, DataKey: key, IsSensitiveData: true, Order: -1,
			AccessLayers: &policy.AccessLayers{Geographic: []string{"Nowhere"}},
		})
	}
	return out
}

// TestConditionsAgainstOracle compares compiled conditions with those that the oracle interprets, for fields of the
// policy and for those of the items of a collection, with some data keys hidden.
func TestConditionsAgainstOracle(t *testing.T) {
	t.Parallel()
	const policies, fields, requests = 100, 12, 6
	met, all := 0, 0
	for seed := range uint64(policies) {
		r := newRandom(seed)
		hidden := map[string]bool{}
		for range r.IntN(3) {
			hidden[pick(r, "k0", "k1", "k2", "c1", "g1", "g0.k3")] = true
		}
		c := policy.Contents{Fields: hidingFields(hidden), DataGroups: []policy.DataGroup{{ID: "g"}}}
		for i := range fields {
			f := policy.Field{ID: fmt.Sprint(i), DataKey: fmt.Sprint("f", i), Conditions: r.conditions()}
			c.Fields = append(c.Fields, f)
			f.Conditions = r.conditions()
			c.DataGroups[0].Fields = append(c.DataGroups[0].Fields, f)
		}
		c.Fields = append(c.Fields, policy.Field{ID: "c0", DataKey: "c0", FieldType: policy.TypeCollection,
			FieldTypeID: "g"})
		p, err := evaluate.Compile(c)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for range requests {
			request := r.request()
			result, err := p.Evaluate(t.Context(), request, nil)
			if err != nil {
				t.Fatal(err)
			}
			o := &oracle{request: request, hidden: hidden}
			check := func(f policy.Field, item any, isShown bool) {
				want := len(f.Conditions) == 0
				for _, condition := range f.Conditions {
					want = want || o.condition(condition, item, false)
				}
				all++
				if want {
					met++
				}
				if isShown != want {
					text, _ := json.MarshalIndent(f.Conditions, "", " ")
					entity, _ := json.Marshal(request)
					t.Fatalf("seed %d: field %s is shown: %v, want %v\nhidden %v, item %v\nconditions %s\nrequest %s",
						seed, f.ID, isShown, want, hidden, item, text, entity)
				}
			}
			for _, f := range c.Fields {
				if f.AccessLayers == nil && f.FieldType == "" {
					check(f, nil, hasField(result.EvaluatedFields, f.DataKey))
				}
			}
			for _, g := range result.EvaluatedCollectionDataGroups {
				for id, item := range g.EvaluatedItems {
					for _, f := range c.DataGroups[0].Fields {
						check(f, ofItem(request.Properties.CollectionProperties["c0"].Items[id]), hasItemField(item,
							f.DataKey))
					}
				}
			}
		}
	}
	if t.Logf("%d of %d conditions are met", met, all); met < all/10 || met > all*9/10 {
		t.Errorf("%d of %d conditions are met: the test compares too little", met, all)
	}
}

func hasField(fields []evaluate.EvaluatedField, key string) bool {
	for _, f := range fields {
		if f.DataKey == key {
			return true
		}
	}
	return false
}

func hasItemField(item evaluate.EvaluatedItem, key string) bool {
	for _, f := range item.EvaluatedFields {
		if f.DataKey == key {
			return true
		}
	}
	return false
}
