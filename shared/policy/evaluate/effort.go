package evaluate

import "errors"

// ErrTooMuchWork means that an evaluation was given up because it would take several seconds: the request has too many
// items and values for the conditions, formulas and patterns that the policy has for each of them.
var ErrTooMuchWork = errors.New("evaluate: the policy has too many conditions for the items and values of the request")

const (
	// maxWork is the most work that one evaluation may do, about 5 s. A unit of work takes about 100 ns: a field, an
	// item or a comparison.
	maxWork = 50_000_000
	// workPerCheck is the work between two checks whether the context has ended.
	workPerCheck = 4096
	// bytesPerWork is the number of bytes of text that are compared, folded or searched in one unit of work.
	bytesPerWork = 64
	// patternStepsPerWork is the number of steps of a regular expression that are matched with one byte in one unit.
	patternStepsPerWork = 8
)

// effort counts the work of one evaluation and ends it when it has done too much.
type effort struct {
	// work is the work done so far, limit the most work allowed, and nextCheck the work at which the limit and the
	// context are checked again.
	work, limit, nextCheck int
	// err is the reason why the evaluation has to end, nil as long as it goes on.
	err error
}

// spend counts work and reports whether the evaluation goes on. If it does not, its callers may return anything,
// because Evaluate returns the error of interrupted instead of a result.
func (e *evaluation) spend(work int) bool {
	if e.work += work; e.work >= e.nextCheck && e.err == nil {
		e.nextCheck = e.work + workPerCheck
		if e.err = e.ctx.Err(); e.err == nil && e.work > e.limit {
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

// Limits of a version as a whole. They are far beyond what policies need. Programs of many tenants are in the memory of
// one function, so no version may fill it.
const (
	// maxOperands is the largest number of operands of a version.
	maxOperands = 10_000
	// maxConditions is the largest number of conditions, including conditional values and dynamic rules.
	maxConditions = 20_000
	// maxAllValues is the largest number of values of all operands together.
	maxAllValues = 200_000
	// maxNodes is the largest number of operations, numbers and fields in all formulas.
	maxNodes = 100_000
	// maxPatterns is the largest total size of its regular expressions. Equal ones count once.
	maxPatterns = 500_000
)

// budget counts things of one kind in a version, such as operands, against their limit. Those of a data group count
// once for each field that refers to the group.
type budget struct {
	// what is the plural name of the counted things.
	what        string
	limit, used int
}

// isSpent reports whether the version has more than it may have, which has been reported.
func (b *budget) isSpent() bool { return b.used > b.limit }

// spend counts n more things at a path of the field, and returns whether the version may have them. The first time that
// it may not, spend reports a problem.
func (c *compiler) spend(b *budget, n int, path string) bool {
	if b.isSpent() {
		return false
	}
	if b.used += n; b.used <= b.limit {
		return true
	}
	c.report(path, "A version has at most %d %s, including its data groups, once for each field that refers "+
		"to the group.", b.limit, b.what)
	return false
}
