package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"sluice/shared/policy"
	"sluice/shared/policy/formula"
)

// formulaValidator is the name of the validator in errors about calculated values.
const formulaValidator = "formula"

// fieldValues are the compiled values of a field: its conditional values and its formula.
type fieldValues struct {
	// conditional is in the order of priority.
	conditional []conditionalValue
	// formula is nil if the value is not calculated.
	formula *formula.Formula
	// variables are the variables of the formula, by their data keys.
	variables map[string]variable
	// slot is where the result is among the calculations of an evaluation.
	slot int
}

// conditionalValue is a value with its condition.
type conditionalValue struct {
	condition
	source *policy.ConditionalValue
}

// variable is where a formula finds the value of a data key.
type variable struct {
	// slot is the slot of the field's result, if the field is calculated.
	slot int
	ref  ref
}

// slotKey names a place of a value: a data key in a group or in the entity.
type slotKey struct {
	parent *field
	key    string
}

// compileValues compiles the conditional values and the formula of a field.
func (c *compiler) compileValues(f *field) {
	in := f.scope
	in.isFiltered = true
	if !c.spend(&c.conditions, len(f.source.ConditionalValues), "conditionalValues") {
		return
	}
	for i := range f.source.ConditionalValues {
		source := &f.source.ConditionalValues[i]
		compiled := c.compileCondition(fmt.Sprintf("conditionalValues[%d]", i), &source.Condition, in)
		f.values.conditional = append(f.values.conditional, conditionalValue{compiled, source})
	}
	slices.SortStableFunc(f.values.conditional, func(a, b conditionalValue) int {
		return cmp.Compare(a.source.Priority, b.source.Priority)
	})
	c.compileFormula(f)
}

// compileFormula compiles the formula of a field, if it has one.
func (c *compiler) compileFormula(f *field) {
	const path = "formulaSchema.formulaString"
	schema := f.source.FormulaSchema
	if schema == nil {
		return
	}
	if f.source.HasDataGroup() {
		c.report(path, "A field of the type %s has no formula.", f.source.FieldType)
		return
	}
	if c.formulas.isSpent() {
		return
	}
	compiled, err := formula.Parse(schema.FormulaString)
	if err != nil {
		c.report(path, "The formula cannot be used: %s.", err)
		return
	}
	if !c.spend(&c.formulas, compiled.Size(), path) {
		return
	}
	f.values.formula = compiled
	f.values.slot = c.slot(f.parent, f.source.DataKey)
	f.values.variables = map[string]variable{}
	for _, key := range compiled.Variables() {
		parent := c.groupOf(f.parent, key)
		f.values.variables[key] = variable{c.slot(parent, key), c.valueRef(f, parent, key)}
	}
}

// slot returns the index of the result for a data key in a group or in the entity.
func (c *compiler) slot(parent *field, key string) int {
	slot, ok := c.slots[slotKey{parent, key}]
	if !ok {
		slot = len(c.slots)
		c.slots[slotKey{parent, key}] = slot
		c.program.calculations = len(c.slots)
	}
	return slot
}

// groupOf returns the group whose field a data key names in a formula: the innermost one that has it. Nil is the
// entity.
func (c *compiler) groupOf(parent *field, key string) *field {
	for ; parent != nil; parent = parent.parent {
		keys, ok := c.groupKeys[parent.group.source]
		if !ok {
			keys = map[string]bool{}
			for i := range parent.group.source.Fields {
				keys[parent.group.source.Fields[i].DataKey] = true
			}
			c.groupKeys[parent.group.source] = keys
		}
		if keys[key] {
			break
		}
	}
	return parent
}

// orderCalculations returns the calculated fields of a group or of the policy so that each comes after its
// dependencies, and reports formulas that depend on each other in a circle. It does not look at the fields of outer
// groups, which are calculated before the fields of inner ones.
func (c *compiler) orderCalculations(fields []*field) []*field {
	bySlot := map[int][]*field{}
	for _, f := range fields {
		if f.values.formula != nil {
			bySlot[f.values.slot] = append(bySlot[f.values.slot], f)
		}
	}
	var ordered []*field
	const visiting, done = 1, 2
	state := map[int]int{}
	var visit func(slot int) bool
	visit = func(slot int) bool {
		if state[slot] != 0 {
			return state[slot] == done
		}
		state[slot] = visiting
		for _, f := range bySlot[slot] {
			for _, key := range f.values.formula.Variables() {
				if v := f.values.variables[key]; bySlot[v.slot] != nil && !visit(v.slot) {
					c.reportCircle(f, key)
				}
			}
		}
		state[slot] = done
		ordered = append(ordered, bySlot[slot]...)
		return true
	}
	for _, f := range fields {
		if f.values.formula != nil {
			visit(f.values.slot)
		}
	}
	return ordered
}

