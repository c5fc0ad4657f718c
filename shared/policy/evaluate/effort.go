package evaluate

import "errors"

// ErrTooMuchWork means that the request has so many items and values, and the policy so many conditions, formulas and
// patterns for each of them, that an evaluation would take several seconds.
var ErrTooMuchWork = errors.New("evaluate: the policy has too many conditions for the items and values of the request")

const (
	// maxWork is how much work an evaluation does at most, in units of about 100 ns: a field, an item, a comparison.
	maxWork = 50_000_000
	// workPerCheck is after how much work it is asked whether the context has ended.
	workPerCheck = 4096
	// bytesPerWork is how many bytes of texts are compared, folded or searched in one unit.
	bytesPerWork = 64
	// patternStepsPerWork is how many steps of a pattern a byte of a text takes in one unit.
	patternStepsPerWork = 8
)

// effort counts the work of one evaluation.
type effort struct {
	work, most, nextCheck int
	// err is why the evaluation has to end.
	err error
}

// spend counts work, and reports whether the evaluation should go on. If not, whatever it returns means nothing, and
// interrupted tells why.
func (e *evaluation) spend(work int) bool {
	if e.work += work; e.work >= e.nextCheck && e.err == nil {
		e.nextCheck = e.work + workPerCheck
		if e.err = e.ctx.Err(); e.err == nil && e.work > e.most {
			e.err = ErrTooMuchWork
		}
	}
	return e.err == nil
}

// interrupted returns ErrTooMuchWork or the error of the context if the evaluation has to end.
func (e *evaluation) interrupted() error {
	if e.err == nil {
		e.err = e.ctx.Err()
	}
	return e.err
}
