package template

import (
	"fmt"
	"strconv"
)

// properties provides access to resolved properties. The first error is kept and returned at the end.
type properties struct {
	values map[string]any
	*firstError
}

// firstError is shared by the properties of a resource and everything nested in them.
type firstError struct{ err error }

// newProperties returns the properties in v, which are empty if v is not a mapping.
func newProperties(v any) *properties {
	values, _ := v.(map[string]any)
	return &properties{values: values, firstError: &firstError{}}
}

// addError reports that a property does not have the required form.
func (p *properties) addError(name, form string) {
	if p.err == nil {
		p.err = fmt.Errorf("has a %s that is not a %s", name, form)
	}
}

// text returns a property as a string, and "" if it is absent.
func (p *properties) text(name string) string {
	switch v := p.values[name].(type) {
	case nil:
		return ""
	case map[string]any, []any:
		p.addError(name, "string")
		return ""
	default:
		return scalarText(v)
	}
}

// requiredText is text for a property that must not be empty.
func (p *properties) requiredText(name string) string {
	s := p.text(name)
	if s == "" && p.err == nil {
		p.err = fmt.Errorf("has no %s", name)
	}
	return s
}

// number returns a property as a number, and defaultValue if it is absent.
func (p *properties) number(name string, defaultValue int) int {
	s := p.text(name)
	if s == "" {
		return defaultValue
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		p.addError(name, "number of 0 or more")
	}
	return n
}

// object returns the properties nested in a property.
func (p *properties) object(name string) *properties {
	v, ok := p.values[name].(map[string]any)
	if !ok && p.values[name] != nil {
		p.addError(name, "mapping")
	}
	return &properties{values: v, firstError: p.firstError}
}

// list returns a property that is a list, and nil if it is absent.
func (p *properties) list(name string) []any {
	v, ok := p.values[name].([]any)
	if !ok && p.values[name] != nil {
		p.addError(name, "list")
	}
	return v
}

// textList returns a property that is a list of strings. A single string counts as a list of one.
func (p *properties) textList(name string) []string {
	if s, ok := p.values[name].(string); ok {
		return []string{s}
	}
	var out []string
	for _, v := range p.list(name) {
		out = append(out, scalarText(v))
	}
	return out
}
