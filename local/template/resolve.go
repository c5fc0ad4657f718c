package template

import (
	"fmt"
	"regexp"
	"strings"
)

// resource is one entry under Resources, unresolved.
type resource struct {
	kind       string
	condition  string
	properties map[string]any
}

// resolver evaluates intrinsic functions. Resources are resolved when they are referred to, so that their order is free.
type resolver struct {
	place      Place
	parameters map[string]string
	lists      map[string]bool // parameters that are a list, separated by commas
	conditions map[string]any
	resources  map[string]resource
	busy       map[string]bool // resources and conditions being resolved, to find circles
}

// absent is the value of AWS::NoValue: the property that has it is not there.
type absent struct{}

func (r *resolver) value(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || name == "Condition" && isString(arg) || strings.HasPrefix(name, "Fn::") {
					return r.intrinsic(name, arg)
				}
			}
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			got, err := r.value(item)
			if err != nil {
				return nil, err
			}
			if got != (absent{}) {
				out[key] = got
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			got, err := r.value(item)
			if err != nil {
				return nil, err
			}
			if got != (absent{}) {
				out = append(out, got)
			}
		}
		return out, nil
	}
	return v, nil
}

func isString(v any) bool { _, ok := v.(string); return ok }

func (r *resolver) intrinsic(name string, arg any) (any, error) {
	switch name {
	case "Ref":
		if s, ok := arg.(string); ok {
			return r.ref(s)
		}
	case "Fn::GetAtt":
		if s, ok := arg.(string); ok {
			id, attribute, _ := strings.Cut(s, ".")
			return r.attribute(id, attribute)
		}
		if list, ok := arg.([]any); ok && len(list) == 2 {
			return r.attribute(fmt.Sprint(list[0]), fmt.Sprint(list[1]))
		}
	case "Fn::Sub":
		return r.sub(arg)
	case "Fn::Join":
		return r.join(arg)
	case "Fn::If":
		return r.choose(arg)
	case "Fn::Equals", "Fn::Not", "Fn::And", "Fn::Or", "Condition":
		return r.test(map[string]any{name: arg})
	default:
		return nil, fmt.Errorf("uses %s, which the local cloud does not know", name)
	}
	return nil, fmt.Errorf("uses %s with an argument of the wrong form", name)
}

func (r *resolver) ref(name string) (any, error) {
	if v, ok := r.pseudo(name); ok {
		return v, nil
	}
	if v, ok := r.parameters[name]; ok {
		if r.lists[name] {
			var items []any
			for _, item := range strings.Split(v, ",") {
				items = append(items, strings.TrimSpace(item))
			}
			return items, nil
		}
		return v, nil
	}
	id, attribute, _ := strings.Cut(name, ".")
	return r.attribute(id, attribute)
}

func (r *resolver) pseudo(name string) (any, bool) {
	switch name {
	case "AWS::NoValue":
		return absent{}, true
	case "AWS::Region":
		return r.place.Region, true
	case "AWS::AccountId":
		return r.place.Account, true
	case "AWS::Partition":
		return Partition, true
	case "AWS::StackName":
		return r.place.Stack, true
	case "AWS::URLSuffix":
		return "amazonaws.com", true
	}
	return nil, false
}

var variable = regexp.MustCompile(`\$\{([^!{}][^{}]*)\}`)

func (r *resolver) sub(arg any) (any, error) {
	text, ok := arg.(string)
	own := map[string]any{}
	if list, isList := arg.([]any); isList && len(list) == 2 {
		text, ok = list[0].(string)
		own, _ = list[1].(map[string]any)
	}
	if !ok {
		return nil, fmt.Errorf("uses Fn::Sub with an argument of the wrong form")
	}
	var failed error
	out := variable.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.TrimSpace(m[2 : len(m)-1])
		var v any
		var err error
		if local, ok := own[name]; ok {
			v, err = r.value(local)
		} else if id, attribute, dotted := strings.Cut(name, "."); dotted {
			v, err = r.attribute(id, attribute)
		} else {
			v, err = r.ref(name)
		}
		if err != nil && failed == nil {
			failed = err
		}
		return scalar(v)
	})
	return strings.ReplaceAll(out, "${!", "${"), failed
}

func (r *resolver) join(arg any) (any, error) {
	list, ok := arg.([]any)
	if !ok || len(list) != 2 {
		return nil, fmt.Errorf("uses Fn::Join with an argument of the wrong form")
	}
	items, err := r.value(list[1])
	if err != nil {
		return nil, err
	}
	parts, ok := items.([]any)
	if !ok {
		return nil, fmt.Errorf("uses Fn::Join on something that is no list")
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = scalar(p)
	}
	return strings.Join(texts, scalar(list[0])), nil
}

func (r *resolver) choose(arg any) (any, error) {
	list, ok := arg.([]any)
	if !ok || len(list) != 3 {
		return nil, fmt.Errorf("uses Fn::If with an argument of the wrong form")
	}
	holds, err := r.condition(scalar(list[0]))
	if err != nil {
		return nil, err
	}
	if holds {
		return r.value(list[1])
	}
	return r.value(list[2])
}

func (r *resolver) condition(name string) (bool, error) {
	c, ok := r.conditions[name]
	if !ok {
		return false, fmt.Errorf("names the condition %s, which the template does not define", name)
	}
	leave, err := r.enter("condition " + name)
	if err != nil {
		return false, err
	}
	defer leave()
	return r.test(c)
}

// rules checks what must hold between parameters. The error is the first broken one's own description.
func (r *resolver) rules(all map[string]any) error {
	for _, name := range sorted(all) {
		rule, _ := all[name].(map[string]any)
		if when, ok := rule["RuleCondition"]; ok {
			if holds, err := r.test(when); err != nil {
				return fmt.Errorf("the rule %s %w", name, err)
			} else if !holds {
				continue
			}
		}
		assertions, _ := rule["Assertions"].([]any)
		for _, a := range assertions {
			assertion, _ := a.(map[string]any)
			if holds, err := r.test(assertion["Assert"]); err != nil {
				return fmt.Errorf("the rule %s %w", name, err)
			} else if !holds {
				return fmt.Errorf("%v", assertion["AssertDescription"])
			}
		}
	}
	return nil
}

// enter marks something as being resolved; meeting it again before leave means a circle.
func (r *resolver) enter(what string) (leave func(), err error) {
	if r.busy[what] {
		return nil, fmt.Errorf("refers to itself through %s", what)
	}
	r.busy[what] = true
	return func() { delete(r.busy, what) }, nil
}

func (r *resolver) test(v any) (bool, error) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return false, fmt.Errorf("holds a condition of the wrong form")
	}
	for name, arg := range m {
		if name == "Condition" {
			return r.condition(scalar(arg))
		}
		list, ok := arg.([]any)
		if !ok || len(list) == 0 {
			break
		}
		switch name {
		case "Fn::Equals":
			got, err := r.value(list)
			if pair, ok := got.([]any); err != nil || ok && len(pair) == 2 {
				return err == nil && scalar(pair[0]) == scalar(pair[1]), err
			}
		case "Fn::Not":
			holds, err := r.test(list[0])
			return !holds, err
		case "Fn::And", "Fn::Or":
			for _, item := range list {
				holds, err := r.test(item)
				if err != nil || holds == (name == "Fn::Or") {
					return holds, err
				}
			}
			return name == "Fn::And", nil
		}
	}
	return false, fmt.Errorf("holds a condition of the wrong form")
}

// scalar is a value as CloudFormation writes it into text.
func scalar(v any) string {
	switch v := v.(type) {
	case nil, absent:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}
