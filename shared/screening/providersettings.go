package screening

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the settings of a provider.
const (
	// MaxFields is the largest number of settings that a provider has.
	MaxFields = 50
	// MaxSets is the largest number of sets of settings of a provider, its default set included.
	MaxSets = 20
	// MaxSettingChars is the length of the longest value of a setting, in characters.
	MaxSettingChars = 1000
)

// SettingType is the type of the values of a setting.
type SettingType string

// The types of settings: true or false, and any text.
const (
	Toggle    SettingType = "Toggle"
	TextInput SettingType = "TextInput"
)

// SettingTypes lists the types of settings.
var SettingTypes = []SettingType{Toggle, TextInput}

// The values of a Toggle.
const (
	toggleOn  = "true"
	toggleOff = "false"
)

// SettingField describes one setting of a provider.
type SettingField struct {
	ID   string      `json:"id"`
	Name string      `json:"name"`
	Type SettingType `json:"type"`
	// EnabledBy is the ID of a Toggle: the setting applies only in sets where it is true. It is "" for a setting
	// that always applies.
	EnabledBy string `json:"enabledBy"`
	// IsMandatory means that each set where the setting applies must have a value for it.
	IsMandatory bool `json:"mandatory"`
}

// ConfigurationSet is a named set of settings of a provider.
type ConfigurationSet struct {
	// ID is a UUID.
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Settings    []Setting `json:"settings"`
}

// Setting is the value of one setting.
type Setting struct {
	// FieldID is the ID of a SettingField of the provider.
	FieldID string `json:"fieldId"`
	// Value is the text of the value, in the form that the type of the field has.
	Value string `json:"value"`
}

// Get returns the value of a setting, "" if the set has none.
func (s ConfigurationSet) Get(fieldID string) string {
	for _, v := range s.Settings {
		if v.FieldID == fieldID {
			return v.Value
		}
	}
	return ""
}

// SettingProblem is an error in a schema of settings or a set of them.
type SettingProblem struct {
	// Index is the place of the field or the setting in its list; -1 for a missing setting.
	Index int
	// Property is the property of the field or the setting, as the interface names it; "" for all of it.
	Property string
	Message  string
}

// CheckFields returns the problems of the IDs and the dependencies of a schema: IDs that repeat, enabledBy that
// names no Toggle of the schema, and Toggles that enable each other in a circle.
func CheckFields(fields []SettingField) []SettingProblem {
	var problems []SettingProblem
	add := func(i int, property, format string, args ...any) {
		problems = append(problems, SettingProblem{i, property, fmt.Sprintf(format, args...)})
	}
	byID := make(map[string]SettingField, len(fields))
	for i, f := range fields {
		if _, isTwice := byID[f.ID]; isTwice {
			first := slices.IndexFunc(fields, func(other SettingField) bool { return other.ID == f.ID })
			add(i, "fieldId", "The fields %d and %d, counted from 0, have the same ID, %q.", first, i, f.ID)
			continue
		}
		byID[f.ID] = f
	}
	for i, f := range fields {
		if f.EnabledBy == "" {
			continue
		}
		switch enabler, isKnown := byID[f.EnabledBy]; {
		case !isKnown:
			add(i, "enabledBy", "The schema has no field %q.", f.EnabledBy)
		case enabler.Type != Toggle:
			add(i, "enabledBy", "The field %q is not of the type Toggle.", f.EnabledBy)
		case isInCircle(byID, f.ID):
			add(i, "enabledBy", "The field would enable itself: follow enabledBy from field to field.")
		}
	}
	return problems
}

// isInCircle reports whether a field leads back to itself by way of EnabledBy.
func isInCircle(byID map[string]SettingField, id string) bool {
	next := byID[id].EnabledBy
	for range byID {
		if next == "" || next == id {
			break
		}
		next = byID[next].EnabledBy
	}
	return next == id
}

