package template

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Load reads the template at path. Overrides replace defaults of parameters by name. An error is one sentence that
// names the file and, where there is one, the resource.
func Load(path string, place Target, overrides map[string]string) (*Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the template cannot be read: %w", err)
	}
	t, err := buildTemplate(text, filepath.Dir(path), place, overrides)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return t, nil
}

func buildTemplate(text []byte, dir string, place Target, overrides map[string]string) (*Template, error) {
	doc, err := parseYAML(text)
	if err != nil {
		return nil, err
	}
	r := &resolver{target: place, resources: map[string]resource{}, inProgress: map[string]bool{}}
	if r.parameters, err = resolveParameters(section(doc, "Parameters"), place.Parameters, overrides); err != nil {
		return nil, err
	}
	r.listParameters = map[string]bool{}
	for name, rules := range section(doc, "Parameters") {
		if rules, ok := rules.(map[string]any); ok {
			r.listParameters[name] = rules["Type"] == "CommaDelimitedList"
		}
	}
	r.conditions = section(doc, "Conditions")
	if err := r.checkRules(section(doc, "Rules")); err != nil {
		return nil, err
	}
	globals := section(section(doc, "Globals"), "Function")
	for id, entry := range section(doc, "Resources") {
		res, err := readResource(entry)
		if err != nil {
			return nil, fmt.Errorf("%s %w", id, err)
		}
		if res.kind == "AWS::Serverless::Function" {
			res.properties = mergeProperties(globals, res.properties)
		}
		r.resources[id] = res
	}
	if len(r.resources) == 0 {
		return nil, fmt.Errorf("there are no Resources")
	}
	b := &builder{resolver: r, baseDir: dir, out: &Template{Parameters: r.parameters}}
	return b.out, b.buildAll()
}

func section(m map[string]any, name string) map[string]any {
	s, _ := m[name].(map[string]any)
	return s
}

func readResource(entry any) (resource, error) {
	m, ok := entry.(map[string]any)
	if !ok {
		return resource{}, fmt.Errorf("is no mapping")
	}
	kind, ok := m["Type"].(string)
	if !ok {
		return resource{}, fmt.Errorf("has no Type")
	}
	if kind == "AWS::Serverless::Application" || m["Fn::Transform"] != nil {
		return resource{}, fmt.Errorf("is of a kind that the local cloud does not know")
	}
	condition, _ := m["Condition"].(string)
	return resource{kind: kind, condition: condition, properties: section(m, "Properties")}, nil
}

// mergeProperties lays own properties over the global ones, map by map; lists are joined, as SAM does.
func mergeProperties(global, own map[string]any) map[string]any {
	out := make(map[string]any, len(global)+len(own))
	for k, v := range global {
		out[k] = v
	}
	for k, v := range own {
		switch below := out[k].(type) {
		case map[string]any:
			if above, ok := v.(map[string]any); ok && !isIntrinsic(below) && !isIntrinsic(above) {
				v = mergeProperties(below, above)
			}
		case []any:
			if above, ok := v.([]any); ok {
				v = slices.Concat(below, above)
			}
		}
		out[k] = v
	}
	return out
}

func isIntrinsic(m map[string]any) bool {
	for k := range m {
		return len(m) == 1 && (k == "Ref" || strings.HasPrefix(k, "Fn::"))
	}
	return false
}

// resolveParameters checks the overrides and fills in the defaults.
func resolveParameters(declared map[string]any, placed, overrides map[string]string) (map[string]string, error) {
	for _, name := range sortedKeys(overrides) {
		if _, ok := declared[name]; !ok {
			return nil, fmt.Errorf("there is no parameter %s", name)
		}
	}
	out := map[string]string{}
	for _, name := range sortedKeys(declared) {
		rules, _ := declared[name].(map[string]any)
		value, given := overrides[name]
		if !given {
			value, given = placed[name]
		}
		if !given {
			if rules["Default"] == nil {
				return nil, fmt.Errorf("parameter %s has no default and was not set", name)
			}
			value = scalarText(rules["Default"])
		}
		if err := checkParameter(rules, value); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

func checkParameter(rules map[string]any, value string) error {
	if allowed, ok := rules["AllowedValues"].([]any); ok {
		var texts []string
		for _, a := range allowed {
			texts = append(texts, scalarText(a))
		}
		if !slices.Contains(texts, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(texts, ", "))
		}
	}
	if pattern, ok := rules["AllowedPattern"].(string); ok {
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		if err != nil {
			return fmt.Errorf("the AllowedPattern cannot be read")
		}
		if !re.MatchString(value) {
			return fmt.Errorf("%q does not match %s", value, pattern)
		}
	}
	if rules["Type"] != "Number" {
		return nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", value)
	}
	if least, err := strconv.ParseFloat(scalarText(rules["MinValue"]), 64); err == nil && n < least {
		return fmt.Errorf("%s is less than %v", value, least)
	}
	if most, err := strconv.ParseFloat(scalarText(rules["MaxValue"]), 64); err == nil && n > most {
		return fmt.Errorf("%s is more than %v", value, most)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
