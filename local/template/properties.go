package template

import (
	"fmt"
	"strconv"
)

// properties reads resolved properties and keeps the first thing that is wrong with them.
type properties struct {
	values map[string]any
	*firstError
}

// firstError is shared by a resource's properties and all that lies in them.
type firstError struct{ err error }

func newProperties(v any) *properties {
	values, _ := v.(map[string]any)
	return &properties{values: values, firstError: &firstError{}}
}

func (p *properties) addError(name, form string) {
	if p.err == nil {
		p.err = fmt.Errorf("has a %s that is no %s", name, form)
	}
}

func (p *properties) text(name string) string {
	switch v := p.values[name].(type) {
	case nil:
		return ""
	case map[string]any, []any:
		p.addError(name, "text")
		return ""
	default:
		return scalarText(v)
	}
}

func (p *properties) requiredText(name string) string {
	s := p.text(name)
	if s == "" && p.err == nil {
		p.err = fmt.Errorf("has no %s", name)
	}
	return s
}

func (p *properties) number(name string, otherwise int) int {
	s := p.text(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		p.addError(name, "number of 0 or more")
	}
	return n
}

func (p *properties) object(name string) *properties {
	v, ok := p.values[name].(map[string]any)
	if !ok && p.values[name] != nil {
		p.addError(name, "mapping")
	}
	return &properties{values: v, firstError: p.firstError}
}

func (p *properties) list(name string) []any {
	v, ok := p.values[name].([]any)
	if !ok && p.values[name] != nil {
		p.addError(name, "list")
	}
	return v
}

// textList is a list of texts; a single text counts as a list of one.
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
