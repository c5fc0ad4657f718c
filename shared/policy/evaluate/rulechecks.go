package evaluate

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the time zones of rules must be the same wherever a function runs
	"unicode"
	"unicode/utf8"

	"sluice/shared/policy"
	"sluice/shared/policy/pattern"
)

// hasSpecialCharacters reports whether there is anything beside letters, their marks, digits and spaces, of any script.
func hasSpecialCharacters(text string, _ *subject) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || !unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Zs)
	})
}

func hasDigits(text string, _ *subject) bool { return strings.ContainsFunc(text, unicode.IsDigit) }

// isNotInteger reports whether a text is not a number or has a point.
func isNotInteger(text string, _ *subject) bool {
	_, isNumber := parseNumber(text)
	return !isNumber || strings.Contains(text, ".")
}

// isNegativeOrNotNumber reports whether a text is less than 0 or not a number.
func isNegativeOrNotNumber(text string, _ *subject) bool {
	n, isNumber := parseNumber(text)
	return !isNumber || n.isNegative
}

// hasMoreThanCents reports whether a text is not a number or has more than two decimal places.
func hasMoreThanCents(text string, _ *subject) bool {
	_, isNumber := parseNumber(text)
	_, fraction, _ := strings.Cut(text, ".")
	return !isNumber || len(fraction) > 2
}

func compileRegex(v *policy.RuleValue, report reportMember) ruleCheck {
	check := ruleCheck{message: "The value does not have the form that is required."}
	if v.RegexValue == "" {
		report("regexValue", "The regular expression is missing.")
		return check
	}
	compiled, err := pattern.Compile(v.RegexValue, v.MatchesCase())
	if err != nil {
		report("regexValue", "The regular expression cannot be used: %s.", err)
		return check
	}
	check.size = compiled.Size()
	check.isTextBroken = func(text string, _ *subject) bool { return !compiled.Match(text) }
	return check
}

// readLimit returns the member limit.
func readLimit(v *policy.RuleValue, report reportMember) int64 {
	switch {
	case v.Limit == nil:
		return 0
	case *v.Limit < 0:
		report("limit", "The limit must not be negative.")
	}
	return *v.Limit
}

func compileCharacterLimit(v *policy.RuleValue, report reportMember) ruleCheck {
	limit := readLimit(v, report)
	return ruleCheck{
		message:      "Enter at most " + countOf(limit, "character", "characters") + ".",
		isTextBroken: func(text string, _ *subject) bool { return int64(utf8.RuneCountInString(text)) > limit },
	}
}

func compileMultiSelectLimit(v *policy.RuleValue, report reportMember) ruleCheck {
	limit := readLimit(v, report)
	return ruleCheck{
		message:  "Choose at most " + countOf(limit, "value", "values") + ".",
		isBroken: func(s *subject) bool { return int64(len(s.texts)) > limit },
	}
}

func compileMaximumCount(v *policy.RuleValue, report reportMember) ruleCheck {
	limit := readLimit(v, report)
	return ruleCheck{
		message:        "Add at most " + countOf(limit, "item", "items") + ".",
		areItemsBroken: func(s *subject) bool { return s.items > limit },
	}
}

func compileNumberLimit(v *policy.RuleValue, report reportMember) ruleCheck {
	minimum, hasMinimum := readBound(v.MinValue, "minValue", report)
	maximum, hasMaximum := readBound(v.MaxValue, "maxValue", report)
	if hasMinimum && hasMaximum && minimum.compare(maximum) > 0 {
		report("minValue", "The smallest value must not be greater than the largest one.")
	}
	return ruleCheck{
		message: rangeMessage("Enter a number", v.MinValue, v.MaxValue, "of at least %s.", "of at most %s."),
		isTextBroken: func(text string, _ *subject) bool {
			n, isNumber := parseNumber(text)
			return !isNumber || hasMinimum && n.compare(minimum) < 0 || hasMaximum && n.compare(maximum) > 0
		},
	}
}

