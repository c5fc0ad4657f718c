package main

import "testing"

// All engines give the same answers, and the cases do not only have one.
func TestEnginesAgree(t *testing.T) {
	entities := randomEntities()
	for _, c := range benchCases() {
		t.Run(c.name, func(t *testing.T) {
			compiled := make([]func(*entity) (bool, error), len(engines))
			for i, e := range engines {
				var err error
				if compiled[i], err = e.compile(c); err != nil {
					t.Fatal(err)
				}
			}
			met, err := checkAnswers(c, engines, compiled, entities)
			if err != nil {
				t.Fatal(err)
			}
			if isMissing := c.condition.Operands[0].FieldName == "nothing"; !isMissing &&
				(met == 0 || met == len(entities)) {
				t.Errorf("%d of %d entities meet the condition; want some", met, len(entities))
			}
		})
	}
}
