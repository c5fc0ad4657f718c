package evaluate

import (
	"fmt"
	"unicode/utf8"

	"sluice/shared/policy"
)

// predicate is a compiled condition or operand.
type predicate func(*evaluation) bool

// condition is a compiled condition with its ID, which a request with Explain asks for.
type condition struct {
	id string
	predicate
}

// shownIf decides whether a field or jurisdiction is shown: if one of the conditions is met, or if there are none.
type shownIf struct {
	conditions []condition
}

// decide reports whether it is shown and, if so, the condition that decided it, nil if there are none.
func (s *shownIf) decide(e *evaluation) (bool, *condition) {
	for i := range s.conditions {
		if s.conditions[i].predicate(e) {
			return true, &s.conditions[i]
		}
	}
	return len(s.conditions) == 0, nil
}

// compileShown compiles conditions at a path of the field.
func (c *compiler) compileShown(path string, conditions []policy.Condition, in scope) shownIf {
	var out shownIf
	if !c.spend(&c.conditions, len(conditions), path) {
		return out
	}
	for i := range conditions {
		out.conditions = append(out.conditions, c.compileCondition(fmt.Sprintf("%s[%d]", path, i), &conditions[i], in))
	}
	return out
}

// compileCondition compiles one condition at a path of the field.
func (c *compiler) compileCondition(path string, source *policy.Condition, in scope) condition {
	isMet, readsItem := c.combine(path, source.LogicalOperation, source.Operands, in, 1)
	if in.isItem() && !readsItem {
		isMet = c.remember(isMet)
	}
	return condition{source.ID, isMet}
}

// remember returns the predicate with its result remembered within one evaluation. It must not depend on an item.
func (c *compiler) remember(p predicate) predicate {
	i := c.program.memos
	c.program.memos++
	return func(e *evaluation) bool {
		if e.memos[i] == unknown {
			e.memos[i] = notMet
			if p(e) {
				e.memos[i] = met
			}
		}
		return e.memos[i] == met
	}
}

// memo is a result that is remembered within one evaluation.
type memo byte

const (
	unknown memo = iota
	met
	notMet
)

// combine compiles operands that a logical operation combines; without operands it is met. It reports whether the
// result depends on the item of the scope.
func (c *compiler) combine(
	path string, by policy.Logical, operands []policy.Operand, in scope, depth int,
) (isMet predicate, readsItem bool) {
	if by != policy.And && by != policy.Or && by != "" {
		c.report(path+".logicalOperation", "The logical operation is AND or OR, not %q.", by)
	}
	if depth > policy.MaxOperandDepth {
		c.report(path+".operands", "Operands are nested at most %d deep.", policy.MaxOperandDepth)
		return nil, false
	}
	all := make([]predicate, 0, len(operands))
	for i := range operands {
		if !c.spend(&c.operands, 1, path+".operands") {
			break
		}
		p, reads := c.compileOperand(fmt.Sprintf("%s.operands[%d]", path, i), &operands[i], in, depth)
		all, readsItem = append(all, p), readsItem || reads
	}
	return join(all, by), readsItem
}

// join returns a predicate that is met if all of the predicates are or, by OR, one of them is.
func join(all []predicate, by policy.Logical) predicate {
	switch {
	case len(all) == 0:
		return func(*evaluation) bool { return true }
	case len(all) == 1:
		return all[0]
	case by == policy.Or:
		return func(e *evaluation) bool {
			for _, p := range all {
				if p(e) {
					return true
				}
			}
			return false
		}
	default:
		return func(e *evaluation) bool {
			for _, p := range all {
				if !p(e) {
					return false
				}
			}
			return true
		}
	}
}

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
