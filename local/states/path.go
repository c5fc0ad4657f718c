package states

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// referencePath is a reference path that consists of fields: $, $.a.b, or the same with $$ for the context object.
// Indexes, filters, wildcards, slices and intrinsic functions are not supported.
type referencePath struct {
	text            string
	inContextObject bool
	fields          []string
}

// parsePath reads a path. Its errors continue a sentence that begins with the state.
func parsePath(text string) (referencePath, error) {
	p := referencePath{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		if name, _, call := strings.Cut(text, "("); call && strings.HasPrefix(name, "States.") {
			return p, fmt.Errorf("uses the intrinsic function %s, which the local cloud does not support", name)
		}
		return p, fmt.Errorf("has the path %q, which does not begin with $", text)
	}
	if after, ok := strings.CutPrefix(rest, "$"); ok {
		p.inContextObject, rest = true, after
	}
	if rest == "" {
		return p, nil
	}
	rest, ok = strings.CutPrefix(rest, ".")
	p.fields = strings.Split(rest, ".")
	if !ok || slices.Contains(p.fields, "") || strings.ContainsAny(rest, "*?@()[]'\" ") {
		return p, fmt.Errorf("has the path %q, but the local cloud supports only fields", text)
	}
	return p, nil
}

// lookup returns the value at the path in the input or in the context object, and whether it exists.
func (p referencePath) lookup(input, context any) (any, bool) {
	v := input
	if p.inContextObject {
		v = context
	}
	for _, field := range p.fields {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[field]; !ok {
			return nil, false
		}
	}
	return v, true
}

// replace returns a copy of the input with the value at the path. Missing objects are created. It returns false if the
// path leads through something that is not an object.
func (p referencePath) replace(input, value any) (any, bool) {
	return replaceAt(input, p.fields, value)
}

// replaceAt implements replace for the remaining fields of a path.
func replaceAt(into any, fields []string, value any) (any, bool) {
	if len(fields) == 0 {
		return value, true
	}
	old, ok := into.(map[string]any)
	if !ok && into != nil {
		return nil, false
	}
	out := make(map[string]any, len(old)+1)
	maps.Copy(out, old)
	inner, ok := replaceAt(out[fields[0]], fields[1:], value)
	out[fields[0]] = inner
	return out, ok
}

// optionalPath is a field that holds a path: it can be absent, null, or a path.
type optionalPath struct {
	referencePath
	isSet, isNull bool
}

// UnmarshalJSON reads the field. Its errors continue a sentence that begins with the state.
func (o *optionalPath) UnmarshalJSON(text []byte) error {
	o.isSet = true
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("has a path that is not a string")
	}
	if o.isNull = s == nil; o.isNull {
		return nil
	}
	var err error
	o.referencePath, err = parsePath(*s)
	return err
}

// selectFrom returns the part of a value that ItemsPath or OutputPath selects: everything if the field is absent, an
// empty object if it is null.
func (o optionalPath) selectFrom(v, contextObject any, field string) (any, *Failure) {
	switch {
	case !o.isSet:
		return v, nil
	case o.isNull:
		return map[string]any{}, nil
	}
	got, ok := o.lookup(v, contextObject)
	if !ok {
		return nil, newFailure("States.Runtime", "The %s %s does not exist.", field, o.text)
	}
	return got, nil
}

// insertInto places a result in the input as ResultPath says. Without the field the result replaces the input; null
// discards it.
func (o optionalPath) insertInto(input, result any) (any, *Failure) {
	switch {
	case !o.isSet:
		return result, nil
	case o.isNull:
		return input, nil
	}
	out, ok := o.referencePath.replace(input, result)
	if !ok || o.inContextObject {
		return nil, newFailure("States.ResultPathMatchFailure", "The ResultPath %s cannot be applied to the input.",
			o.text)
	}
	return out, nil
}
