package evaluate

import (
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
