package property_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/property"
)

func TestCheck(t *testing.T) {
	text := func(s string) *string { return &s }
	nested := func(depth int) property.Property {
		p := property.Property{Type: property.Single}
		for range depth {
			p = property.Property{Type: property.Custom, Properties: map[string]property.Property{"k": p}}
		}
		return p
	}
	for name, tt := range map[string]struct {
		p    property.Property
		want []string
	}{
		"single":           {property.Property{Type: property.Single, Value: text("a"), ValueID: text("1")}, nil},
		"single, longest":  {property.Property{Type: property.Single, Value: text(strings.Repeat("x", 10))}, nil},
		"single, too long": {property.Property{Type: property.Single, Value: text(strings.Repeat("x", 11))}, []string{"p.k.value"}},
		"no type":          {property.Property{Value: text("a")}, []string{"p.k.type"}},
		"another type":     {property.Property{Type: "single"}, []string{"p.k.type"}},
		"mixed":            {property.Property{Type: property.Custom, Value: text("a")}, []string{"p.k"}},
		"collection":       {property.Property{Type: property.Collection, DataGroupID: "g", Collections: map[string]property.Item{"1": {}}}, nil},
		"collection, long text": {property.Property{Type: property.Collection, Collections: map[string]property.Item{
			"1": {Properties: map[string]*string{"a": text(strings.Repeat("x", 11)), "b": nil}}}}, []string{"p.k.collections.1.a"}},
		"deepest":  {nested(property.MaxDepth - 1), nil},
		"too deep": {nested(property.MaxDepth), []string{"p.k" + strings.Repeat(".properties.k", property.MaxDepth-1) + ".properties"}},
	} {
		var got []string
		property.Check("p", map[string]property.Property{"k": tt.p}, 5, 10, func(name, _ string) { got = append(got, name) })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for key, want := range map[string]int{"": 1, "12345": 0, "123456": 1} {
		got := 0
		property.Check("p", map[string]property.Property{key: {Type: property.Single}}, 5, 10, func(string, string) { got++ })
		if got != want {
			t.Errorf("key %q: %d faults", key, got)
		}
	}
}

func TestMerge(t *testing.T) {
	one, two := property.Property{Type: property.Single}, property.Property{Type: property.Custom}
	old := map[string]property.Property{"a": one, "b": one}
	got := property.Merge(old, map[string]property.Property{"b": two, "c": two})
	if diff := cmp.Diff(map[string]property.Property{"a": one, "b": two, "c": two}, got); diff != "" {
		t.Error(diff)
	}
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
	got := property.Apart(map[string]property.Property{
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
			SingleProperties: map[string]property.Text{"s": one}, CollectionProperties: map[string]property.SplitCollection{},
			CustomProperties: map[string]property.Split{},
		}},
		CollectionProperties: map[string]property.SplitCollection{"l": {CollectionID: "g", Items: map[string]property.SplitItem{
			"i": {Properties: map[string]property.Text{"a": one, "b": {}}},
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
