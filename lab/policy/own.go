package main

import "sluice/shared/policy/evaluate"

// ownEngine is the engine of this project: operands compiled to closures.
type ownEngine struct{}

func (ownEngine) name() string { return "sluice" }

func (ownEngine) explain() string { return "the closures of shared/policy/evaluate" }

func (ownEngine) compile(c benchCase) (func(*entity) (bool, error), error) {
	compiled, err := evaluate.CompileCondition(c.condition)
	if err != nil {
		return nil, err
	}
	return func(e *entity) (bool, error) {
		compiled.SetEntity(e.properties)
		return compiled.IsMet(), nil
	}, nil
}

// warmEngine is the same where the values of an entity have been looked up before, for other conditions of a policy.
type warmEngine struct{}

func (warmEngine) name() string { return "again" }

func (warmEngine) explain() string {
	return "the same, when other conditions have looked the values up before"
}

func (warmEngine) compile(c benchCase) (func(*entity) (bool, error), error) {
	// There is one for each entity; the first is compiled now, so that compiling takes its time.
	first, err := evaluate.CompileCondition(c.condition)
	if err != nil {
		return nil, err
	}
	compiled := make([]*evaluate.SingleCondition, entityCount)
	return func(e *entity) (bool, error) {
		own := compiled[e.index]
		if own == nil {
			if own, first = first, nil; own == nil {
				if own, err = evaluate.CompileCondition(c.condition); err != nil {
					return false, err
				}
			}
			own.SetEntity(e.properties)
			compiled[e.index] = own
		}
		return own.IsMet(), nil
	}, nil
}
