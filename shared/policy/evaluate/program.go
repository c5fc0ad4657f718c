package evaluate

import (
	"errors"

	"sluice/shared/access"
	"sluice/shared/policy"
)

// Program is a version of a policy that has been compiled. It does not change, so that any number of evaluations can
// use it at the same time.
type Program struct {
	entityType    string
	jurisdictions []jurisdiction
	// fields are the fields of the policy itself in the order of the result: by order, then by data key and ID.
	fields []*field
	// calculated are the fields with formulas, in the order of their dependencies. calculations is the largest number
	// of results.
	calculated   []*field
	calculations int
	// byKey are the fields of the policy and of its data groups by the index of their data key.
	byKey [][]*field
	// keys are the distinct data keys of all fields; other parts of the program refer to them by index.
	keys []string
	// maskings are the data keys that can be hidden, and for whom.
	maskings []masking
	// layers are the distinct access layers of all fields; other parts of the program refer to them by index. The first
	// are those that every caller has.
	layers []access.Layers
	// frames are the places for lookups of values. The first is the request.
	frames []frameLayout
	// memos is how many results of conditions are remembered within one evaluation.
	memos int
	// readsGivenItem reports whether a condition reads the item that the request gives.
	readsGivenItem bool
	// readsMateriality reports whether a condition reads the data source screeningMateriality.
	readsMateriality bool
}

// EntityType returns the type of the entities that the program is for.
func (p *Program) EntityType() string { return p.entityType }

// jurisdiction is a compiled jurisdiction.
type jurisdiction struct {
	EvaluatedJurisdiction
	shown shownIf
}

// field is a compiled field of the policy or of a data group. A data group that several fields refer to is compiled for
// each of them.
type field struct {
	source *policy.Field
	// template is the evaluated field as far as it is the same for all entities.
	template EvaluatedField
	// key is the index of the data key in the program.
	key int
	// layers is the index of the field's access layers in the program.
	layers int
	// own leads to the value of the field in the properties of the entity or of the item.
	own ref
	// position is that among the fields of the policy or of the data group.
	position int
	// parent is the field to whose data group this one belongs, nil for a field of the policy itself.
	parent *field
	// scope is where the operands of the field look values up.
	scope scope

	// work is the number of operands of the field, those inside any, all and none included: the work of asking its
	// conditions, in the units of maxWork.
	work   int
	filter fieldFilter
	shown  shownIf
	// group is nil for single values.
	group  *group
	values fieldValues
	rules  fieldRules
}

// group is the compiled data group of a collection or of a custom group.
type group struct {
	source *policy.DataGroup
	// isCollection means that the group has items, each with all fields.
	isCollection bool
	// frame is the index of the frame of the items.
	frame int
	// fields are in the order of the result. calculated are the fields with formulas, in the order of their
	// dependencies.
	fields, calculated []*field
}

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
