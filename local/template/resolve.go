package template

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// resource is an entry under Resources, with its intrinsic functions unresolved.
type resource struct {
	kind      string
	condition string
	// program is the Program of the Metadata.
	program    string
	properties map[string]any
}

// resolver evaluates intrinsic functions. A resource is resolved when something refers to it, so that resources can be
// in any order.
type resolver struct {
	target     Target
	parameters map[string]string
	// listParameters has the parameters whose value is a list separated by commas.
	listParameters map[string]bool
	conditions     map[string]any
	resources      map[string]resource
	// inProgress has the resources and conditions that are being resolved. It serves to find cycles.
	inProgress map[string]bool
}

// noValue is the value of AWS::NoValue, which removes the property that has it.
type noValue struct{}

// resolve returns a value with all intrinsic functions evaluated.
func (r *resolver) resolve(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 1 {
			for name, arg := range v {
				if name == "Ref" || name == "Condition" && isString(arg) || strings.HasPrefix(name, "Fn::") {
					return r.resolveIntrinsic(name, arg)
				}
			}
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			got, err := r.resolve(item)
			if err != nil {
				return nil, err
			}
			if got != (noValue{}) {
				out[key] = got
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			got, err := r.resolve(item)
			if err != nil {
				return nil, err
			}
			if got != (noValue{}) {
				out = append(out, got)
			}
		}
		return out, nil
	}
	return v, nil
}

func isString(v any) bool { _, ok := v.(string); return ok }

// resolveIntrinsic evaluates a call of an intrinsic function.
func (r *resolver) resolveIntrinsic(name string, arg any) (any, error) {
	switch name {
	case "Ref":
		if s, ok := arg.(string); ok {
			return r.resolveRef(s)
		}
	case "Fn::GetAtt":
		if s, ok := arg.(string); ok {
			id, attribute, _ := strings.Cut(s, ".")
			return r.resolveAttribute(id, attribute)
		}
	case "Fn::Sub":
		return r.resolveSub(arg)
	case "Fn::Join":
		return r.resolveJoin(arg)
	case "Fn::If":
		return r.resolveIf(arg)
	case "Fn::Split":
		return r.resolveSplit(arg)
	case "Fn::Select":
		return r.resolveSelect(arg)
	case "Fn::Equals", "Fn::Not", "Condition":
		return r.evaluate(map[string]any{name: arg})
	default:
		return nil, fmt.Errorf("uses %s, which the local cloud does not support", name)
	}
	return nil, fmt.Errorf("uses %s with a malformed argument", name)
}

// resolveRef evaluates Ref.
func (r *resolver) resolveRef(name string) (any, error) {
	if v, ok := r.pseudoParameter(name); ok {
		return v, nil
	}
	if v, ok := r.parameters[name]; ok {
		if r.listParameters[name] {
			var items []any
			for _, item := range strings.Split(v, ",") {
				items = append(items, strings.TrimSpace(item))
			}
			return items, nil
		}
		return v, nil
	}
	id, attribute, _ := strings.Cut(name, ".")
	return r.resolveAttribute(id, attribute)
}

// pseudoParameter returns the value of a pseudo parameter and whether the name is one.
func (r *resolver) pseudoParameter(name string) (any, bool) {
	switch name {
	case "AWS::NoValue":
		return noValue{}, true
	case "AWS::Region":
		return r.target.Region, true
	case "AWS::AccountId":
		return r.target.Account, true
	case "AWS::Partition":
		return Partition, true
	case "AWS::StackName":
		return r.target.Stack, true
	case "AWS::URLSuffix":
		return "amazonaws.com", true
	}
	return nil, false
}

// subVariable matches a variable in the text of Fn::Sub.
var subVariable = regexp.MustCompile(`\$\{([^!{}][^{}]*)\}`)

// resolveSub evaluates Fn::Sub.
func (r *resolver) resolveSub(arg any) (any, error) {
	text, ok := arg.(string)
	if !ok {
		return nil, fmt.Errorf("uses Fn::Sub with a malformed argument")
	}
	var failed error
	out := subVariable.ReplaceAllStringFunc(text, func(m string) string {
		name := strings.TrimSpace(m[2 : len(m)-1])
		v, err := r.resolveRef(name)
		if err == nil && !isScalar(v) {
			err = fmt.Errorf("uses Fn::Sub with %s, which is not a string", name)
		}
		if err != nil && failed == nil {
			failed = err
		}
		return scalarText(v)
	})
	return strings.ReplaceAll(out, "${!", "${"), failed
}

// resolveJoin evaluates Fn::Join.
func (r *resolver) resolveJoin(arg any) (any, error) {
	list, ok := arg.([]any)
	if !ok || len(list) != 2 {
		return nil, fmt.Errorf("uses Fn::Join with a malformed argument")
	}
	items, err := r.resolve(list[1])
	if err != nil {
		return nil, err
	}
	parts, ok := items.([]any)
	if !ok {
		return nil, fmt.Errorf("uses Fn::Join with something that is not a list")
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		if !isScalar(p) {
			return nil, fmt.Errorf("uses Fn::Join with a list of other things than strings")
		}
		texts[i] = scalarText(p)
	}
	return strings.Join(texts, scalarText(list[0])), nil
}

// resolveSplit evaluates Fn::Split.
func (r *resolver) resolveSplit(arg any) (any, error) {
	resolved, err := r.resolve(arg)
	if err != nil {
		return nil, err
	}
	list, ok := resolved.([]any)
	if !ok || len(list) != 2 || scalarText(list[0]) == "" {
		return nil, fmt.Errorf("uses Fn::Split with a malformed argument")
	}
	var parts []any
	for _, part := range strings.Split(scalarText(list[1]), scalarText(list[0])) {
		parts = append(parts, part)
	}
	return parts, nil
}

// resolveSelect evaluates Fn::Select.
func (r *resolver) resolveSelect(arg any) (any, error) {
	resolved, err := r.resolve(arg)
	if err != nil {
		return nil, err
	}
	if list, ok := resolved.([]any); ok && len(list) == 2 {
		index, err := strconv.Atoi(scalarText(list[0]))
		if items, ok := list[1].([]any); ok && err == nil && index >= 0 && index < len(items) {
			return items[index], nil
		}
	}
	return nil, fmt.Errorf("uses Fn::Select with a malformed argument")
}

// resolveIf evaluates Fn::If.
func (r *resolver) resolveIf(arg any) (any, error) {
	list, ok := arg.([]any)
	if !ok || len(list) != 3 {
		return nil, fmt.Errorf("uses Fn::If with a malformed argument")
	}
	holds, err := r.conditionHolds(scalarText(list[0]))
	if err != nil {
		return nil, err
	}
	if holds {
		return r.resolve(list[1])
	}
	return r.resolve(list[2])
}

// enter records that something is being resolved, until leave is called. It returns an error if that is in progress
// already, which means a cycle.
func (r *resolver) enter(what string) (leave func(), err error) {
	if r.inProgress[what] {
		return nil, fmt.Errorf("refers to itself through %s", what)
	}
	r.inProgress[what] = true
	return func() { delete(r.inProgress, what) }, nil
}

// isScalar reports whether a resolved value can be inserted into text.
func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any, noValue:
		return false
	}
	return true
}

// scalarText returns a value as CloudFormation inserts it into text.
func scalarText(v any) string {
	switch v := v.(type) {
	case nil, noValue:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}
