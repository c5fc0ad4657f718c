package property_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/platform/property"
)

const id = "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10"

func TestCheck(t *testing.T) {
	text := func(s string) *string { return &s }
	nested := func(depth int) property.Property {
		p := property.Property{Type: property.Single}
		for range depth {
			p = property.Property{Type: property.Custom, CustomTypeID: id,
				Properties: map[string]property.Property{"k": p}}
		}
		return p
	}
	for name, tt := range map[string]struct {
		p    property.Property
		want []string
	}{
		"single":          {property.Property{Type: property.Single, Value: text("a"), ValueID: text("1")}, nil},
		"single, longest": {property.Property{Type: property.Single, Value: text(strings.Repeat("x", 10))}, nil},
		"single, too long": {property.Property{Type: property.Single, Value: text(strings.Repeat("x", 11))},
			[]string{"p.k.value"}},
		"no type":       {property.Property{Value: text("a")}, []string{"p.k.type"}},
		"another type":  {property.Property{Type: "single"}, []string{"p.k.type"}},
		"mixed":         {property.Property{Type: property.Custom, Value: text("a")}, []string{"p.k"}},
		"custom, no id": {property.Property{Type: property.Custom}, []string{"p.k.customTypeId"}},
		"custom, no UUID": {property.Property{Type: property.Custom, CustomTypeID: "{" + id[1:35] + "}"},
			[]string{"p.k.customTypeId"}},
		"collection":        {collection(map[string]property.Item{"1": {}}), nil},
		"collection, no id": {property.Property{Type: property.Collection}, []string{"p.k.dataGroupId"}},
		"collection, keys": {collection(map[string]property.Item{"": {}, "123456": {}, "12345": {
			Properties:     map[string]*string{"": nil, "123456": nil, "12345": nil},
			PropertiesInfo: map[string]property.Info{"": {}, "123456": {}, "12345": {}},
		}}), []string{"p.k.collections", "p.k.collections.12345.properties", "p.k.collections.12345.properties",
			"p.k.collections.12345.propertiesInfo", "p.k.collections.12345.propertiesInfo", "p.k.collections"}},
		"collection, long text": {collection(map[string]property.Item{"1": {
			Properties:     map[string]*string{"a": text(strings.Repeat("x", 11)), "b": nil},
			PropertiesInfo: map[string]property.Info{"a": {ValueID: text(strings.Repeat("x", 11))}},
		}}), []string{"p.k.collections.1.a", "p.k.collections.1.propertiesInfo.a"}},
		"deepest": {nested(property.MaxDepth - 1), nil},
		"too deep": {nested(property.MaxDepth), []string{"p.k" + strings.Repeat(".properties.k", property.MaxDepth-1) +
			".properties"}},
	} {
		var got []string
		property.Validate("p", map[string]property.Property{"k": tt.p}, 5, 10,
			func(name, _ string) { got = append(got, name) })
		difftest.Equal(t, name, tt.want, got)
	}
	for key, want := range map[string]int{"": 1, "12345": 0, "123456": 1} {
		got := 0
		property.Validate("p", map[string]property.Property{key: {Type: property.Single}}, 5, 10,
			func(string, string) { got++ })
		difftest.Equal(t, fmt.Sprintf("key %q: faults", key), want, got)
	}
}

func collection(items map[string]property.Item) property.Property {
	return property.Property{Type: property.Collection, DataGroupID: id, Collections: items}
}

func TestEmpty(t *testing.T) {
	nothing := ""
	for name, tt := range map[string]struct {
		p    property.Property
		want bool
	}{
		"null":       {property.Property{Type: property.Single}, true},
		"a value":    {property.Property{Type: property.Single, Value: &nothing}, false},
		"an id":      {property.Property{Type: property.Single, ValueID: &nothing}, false},
		"collection": {collection(nil), false},
	} {
		difftest.Equal(t, name, tt.want, tt.p.IsEmpty())
	}
}

func TestMerge(t *testing.T) {
	one, two := property.Property{Type: property.Single}, property.Property{Type: property.Custom}
	old := map[string]property.Property{"a": one, "b": one}
	got := property.Merge(old, map[string]property.Property{"b": two, "c": two})
	difftest.Equal(t, "result", map[string]property.Property{"a": one, "b": two, "c": two}, got)
	if len(old) != 2 || old["b"].Type != property.Single {
		t.Error("the old map was changed")
	}
	if property.Merge(nil, nil) == nil {
		t.Error("nil")
	}
}

func TestApart(t *testing.T) {
	text := func(s string) *string { return &s }
	single := property.Property{Type: property.Single, Value: text("v"), ValueID: text("1")}
	got := property.SplitByKind(map[string]property.Property{
		"s": single, "c": {Type: property.Custom, Properties: map[string]property.Property{"s": single}},
		"l": {Type: property.Collection, DataGroupID: "g", Collections: map[string]property.Item{"i": {
			Properties:     map[string]*string{"a": text("v"), "b": nil},
			PropertiesInfo: map[string]property.Info{"a": {ValueID: text("1")}},
		}}},
	})
	one := property.Text{Value: text("v"), ValueID: text("1")}
	want := property.Split{
		SingleProperties: map[string]property.Text{"s": one},
		CustomProperties: map[string]property.Split{"c": {
			SingleProperties: map[string]property.Text{"s": one}, CustomProperties: map[string]property.Split{},
		}},
		CollectionProperties: map[string]property.SplitCollection{"l": {CollectionID: "g",
			Items: map[string]property.SplitItem{
				"i": {Properties: map[string]property.Text{"a": one, "b": {}}},
			}}},
	}
	difftest.Equal(t, "result", want, got)
}

// Every property is refused or kept; one that passes the check has a kind, and both forms have every key.
func FuzzProperties(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"type":"Single","value":"x","valueId":null}}`,
		`{"b":{"type":"Collection","dataGroupId":"` + id +
			`","collections":{"1":{"properties":{"c":null},"propertiesInfo":{"c":{"valueId":"1"}}},"2":{}}}}`,
		`{"d":{"type":"Custom","customTypeId":"` + id +
			`","properties":{"e":{"type":"Single"},"f":{"type":"Custom"}}}}`,
		`{"":null}`, `null`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var all map[string]property.Property
		if json.Unmarshal([]byte(text), &all) != nil {
			return
		}
		faults := 0
		property.Validate("p", all, 255, 10_000, func(name, message string) {
			if faults++; !strings.HasPrefix(name, "p.") || message == "" {
				t.Errorf("%q: %q", name, message)
			}
		})
		apart := property.SplitByKind(all)
		if told := len(apart.SingleProperties) + len(apart.CollectionProperties) +
			len(apart.CustomProperties); faults == 0 && told != len(all) {
			t.Errorf("%d of %d properties are told", told, len(all))
		}
	})
}
