package evaluate

import (
	"context"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
)

// SingleCondition is one condition, compiled without a policy around it. The benchmark compares it with other engines.
// It reuses its memory, so it is not safe for concurrent use.
type SingleCondition struct {
	isMet      predicate
	evaluation *evaluation
}

// CompileCondition compiles one condition on the properties of an entity. The error is of type Problems.
func CompileCondition(source policy.Condition) (*SingleCondition, error) {
	c := newCompiler(policy.Contents{})
	compiled := c.compileCondition("condition", &source, requestScope)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return &SingleCondition{compiled.predicate, newEvaluation(context.Background(), c.program, &Request{})}, nil
}

// SetEntity sets the properties of the entity. None of them is hidden.
func (c *SingleCondition) SetEntity(properties property.Split) {
	e := c.evaluation
	e.request.Properties = properties
	e.setRoot(0, node{})
	clear(e.memos)
}

// IsMet reports whether the entity meets the condition. Values are looked up the first time, and remembered until there
// is another entity, as in the evaluation of a policy.
func (c *SingleCondition) IsMet() bool { return c.isMet(c.evaluation) }
