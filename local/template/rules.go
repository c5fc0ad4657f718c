package template

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// addRule adds an EventBridge rule whose targets are functions.
func (b *builder) addRule(id string, p *properties) error {
	name, err := b.physicalName(id)
	if err != nil {
		return err
	}
	r := Rule{ID: id, Name: name, ARN: b.target.ARN("events", "rule/"+name), Pattern: p.object("EventPattern").values}
	if expression := p.text("ScheduleExpression"); expression != "" {
		if r.Every, err = parseRate(expression); err != nil {
			return err
		}
	}
	if len(r.Pattern) == 0 && r.Every == 0 {
		return fmt.Errorf("has neither EventPattern nor ScheduleExpression")
	}
	if err := checkPattern(r.Pattern); err != nil {
		return err
	}
	if err := b.addTargets(&r, p.list("Targets")); err != nil {
		return err
	}
	b.out.Rules = append(b.out.Rules, r)
	return checkNames(p, "Name", "Description", "EventPattern", "ScheduleExpression", "Targets")
}

// maxTargets is the largest number of targets of a rule.
const maxTargets = 5

// addTargets adds the targets of a rule. What changes the event on its way to a target is not supported.
func (b *builder) addTargets(r *Rule, targets []any) error {
	if len(targets) > maxTargets {
		return fmt.Errorf("has %d targets: EventBridge allows a rule %d", len(targets), maxTargets)
	}
	ids := map[string]bool{}
	for _, v := range targets {
		t := newProperties(v)
		id := t.requiredText("Id")
		if ids[id] {
			return fmt.Errorf("has two targets with the Id %s", id)
		}
		ids[id] = true
		if err := checkNames(t, "Id", "Arn", "DeadLetterConfig"); err != nil {
			return err
		}
		function, err := b.ruleTarget(t.text("Arn"))
		if err != nil {
			return err
		}
		r.Functions = append(r.Functions, function)
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

// checkNames returns an error if there are other properties than the supported ones.
func checkNames(p *properties, supported ...string) error {
	for _, name := range sortedKeys(p.values) {
		if !slices.Contains(supported, name) {
			return fmt.Errorf("has the property %s, which the local cloud does not support there", name)
		}
	}
	return nil
}

// ruleTarget returns the function or the alias with an ARN, in the form of Rule.Functions.
func (b *builder) ruleTarget(arn string) (string, error) {
	for _, f := range b.out.Functions {
		_, configured := b.resources[f.ID].properties["EventInvokeConfig"]
		switch {
		case f.ARN == arn && f.Alias != "" && configured:
			return "", fmt.Errorf("has the target %s, but the EventInvokeConfig of that function holds for its "+
				"alias alone: use !Ref %s.Alias", f.ID, f.ID)
		case f.ARN == arn:
			return f.ID, nil
		case f.Alias != "" && f.ARN+":"+f.Alias == arn:
			return f.ID + ":" + f.Alias, nil
		}
	}
	return "", fmt.Errorf("has a target that is not a function of the template")
}

// parseRate returns the interval of a schedule of the only supported form, rate(N minutes), rate(N hours) or rate(N
// days).
func parseRate(expression string) (time.Duration, error) {
	text, isRate := strings.CutPrefix(expression, "rate(")
	text, isClosed := strings.CutSuffix(text, ")")
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	if n != 1 { // EventBridge accepts neither rate(1 hours) nor rate(5 hour)
		var isPlural bool
		unit, isPlural = strings.CutSuffix(unit, "s")
		isClosed = isClosed && isPlural
	}
	unitLength := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[unit]
	if !isRate || !isClosed || err != nil || n < 1 || unitLength == 0 {
		return 0, fmt.Errorf("has the ScheduleExpression %q: the local cloud supports only rate(1 minute), "+
			"rate(N minutes) and the same with hours and days", expression)
	}
	return time.Duration(n) * unitLength, nil
}

// checkPattern returns an error for an event pattern that EventBridge refuses, or that does more than compare strings.
func checkPattern(pattern map[string]any) error {
	for name, v := range pattern {
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 {
				return fmt.Errorf("has an EventPattern in which %s is empty", name)
			}
			if err := checkPattern(v); err != nil {
				return err
			}
		case []any:
			if len(v) == 0 {
				return fmt.Errorf("has an EventPattern in which %s is empty", name)
			}
			if slices.ContainsFunc(v, func(item any) bool { return !isString(item) }) {
				return fmt.Errorf("has an EventPattern with values other than strings, which are not supported")
			}
		default:
			return fmt.Errorf("has an EventPattern in which %s is not a list", name)
		}
	}
	return nil
}

// addPlan adds a malware protection plan of GuardDuty.
func (b *builder) addPlan(id string, p *properties) error {
	protected := p.object("ProtectedResource").object("S3Bucket")
	plan := Plan{ID: id, Bucket: protected.requiredText("BucketName"), Prefixes: protected.textList("ObjectPrefixes"),
		Role: p.requiredText("Role")}
	if p.err == nil && !slices.ContainsFunc(b.out.Buckets, func(b Bucket) bool { return b.Name == plan.Bucket }) {
		return fmt.Errorf("names a bucket that the template does not define")
	}
	b.out.Plans = append(b.out.Plans, plan)
	return p.err
}

// Matches reports whether an event, decoded from JSON, matches the pattern of the rule.
func (r Rule) Matches(event map[string]any) bool {
	return r.Pattern != nil && matchesPattern(r.Pattern, event)
}

// matchesPattern implements Matches for a part of a pattern.
func matchesPattern(pattern map[string]any, event map[string]any) bool {
	for name, wanted := range pattern {
		switch wanted := wanted.(type) {
		case map[string]any:
			inner, _ := event[name].(map[string]any)
			if !matchesPattern(wanted, inner) {
				return false
			}
		case []any:
			got, isList := event[name].([]any)
			if !isList {
				got = []any{event[name]}
			}
			// Of a list in the event, one value that is wanted is enough.
			if !slices.ContainsFunc(got, func(v any) bool { return isString(v) && slices.Contains(wanted, v) }) {
				return false
			}
		}
	}
	return true
}

// properties provides access to resolved properties. The first error is kept and returned at the end.
type properties struct {
	values map[string]any
	*firstError
}

// firstError is shared by the properties of a resource and everything nested in them.
type firstError struct{ err error }

// newProperties returns the properties in v, which are empty if v is not a mapping.
func newProperties(v any) *properties {
	values, _ := v.(map[string]any)
	return &properties{values: values, firstError: &firstError{}}
}

// addError reports that a property does not have the required form.
func (p *properties) addError(name, form string) {
	if p.err == nil {
		p.err = fmt.Errorf("has a %s that is not a %s", name, form)
	}
}

// text returns a property as a string, and "" if it is absent.
func (p *properties) text(name string) string {
	switch v := p.values[name].(type) {
	case nil:
		return ""
	case map[string]any, []any:
		p.addError(name, "string")
		return ""
	default:
		return scalarText(v)
	}
}

// requiredText is text for a property that must not be empty.
func (p *properties) requiredText(name string) string {
	s := p.text(name)
	if s == "" && p.err == nil {
		p.err = fmt.Errorf("has no %s", name)
	}
	return s
}

// number returns a property as a number, and defaultValue if it is absent.
func (p *properties) number(name string, defaultValue int) int {
	s := p.text(name)
	if s == "" {
		return defaultValue
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		p.addError(name, "number of 0 or more")
	}
	return n
}

// object returns the properties nested in a property.
func (p *properties) object(name string) *properties {
	v, ok := p.values[name].(map[string]any)
	if !ok && p.values[name] != nil {
		p.addError(name, "mapping")
	}
	return &properties{values: v, firstError: p.firstError}
}

// list returns a property that is a list, and nil if it is absent.
func (p *properties) list(name string) []any {
	v, ok := p.values[name].([]any)
	if !ok && p.values[name] != nil {
		p.addError(name, "list")
	}
	return v
}

// textList returns a property that is a list of strings. A single string counts as a list of one.
func (p *properties) textList(name string) []string {
	if s, ok := p.values[name].(string); ok {
		return []string{s}
	}
	var out []string
	for _, v := range p.list(name) {
		out = append(out, scalarText(v))
	}
	return out
}
