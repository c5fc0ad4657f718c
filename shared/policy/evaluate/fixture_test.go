package evaluate_test

import (
	"testing"
	"time"

	"sluice/shared/kit/errtest"
	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// now is the moment of the requests of tests.
var now = time.Date(2026, 3, 1, 22, 30, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

// mustCompile compiles contents.
func mustCompile(t *testing.T, c policy.Contents) *evaluate.Program {
	t.Helper()
	return errtest.Must(evaluate.Compile(c))(t)
}

// mustEvaluate compiles contents and evaluates them.
func mustEvaluate(t *testing.T, c policy.Contents, r evaluate.Request) evaluate.Result {
	t.Helper()
	r.Now = now
	return errtest.Must(mustCompile(t, c).Evaluate(t.Context(), r, nil))(t)
}

// texts returns properties that are single values.
func texts(keysAndValues ...string) map[string]property.Text {
	out := map[string]property.Text{}
	for i := 0; i < len(keysAndValues); i += 2 {
		out[keysAndValues[i]] = property.Text{Value: &keysAndValues[i+1]}
	}
	return out
}

// always is a rule with a static value that is active.
func always(v policy.RuleValue) *policy.Rule { return &policy.Rule{IsActive: true, StaticRule: &v} }

// setRule gives a field a rule by its name.
func setRule(f *policy.Field, name string, r *policy.Rule) {
	v := &f.ValidationRules
	*map[string]**policy.Rule{
		"mandatory": &v.Mandatory, "readOnly": &v.ReadOnly, "specialCharacters": &v.SpecialCharacters,
		"noNumbers":   &v.NoNumbers,
		"onlyInteger": &v.OnlyInteger, "noNegative": &v.NoNegative, "onlyDecimal": &v.OnlyDecimal, "regex": &v.Regex,
		"characterLimit": &v.CharacterLimit, "numberLimit": &v.NumberLimit, "noFutureDates": &v.NoFutureDates,
		"noPastDates": &v.NoPastDates, "dateLimit": &v.DateLimit, "multiSelectLimit": &v.MultiSelectLimit,
		"collectionMinimumCount": &v.CollectionMinimumCount, "collectionMaximumCount": &v.CollectionMaximumCount,
		"externalProvider": &v.ExternalProvider, "externalDataGroupProvider": &v.ExternalDataGroupProvider,
		"conditionalLimit": &v.ConditionalLimit, "timeZoneId": &v.TimeZoneID,
	}[name] = r
}
