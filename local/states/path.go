package states

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// referencePath is a reference path: $, $.a.b, $['a'][0], or the same after $$ for the context object. Filters, wildcards, slices and
// intrinsic functions are not known.
type referencePath struct {
	text            string
	inContextObject bool
	steps           []any // string for a field, int for an index
}

func parsePath(text string) (referencePath, error) {
	p := referencePath{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		if name, _, call := strings.Cut(text, "("); call && strings.HasPrefix(name, "States.") {
			return p, fmt.Errorf("uses the intrinsic function %s, which the local cloud does not know", name)
		}
		return p, fmt.Errorf("has the path %q, which does not begin with $", text)
	}
	if after, ok := strings.CutPrefix(rest, "$"); ok {
		p.inContextObject, rest = true, after
	}
	wrong := fmt.Errorf("has the path %q, of which the local cloud understands no more than fields and indexes", text)
	for rest != "" {
		var step any
		switch {
		case strings.HasPrefix(rest, "['"):
			name, after, ok := strings.Cut(rest[2:], "']")
			if !ok || name == "" {
				return p, wrong
			}
			step, rest = name, after
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.Atoi(digits)
			if !ok || err != nil || n < 0 {
				return p, wrong
			}
			step, rest = n, after
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			name := rest[1:end]
			if name == "" || strings.ContainsAny(name, "*?@()'\" ]") {
				return p, wrong
			}
			step, rest = name, rest[end:]
		default:
			return p, wrong
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}

// lookup returns the value at the path of the input, or of the context object.
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

// replace returns the input with the value at the path. The input itself is not changed. Missing objects are made; anything
// that is no object on the way is an error.
func (p referencePath) replace(input, value any) (any, bool) {
	return replaceAt(input, p.steps, value)
}

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

// optionalPath is a path field: absent, null, or a path.
type optionalPath struct {
	referencePath
	isSet, isNull bool
}

func (o *optionalPath) UnmarshalJSON(text []byte) error {
	o.isSet = true
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("has a path that is no text")
	}
	if o.isNull = s == nil; o.isNull {
		return nil
	}
	var err error
	o.referencePath, err = parsePath(*s)
	return err
}

// payloadTemplate is the value of Parameters, ItemSelector and ResultSelector: fields whose names end in .$ are paths.
type payloadTemplate struct {
	isSet bool
	value any // maps and lists, with paths as leaves of type path
}

func (t *payloadTemplate) UnmarshalJSON(text []byte) error {
	t.isSet = true
	v, err := decode(text)
	if err != nil {
		return err
	}
	t.value, err = compileTemplate(v)
	return err
}

func compileTemplate(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			plain, dynamic := strings.CutSuffix(name, ".$")
			var err error
			if !dynamic {
				out[name], err = compileTemplate(item)
			} else if text, ok := item.(string); ok {
				out[plain], err = parsePath(text)
			} else {
				err = fmt.Errorf("has a field %s whose value is no path", name)
			}
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = compileTemplate(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// fill returns the template with its paths replaced by what they lead to.
func (t payloadTemplate) fill(input, context any) (any, *Failure) {
	return fillTemplate(t.value, input, context)
}

func fillTemplate(v, input, context any) (any, *Failure) {
	switch v := v.(type) {
	case referencePath:
		got, ok := v.lookup(input, context)
		if !ok {
			return nil, newFailure("States.ParameterPathFailure", "The path %s leads to nothing.", v.text)
		}
		return got, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			got, failure := fillTemplate(item, input, context)
			if failure != nil {
				return nil, failure
			}
			out[name] = got
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			got, failure := fillTemplate(item, input, context)
			if failure != nil {
				return nil, failure
			}
			out[i] = got
		}
		return out, nil
	}
	return v, nil
}
