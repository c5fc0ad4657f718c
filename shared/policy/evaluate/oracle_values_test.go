package evaluate_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"

	"sluice/shared/platform/property"
)

func equalForOracle(a, b string) bool {
	x, isNumber := new(big.Rat).SetString(a)
	y, isOther := new(big.Rat).SetString(b)
	if isNumber && isOther && !strings.HasPrefix(a, "+") && !strings.HasPrefix(b, "+") && a[0] != '0' && b[0] != '0' {
		return x.Cmp(y) == 0
	}
	return strings.EqualFold(a, b)
}

func orderForOracle(a, b string) (int, bool) {
	x, isNumber := new(big.Rat).SetString(a)
	y, isOther := new(big.Rat).SetString(b)
	if isNumber && isOther {
		return x.Cmp(y), true
	}
	day, moment := time.DateOnly, time.RFC3339
	for _, layouts := range [][2]string{{day, day}, {moment, moment}, {day, moment}, {moment, day}} {
		s, err := time.Parse(layouts[0], a)
		u, err2 := time.Parse(layouts[1], b)
		if err != nil || err2 != nil {
			continue
		}
		if layouts[0] == day || layouts[1] == day {
			s, u = s.UTC().Truncate(24*time.Hour), u.UTC().Truncate(24*time.Hour)
		}
		return s.Compare(u), true
	}
	return 0, false
}

// ofProperties returns properties as the oracle sees them.
func ofProperties(p property.Split) any {
	out := oracleObject{members: map[string]any{}}
	for key, inner := range p.CustomProperties {
		out.members[key] = ofProperties(inner)
	}
	for key, c := range p.CollectionProperties {
		items := oracleList{}
		for _, item := range c.Items {
			items = append(items, ofItem(item))
		}
		out.members[key] = oracleObject{items: &items}
	}
	for key, t := range p.SingleProperties {
		out.members[key] = oracleText{t.Value, t.ValueID}
	}
	return out
}

func ofItem(item property.SplitItem) any {
	out := oracleObject{members: map[string]any{}}
	for key, t := range item.Properties {
		out.members[key] = oracleText{t.Value, t.ValueID}
	}
	return out
}

// ofJSON returns part of a data source as the oracle sees it.
func ofJSON(v any) any {
	switch v := v.(type) {
	case nil:
		return oracleText{}
	case string:
		return oracleText{value: &v}
	case json.Number:
		text := v.String()
		return oracleText{value: &text}
	case bool:
		text := strconv.FormatBool(v)
		return oracleText{value: &text}
	case []any:
		out := oracleList{}
		for _, element := range v {
			out = append(out, ofJSON(element))
		}
		return out
	}
	return ofJSONObject(v.(map[string]any))
}

// ofJSONObject returns an object as the oracle sees it: a property in one of its forms, or the members, over which go
// those in split form and the properties.
func ofJSONObject(v map[string]any) any {
	_, hasValue := v["value"]
	_, hasID := v["valueId"]
	if v["type"] == "Single" || v["type"] == nil && (hasValue || hasID) {
		var t oracleText
		if s, ok := v["value"].(string); ok {
			t.value = &s
		}
		if s, ok := v["valueId"].(string); ok {
			t.id = &s
		}
		return t
	}
	out := oracleObject{members: map[string]any{}}
	for name, member := range v {
		out.members[name] = ofJSON(member)
	}
	for _, kind := range []string{"customProperties", "collectionProperties", "singleProperties"} {
		if members, ok := v[kind].(map[string]any); ok {
			for name, member := range members {
				out.members[name] = ofJSON(member)
			}
		}
	}
	if properties, ok := v["properties"].(map[string]any); ok {
		out.properties = ofJSONObject(properties)
		if inner, ok := out.properties.(oracleObject); ok {
			for name, member := range inner.members {
				out.members[name] = member
			}
		}
	}
	collection, ok := v["collections"].(map[string]any)
	if v["collectionId"] != nil && !ok {
		collection, ok = v["items"].(map[string]any)
	}
	if ok {
		items := oracleList{}
		for _, item := range collection {
			items = append(items, ofJSON(item))
		}
		out.items = &items
	}
	return out
}
