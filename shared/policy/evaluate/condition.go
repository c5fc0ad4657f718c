package evaluate

import (
	"fmt"

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
