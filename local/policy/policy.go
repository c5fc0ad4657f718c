// Package policy decides what the statements of IAM policies say of a request, as the IAM User Guide describes it under "Policy
// evaluation logic". It knows the elements that the template uses and refuses every other one when it reads a policy: an
// element that was skipped would allow or deny something else than on AWS.
package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Effect is what a statement, or all of them together, say of a request.
type Effect int

// Effects. None means that no statement says anything, which for an identity is as good as a denial.
const (
	None Effect = iota
	Allow
	Deny
)

// Statement is one statement of a policy.
type Statement struct {
	Sid        string
	Effect     Effect
	Principals []string // of the policy of a resource: ARNs or "*"; empty in the policy of an identity
	Actions    []string // as written, such as s3:Get*
	resources  []pattern
	conditions []condition
}

// Request is one thing that somebody wants to do.
type Request struct {
	Action   string // such as s3:GetObject
	Resource string // ARN, or "*" for what is done to no resource
	// Value gives the values of a condition key, whose name it gets in lower case; none if the request does not have it. A nil
	// Value has none at all. It is called only where a statement asks for the key.
	Value func(key string) []string
}

// Evaluate tells what statements say of a request: a denial outweighs everything, then the first that allows counts. Who asks
// is the caller's to decide: see For.
func Evaluate(statements []*Statement, r Request) (Effect, *Statement) {
	var allowing *Statement
	for _, s := range statements {
		if allowing != nil && s.Effect == Allow || !s.applies(r) {
			continue
		}
		if s.Effect == Deny {
			return Deny, s
		}
		allowing = s
	}
	if allowing == nil {
		return None, nil
	}
	return Allow, allowing
}

// For leaves the statements of a resource's policy that speak of any of the principals.
func For(statements []*Statement, principals ...string) []*Statement {
	var out []*Statement
	for _, s := range statements {
		if slices.ContainsFunc(s.Principals, func(p string) bool { return p == "*" || slices.Contains(principals, p) }) {
			out = append(out, s)
		}
	}
	return out
}

func (s *Statement) applies(r Request) bool {
	return slices.ContainsFunc(s.Actions, func(a string) bool { return Matches(strings.ToLower(a), strings.ToLower(r.Action)) }) &&
		slices.ContainsFunc(s.resources, func(p pattern) bool { return p.matches(r.Resource) }) &&
		!slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.holds(r) })
}

// Parse reads a policy document, resolved: a mapping with a Statement.
func Parse(document any) ([]*Statement, error) {
	m, ok := document.(map[string]any)
	if !ok || m["Statement"] == nil {
		return nil, fmt.Errorf("has a policy without statements: managed policies and policy templates are not known here")
	}
	for key := range m {
		if key != "Statement" && key != "Version" && key != "Id" {
			return nil, fmt.Errorf("has a policy with %s, which is not known here", key)
		}
	}
	list, ok := m["Statement"].([]any)
	if !ok {
		list = []any{m["Statement"]}
	}
	var out []*Statement
	for i, v := range list {
		s, err := statement(v)
		if err != nil {
			return nil, fmt.Errorf("has a policy whose statement %d %w", i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func statement(v any) (*Statement, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is no mapping")
	}
	s := &Statement{}
	for key, v := range m {
		var err error
		switch key {
		case "Sid":
			s.Sid, _ = v.(string)
		case "Effect":
			s.Effect = map[any]Effect{"Allow": Allow, "Deny": Deny}[v]
		case "Action":
			s.Actions, err = texts(v)
		case "Resource":
			s.resources, err = patterns(v)
		case "Principal":
			s.Principals, err = principals(v)
		case "Condition":
			s.conditions, err = conditions(v)
		default:
			err = fmt.Errorf("is not known here")
		}
		if err != nil {
			return nil, fmt.Errorf("has a %s that %w", key, err)
		}
	}
	if s.Effect == None || len(s.Actions) == 0 || len(s.resources) == 0 {
		return nil, fmt.Errorf("lacks an Effect, an Action or a Resource")
	}
	return s, nil
}

func principals(v any) ([]string, error) {
	if m, ok := v.(map[string]any); ok {
		if len(m) != 1 || m["AWS"] == nil {
			return nil, fmt.Errorf("is neither * nor AWS")
		}
		v = m["AWS"]
	}
	return texts(v)
}

// texts is a list of texts; a single one counts as a list.
func texts(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		if b, ok := item.(bool); ok {
			item = fmt.Sprint(b) // YAML's false is the text of a Bool condition
		}
		s, ok := item.(string)
		if !ok || s == "" {
			return nil, fmt.Errorf("is no text")
		}
		if strings.Contains(s, "${") {
			return nil, fmt.Errorf("has a variable, which is not known here")
		}
		out = append(out, s)
	}
	return out, nil
}
