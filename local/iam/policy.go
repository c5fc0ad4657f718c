package iam

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Effect is the decision of one statement, or of several together, about a request.
type Effect int

// Effects. NoDecision means that no statement applies; for a policy attached to an identity that amounts to a denial.
const (
	NoDecision Effect = iota
	Allow
	Deny
)

// Statement is one statement of a policy.
type Statement struct {
	// Sid is the statement's name, which may be empty.
	Sid string
	// Effect is Allow or Deny.
	Effect Effect
	// Principals are ARNs or "*" in the policy of a resource, and empty in the policy of an identity.
	Principals []string
	// Actions are the action patterns as written, such as s3:Get*.
	Actions []string

	resources  []arnPattern
	conditions []condition
}

// Request is one action on one resource that a principal asks permission for.
type Request struct {
	// Action is the name of the action, such as s3:GetObject.
	Action string
	// Resource is an ARN, or "*" for an action that is not performed on a resource.
	Resource string
	// ConditionValues returns the request's values of a condition key, given in lower case, and nil if the request has
	// none. It is called only if a statement has a condition on the key. Nil means a request without any values.
	ConditionValues func(key string) []string
	// IsUnknown reports whether the values of a condition key, given in lower case, are not known yet. A statement with
	// a condition on such a key does not apply: whoever sets IsUnknown evaluates the request again when they are known.
	// Nil means that all values are known.
	IsUnknown func(key string) bool
}

// evaluate returns the decision of the statements about a request and the statement that decided. Any matching Deny
// outweighs every Allow; otherwise the first matching Allow decides. Principals of the statements are not considered:
// see statementsFor.
func evaluate(statements []*Statement, r Request) (Effect, *Statement) {
	var allowing *Statement
	for _, s := range statements {
		if allowing != nil && s.Effect == Allow || !s.appliesTo(r) {
			continue
		}
		if s.Effect == Deny {
			return Deny, s
		}
		allowing = s
	}
	if allowing == nil {
		return NoDecision, nil
	}
	return Allow, allowing
}

// statementsFor returns those statements of a resource's policy that name any of the principals.
func statementsFor(statements []*Statement, principals ...string) []*Statement {
	var out []*Statement
	for _, s := range statements {
		if slices.ContainsFunc(s.Principals,
			func(p string) bool { return p == "*" || slices.Contains(principals, p) }) {
			out = append(out, s)
		}
	}
	return out
}

// appliesTo reports whether the action, the resource and the conditions of the statement match a request.
func (s *Statement) appliesTo(r Request) bool {
	matchesAction := func(pattern string) bool {
		return MatchWildcard(strings.ToLower(pattern), strings.ToLower(r.Action))
	}
	return slices.ContainsFunc(s.Actions, matchesAction) &&
		slices.ContainsFunc(s.resources, func(p arnPattern) bool { return p.matches(r.Resource) }) &&
		!slices.ContainsFunc(s.conditions, func(c condition) bool {
			return r.IsUnknown != nil && r.IsUnknown(c.key) || !c.holdsFor(r)
		})
}

