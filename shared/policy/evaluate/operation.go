package evaluate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/shared/policy"
)

// test is a compiled operation on a value.
type test func(*evaluation, *reading) bool

// not returns the test that is met if t is not.
func (t test) not() test { return func(e *evaluation, r *reading) bool { return !t(e, r) } }

// compileTest compiles the operation of an operand with its values; nil if it cannot be compiled. A test does not
// depend on the value that is read, so the operands of a data group share theirs among all fields that refer to the
// group.
func (c *compiler) compileTest(path string, o *policy.Operand) test {
	t, ok := c.tests[o]
	switch {
	case !ok:
		if t = c.newTest(path, o); t != nil {
			c.tests[o] = t
		}
	case !c.spend(&c.values, len(o.Value)+len(o.ValueID), path+".value"):
		return nil
	}
	return t
}

// newTest compiles the operation of an operand for compileTest.
func (c *compiler) newTest(path string, o *policy.Operand) test {
	switch o.Operation {
	case policy.IsEmpty:
		return func(_ *evaluation, r *reading) bool { return r.isEmpty() }
	case policy.IsNotEmpty:
		return func(_ *evaluation, r *reading) bool { return !r.isEmpty() }
	case policy.IsDefined:
		return func(_ *evaluation, r *reading) bool { return r.isDefined }
	case policy.IsNotDefined:
		return func(_ *evaluation, r *reading) bool { return !r.isDefined }
	case policy.Equal, policy.NotEqual, policy.Contains, policy.NotContains:
		return c.compileEquality(path, o)
	case policy.GreaterThan, policy.GreaterThanOrEqual, policy.LessThan, policy.LessThanOrEqual:
		return c.compileOrder(path, o)
	case policy.CountEqual, policy.CountNotEqual, policy.CountLessThan, policy.CountLessThanOrEqual,
		policy.CountGreaterThan, policy.CountGreaterThanOrEqual, policy.CountBetween, policy.CountNotBetween:
		return c.compileCount(path, o)
	case "":
		c.report(path+".operation", "The operand has no operation.")
	default:
		c.report(path+".operation", "There is no operation %q.", o.Operation)
	}
	return nil
}

// checkValues reports the values of an operand that are missing, too many or too long, and returns whether there was
// nothing to report.
func (c *compiler) checkValues(path string, o *policy.Operand) bool {
	reported := c.reported
	if !c.spend(&c.values, len(o.Value)+len(o.ValueID), path+".value") {
		return false
	}
	if len(o.Value)+len(o.ValueID) == 0 {
		c.report(path+".value", "The operation %s needs a value.", o.Operation)
	}
	for _, list := range []struct {
		name   string
		values []string
	}{{"value", o.Value}, {"valueId", o.ValueID}} {
		if len(list.values) > policy.MaxOperandValues {
			c.report(path+"."+list.name, "An operand is compared with at most %d values; this one has %d.",
				policy.MaxOperandValues, len(list.values))
		}
		for i, v := range list.values {
			if utf8.RuneCountInString(v) > policy.MaxOperandLength {
				c.report(fmt.Sprintf("%s.%s[%d]", path, list.name, i), "The value is longer than %d characters.",
					policy.MaxOperandLength)
			}
		}
	}
	return c.reported == reported
}

// compileEquality compiles equal, contains and their opposites with given values.
func (c *compiler) compileEquality(path string, o *policy.Operand) test {
	if !c.checkValues(path, o) {
		return nil
	}
	values, ids := newTextSet(o.Value), newTextSet(o.ValueID)
	t := test(func(e *evaluation, r *reading) bool { return r.anyIn(values, ids) })
	if o.Operation == policy.Contains || o.Operation == policy.NotContains {
		parts := make([]string, 0, len(o.Value))
		for i, v := range o.Value {
			if v == "" {
				c.report(fmt.Sprintf("%s.value[%d]", path, i),
					"Every text contains the empty one; use isEmpty or equal.")
			}
			parts = append(parts, fold(v))
		}
		t = func(e *evaluation, r *reading) bool {
			return r.anyIn(values, ids) ||
				r.isOneText() && e.spend(r.size*len(parts)) && containsAny(r.folded(), parts)
		}
	}
	if o.Operation == policy.NotEqual || o.Operation == policy.NotContains {
		return t.not()
	}
	return t
}

