package states

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// path is a reference path: $, $.a.b, $['a'][0], or the same after $$ for the context object. Filters, wildcards, slices and
// intrinsic functions are not known.
type path struct {
	text    string
	context bool
	steps   []any // string for a field, int for an index
}

func parsePath(text string) (path, error) {
	p := path{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		if name, _, call := strings.Cut(text, "("); call && strings.HasPrefix(name, "States.") {
			return p, fmt.Errorf("uses the intrinsic function %s, which the local cloud does not know", name)
		}
		return p, fmt.Errorf("has the path %q, which does not begin with $", text)
	}
	if after, ok := strings.CutPrefix(rest, "$"); ok {
		p.context, rest = true, after
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

// get returns the value at the path of the input, or of the context object.
func (p path) get(input, context any) (any, bool) {
	v := input
	if p.context {
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

// set returns the input with the value at the path. The input itself is not changed. Missing objects are made; anything
// that is no object on the way is an error.
func (p path) set(input, value any) (any, bool) {
	return set(input, p.steps, value)
}

func set(into any, steps []any, value any) (any, bool) {
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
	inner, ok := set(out[name], steps[1:], value)
	out[name] = inner
	return out, ok
}

// optionalPath is a path field: absent, null, or a path.
type optionalPath struct {
	path
	set, null bool
}

func (o *optionalPath) UnmarshalJSON(text []byte) error {
	o.set = true
	var s *string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("has a path that is no text")
	}
	if o.null = s == nil; o.null {
		return nil
	}
	var err error
	o.path, err = parsePath(*s)
	return err
}

// template is the value of Parameters, ItemSelector and ResultSelector: fields whose names end in .$ are paths.
type template struct {
	set   bool
	value any // maps and lists, with paths as leaves of type path
}

func (t *template) UnmarshalJSON(text []byte) error {
	t.set = true
	v, err := decode(text)
	if err != nil {
		return err
	}
	t.value, err = compile(v)
	return err
}

func compile(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			plain, dynamic := strings.CutSuffix(name, ".$")
			var err error
			if !dynamic {
				out[name], err = compile(item)
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
			if out[i], err = compile(item); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// fill returns the template with its paths replaced by what they lead to.
func (t template) fill(input, context any) (any, *Failure) {
	return fill(t.value, input, context)
}

func fill(v, input, context any) (any, *Failure) {
	switch v := v.(type) {
	case path:
		got, ok := v.get(input, context)
		if !ok {
			return nil, fail("States.ParameterPathFailure", "The path %s leads to nothing.", v.text)
		}
		return got, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			got, failure := fill(item, input, context)
			if failure != nil {
				return nil, failure
			}
			out[name] = got
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			got, failure := fill(item, input, context)
			if failure != nil {
				return nil, failure
			}
			out[i] = got
		}
		return out, nil
	}
	return v, nil
}
