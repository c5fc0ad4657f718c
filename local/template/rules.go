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
	if r.Pattern == nil && r.Every == 0 {
		return fmt.Errorf("has neither EventPattern nor ScheduleExpression")
	}
	if err := checkPattern(r.Pattern); err != nil {
		return err
	}
	for _, v := range p.list("Targets") {
		target, err := b.ruleTarget(newProperties(v).text("Arn"))
		if err != nil {
			return err
		}
		r.Functions = append(r.Functions, target)
	}
	b.out.Rules = append(b.out.Rules, r)
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
	text, isRate := strings.CutPrefix(strings.TrimSuffix(expression, ")"), "rate(")
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(number)
	units := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}
	unitLength := units[strings.TrimSuffix(unit, "s")]
	if !isRate || err != nil || n < 1 || unitLength == 0 {
		return 0, fmt.Errorf(
			"has the ScheduleExpression %q: the local cloud supports only rate(N minutes), hours or days",
			expression,
		)
	}
	return time.Duration(n) * unitLength, nil
}

// checkPattern returns an error for an event pattern that does more than compare strings.
func checkPattern(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if _, isString := inner.(string); isString {
				return fmt.Errorf("has an EventPattern whose values are not lists")
			}
			if err := checkPattern(inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if _, isString := inner.(string); !isString {
				return fmt.Errorf("has an EventPattern with values other than strings, which are not supported")
			}
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
			if got, ok := event[name].(string); !ok || !slices.Contains(wanted, any(got)) {
				return false
			}
		}
	}
	return true
}