// compileOrder compiles greaterThan and the like with given values.
func (c *compiler) compileOrder(path string, o *policy.Operand) test {
	if !c.checkValues(path, o) {
		return nil
	}
	if len(o.ValueID) > 0 {
		c.report(path+".valueId", "The operation %s compares values, not their IDs.", o.Operation)
		return nil
	}
	var given extremes
	for i, v := range o.Value {
		q := quantityOf(v)
		if q.kind == noQuantity {
			c.report(fmt.Sprintf("%s.value[%d]", path, i),
				"The operation %s compares numbers, dates and date-times; this is none of them.", o.Operation)
		}
		given.add(q)
	}
	wanted := comparisons[o.Operation]
	return func(_ *evaluation, r *reading) bool { return wanted.isMet(r, &given) }
}

// compileCount compiles the operations on the number of items of a collection. A collection that is missing has no
// items.
func (c *compiler) compileCount(path string, o *policy.Operand) test {
	if !c.checkValues(path, o) {
		return nil
	}
	if len(o.ValueID) > 0 {
		c.report(path+".valueId", "The operation %s compares values, not their IDs.", o.Operation)
		return nil
	}
	counts := make([]int, 0, len(o.Value))
	for i, v := range o.Value {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || len(v) > 9 {
			c.report(fmt.Sprintf("%s.value[%d]", path, i),
				"The value of a count is a whole number from 0 to 999999999.")
			return nil
		}
		counts = append(counts, n)
	}
	least, most := slices.Min(counts), slices.Max(counts)
	isMet := func(n int) bool { return slices.Contains(counts, n) }
	switch o.Operation {
	case policy.CountLessThan:
		isMet = func(n int) bool { return n < most }
	case policy.CountLessThanOrEqual:
		isMet = func(n int) bool { return n <= most }
	case policy.CountGreaterThan:
		isMet = func(n int) bool { return n > least }
	case policy.CountGreaterThanOrEqual:
		isMet = func(n int) bool { return n >= least }
	case policy.CountBetween, policy.CountNotBetween:
		if len(counts) != 2 || counts[0] > counts[1] {
			c.report(path+".value", "The operation %s needs two values, the lower one first.", o.Operation)
			return nil
		}
		isMet = func(n int) bool { return least <= n && n <= most }
	}
	t := test(func(_ *evaluation, r *reading) bool { return isMet(r.length()) })
	if o.Operation == policy.CountNotEqual || o.Operation == policy.CountNotBetween {
		return t.not()
	}
	return t
}

// pairTest is a compiled operation on the values of two fields.
type pairTest func(a, b *reading) bool

// compilePairTest compiles an operation on the values of two fields of the same data source.
func (c *compiler) compilePairTest(path string, o *policy.Operand) pairTest {
	if len(o.Value)+len(o.ValueID) > 0 {
		c.report(path+".valueField", "The operand has a value as well as a field to compare with.")
		return nil
	}
	switch o.Operation {
	case policy.Equal:
		return equalReadings
	case policy.NotEqual:
		return func(a, b *reading) bool { return !equalReadings(a, b) }
	case policy.Contains:
		return containsReading
	case policy.NotContains:
		return func(a, b *reading) bool { return !containsReading(a, b) }
	case policy.GreaterThan, policy.GreaterThanOrEqual, policy.LessThan, policy.LessThanOrEqual:
		wanted := comparisons[o.Operation]
		return func(a, b *reading) bool { return wanted.isMet(a, b.extremes()) }
	case "":
		c.report(path+".operation", "The operand has no operation.")
	default:
		c.report(path+".valueField", "The operation %q does not compare with a field.", o.Operation)
	}
	return nil
}

// equalReadings reports whether a and b have a value or an ID in common.
func equalReadings(a, b *reading) bool {
	values, ids := b.sets()
	return a.anyIn(values, ids)
}

// containsReading reports whether a and b have a value or an ID in common, or a is a text that contains a value of b.
func containsReading(a, b *reading) bool {
	if equalReadings(a, b) {
		return true
	}
	if !a.isOneText() {
		return false
	}
	texts := b.texts()
	for i := range texts {
		if texts[i].value != "" && strings.Contains(a.folded(), fold(texts[i].value)) {
			return true
		}
	}
	return false
}
