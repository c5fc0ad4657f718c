package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/shared/access"
	"sluice/shared/policy"
)

// Compile turns the contents of a version into a program. The error, if there is one, is of type Problems. The contents
// must not change as long as the program is used.
func Compile(c policy.Contents) (*Program, error) {
	co := newCompiler(c)
	co.compileJurisdictions(c.Jurisdictions)
	co.program.fields = co.compileFields(c.Fields, nil, requestScope)
	co.program.calculated = co.orderCalculations(co.program.fields)
	if len(co.problems) > 0 {
		return nil, co.problems
	}
	return co.program, nil
}

// compiler collects what becomes a program, and the problems on the way.
type compiler struct {
	program  *Program
	problems Problems
	// reported counts the problems, those included that problems has no room for.
	reported int
	// place is where the problems that are found at the moment are, but for their paths.
	place Problem

	groups map[string]*policy.DataGroup
	// jurisdictions are the IDs of the version's jurisdictions, in lower case.
	jurisdictions map[string]bool
	// keys, layers and reads are indices of existing parts of the program.
	keys   map[string]int
	layers map[string]int
	reads  map[readKey]int
	// maskable are the data keys that can be hidden.
	maskable map[int]bool
	// slots are the places of calculated values, and groupKeys the data keys of data groups.
	slots     map[slotKey]int
	groupKeys map[*policy.DataGroup]map[string]bool
	// patterns are the checks of regular expressions, and patternSize is their size.
	patterns    map[patternKey]ruleCheck
	patternSize int
	// tests are the tests of compiled operands.
	tests map[*policy.Operand]test
	// fields counts the fields that have been compiled; the budgets count other things.
	fields                                 int
	operands, conditions, values, formulas budget
}

func newCompiler(c policy.Contents) *compiler {
	co := &compiler{
		program: &Program{entityType: c.EntityType, frames: make([]frameLayout, 1)},
		groups:  map[string]*policy.DataGroup{}, jurisdictions: map[string]bool{}, keys: map[string]int{},
		layers: map[string]int{},
		reads:  map[readKey]int{}, maskable: map[int]bool{}, slots: map[slotKey]int{},
		patterns: map[patternKey]ruleCheck{}, tests: map[*policy.Operand]test{},
		groupKeys:  map[*policy.DataGroup]map[string]bool{},
		operands:   budget{what: "operands", limit: maxOperands},
		conditions: budget{what: "conditions", limit: maxConditions},
		values:     budget{what: "values of operands", limit: maxAllValues},
		formulas:   budget{what: "operations, numbers and fields in formulas", limit: maxNodes},
	}
	co.layerIndex(nil) // the first are those that every caller has
	for i := range c.DataGroups {
		co.groups[c.DataGroups[i].ID] = &c.DataGroups[i]
	}
	for i := range c.Jurisdictions {
		co.jurisdictions[strings.ToLower(c.Jurisdictions[i].ID)] = true
	}
	co.findMaskings(c)
	return co
}

// report adds a problem at a path of the field or jurisdiction that is compiled at the moment. Of a message that quotes
// something long, it keeps the beginning: all problems must fit into one reply.
func (c *compiler) report(path, format string, args ...any) {
	if c.reported++; len(c.problems) < maxProblems {
		p := c.place
		p.Path, p.Message = path, shortened(fmt.Sprintf(format, args...))
		c.problems = append(c.problems, p)
	}
}

// keyIndex returns the index of a data key, which it adds if it is new.
func (c *compiler) keyIndex(key string) int {
	i, ok := c.keys[key]
	if !ok {
		i = len(c.program.keys)
		c.program.keys = append(c.program.keys, key)
		c.program.byKey = append(c.program.byKey, nil)
		c.keys[key] = i
	}
	return i
}

// layerIndex returns the index of access layers, which it adds if they are new. Nil are those that every caller has.
func (c *compiler) layerIndex(l *policy.AccessLayers) int {
	layers := access.Layers{}.OrDefault()
	if l != nil {
		layers = access.Layers{Geographic: l.Geographic, BusinessRelated: l.BusinessRelated}.OrDefault()
	}
	name := fmt.Sprintf("%q %q", layers.Geographic, layers.BusinessRelated)
	i, ok := c.layers[name]
	if !ok {
		i = len(c.program.layers)
		c.program.layers = append(c.program.layers, layers)
		c.layers[name] = i
	}
	return i
}

