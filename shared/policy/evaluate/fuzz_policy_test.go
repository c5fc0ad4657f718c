package evaluate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"sluice/shared/policy"
)

// dice makes decisions.
type dice struct{ random *rand.Rand }

// roll returns a number from 0 to n-1.
func (d *dice) roll(n int) int { return d.random.IntN(n) }

// one returns one of several possibilities.
func one[T any](d *dice, of ...T) T { return of[d.roll(len(of))] }

// some returns up to most things.
func some[T any](d *dice, most int, make func() T) []T {
	var out []T
	for range d.roll(most + 1) {
		out = append(out, make())
	}
	return out
}

// hostileTexts are values that cause trouble where a text is compared, parsed or printed.
var hostileTexts = []string{
	"", "a", "12", "-0.50", "1e999999", "NaN", "\x00", "<script>", "2024-02-29", "2023-02-29", "9999-12-31T23:59:60Z",
	`["a","b"]`, `[`, "true",
	strings.Repeat("9", 201), strings.Repeat("x", 5000), "é\u202e\U0001f600", "\u2028",
}

// fuzzedPolicy is a policy that the dice decide on. It uses few names, so that its parts refer to each other.
type fuzzedPolicy struct {
	*dice
	// isHostile allows parts that cannot be compiled.
	isHostile bool
	nextID    int
}

func newFuzzedPolicy(seed uint64) *fuzzedPolicy {
	d := &dice{rand.New(rand.NewPCG(seed, 0))}
	return &fuzzedPolicy{dice: d, isHostile: d.roll(3) == 2}
}

// either returns a valid choice or, rarely in a hostile policy, an invalid one.
func either[T any](p *fuzzedPolicy, valid []T, invalid ...T) T {
	if p.isHostile && p.roll(8) == 1 {
		return one(p.dice, invalid...)
	}
	return one(p.dice, valid...)
}

func (p *fuzzedPolicy) id() string {
	p.nextID++
	return fmt.Sprint("id", p.nextID)
}

func (p *fuzzedPolicy) key() string {
	return either(p, []string{"a", "b", "c", "group", "custom", "x.y", "a", "a"}, "", strings.Repeat("k", 1001))
}

func (p *fuzzedPolicy) text() string { return one(p.dice, hostileTexts...) }

func (p *fuzzedPolicy) texts() []string { return some(p.dice, 3, p.text) }

// contents returns a version. Data groups may refer to each other and, if it is hostile, to themselves.
func (p *fuzzedPolicy) contents() policy.Contents {
	c := policy.Contents{EntityType: "Company"}
	c.Fields = some(p.dice, 6, func() policy.Field {
		return p.field([]string{"Text", policy.TypeCollection, policy.TypeCustom}, "g1", "g2")
	})
	c.DataGroups = []policy.DataGroup{
		p.group("g1", "Text"), p.group("g2", "Text", policy.TypeCustom), p.group("g3", "Text", policy.TypeCustom),
	}
	for _, id := range []string{"j1", "j2"} {
		c.Jurisdictions = append(c.Jurisdictions,
			policy.Jurisdiction{ID: id, Name: p.text(), Conditions: some(p.dice, 2, p.condition)})
	}
	return c
}

func (p *fuzzedPolicy) group(id string, types ...string) policy.DataGroup {
	return policy.DataGroup{
		ID: id, Version: 1, Status: policy.DataGroupPublished, Name: id, PrimaryField: p.key(),
		Fields: some(p.dice, 4, func() policy.Field { return p.field(types, "g1", "g1") }),
	}
}

// field returns a field of one of the types. collection and custom are the data groups of such fields.
func (p *fuzzedPolicy) field(types []string, collection, custom string) policy.Field {
	f := policy.Field{
		ID: p.id(), Version: 1, Name: p.text(), DataKey: p.key(), Order: one(p.dice, 0, -1.5, 1e308),
		FieldType:  either(p, types, policy.TypeCollection, policy.TypeCustom, ""),
		Categories: one(p.dice, []string{"KYC"}, nil), TargetEntities: one(p.dice, nil, []string{"Client"},
			[]string{"Nobody"}),
		JurisdictionIDs: either(p, [][]string{nil, {"j1"}, {"j2"}}, []string{"unknown"}),
		IsReadOnly:      p.roll(2) > 0, IsSensitiveData: p.roll(3) == 1,
		ClearValueIfTriggerConditionNotMet: p.roll(2) > 0,
		AccessLayers: one(p.dice, nil, &policy.AccessLayers{Geographic: []string{"DE"}},
			&policy.AccessLayers{BusinessRelated: []string{"Private"}}),
		Conditions: some(p.dice, 2, p.condition), ValidationRules: p.rules(),
		ConditionalValues: some(p.dice, 2, func() policy.ConditionalValue {
			return policy.ConditionalValue{Condition: p.condition(), Value: p.text(), ValueID: p.text(),
				Priority: int64(p.roll(3))}
		}),
	}
	switch f.FieldType {
	case policy.TypeCollection:
		f.FieldTypeID = either(p, []string{collection}, "g3", "unknown")
	case policy.TypeCustom:
		f.FieldTypeID = either(p, []string{custom}, "g3", "unknown")
	default:
		p.addValues(&f)
	}
	return f
}

