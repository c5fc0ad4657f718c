package openapi_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/openapi"
	"sluice/shared/kit/errtest"
)

// loadOnce reads the description, which no test changes, once for all tests.
var loadOnce = sync.OnceValues(openapi.Load)

func load(t *testing.T) *openapi.Document {
	t.Helper()
	return errtest.Must(loadOnce())(t)
}

// visit calls f for every object inside a value, with the pointer to the object.
func visit(pointer string, v any, f func(pointer string, m map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(pointer, v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), v[key], f)
		}
	case []any:
		for i, item := range v {
			visit(fmt.Sprintf("%s/%d", pointer, i), item, f)
		}
	}
}

// The description is valid by the official schema of OpenAPI 3.1, from spec.openapis.org.
func TestTheDescriptionIsOpenAPI(t *testing.T) {
	f := errtest.Must(os.Open("testdata/openapi-3.1.schema.json"))(t)
	defer f.Close()
	meta := errtest.Must(jsonschema.UnmarshalJSON(f))(t)
	c := jsonschema.NewCompiler()
	errtest.Fatal(t, c.AddResource("openapi.json", meta))
	errtest.Fatal(t, c.MustCompile("openapi.json").Validate(load(t).Root))
}

// Every schema is one of JSON Schema 2020-12, and its references lead somewhere.
func TestEverySchemaCompiles(t *testing.T) {
	d := load(t)
	for name := range d.Root["components"].(map[string]any)["schemas"].(map[string]any) {
		var invalid *jsonschema.ValidationError
		if err := d.Validate("#/components/schemas/"+name, nil); err != nil && !asValidation(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func asValidation(err error, to **jsonschema.ValidationError) bool {
	var ok bool
	*to, ok = err.(*jsonschema.ValidationError)
	return ok
}

// The examples next to a schema are valid, and so are those inside it.
func TestExamplesAreValid(t *testing.T) {
	d := load(t)
	checked := 0
	check := func(at, schema string, example any) {
		checked++
		errtest.Is(t, at, d.Validate(schema, example), nil)
	}
	visit("#", d.Root, func(at string, m map[string]any) {
		if example, ok := m["example"]; ok && m["schema"] != nil {
			check(at, at+"/schema", example)
		}
		if all, ok := m["examples"].([]any); ok {
			for _, example := range all {
				check(at, at, example)
			}
		}
		if all, ok := m["examples"].(map[string]any); ok && m["schema"] != nil {
			for name, example := range all {
				check(at+" "+name, at+"/schema", example.(map[string]any)["value"])
			}
		}
	})
	components := d.Root["components"].(map[string]any)
	for _, kind := range []string{"responses", "requestBodies"} {
		for name, c := range components[kind].(map[string]any) {
			for media, content := range c.(map[string]any)["content"].(map[string]any) {
				if m := content.(map[string]any); m["example"] == nil && m["examples"] == nil {
					t.Errorf("%s/%s has no example of %s", kind, name, media)
				}
			}
		}
	}
	t.Logf("%d examples", checked)
}

// notChecked matches pointers to the schema of a line, which has tests of its own, to objects whose property is called
// properties, to conditions, and to examples.
var notChecked = regexp.MustCompile(`^#/components/schemas/Line[A-Z]?|/properties$|/(if|then|else)$|/example(/|$)`)

// Schemas of replies are closed, so that a key that is not described fails the suite. Schemas of requests are closed
// where the service refuses other keys. A schema that others extend is closed by them.
func TestObjectsAreClosed(t *testing.T) {
	d := load(t)
	open := map[string]bool{
		// The service ignores other keys of these.
		"#/components/schemas/TokenRequest": true, "#/components/schemas/UploadRequest": true,
		"#/components/schemas/ScreenUnknown": true,
	}
	extended := map[string]bool{}
	visit("#", d.Root, func(at string, m map[string]any) {
		all, _ := m["allOf"].([]any)
		for _, part := range all {
			if to, ok := part.(map[string]any)["$ref"].(string); ok && m["unevaluatedProperties"] == false {
				extended[to] = true
			}
		}
	})
	visit("#/components", d.Root["components"], func(at string, m map[string]any) {
		_, isObject := m["properties"].(map[string]any)
		closed := m["additionalProperties"] == false || m["unevaluatedProperties"] == false
		if isObject && !closed && !open[at] && !extended[at] && !notChecked.MatchString(at) {
			t.Errorf("%s allows any other key", at)
		}
	})
}

// keywords are those of JSON Schema and of OpenAPI's schemas that the description uses. A validator ignores any other,
// so that a misspelt one would mean nothing.
var keywords = strings.Fields(
	`$ref title description type const enum default examples deprecated discriminator format pattern
	minLength maxLength minimum maximum minItems maxItems uniqueItems minProperties maxProperties
	required dependentRequired allOf anyOf oneOf not if then else items
	properties propertyNames additionalProperties unevaluatedProperties`,
)

func TestSchemasUseKnownKeywords(t *testing.T) {
	var check func(at string, v any)
	each := func(at string, v any) {
		all, _ := v.(map[string]any)
		for name, schema := range all {
			check(at+"/"+name, schema)
		}
	}
	check = func(at string, v any) {
		schema, _ := v.(map[string]any) // or true, or false
		for word, v := range schema {
			if !slices.Contains(keywords, word) {
				t.Errorf("%s: %q is not in keywords", at, word)
			}
			switch word {
			case "properties", "$defs":
				each(at+"/"+word, v)
			case "items", "propertyNames", "additionalProperties", "unevaluatedProperties":
				check(at+"/"+word, v)
			case "allOf", "anyOf", "oneOf":
				for i, part := range v.([]any) {
					check(fmt.Sprintf("%s/%s/%d", at, word, i), part)
				}
			}
		}
	}
	root := load(t).Root
	each("#", root["components"].(map[string]any)["schemas"])
	visit("#", root, func(at string, m map[string]any) {
		if !strings.Contains(at, "/example") && !strings.HasSuffix(at, "/properties") {
			check(at, m["schema"])
		}
	})
}

func TestOperations(t *testing.T) {
	d := load(t)
	ids, tags, used := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, tag := range d.Root["tags"].([]any) {
		tag := tag.(map[string]any)
		tags[tag["name"].(string)] = tag["x-traitTag"] == nil // a chapter without operations
	}
	paths := d.Root["paths"].(map[string]any)
	for _, o := range d.Operations {
		if other := ids[o.ID]; other != "" || o.ID == "" {
			t.Errorf("%s has the operationId %q, want one that is not that of %q", o, o.ID, other)
		}
		ids[o.ID] = o.String()
		node := paths[o.Path].(map[string]any)[strings.ToLower(o.Method)].(map[string]any)
		for _, tag := range node["tags"].([]any) {
			if used[tag.(string)] = true; !tags[tag.(string)] {
				t.Errorf("%s: the tag %s is not described", o, tag)
			}
		}
		var want []string
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(o.Path, -1) {
			want = append(want, m[1])
		}
		if diff := cmp.Diff(want, o.PathParameters()); diff != "" {
			t.Errorf("%s: parameters in the path (-), described (+):\n%s", o, diff)
		}
		for _, status := range requiredStatuses(o) {
			if _, ok := node["responses"].(map[string]any)[status]; !ok {
				t.Errorf("%s does not describe the status %s", o, status)
			}
		}
	}
	maps.DeleteFunc(tags, func(_ string, hasOperations bool) bool { return !hasOperations })
	if diff := cmp.Diff(tags, used); diff != "" {
		t.Errorf("tags described (-), used (+):\n%s", diff)
	}
}

// requiredStatuses are those that every operation of the kind can answer with.
func requiredStatuses(o openapi.Operation) []string {
	all := []string{"429", "5XX"}
	if !o.Public {
		all = append(all, "401", "403")
	}
	isPlatform := func(prefix string) bool { return strings.HasPrefix(o.Path, prefix) }
	if slices.ContainsFunc([]string{"/entitydata", "/documentmanagement", "/externalauthentication", "/screening"},
		isPlatform) {
		success := "202"
		if strings.Contains(o.Path, "query/") || o.ID == "testProvider" {
			success = "200"
		}
		all = append(all, "400", success)
	}
	return all
}

func TestEveryComponentIsUsed(t *testing.T) {
	d := load(t)
	referred := map[string]bool{}
	visit("#", d.Root, func(_ string, m map[string]any) {
		if to, ok := m["$ref"].(string); ok {
			referred[to] = true
		}
	})
	for kind, all := range d.Root["components"].(map[string]any) {
		for name := range all.(map[string]any) {
			at := "#/components/" + kind + "/" + name
			// ReportLine is what the URL of a report gives, and Alert what that of alerts gives.
			if !referred[at] && kind != "securitySchemes" && name != "ReportLine" && name != "Alert" {
				t.Errorf("no reference leads to %s", at)
			}
		}
	}
}