// CheckSettings returns the problems of the settings of a set by the fields of its provider, which CheckFields has
// found to be correct: unknown settings, repeated ones, values that their type does not have, and mandatory settings
// that are missing although they apply.
func CheckSettings(fields []SettingField, settings []Setting) []SettingProblem {
	var problems []SettingProblem
	add := func(i int, property, format string, args ...any) {
		problems = append(problems, SettingProblem{i, property, fmt.Sprintf(format, args...)})
	}
	byID := make(map[string]SettingField, len(fields))
	for _, f := range fields {
		byID[f.ID] = f
	}
	values := make(map[string]string, len(settings))
	for i, s := range settings {
		f, isKnown := byID[s.FieldID]
		_, isTwice := values[s.FieldID]
		values[s.FieldID] = s.Value
		switch {
		case !isKnown:
			add(i, "fieldId", "The provider has no setting %q.", s.FieldID)
		case isTwice:
			first := slices.IndexFunc(settings, func(other Setting) bool { return other.FieldID == s.FieldID })
			add(i, "fieldId", "The settings %d and %d, counted from 0, are both of %q: a set has one value of each.",
				first, i, s.FieldID)
		case f.Type == Toggle && s.Value != toggleOn && s.Value != toggleOff:
			add(i, "value", "The setting %q is a Toggle: its value is \"true\" or \"false\".", s.FieldID)
		case utf8.RuneCountInString(s.Value) > MaxSettingChars:
			add(i, "value", "The value has more than %d characters.", MaxSettingChars)
		}
	}
	for _, f := range fields {
		if f.IsMandatory && strings.TrimSpace(values[f.ID]) == "" && isEnabled(byID, values, f) {
			add(-1, "", "The setting %q is mandatory and has no value.", f.ID)
		}
	}
	return problems
}

// isEnabled reports whether a setting applies, by the values of the Toggles that enable it. A setting in a circle of
// them does not.
func isEnabled(byID map[string]SettingField, values map[string]string, f SettingField) bool {
	for range len(byID) {
		if f.EnabledBy == "" {
			return true
		}
		if values[f.EnabledBy] != toggleOn {
			return false
		}
		f = byID[f.EnabledBy]
	}
	return false
}

// The settings of the built-in provider.
const (
	builtInThreshold = "threshold"
	builtInLists     = "lists"
)

func builtInFields() []SettingField {
	return []SettingField{
		{ID: builtInThreshold, Name: "Threshold, 0 to 100; empty: the threshold of the tenant", Type: TextInput},
		{ID: builtInLists, Name: "Lists, separated by commas; empty: the active ones of the tenant", Type: TextInput},
	}
}

// Limits of searches by the built-in provider.
const (
	// DefaultThreshold is the default threshold.
	DefaultThreshold = 80
	// MinThreshold and MaxThreshold bound it.
	MinThreshold = 0
	MaxThreshold = 100
	// MaxLists is the largest number of lists that a search names.
	MaxLists = 20
	// MaxListName is the length of the longest name of a list, in characters.
	MaxListName = 100
)

// BuiltInSearch is how the built-in provider searches.
type BuiltInSearch struct {
	// Lists are the names of the watchlists; nil for all that the tenant has.
	Lists []string
	// Threshold is the least score of a match.
	Threshold float64
}

// Search returns how the built-in provider searches by the settings of a tenant and one of its sets. A set that
// CheckBuiltInSettings has not found to be correct counts only as far as it is.
func (s Settings) Search(set ConfigurationSet) BuiltInSearch {
	search := BuiltInSearch{Lists: slices.Clone(s.ActiveLists), Threshold: DefaultThreshold}
	if s.Threshold != nil {
		search.Threshold = *s.Threshold
	}
	if threshold, ok := parseThreshold(set.Get(builtInThreshold)); ok {
		search.Threshold = threshold
	}
	if lists := splitLists(set.Get(builtInLists)); len(lists) > 0 {
		search.Lists = lists
	}
	return search
}

// CheckSet returns the problems of the settings of a set of the provider.
func (p Provider) CheckSet(set ConfigurationSet) []SettingProblem {
	problems := CheckSettings(p.Fields, set.Settings)
	if p.IsBuiltIn() {
		problems = append(problems, CheckBuiltInSettings(set.Settings)...)
	}
	return problems
}

// CheckBuiltInSettings returns the problems of the settings of a set of the built-in provider, beyond CheckSettings.
func CheckBuiltInSettings(settings []Setting) []SettingProblem {
	var problems []SettingProblem
	for i, s := range settings {
		message := ""
		switch s.FieldID {
		case builtInThreshold:
			if _, ok := parseThreshold(s.Value); !ok && s.Value != "" {
				message = fmt.Sprintf("The value must be a number from %d to %d.", MinThreshold, MaxThreshold)
			}
		case builtInLists:
			lists := splitLists(s.Value)
			isLong := func(name string) bool { return utf8.RuneCountInString(name) > MaxListName }
			if len(lists) > MaxLists || slices.ContainsFunc(lists, isLong) {
				message = fmt.Sprintf("The value must have at most %d names of lists, separated by commas, each of "+
					"at most %d characters.", MaxLists, MaxListName)
			}
		}
		if message != "" {
			problems = append(problems, SettingProblem{i, "value", message})
		}
	}
	return problems
}

func parseThreshold(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return n, err == nil && n >= MinThreshold && n <= MaxThreshold
}

func splitLists(text string) []string {
	var lists []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(lists, name) {
			lists = append(lists, name)
		}
	}
	return lists
}
