package evaluate

import "sluice/shared/policy"

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

// refOf returns the ref for what an operand compares.
func (c *compiler) refOf(path string, o *policy.Operand, in scope) (ref, bool) {
	switch {
	case o.FieldName == "" && o.DataSource == "" && in.kind != innerItem:
		c.report(path+".fieldName", "The operand names no field.")
	case len(o.FieldName) > maxNameLength:
		c.report(path+".fieldName", "The name of the field is longer than %d bytes.", maxNameLength)
		return ref{}, false
	case len(o.DataSource) > maxNameLength:
		c.report(path+".dataSource", "The name of the data source is longer than %d bytes.", maxNameLength)
		return ref{}, false
	}
	return c.refTo(o.DataSource, o.FieldName, in)
}

// compileQuantifier compiles any, all and none: operands inside on the items of a collection. A collection that is not
// there has no items.
func (c *compiler) compileQuantifier(path string, o *policy.Operand, in scope, depth int) (predicate, bool) {
	if len(o.Operands) == 0 {
		c.report(path+".operands", "The operation %s needs operands.", o.Operation)
		return nil, false
	}
	collection, readsItem := c.refOf(path, o, in)
	inner := c.newScope(innerItem)
	isMet, _ := c.combine(path, o.LogicalOperation, o.Operands, inner, depth+1)
	wanted, result := o.Operation != policy.All, o.Operation == policy.Any
	p := predicate(func(e *evaluation) bool {
		if e.isHidden(collection.keys) {
			return false
		}
		for _, item := range e.read(collection).items {
			e.enter(inner.frame, item)
			if isMet(e) == wanted {
				return result
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
	test := c.compileTest(path, o, in)
	if test == nil {
		return nil, false
	}
	if len(r.keys) == 0 {
		return func(e *evaluation) bool { return test(e, e.read(r)) }, readsItem
	}
	return func(e *evaluation) bool { return !e.isHidden(r.keys) && test(e, e.read(r)) }, readsItem
}

// test is what an operation asks of a value.
type test func(*evaluation, *reading) bool

// compileTest compiles the operation of an operand and what it compares with; nil if it cannot be compiled.
func (c *compiler) compileTest(path string, o *policy.Operand, in scope) test {
	switch o.Operation {
	case policy.IsEmpty:
		return func(_ *evaluation, r *reading) bool { return r.isEmpty() }
	case policy.IsNotEmpty:
		return func(_ *evaluation, r *reading) bool { return !r.isEmpty() }
	case policy.IsDefined:
		return func(_ *evaluation, r *reading) bool { return r.isDefined }
	case policy.IsNotDefined:
		return func(_ *evaluation, r *reading) bool { return !r.isDefined }
	case policy.Equal:
		return func(_ *evaluation, r *reading) bool {
			all := r.texts()
			for i := range all {
				for _, v := range o.Value {
					if all[i].hasValue && all[i].value == v {
						return true
					}
				}
			}
			return false
		}
	}
	c.report(path+".operation", "There is no operation %q.", o.Operation)
	return nil
}