// readBound reads a member that is a number. Without a text there is no bound.
func readBound(text, member string, report reportMember) (number, bool) {
	n, isNumber := parseNumber(text)
	if text != "" && !isNumber {
		report(member, "The value must be a decimal number such as -12.50, with at most %d characters.",
			maxNumberLength)
	}
	return n, isNumber
}

func compileDateLimit(v *policy.RuleValue, report reportMember) ruleCheck {
	first, hasFirst := readDateBound(v.MinDate, "minDate", report)
	last, hasLast := readDateBound(v.MaxDate, "maxDate", report)
	if hasFirst && hasLast && first.compare(last, time.UTC) > 0 {
		report("minDate", "The first date must not be after the last one.")
	}
	return ruleCheck{
		message: rangeMessage("Enter a date", v.MinDate, v.MaxDate, "on or after %s.", "on or before %s."),
		isTextBroken: func(text string, s *subject) bool {
			d, isDate := parseDate(text)
			return !isDate || hasFirst && d.compare(first, s.zone) < 0 || hasLast && d.compare(last, s.zone) > 0
		},
	}
}

// readDateBound reads a member that is a date. Without a text there is no bound.
func readDateBound(text, member string, report reportMember) (date, bool) {
	d, isDate := parseDate(text)
	if text != "" && !isDate {
		report(member, "The value must be a date such as 2026-12-31 or a date-time such as 2026-12-31T23:59:59Z.")
	}
	return d, isDate
}

// isNotDateUntilNow reports whether a text is not a date or is one after now. The whole of today counts as now.
func isNotDateUntilNow(text string, s *subject) bool {
	d, isDate := parseDate(text)
	return !isDate || d.compare(date{s.now, true}, s.zone) > 0
}

// isNotDateFromNow reports whether a text is not a date or is one before now. The whole of today counts as now.
func isNotDateFromNow(text string, s *subject) bool {
	d, isDate := parseDate(text)
	return !isDate || d.compare(date{s.now, true}, s.zone) < 0
}

func compileMinimumCount(v *policy.RuleValue, report reportMember) ruleCheck {
	var parts []string
	overall := int64(0)
	if v.OverallMinimumCount != nil {
		if overall = *v.OverallMinimumCount; overall < 0 {
			report("overallMinimumCount", "The count must not be negative.")
		}
		parts = append(parts, countOf(overall, "item", "items"))
	}
	types := v.RequiredTypesMinCount
	for i, t := range types {
		switch path := fmt.Sprintf("requiredTypesMinCount[%d]", i); {
		case t.Type == "":
			report(path+".type", "The type is missing: a value of the primary field of the data group.")
		case t.MinCount < 0:
			report(path+".minCount", "The count must not be negative.")
		}
		parts = append(parts, fmt.Sprintf("%s of the type %s", countOf(t.MinCount, "item", "items"), t.Type))
	}
	return ruleCheck{
		message: "Add at least " + strings.Join(parts, ", ") + ".",
		areItemsBroken: func(s *subject) bool {
			if s.items < overall {
				return true
			}
			for _, t := range types {
				if count, isKnown := s.countOfType(t.Type); isKnown && count < t.MinCount {
					return true
				}
			}
			return false
		},
	}
}

func compileTimeZone(v *policy.RuleValue, report reportMember) ruleCheck {
	zone, err := time.LoadLocation(v.TimeZoneID)
	if err != nil || v.TimeZoneID == "Local" || v.TimeZoneID == "" {
		report("timeZoneId", "The time zone is unknown. Use a name of the IANA database such as Europe/Dublin.")
		zone = time.UTC
	}
	return ruleCheck{message: "Dates are meant in the time zone " + v.TimeZoneID + ".", zone: zone}
}

// countOf returns a number with its noun.
func countOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// rangeMessage returns a sentence about a range with one or two ends.
func rangeMessage(begin, from, to, onlyFrom, onlyTo string) string {
	switch {
	case from == "":
		return begin + " " + fmt.Sprintf(onlyTo, to)
	case to == "":
		return begin + " " + fmt.Sprintf(onlyFrom, from)
	}
	return fmt.Sprintf("%s from %s to %s.", begin, from, to)
}
