package policy

import (
	"fmt"
	"slices"
	"strings"
)

// condition is one key of one operator. All conditions of a statement must hold.
type condition struct {
	key     string // in lower case
	values  []string
	same    func(value, own string) bool
	not     bool // no value may be the same
	absence bool // what a request without the key gets
	all     bool // ForAllValues: every value of the request must do, which is so where there are none
}

func like(value, own string) bool  { return Matches(value, own) }
func equal(value, own string) bool { return value == own }

// operators are those with a positive sense; "Not" after the type turns them round.
var operators = map[string]func(value, own string) bool{
	"StringEquals": equal, "StringEqualsIgnoreCase": strings.EqualFold, "StringLike": like,
	"ArnEquals": like, "ArnLike": like, "Bool": strings.EqualFold,
}

func conditions(v any) ([]condition, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is no mapping")
	}
	var out []condition
	for operator, keys := range m {
		named, ok := keys.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("is no mapping of mappings")
		}
		for key, values := range named {
			c, err := operation(operator)
			if err != nil {
				return nil, err
			}
			c.key = strings.ToLower(key)
			if c.values, err = texts(values); err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func operation(name string) (condition, error) {
	var c condition
	bare, all := strings.CutPrefix(name, "ForAllValues:")
	bare, anyone := strings.CutPrefix(bare, "ForAnyValue:")
	bare, exists := strings.CutSuffix(bare, "IfExists")
	positive := strings.Replace(bare, "Not", "", 1)
	c.same, c.not = operators[positive], positive != bare
	if c.same == nil || all && anyone || bare == "NotBool" || bare == "BoolNot" {
		return c, fmt.Errorf("has the operator %s, which is not known here", name)
	}
	c.all = all
	c.absence = all || exists || c.not && !anyone
	return c, nil
}

func (c condition) holds(r Request) bool {
	var own []string
	if r.Value != nil {
		own = r.Value(c.key)
	}
	if len(own) == 0 {
		return c.absence
	}
	fits := func(own string) bool {
		return slices.ContainsFunc(c.values, func(value string) bool { return c.same(value, own) }) != c.not
	}
	if c.all {
		return !slices.ContainsFunc(own, func(s string) bool { return !fits(s) })
	}
	return slices.ContainsFunc(own, fits)
}