func (c *compiler) compileJurisdictions(all []policy.Jurisdiction) {
	if len(all) > policy.MaxJurisdictions {
		c.report("jurisdictions", "A version has at most %d jurisdictions; this one has %d.",
			policy.MaxJurisdictions, len(all))
		return
	}
	for _, j := range all {
		c.place = Problem{JurisdictionID: j.ID}
		c.program.jurisdictions = append(c.program.jurisdictions, jurisdiction{
			EvaluatedJurisdiction{j.ID, j.Name}, c.compileShown("conditions", j.Conditions, requestScope),
		})
	}
	c.place = Problem{}
	slices.SortStableFunc(c.program.jurisdictions, func(a, b jurisdiction) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
}

// compileFields compiles the fields of the policy or, if there is a parent, of its data group, and returns them in the
// order of the result.
func (c *compiler) compileFields(fields []policy.Field, parent *field, in scope) []*field {
	out := make([]*field, 0, len(fields))
	for i := range fields {
		if c.fields++; c.fields > policy.MaxFields {
			if c.fields == policy.MaxFields+1 {
				c.report("fields", "A version has at most %d fields, including its data groups, once for "+
					"each field that refers to the group.", policy.MaxFields)
			}
			return out
		}
		out = append(out, c.compileField(&fields[i], parent, in))
	}
	slices.SortStableFunc(out, func(a, b *field) int {
		return cmp.Or(cmp.Compare(a.source.Order, b.source.Order), strings.Compare(a.source.DataKey, b.source.DataKey),
			strings.Compare(a.source.ID, b.source.ID))
	})
	for i, f := range out {
		f.position = i
	}
	return out
}

func (c *compiler) compileField(source *policy.Field, parent *field, in scope) *field {
	outside := c.place
	defer func() { c.place = outside }()
	c.place = Problem{FieldID: source.ID, DataKey: source.DataKey}
	f := &field{source: source, parent: parent, scope: in, key: c.keyIndex(source.DataKey)}
	if parent != nil {
		c.place.DataGroupID = parent.group.source.ID
	}
	c.program.byKey[f.key] = append(c.program.byKey[f.key], f)
	f.layers = c.layerIndex(source.AccessLayers)
	f.own = c.ownRef(f)
	f.template = newTemplate(f)
	f.filter = newFieldFilter(source)
	c.checkJurisdictions(f)
	before := c.operands.used
	f.shown = c.compileShown("conditions", source.Conditions, in)
	c.compileValues(f)
	c.compileRules(f)
	f.work = c.operands.used - before
	c.compileGroup(f)
	return f
}

// checkJurisdictions reports the jurisdictions of a field of the policy that the version does not have: nobody could
// ask for them, so the field would be left out without a word. Data groups are shared by policies, and their fields may
// have jurisdictions of others.
func (c *compiler) checkJurisdictions(f *field) {
	if f.parent != nil {
		return
	}
	for i, id := range f.filter.jurisdictions {
		if !c.jurisdictions[id] {
			c.report(fmt.Sprintf("jurisdictionIds[%d]", i), "The policy has no jurisdiction %q.", id)
		}
	}
}

// compileGroup compiles the data group of a collection or of a custom group.
func (c *compiler) compileGroup(f *field) {
	if !f.source.HasDataGroup() {
		return
	}
	isCollection := f.source.FieldType == policy.TypeCollection
	source, ok := c.groups[f.source.FieldTypeID]
	switch {
	case !ok:
		c.report("fieldTypeId", "The field refers to the data group %q, which has no published version.",
			f.source.FieldTypeID)
		return
	case isCollection && f.parent != nil, f.parent != nil && f.parent.group.isCollection:
		c.report("fieldType", "The items of a collection have single values only, and a collection is a field of the "+
			"policy itself.")
		return
	case f.depth() >= policy.MaxNesting:
		c.report("fieldType", "Custom groups are nested at most %d deep.", policy.MaxNesting)
		return
	}
	f.group = &group{source: source, isCollection: isCollection}
	in := f.scope
	if isCollection {
		in = c.newScope(groupItem)
		f.group.frame = in.frame
	}
	f.group.fields = c.compileFields(source.Fields, f, in)
	f.group.calculated = c.orderCalculations(f.group.fields)
}

// depth returns how many data groups the field is in.
func (f *field) depth() int {
	n := 0
	for p := f.parent; p != nil; p = p.parent {
		n++
	}
	return n
}
