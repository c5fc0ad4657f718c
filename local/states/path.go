package states

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// referencePath is a reference path: $, $.a.b, $['a'][0], or the same with $$ for the context object. Filters,
// wildcards, slices and intrinsic functions are not supported.
type referencePath struct {
	text            string
	inContextObject bool
	// steps has a string for each field and an int for each index.
	steps []any
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
	unsupported := fmt.Errorf("has the path %q, but the local cloud supports only fields and indexes", text)
	for rest != "" {
		var step any
		switch {
		case strings.HasPrefix(rest, "['"):
			name, after, ok := strings.Cut(rest[2:], "']")
			if !ok || name == "" {
				return p, unsupported
			}
			step, rest = name, after
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.Atoi(digits)
			if !ok || err != nil || n < 0 {
				return p, unsupported
			}
			step, rest = n, after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			name := rest[1:end]
			if name == "" || strings.ContainsAny(name, "*?@()'\" ]") {
				return p, unsupported
			}
			step, rest = name, rest[end:]
		default:
			return p, unsupported
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}

// lookup returns the value at the path in the input or in the context object, and whether it exists.
func (p referencePath) lookup(input, context any) (any, bool) {
	v := input
	if p.inContextObject {
		v = context
	}
	for _, step := range p.steps {
		switch step := step.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = m[step]; !ok {
				return nil, false
			}
		case int:
			list, ok := v.([]any)
			if !ok || step >= len(list) {
				return nil, false
			}
			v = list[step]
		}
	}
	return v, true
}

// replace returns a copy of the input with the value at the path. Missing objects are created. It returns false if the
// path leads through something that is not an object.
func (p referencePath) replace(input, value any) (any, bool) {
	return replaceAt(input, p.steps, value)
}

// replaceAt implements replace for the remaining steps of a path.
func replaceAt(into any, steps []any, value any) (any, bool) {
	if len(steps) == 0 {
		return value, true
	}
	name, ok := steps[0].(string)
	if !ok {
		return nil, false
	}
	old, ok := into.(map[string]any)
	if !ok && into != nil {
		return nil, false
	}
	out := make(map[string]any, len(old)+1)
	for k, v := range old {
		out[k] = v
	}
	inner, ok := replaceAt(out[name], steps[1:], value)
	out[name] = inner
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

// selectFrom returns the part of a value that InputPath or OutputPath selects: everything if the field is absent, an
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
