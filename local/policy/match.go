package policy

import (
	"fmt"
	"strings"
)

// Matches tells whether a text is what a pattern describes, in which * stands for any characters and ? for one.
func Matches(pattern, text string) bool {
	// After a star everything is tried from the next place on; only the last star can still take more.
	star, from := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// pattern is a Resource: the six parts of an ARN, or nil for "*".
type pattern []string

// parts are those of arn:partition:service:region:account:resource.
const parts = 6

func patterns(v any) ([]pattern, error) {
	list, err := texts(v)
	if err != nil {
		return nil, err
	}
	var out []pattern
	for _, s := range list {
		if s == "*" {
			out = append(out, nil)
			continue
		}
		p := strings.SplitN(s, ":", parts)
		if len(p) != parts || p[0] != "arn" {
			return nil, fmt.Errorf("is neither an ARN nor *: %s", s)
		}
		out = append(out, p)
	}
	return out, nil
}

// matches compares part by part: a star does not reach across a colon, but in the last part, which may hold some.
func (p pattern) matches(resource string) bool {
	if p == nil {
		return true
	}
	for i, part := range p {
		own := resource
		if i < parts-1 {
			var more bool
			if own, resource, more = strings.Cut(resource, ":"); !more {
				return false
			}
		}
		if !Matches(part, own) {
			return false
		}
	}
	return true
}
