package evaluate_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// oracle interprets conditions as docs/contract/policy.md says it, in the plainest way: it walks operands and JSON,
// keeps nothing, and knows neither slots nor closures.
type oracle struct {
	request evaluate.Request
	// hidden are the data keys that are hidden.
	hidden map[string]bool
}

// The forms that values have for the oracle: things are nil, text, list and object.
type (
	oracleText struct{ value, id *string }
	oracleList []any
	// oracleObject is a group or an object; its items are not nil if it is a collection.
	oracleObject struct {
		members map[string]any
		items   *oracleList
		// properties are what decides whether the object has a value, if it has any.
		properties any
	}
)

// condition reports whether a condition is met. Without an item, it is about the entity.
func (o *oracle) condition(c policy.Condition, item any, isInner bool) bool {
	return o.combine(c.LogicalOperation, c.Operands, item, isInner)
}

func (o *oracle) combine(by policy.Logical, operands []policy.Operand, item any, isInner bool) bool {
	some, every := false, true
	for _, operand := range operands {
		isMet := o.operand(operand, item, isInner)
		some, every = some || isMet, every && isMet
	}
	if by == policy.Or && len(operands) > 0 {
		return some
	}
	return every
}

func (o *oracle) operand(operand policy.Operand, item any, isInner bool) bool {
	isQuantifier := operand.Operation == policy.Any || operand.Operation == policy.All ||
		operand.Operation == policy.None
	if !isQuantifier && len(operand.Operands) > 0 {
		return o.combine(operand.LogicalOperation, operand.Operands, item, isInner)
	}
	a, isHidden := o.read(operand.DataSource, operand.FieldName, item, isInner)
	if isHidden {
		return false
	}
	if !isQuantifier {
		var b *found
		if operand.ValueField != "" {
			if b, isHidden = o.read(operand.DataSource, operand.ValueField, item, isInner); isHidden {
				return false
			}
		}
		return a.compare(operand, b)
	}
	met := 0
	for _, item := range a.items {
		if o.combine(operand.LogicalOperation, operand.Operands, item, true) {
			met++
		}
	}
	switch operand.Operation {
	case policy.Any:
		return met > 0
	case policy.All:
		return met == len(a.items)
	default:
		return met == 0
	}
}

// found is everything that a name leads to.
type found struct {
	isDefined, isSeveral, hasMembers bool
	texts                            []oracleText
	items                            []any
}

// read returns what a name in a data source leads to, and whether it is hidden.
func (o *oracle) read(source, name string, item any, isInner bool) (*found, bool) {
	var steps []string
	if name != "" {
		steps = strings.Split(name, ".")
	}
	isItem := item != nil && (source == "currentDataGroupItem" || source == "" && isInner)
	if isItem || !slices.Contains(exempt[source], name) {
		for _, step := range append([]string{name}, steps...) {
			if o.hidden[step] {
				return nil, true
			}
		}
	}
	root := item
	if !isItem {
		root = o.source(source)
	}
	f := &found{}
	if len(steps) > 1 {
		if o.find(f, root, []string{name}); f.isDefined {
			return f, false
		}
	}
	f = &found{}
	o.find(f, root, steps)
	return f, false
}

func (o *oracle) source(name string) any {
	if name == "" {
		return ofProperties(o.request.Properties)
	}
	d := json.NewDecoder(bytes.NewReader(o.request.DataSources[name]))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return ofJSON(o.withoutHidden(name, v, true))
}

// exempt are the members of data sources that are never hidden.
var exempt = map[string][]string{
	"entityDataMetadata": {"entityType", "entityId"}, "currentUser": {"teamIds", "isSystemUser"},
	"currentJourneys":      {"inProgressJourneyTypes"},
	"screeningMateriality": {"mainEntity", "materialityOutcome", "sanctionsProceedDecision"},
}

