package template

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Load reads the template in a file for a target. Overrides replace the defaults of parameters by name. Any error is
// one sentence that names the file and, if there is one, the resource.
func Load(path string, place Target, overrides map[string]string) (*Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	t, err := buildTemplate(text, filepath.Dir(path), place, overrides)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return t, nil
}

// buildTemplate is Load with the text of the template and the folder of its file.
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

// section returns the mapping under a name, and nil if there is none.
func section(m map[string]any, name string) map[string]any {
	s, _ := m[name].(map[string]any)
	return s
}

// readResource returns a resource with its intrinsic functions unresolved.
func readResource(entry any) (resource, error) {
	m, ok := entry.(map[string]any)
	if !ok {
		return resource{}, fmt.Errorf("is not a mapping")
	}
	kind, ok := m["Type"].(string)
	if !ok {
		return resource{}, fmt.Errorf("has no Type")
	}
	condition, _ := m["Condition"].(string)
	program, _ := section(m, "Metadata")["Program"].(string)
	return resource{kind: kind, condition: condition, program: program, properties: section(m, "Properties")}, nil
}

// mergeProperties returns the global properties with the resource's own. Mappings are merged and lists are joined, as
// SAM does.
func mergeProperties(global, own map[string]any) map[string]any {
	out := make(map[string]any, len(global)+len(own))
	maps.Copy(out, global)
	for k, v := range own {
		switch globalValue := out[k].(type) {
		case map[string]any:
			if ownValue, ok := v.(map[string]any); ok && !isIntrinsic(globalValue) && !isIntrinsic(ownValue) {
				v = mergeProperties(globalValue, ownValue)
			}
		case []any:
			if ownValue, ok := v.([]any); ok {
				v = slices.Concat(globalValue, ownValue)
			}
		}
		out[k] = v
	}
	return out
}

// isIntrinsic reports whether a mapping is a call of an intrinsic function.
func isIntrinsic(m map[string]any) bool {
	for k := range m {
		return len(m) == 1 && (k == "Ref" || strings.HasPrefix(k, "Fn::"))
	}
	return false
}

// resolveParameters returns the values of all parameters: the overrides, else the values of the target, else the
// defaults.
func resolveParameters(declared map[string]any, targetValues, overrides map[string]string) (map[string]string, error) {
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
			value, given = targetValues[name]
		}
		if !given {
			if rules["Default"] == nil {
				return nil, fmt.Errorf("the parameter %s has no default and is not set", name)
			}
			value = scalarText(rules["Default"])
		}
		if err := checkParameter(rules, value); err != nil {
			return nil, fmt.Errorf("the parameter %s: %w", name, err)
		}
		out[name] = value
	}
	return out, nil
}

// checkParameter checks a value against the constraints of its parameter.
func checkParameter(rules map[string]any, value string) error {
	if allowed, ok := rules["AllowedValues"].([]any); ok {
		var texts []string
		for _, a := range allowed {
			texts = append(texts, scalarText(a))
		}
		if !slices.Contains(texts, value) {
			return fmt.Errorf("%q is not one of %s", value, strings.Join(texts, ", "))
		}
	}
	if pattern, ok := rules["AllowedPattern"].(string); ok {
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		if err != nil {
			return fmt.Errorf("the AllowedPattern is invalid")
		}
		if !re.MatchString(value) {
			return fmt.Errorf("%q does not match %s", value, pattern)
		}
	}
	length := float64(utf8.RuneCountInString(value))
	if least, err := strconv.ParseFloat(scalarText(rules["MinLength"]), 64); err == nil && length < least {
		return fmt.Errorf("%q has fewer than %v characters", value, least)
	}
	if rules["Type"] != "Number" {
		return nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", value)
	}
	if minimum, err := strconv.ParseFloat(scalarText(rules["MinValue"]), 64); err == nil && n < minimum {
		return fmt.Errorf("%s is less than %v", value, minimum)
	}
	if maximum, err := strconv.ParseFloat(scalarText(rules["MaxValue"]), 64); err == nil && n > maximum {
		return fmt.Errorf("%s is more than %v", value, maximum)
	}
	return nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// parseYAML reads YAML into maps, slices and scalars. A short tag such as !Ref x is read as its long form {"Ref": x}.
func parseYAML(text []byte) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("the file is empty")
	}
	v, err := convertNode(doc.Content[0])
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the file is not a mapping")
	}
	return m, nil
}

// convertNode converts a YAML node.
func convertNode(n *yaml.Node) (any, error) {
	if name, short := strings.CutPrefix(n.Tag, "!"); short && !strings.HasPrefix(name, "!") {
		return convertTag(name, n)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return convertMapping(n)
	case yaml.SequenceNode:
		return convertSequence(n)
	case yaml.AliasNode:
		return nil, fmt.Errorf("line %d: CloudFormation does not support aliases", n.Line)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.Line, err)
	}
	// Dates remain strings: CloudFormation has no such type.
	if n.Tag == "!!timestamp" {
		return n.Value, nil
	}
	return v, nil
}

// convertTag converts a node with a short tag to its long form.
func convertTag(name string, n *yaml.Node) (any, error) {
	plain := *n
	plain.Tag = ""
	if plain.Kind == yaml.ScalarNode {
		plain.Tag = "!!str"
	}
	arg, err := convertNode(&plain)
	if err != nil {
		return nil, err
	}
	switch name {
	case "Ref", "Condition":
	default:
		name = "Fn::" + name
	}
	return map[string]any{name: arg}, nil
}

// convertMapping converts a mapping, in which each key may occur once.
func convertMapping(n *yaml.Node) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if _, exists := m[key]; exists {
			return nil, fmt.Errorf("line %d: the key %s occurs twice", n.Content[i].Line, key)
		}
		v, err := convertNode(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		m[key] = v
	}
	return m, nil
}

// convertSequence converts a list.
func convertSequence(n *yaml.Node) (any, error) {
	list := make([]any, 0, len(n.Content))
	for _, c := range n.Content {
		v, err := convertNode(c)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