// reportCircle reports that a formula needs a field whose formula needs its own result.
func (c *compiler) reportCircle(f *field, key string) {
	outside := c.place
	defer func() { c.place = outside }()
	c.place = Problem{FieldID: f.source.ID, DataKey: f.source.DataKey}
	if f.parent != nil {
		c.place.DataGroupID = f.parent.group.source.ID
	}
	c.report("formulaSchema.formulaString", "The formula needs the field %q, which is calculated from its result.",
		key)
}

// calculation is the result of a formula. The zero calculation means that no field with a formula is shown.
type calculation struct {
	// field is the one whose formula counts.
	field *field
	// text is the result, "" if there is none.
	text string
	// problem is the message for the client if there is none.
	problem string
}

// calculate calculates the values of all fields of a group that are shown. ordered are the fields with formulas in the
// order of their dependencies.
func (e *evaluation) calculate(ordered []*field, all []shown) {
	if len(ordered) == 0 || e.request.SkipValuesEvaluation {
		return
	}
	if e.calculations == nil {
		e.calculations = make([]calculation, e.program.calculations)
	}
	for _, f := range ordered {
		e.calculations[f.values.slot] = calculation{}
	}
	for i := range all {
		if f := all[i].field; f.values.formula != nil && !all[i].shouldClear {
			e.calculations[f.values.slot].field = f
		}
	}
	for i := range ordered {
		f := ordered[i]
		if result := &e.calculations[f.values.slot]; result.field == f {
			result.text, result.problem = e.runFormula(f)
		}
	}
}

// runFormula returns the result of the formula of a field, or "" and a message for the client.
func (e *evaluation) runFormula(f *field) (result, problem string) {
	for _, key := range f.values.variables {
		if e.hides(key.ref) {
			return "", ""
		}
	}
	if !e.spend(len(f.values.formula.String())) {
		return "", ""
	}
	result, err := f.values.formula.Evaluate(func(key string) (string, bool) {
		v := f.values.variables[key]
		if other := &e.calculations[v.slot]; other.field != nil {
			return other.text, other.text != ""
		}
		return e.numberText(v.ref)
	}, e.resolveRules(f).decimals)
	var ofField *formula.ValueError
	switch {
	case err == nil:
		return result, ""
	case errors.Is(err, formula.ErrMissingValue):
		return "", ""
	case errors.Is(err, formula.ErrDivisionByZero):
		return "", "Division by zero"
	case errors.As(err, &ofField) && errors.Is(err, formula.ErrNotNumber):
		return "", fmt.Sprintf("The value of %q is not a number.", ofField.Key)
	default:
		return "", "A number is out of range."
	}
}

// numberText returns the text that a formula reads as a number, and whether there is one. For several values it returns
// a text that is not a number, so that the formula reports them.
func (e *evaluation) numberText(r ref) (string, bool) {
	value := e.read(r)
	texts := value.texts()
	if len(texts) > 1 {
		return "[]", true
	}
	return value.one[0].value, len(texts) == 1 && texts[0].hasValue
}

// calculatedText returns the result of a field, and whether it is one that is calculated.
func (e *evaluation) calculatedText(f *field) (string, bool) {
	if f.values.formula == nil || e.request.SkipValuesEvaluation {
		return "", false
	}
	return e.calculations[f.values.slot].text, true
}

// evaluateValues sets the values of an evaluated field, and returns the IDs of the conditions that decided them. A
// field whose value is hidden gets none.
func (e *evaluation) evaluateValues(f *field, out *GroupField) []string {
	if e.isOwnHidden(f) {
		return nil
	}
	out.DefaultValue, out.HasEvaluatedDefaultValue = f.source.DefaultValue, f.source.DefaultValue != nil
	if f.values.formula != nil {
		result := &e.calculations[f.values.slot]
		if result.text != "" {
			text := result.text // a copy: the next item of a collection writes its result to the same slot
			out.CalculatedFieldResult, out.HasCalculatedValue = &text, true
		}
		if result.problem != "" {
			out.ValidationErrors = []ValidationError{{formulaValidator, result.problem}}
		}
	}
	for i := range f.values.conditional {
		v := &f.values.conditional[i]
		if v.predicate(e) {
			out.EvaluatedConditionalValue, out.HasEvaluatedConditionalValue = &v.source.Value, true
			out.EvaluatedConditionalValueID = orNull(v.source.ValueID)
			return []string{v.id}
		}
	}
	return nil
}