// withoutHidden returns a data source without what is about hidden data keys.
func (o *oracle) withoutHidden(source string, v any, isTop bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		if key, isText := v["dataKey"].(string); isText && o.hidden[key] {
			return nil
		}
		for name, member := range v {
			if !o.hidden[name] || isTop && slices.Contains(exempt[source], name) {
				out[name] = o.withoutHidden(source, member, false)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, element := range v {
			if key, isText := element.(string); isText && source == "changedFields" && o.hidden[key] {
				continue
			}
			if element = o.withoutHidden(source, element, false); element != nil {
				out = append(out, element)
			}
		}
		return out
	}
	return v
}

func (o *oracle) find(f *found, thing any, steps []string) {
	if thing == nil {
		return
	}
	items, isList := itemsOf(thing)
	switch {
	case len(steps) == 0:
		f.isDefined = true
		if t, isText := thing.(oracleText); isText {
			f.addText(t)
		} else if isList {
			f.isSeveral = true
			f.items = append(f.items, items...)
			for _, item := range items {
				if t, isText := item.(oracleText); isText && (t.value != nil || t.id != nil) {
					f.texts = append(f.texts, t)
				}
			}
		} else {
			f.hasMembers = f.hasMembers || o.hasValue(thing)
		}
	case isList:
		f.isSeveral = true
		for _, item := range items {
			if t, isText := item.(oracleText); isText {
				if len(steps) == 1 && t.id == nil && t.value != nil && *t.value == steps[0] {
					o.find(f, item, nil)
				}
				continue
			}
			o.find(f, item, steps)
		}
	default:
		if object, isObject := thing.(oracleObject); isObject {
			o.find(f, object.members[steps[0]], steps[1:])
		}
	}
}

func (f *found) addText(t oracleText) {
	list := func(text *string) []string {
		var values []string
		if text == nil || !strings.HasPrefix(*text, "[") || json.Unmarshal([]byte(*text), &values) != nil {
			return nil
		}
		return values
	}
	values, ids := list(t.value), list(t.id)
	if values == nil {
		if t.value != nil || t.id != nil {
			f.texts = append(f.texts, t)
		}
		return
	}
	if ids == nil && t.id != nil && *t.id != "[]" {
		ids = []string{*t.id}
	}
	f.isSeveral = true
	for i := range max(len(values), len(ids)) {
		var one oracleText
		if i < len(values) {
			one.value = &values[i]
		}
		if i < len(ids) {
			one.id = &ids[i]
		}
		f.texts = append(f.texts, one)
	}
}

func itemsOf(thing any) ([]any, bool) {
	switch thing := thing.(type) {
	case oracleList:
		return thing, true
	case oracleObject:
		if thing.items != nil {
			return *thing.items, true
		}
	}
	return nil, false
}

func (o *oracle) hasValue(thing any) bool {
	if items, isList := itemsOf(thing); isList {
		return len(items) > 0
	}
	switch thing := thing.(type) {
	case oracleText:
		f := &found{}
		f.addText(thing)
		return f.compare(policy.Operand{Operation: policy.IsNotEmpty}, nil)
	case oracleObject:
		if thing.properties != nil {
			return o.hasValue(thing.properties)
		}
		for name, member := range thing.members {
			if !o.hidden[name] && o.hasValue(member) {
				return true
			}
		}
	}
	return false
}

// compare reports whether what was found meets an operation with the given values, or with those of another field.
func (f *found) compare(operand policy.Operand, other *found) bool {
	values, ids := operand.Value, operand.ValueID
	if other != nil {
		values, ids = nil, nil
		for _, t := range other.texts {
			if t.value != nil {
				values = append(values, *t.value)
			}
			if t.id != nil {
				ids = append(ids, *t.id)
			}
		}
	}
	isIn := false
	for _, t := range f.texts {
		for _, v := range values {
			isIn = isIn || t.value != nil && equalForOracle(*t.value, v)
		}
		for _, v := range ids {
			isIn = isIn || t.id != nil && equalForOracle(*t.id, v)
		}
	}
	contains := isIn
	if len(f.texts) == 1 && !f.isSeveral && f.texts[0].value != nil {
		for _, v := range values {
			contains = contains || v != "" && strings.Contains(strings.ToLower(*f.texts[0].value), strings.ToLower(v))
		}
	}
	isEmpty := len(f.items) == 0 && !f.hasMembers
	for _, t := range f.texts {
		isEmpty = isEmpty && (t.value == nil || *t.value == "") && (t.id == nil || *t.id == "")
	}
	switch operand.Operation {
	case policy.Equal:
		return isIn
	case policy.NotEqual:
		return !isIn
	case policy.Contains:
		return contains
	case policy.NotContains:
		return !contains
	case policy.IsEmpty:
		return isEmpty
	case policy.IsNotEmpty:
		return !isEmpty
	case policy.IsDefined:
		return f.isDefined
	case policy.IsNotDefined:
		return !f.isDefined
	case policy.GreaterThan:
		return f.some(values, func(order int) bool { return order > 0 })
	case policy.GreaterThanOrEqual:
		return f.some(values, func(order int) bool { return order >= 0 })
	case policy.LessThan:
		return f.some(values, func(order int) bool { return order < 0 })
	case policy.LessThanOrEqual:
		return f.some(values, func(order int) bool { return order <= 0 })
	}
	return f.countMeets(operand)
}

// some reports whether the order of one of the texts and one of the values is as wanted.
func (f *found) some(values []string, wanted func(order int) bool) bool {
	for _, t := range f.texts {
		for _, v := range values {
			if t.value == nil {
				continue
			}
			if order, ok := orderForOracle(*t.value, v); ok && wanted(order) {
				return true
			}
		}
	}
	return false
}

func (f *found) countMeets(operand policy.Operand) bool {
	count := len(f.texts)
	if len(f.items) > 0 {
		count = len(f.items)
	} else if count == 1 && !f.isSeveral {
		if t := f.texts[0]; (t.value == nil || *t.value == "") && (t.id == nil || *t.id == "") {
			count = 0
		}
	}
	some := func(wanted func(given int) bool) bool {
		return slices.ContainsFunc(operand.Value, func(v string) bool {
			given, err := strconv.Atoi(v)
			return err == nil && wanted(given)
		})
	}
	switch operand.Operation {
	case policy.CountEqual:
		return some(func(given int) bool { return count == given })
	case policy.CountNotEqual:
		return !some(func(given int) bool { return count == given })
	case policy.CountLessThan:
		return some(func(given int) bool { return count < given })
	case policy.CountLessThanOrEqual:
		return some(func(given int) bool { return count <= given })
	case policy.CountGreaterThan:
		return some(func(given int) bool { return count > given })
	case policy.CountGreaterThanOrEqual:
		return some(func(given int) bool { return count >= given })
	}
	low, _ := strconv.Atoi(operand.Value[0])
	high, _ := strconv.Atoi(operand.Value[1])
	return (low <= count && count <= high) == (operand.Operation == policy.CountBetween)
}
