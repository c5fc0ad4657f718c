package iam

import (
	"fmt"
	"slices"
	"strings"
)

// MatchWildcard reports whether text matches pattern, in which * matches any number of characters and ? exactly
// one.
func MatchWildcard(pattern, text string) bool {
	// On a mismatch, matching resumes after the last star, one byte further on in the text. Earlier stars need no
	// second try: whatever they could match in addition, the last one can match as well.
	lastStar, resumeAt := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			lastStar, resumeAt = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case lastStar >= 0:
			resumeAt++
			p, t = lastStar+1, resumeAt
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// arnPattern is one entry of a Resource element: the six parts of an ARN, or nil for "*".
type arnPattern []string

// arnParts is the number of parts of arn:partition:service:region:account:resource.
const arnParts = 6

// parseARNPatterns reads a Resource element.
func parseARNPatterns(v any) ([]arnPattern, error) {
	list, err := stringList(v)
	if err != nil {
		return nil, err
	}
	var out []arnPattern
	for _, s := range list {
		if s == "*" {
			out = append(out, nil)
			continue
		}
		p := strings.SplitN(s, ":", arnParts)
		if len(p) != arnParts || p[0] != "arn" {
			return nil, fmt.Errorf("is neither an ARN nor *: %s", s)
		}
		out = append(out, p)
	}
	return out, nil
}

// matches compares part by part: a star does not match a colon, except in the last part, which may contain colons.
func (p arnPattern) matches(resource string) bool {
	if p == nil {
		return true
	}
	for i, pattern := range p {
		part := resource
		if i < arnParts-1 {
			var more bool
			if part, resource, more = strings.Cut(resource, ":"); !more {
				return false
			}
		}
		if !MatchWildcard(pattern, part) {
			return false
		}
	}
	return true
}

// condition is one condition key of one operator. A statement applies only if all its conditions hold.
type condition struct {
	// key is the condition key in lower case.
	key string
	// values are the values in the policy.
	values []string
	// matches compares a value of the policy with one of the request.
	matches func(policyValue, requestValue string) bool
	// negated is set for operators such as StringNotEquals, which hold if no value of the policy matches.
	negated bool
	// holdsIfAbsent is the result for a request that does not have the key.
	holdsIfAbsent bool
	// forAll is set for ForAllValues: every value of the request must satisfy the operator.
	forAll bool
}

func equal(policyValue, requestValue string) bool { return policyValue == requestValue }

// operators holds the supported operators in their positive form; parseOperator handles the ones with "Not".
var operators = map[string]func(policyValue, requestValue string) bool{
	"StringEquals": equal, "StringLike": MatchWildcard, "ArnEquals": MatchARN, "Bool": strings.EqualFold,
}

// MatchARN reports whether an ARN matches a pattern, as ArnLike compares them: part by part, so that a star does not
// match a colon, except in the last part.
func MatchARN(pattern, arn string) bool {
	p := arnPattern(strings.SplitN(pattern, ":", arnParts))
	return pattern == "*" || len(p) == arnParts && p.matches(arn)
}

// parseConditions reads a Condition element.
func parseConditions(v any) ([]condition, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is not a mapping")
	}
	var out []condition
	for operator, keys := range m {
		named, ok := keys.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("is not a mapping of mappings")
		}
		for key, values := range named {
			c, err := parseOperator(operator)
			if err != nil {
				return nil, err
			}
			c.key = strings.ToLower(key)
			if c.values, err = stringList(values); err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// parseOperator returns a condition with everything that the name of its operator determines.
func parseOperator(name string) (condition, error) {
	var c condition
	base, forAll := strings.CutPrefix(name, "ForAllValues:")
	positive := strings.Replace(base, "Not", "", 1)
	c.matches, c.negated = operators[positive], positive != base
	if c.matches == nil || base == "NotBool" || base == "BoolNot" {
		return c, fmt.Errorf("has the operator %s, which is not supported", name)
	}
	c.forAll = forAll
	c.holdsIfAbsent = forAll || c.negated
	return c, nil
}

// holdsFor reports whether the condition holds for a request.
func (c condition) holdsFor(r Request) bool {
	var requestValues []string
	if r.ConditionValues != nil {
		requestValues = r.ConditionValues(c.key)
	}
	if len(requestValues) == 0 {
		return c.holdsIfAbsent
	}
	satisfies := func(requestValue string) bool {
		matchesAny := slices.ContainsFunc(c.values, func(v string) bool { return c.matches(v, requestValue) })
		return matchesAny != c.negated
	}
	if c.forAll {
		return !slices.ContainsFunc(requestValues, func(v string) bool { return !satisfies(v) })
	}
	return slices.ContainsFunc(requestValues, satisfies)
}