// addValues adds the members that only single values have.
func (p *fuzzedPolicy) addValues(f *policy.Field) {
	if p.roll(3) == 1 {
		text := p.text()
		f.DefaultValue = &text
	}
	if p.roll(3) == 1 {
		// Formulas read the keys after their own one, so that only hostile ones go round in a circle.
		valid := map[string][]string{
			"a": {"{b}/{c}", "({b}+0.1)/3", "{custom}*2"}, "b": {"{c}/3", "{x.y}-{c}"}, "c": {"{x.y}", "2*{x.y}"},
		}
		f.FormulaSchema = &policy.FormulaSchema{
			FormulaString: either(p, append(valid[f.DataKey], "1/0", "{unknown}+1"), "1+", "", "{a}/{b}", p.text()),
		}
	}
}

func (p *fuzzedPolicy) condition() policy.Condition {
	return policy.Condition{ID: p.id(), LogicalOperation: p.logical(), Operands: some(p.dice, 3, func() policy.Operand {
		return p.operand(1)
	})}
}

func (p *fuzzedPolicy) logical() policy.Logical {
	return either(p, []policy.Logical{"", policy.And, policy.Or}, "XOR")
}

func (p *fuzzedPolicy) operand(depth int) policy.Operand {
	o := policy.Operand{
		FieldName: p.key(), LogicalOperation: p.logical(),
		DataSource: one(p.dice, "", "", "currentDataGroupItem", "screeningMateriality", "mainEntity", "currentUser",
			"relatedParties", "unknown"),
	}
	if depth < 4 && p.roll(3) == 1 || p.isHostile && depth < 12 && p.roll(3) == 1 {
		o.Operation = either(p, []policy.Operation{"", policy.Any, policy.All, policy.None}, policy.Equal)
		o.Operands = append(some(p.dice, 2, func() policy.Operand { return p.operand(depth + 1) }), p.operand(depth+1))
		return o
	}
	o.Operation = either(p, []policy.Operation{
		policy.Equal, policy.NotEqual, policy.Contains, policy.NotContains, policy.IsEmpty, policy.IsNotEmpty,
		policy.IsDefined,
		policy.IsNotDefined, policy.GreaterThan, policy.GreaterThanOrEqual, policy.LessThan, policy.LessThanOrEqual,
		policy.CountEqual, policy.CountNotEqual, policy.CountLessThan, policy.CountLessThanOrEqual,
		policy.CountGreaterThan,
		policy.CountGreaterThanOrEqual, policy.CountBetween, policy.CountNotBetween,
	}, "", "matches", policy.Any)
	p.addValuesOf(&o)
	return o
}

// addValuesOf adds the values to an operand that its operation needs.
func (p *fuzzedPolicy) addValuesOf(o *policy.Operand) {
	number := func() string { return either(p, []string{"0", "1", "2", "1.5"}, p.text()) }
	switch {
	case p.isHostile && p.roll(8) == 1:
		o.Value, o.ValueID, o.ValueField = p.texts(), p.texts(), one(p.dice, "", p.key())
	case o.Operation == policy.IsEmpty, o.Operation == policy.IsNotEmpty, o.Operation == policy.IsDefined,
		o.Operation == policy.IsNotDefined:
	case o.Operation == policy.CountBetween, o.Operation == policy.CountNotBetween:
		o.Value = []string{"0", "2"}
	case strings.HasPrefix(string(o.Operation), "count"):
		o.Value = []string{one(p.dice, "0", "1", "2")}
	case p.roll(4) == 1:
		o.ValueField = p.key()
	case strings.HasPrefix(string(o.Operation), "greater"), strings.HasPrefix(string(o.Operation), "less"):
		o.Value = []string{one(p.dice, number(), "2024-02-29")}
	case p.roll(4) == 1:
		o.ValueID = []string{"i"}
	default:
		o.Value = append(some(p.dice, 2, p.shortText), p.shortText())
	}
}

// shortText returns a text that a policy may compare with.
func (p *fuzzedPolicy) shortText() string {
	return either(p, []string{"a", "12", "-0.50", "1e999999", "true", "\u2028"}, p.text())
}