// parsePolicy reads a policy document whose intrinsic functions are resolved: a mapping with a Statement. Its errors
// continue a sentence that begins with the owner of the policy.
func parsePolicy(document any) ([]*Statement, error) {
	m, ok := document.(map[string]any)
	if !ok || m["Statement"] == nil {
		return nil, fmt.Errorf(
			"has a policy without statements; managed policies and SAM policy templates are not supported",
		)
	}
	for key := range m {
		if key != "Statement" && key != "Version" && key != "Id" {
			return nil, fmt.Errorf("has a policy with the element %s, which is not supported", key)
		}
	}
	list, ok := m["Statement"].([]any)
	if !ok {
		list = []any{m["Statement"]}
	}
	var out []*Statement
	for i, v := range list {
		s, err := parseStatement(v)
		if err != nil {
			return nil, fmt.Errorf("has a policy whose statement %d %w", i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// parseStatement reads a statement, all of whose elements must be supported.
func parseStatement(v any) (*Statement, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is not a mapping")
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
			s.Actions, err = parseActions(v)
		case "Resource":
			s.resources, err = parseARNPatterns(v)
		case "Principal":
			s.Principals, err = parsePrincipals(v)
		case "Condition":
			s.conditions, err = parseConditions(v)
		default:
			err = fmt.Errorf("is not supported")
		}
		if err != nil {
			return nil, fmt.Errorf("has a %s that %w", key, err)
		}
	}
	if s.Effect == NoDecision || len(s.Actions) == 0 || len(s.resources) == 0 {
		return nil, fmt.Errorf("lacks an Effect, an Action or a Resource")
	}
	return s, nil
}

// parseActions reads an Action element. Each entry is "*" or begins with a service and a colon.
func parseActions(v any) ([]string, error) {
	list, err := stringList(v)
	for _, action := range list {
		if service, _, found := strings.Cut(action, ":"); action != "*" && (!found || service == "") {
			return nil, fmt.Errorf("does not begin with a service: %s", action)
		}
	}
	return list, err
}

// validSid matches the names that statements in policies of identities can have.
var validSid = regexp.MustCompile(`^[A-Za-z0-9]*$`)

// ObjectTagPrefix begins the condition keys, in lower case, whose values are the tags of an object that exists.
const ObjectTagPrefix = "s3:existingobjecttag/"

// checkIdentityPolicy returns an error for what IAM refuses in a policy of an identity though it can be read: a
// Principal, and a Sid that is used twice or has other characters than letters and digits. It also returns one for a
// condition on the tags of an object, which the S3 server evaluates in policies of buckets alone.
func checkIdentityPolicy(statements []*Statement) error {
	known := map[string]bool{"": false}
	for i, s := range statements {
		switch {
		case s.Principals != nil:
			return fmt.Errorf("has a policy whose statement %d names a Principal, as only a resource's policy can", i+1)
		case !validSid.MatchString(s.Sid):
			return fmt.Errorf("has a policy with the Sid %q, in which only letters and digits are allowed", s.Sid)
		case known[s.Sid]:
			return fmt.Errorf("has a policy with two statements of the Sid %s", s.Sid)
		case slices.ContainsFunc(s.conditions,
			func(c condition) bool { return strings.HasPrefix(c.key, ObjectTagPrefix) }):
			return fmt.Errorf("has a policy with a condition on tags of objects, which only buckets' policies can have")
		}
		known[s.Sid] = s.Sid != ""
	}
	return nil
}

// checkResourcePolicy returns an error for what AWS refuses in a policy of a resource though it can be read: a
// statement without a Principal.
func checkResourcePolicy(statements []*Statement) error {
	for i, s := range statements {
		if s.Principals == nil {
			return fmt.Errorf("has a policy whose statement %d lacks a Principal", i+1)
		}
	}
	return nil
}

// parsePrincipals reads a Principal element, which is * or a list of ARNs under AWS.
func parsePrincipals(v any) ([]string, error) {
	if m, ok := v.(map[string]any); ok {
		if len(m) != 1 || m["AWS"] == nil {
			return nil, fmt.Errorf("is neither * nor AWS")
		}
		v = m["AWS"]
	}
	return stringList(v)
}

// stringList reads a list of strings; a single string counts as a list of one.
func stringList(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		if b, ok := item.(bool); ok {
			item = fmt.Sprint(b) // YAML reads the value of a Bool condition as a boolean
		}
		s, ok := item.(string)
		if !ok || s == "" {
			return nil, fmt.Errorf("is not a string")
		}
		if strings.Contains(s, "${") {
			return nil, fmt.Errorf("has a policy variable, which is not supported")
		}
		out = append(out, s)
	}
	return out, nil
}
