package evaluate

import (
	"unicode/utf8"

	"sluice/shared/policy"
)

// compileOperand compiles an operand, and reports whether it depends on the item of the scope.
func (c *compiler) compileOperand(path string, o *policy.Operand, in scope, depth int) (predicate, bool) {
	switch {
	case o.Operation == policy.Any || o.Operation == policy.All || o.Operation == policy.None:
		return c.compileQuantifier(path, o, in, depth)
	case len(o.Operands) > 0 && o.Operation != "":
		c.report(path+".operation",
			"An operand with operands has no operation, or any, all or none, not %q.", o.Operation)
		return nil, false
	case len(o.Operands) > 0:
		return c.combine(path, o.LogicalOperation, o.Operands, in, depth+1)
	}
	return c.compileComparison(path, o, in)
}

// refOf returns the ref for the value that an operand compares.
func (c *compiler) refOf(path string, o *policy.Operand, in scope) (ref, bool) {
	switch {
	case o.FieldName == "" && o.DataSource == "" && in.kind != innerItem:
		c.report(path+".fieldName", "The operand names no field.")
	case isLongName(o.FieldName):
		c.report(path+".fieldName", "The name of the field is longer than %d characters.", policy.MaxNameLength)
		return ref{}, false
	case isLongName(o.DataSource):
		c.report(path+".dataSource", "The name of the data source is longer than %d characters.",
			policy.MaxNameLength)
		return ref{}, false
	}
	return c.refTo(o.DataSource, o.FieldName, in)
}

func isLongName(name string) bool { return utf8.RuneCountInString(name) > policy.MaxNameLength }

// compileQuantifier compiles any, all and none: operands inside on the items of a collection. A collection that is not
// there has no items.
func (c *compiler) compileQuantifier(path string, o *policy.Operand, in scope, depth int) (predicate, bool) {
	if len(o.Operands) == 0 {
		c.report(path+".operands", "The operation %s needs operands.", o.Operation)
		return nil, false
	}
	collection, readsItem := c.refOf(path, o, in)
	inner := c.newScope(innerItem)
	inner.isFiltered = in.isFiltered && (o.DataSource == sourceProperties || o.DataSource == sourceCurrentItem)
	before := c.operands.used
	isMet, _ := c.combine(path, o.LogicalOperation, o.Operands, inner, depth+1)
	workPerItem := c.operands.used - before
	wanted, result := o.Operation != policy.All, o.Operation == policy.Any
	p := predicate(func(e *evaluation) bool {
		if e.hides(collection) {
			return false
		}
		for _, item := range e.read(collection).items {
			if e.setRoot(inner.frame, item); isMet(e) == wanted {
				return result
			}
			if !e.spend(workPerItem) {
				return false
			}
		}
		return !result
	})
	if !readsItem {
		p = c.remember(p)
	}
	return p, readsItem
}

// compileComparison compiles an operand that compares one value.
func (c *compiler) compileComparison(path string, o *policy.Operand, in scope) (predicate, bool) {
	r, readsItem := c.refOf(path, o, in)
	if o.ValueField != "" {
		return c.compilePair(path, o, r, in), readsItem
	}
	isMet := c.compileTest(path, o)
	if isMet == nil {
		return nil, false
	}
	return func(e *evaluation) bool {
		if e.hides(r) {
			return false
		}
		found := e.read(r)
		return (found.size <= fewTexts || e.spend(found.size)) && isMet(e, found)
	}, readsItem
}

// compilePair compiles an operand that compares the values of two fields.
func (c *compiler) compilePair(path string, o *policy.Operand, a ref, in scope) predicate {
	if isLongName(o.ValueField) {
		c.report(path+".valueField", "The name of the field is longer than %d characters.", policy.MaxNameLength)
		return nil
	}
	b, _ := c.refTo(o.DataSource, o.ValueField, in)
	isMet := c.compilePairTest(path, o)
	if isMet == nil {
		return nil
	}
	return func(e *evaluation) bool {
		if e.hides(a) || e.hides(b) {
			return false
		}
		left, right := e.read(a), e.read(b)
		work := left.size + right.size
		if left.isOneText() {
			work += left.size * right.count
		}
		return e.spend(work) && isMet(left, right)
	}
}
