package template

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML reads YAML into maps, slices and scalars; a short tag such as !Ref x becomes its long form {"Ref": x}.
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
		return nil, fmt.Errorf("the file is no mapping")
	}
	return m, nil
}

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
		return nil, fmt.Errorf("line %d: CloudFormation knows no aliases", n.Line)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.Line, err)
	}
	// A date stays text: CloudFormation has no such type.
	if n.Tag == "!!timestamp" {
		return n.Value, nil
	}
	return v, nil
}

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

func convertMapping(n *yaml.Node) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("line %d: the key %s is there twice", n.Content[i].Line, key)
		}
		v, err := convertNode(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		m[key] = v
	}
	return m, nil
}

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
