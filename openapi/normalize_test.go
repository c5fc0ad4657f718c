package openapi_test

import (
	"regexp"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
)

// Generators of clients invent names for objects inside other schemas, and one of them forgets there what it knew of
// the outer schema. A component of its own has a name of our choice.
func TestEveryObjectIsAComponent(t *testing.T) {
	component := regexp.MustCompile(`^/components/schemas/\w+$`)
	condition := regexp.MustCompile(`^/components/schemas/\w+/(if|then|else)$`) // of the object itself
	root := load(t).Root
	visit("", root["components"], func(at string, m map[string]any) {
		at = "/components" + at
		_, isObject := m["properties"].(map[string]any)
		if isObject && !component.MatchString(at) && !regexp.MustCompile(`/properties$|/example(/|$)`).MatchString(
			at) && !condition.MatchString(at) {
			t.Errorf("%s has properties: make it a component and refer to it", at)
		}
	})
}

// The components of a description become the types of one package.
func TestNoTwoComponentsShareAName(t *testing.T) {
	kinds := map[string]string{}
	for kind, all := range load(t).Root["components"].(map[string]any) {
		for name := range all.(map[string]any) {
			difftest.Equal(t, name+" is the name of one of the "+kind+" and of one of the", "", kinds[name])
			kinds[name] = kind
		}
	}
}

// Only what every generator understands is used: no boolean schema, no schema that extends another, no list of types
// but of one and null, and no constant that is an array or an object.
func TestSchemasAreSimple(t *testing.T) {
	visit("#", load(t).Root, func(at string, m map[string]any) {
		if notChecked.MatchString(at) {
			return
		}
		if m["allOf"] != nil || m["unevaluatedProperties"] != nil || m["$defs"] != nil {
			t.Errorf("%s extends another schema", at)
		}
		if kinds, ok := m["type"].([]any); ok && (len(kinds) != 2 || kinds[1] != "null") {
			t.Errorf("%s has the types %v, want one, or one and null", at, kinds)
		}
		switch m["const"].(type) {
		case []any, map[string]any:
			t.Errorf("%s has the constant %v, want a text, a number or null", at, m["const"])
		}
		properties, _ := m["properties"].(map[string]any)
		for name, schema := range properties {
			if _, ok := schema.(bool); ok {
				t.Errorf("%s/properties/%s is a boolean, want an object", at, name)
			}
		}
	})
}

// Generators of clients invent names for enumerations inside other schemas, which are those of other types at times.
func TestEveryEnumerationIsAComponent(t *testing.T) {
	component := regexp.MustCompile(`^\w+$|/(if|then|else)/`)
	schemas := load(t).Root["components"].(map[string]any)["schemas"]
	visit("", schemas, func(at string, m map[string]any) {
		if _, isEnum := m["enum"].([]any); isEnum && !component.MatchString(strings.TrimPrefix(at, "/")) {
			t.Errorf("%s is an enumeration without a name", at)
		}
	})
}
