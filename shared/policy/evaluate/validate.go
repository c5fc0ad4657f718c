package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// subject is the value of a field that rules check.
type subject struct {
	// texts are the values of the field. Values of nothing but white space are left out, unless they have an ID.
	texts []text
	// group is the group of a collection, otherwise nil. items is the number of its items.
	group *group
	items int64
	// countOfType returns how many items have a value in their primary field. It returns false if the primary field is
	// hidden from the caller.
	countOfType func(value string) (int64, bool)
	// Dates are compared with now, in zone, the time zone of the field.
	now  time.Time
	zone *time.Location
}

// isPresent reports whether there is a value or an item.
func (s *subject) isPresent() bool { return len(s.texts) > 0 || s.items > 0 }

// validate returns the errors of the value of a field by its rules, in the order of ruleTable. It returns nothing for a
// hidden value. The value of a calculated field is its result.
func (e *evaluation) validate(f *field, rules *resolvedRules) []ValidationError {
	if len(rules.values) == 0 || e.isOwnHidden(f) {
		return nil
	}
	s := e.newSubject(f)
	s.zone = rules.zone
	var out []ValidationError
	for _, v := range rules.values {
		if !e.spend(v.work(s)) {
			break
		}
		if v.isBrokenBy(s) {
			out = append(out, ValidationError{v.name, v.resolved.Message})
		}
	}
	return out
}

// newSubject returns the value of a field.
func (e *evaluation) newSubject(f *field) *subject {
	s := &subject{now: e.request.Now}
	if result, ok := e.calculatedText(f); ok {
		s.addTexts(text{value: result, hasValue: result != ""})
		return s
	}
	value := e.ownValue(f)
	if f.group == nil || !f.group.isCollection {
		s.addTexts(value.texts()...)
		return s
	}
	s.group, s.items = f.group, int64(len(value.items))
	primary := f.group.source.PrimaryField
	s.countOfType = func(wanted string) (int64, bool) {
		return countItems(value.items, primary, wanted), !e.isHiddenName(primary)
	}
	return s
}

// addTexts adds the texts that are not empty.
func (s *subject) addTexts(texts ...text) {
	for _, t := range texts {
		if t.id != "" || strings.TrimSpace(t.value) != "" {
			s.texts = append(s.texts, t)
		}
	}
}

// countItems returns how many items have a value, or its ID, in their primary field.
func countItems(items []node, primary, wanted string) int64 {
	count := int64(0)
	for _, item := range items {
		var values reading
		if t, ok := item.lookup(primary).asText(); ok {
			values.addText(t)
		}
		if slices.ContainsFunc(values.texts(), func(t text) bool {
			return t.hasValue && t.value == wanted || t.hasID && t.id == wanted
		}) {
			count++
		}
	}
	return count
}

// work returns the work of checking a value by the rule, in the units of maxWork.
func (v *ruleValue) work(s *subject) int {
	if s.group != nil {
		return len(v.resolved.RequiredTypesMinCount) * int(s.items)
	}
	work := 0
	for i := range s.texts {
		work += len(s.texts[i].value) * v.check.size / patternStepsPerWork
	}
	return work
}

// isBrokenBy reports whether a value breaks the rule. Rules about texts say nothing about empty ones.
func (v *ruleValue) isBrokenBy(s *subject) bool {
	switch {
	case v.check.isBroken != nil:
		return v.check.isBroken(s)
	case v.check.areItemsBroken != nil:
		return s.group != nil && v.check.areItemsBroken(s)
	case v.check.isTextBroken != nil:
		return slices.ContainsFunc(s.texts, func(t text) bool {
			return strings.TrimSpace(t.value) != "" && v.check.isTextBroken(t.value, s)
		})
	}
	return false
}

// maxProblems is the largest number of problems that Compile reports; further ones are left out.
const maxProblems = 100

// Problem is a reason why a version cannot be evaluated.
type Problem struct {
	// FieldID and DataKey identify the field. They are "" if the problem is in a jurisdiction or in the version as a
	// whole.
	FieldID, DataKey string
	// DataGroupID is the ID of the field's data group; "" for a field of the policy itself.
	DataGroupID string
	// JurisdictionID is "" unless the problem is in the conditions of a jurisdiction.
	JurisdictionID string
	// Path leads from the field or jurisdiction to the wrong member by the names on the wire, for example
	// conditions[0].operands[2].value.
	Path string
	// Message explains the problem and the remedy to people.
	Message string
}

// maxMessageBytes is the largest size of a message in bytes.
const maxMessageBytes = 500

// shortened returns a message, or the beginning of a long one.
func shortened(message string) string {
	const ellipsis = "..."
	if len(message) <= maxMessageBytes {
		return message
	}
	end := maxMessageBytes - len(ellipsis)
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + ellipsis
}

// String returns the place and the message of the problem.
func (p Problem) String() string {
	var where []string
	if p.JurisdictionID != "" {
		where = append(where, "jurisdiction "+p.JurisdictionID)
	}
	if p.DataGroupID != "" {
		where = append(where, "data group "+p.DataGroupID)
	}
	if p.FieldID != "" || p.DataKey != "" {
		where = append(where, fmt.Sprintf("field %q (%s)", p.DataKey, p.FieldID))
	}
	if p.Path != "" {
		where = append(where, p.Path)
	}
	if len(where) == 0 {
		return p.Message
	}
	return strings.Join(where, ", ") + ": " + p.Message
}

// Problems is the error of Compile: all reasons why a version cannot be evaluated, at least one and at most 100. It is
// matched with errors.As.
type Problems []Problem

// Error returns the first problem, and how many there are.
func (p Problems) Error() string {
	if len(p) == 1 {
		return "evaluate: " + p[0].String()
	}
	return fmt.Sprintf("evaluate: %d problems, the first in %s", len(p), p[0])
}
