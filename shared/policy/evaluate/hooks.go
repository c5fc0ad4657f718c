package evaluate

// The hooks for values and rules.

// fieldValues are the compiled values of a field: its conditional values and its formula.
type fieldValues struct{}

// compileValues compiles the conditional values and the formula of a field.
func (c *compiler) compileValues(f *field) {}

// evaluateValues sets the values of an evaluated field, and returns the IDs of the conditions that decided them.
func (e *evaluation) evaluateValues(f *field, out *GroupField) []string { return nil }

// fieldRules are the compiled rules of a field.
type fieldRules struct{}

// compileRules compiles the validation rules of a field.
func (c *compiler) compileRules(f *field) {}

// resolvedRules are the rules of a field as they are for this entity.
type resolvedRules struct {
	// validationData are the rules by their names. It is shared: nobody changes it.
	validationData map[string]ResolvedRule
	isRequired     bool
	isReadOnly     bool
	// decidedBy are the IDs of the conditions of dynamic rules that decided.
	decidedBy []string
}

// noRules are those of a field that has none.
var noRules = &resolvedRules{validationData: map[string]ResolvedRule{}}

// resolveRules decides between the static and the dynamic rules of a field. The result can be shared: nobody changes
// it.
func (e *evaluation) resolveRules(f *field) *resolvedRules { return noRules }

// validate holds the value of a field against its rules. It is called only if errors are asked for.
func (e *evaluation) validate(f *field, rules *resolvedRules) []ValidationError { return nil }
