package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/shared/transaction/schema"
)

//go:embed *.yaml
var files embed.FS

const entry = "sluice.yaml"

// A bundle makes one description of the files: the paths of the entry point into the others, whose components all come together
// under their own names. Everything stays in the order in which it is written.
type bundle struct {
	roots      map[string]*yaml.Node
	components *yaml.Node // of the entry
}

// bundled returns the whole description as JSON.
func bundled() ([]byte, error) {
	b := bundle{roots: map[string]*yaml.Node{}}
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, f := range entries {
		text, err := files.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		var document yaml.Node
		if err := yaml.Unmarshal(text, &document); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		b.roots[f.Name()] = document.Content[0]
	}
	if err := b.paths(); err != nil {
		return nil, err
	}
	b.components = value(b.roots[entry], "components")
	for _, f := range entries {
		if err := b.merge(f.Name()); err != nil {
			return nil, err
		}
	}
	if err := b.local(b.roots[entry]); err != nil {
		return nil, err
	}
	b.tellPermissions()
	var out bytes.Buffer
	err = writeJSON(&out, b.roots[entry])
	return out.Bytes(), err
}

// paths puts the path items of other files into the entry.
func (b *bundle) paths() error {
	paths := value(b.roots[entry], "paths")
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		file, pointer, _ := strings.Cut(value(item, "$ref").Value, "#/paths/")
		pointer, err := url.PathUnescape(pointer)
		found := value(value(b.roots[file], "paths"), unescape.Replace(pointer))
		if err != nil || found == nil || unescape.Replace(pointer) != path {
			return fmt.Errorf("%s: the path %s points to %s#%s", entry, path, file, pointer)
		}
		paths.Content[i+1] = found
	}
	return nil
}

// merge adds the components of a file to those of the entry.
func (b *bundle) merge(file string) error {
	from := value(b.roots[file], "components")
	if from == nil || file == entry {
		return nil
	}
	for i := 0; i < len(from.Content); i += 2 {
		kind := from.Content[i]
		to := value(b.components, kind.Value)
		if to == nil {
			to = &yaml.Node{Kind: yaml.MappingNode}
			b.components.Content = append(b.components.Content, kind, to)
		}
		for j := 0; j < len(from.Content[i+1].Content); j += 2 {
			name := from.Content[i+1].Content[j]
			if value(to, name.Value) != nil {
				return fmt.Errorf("%s: there are two components %s/%s", file, kind.Value, name.Value)
			}
			to.Content = append(to.Content, name, from.Content[i+1].Content[j+1])
		}
	}
	return nil
}

// lineFile is how the description names the schema of a line, and lineAt where that stands in the bundle.
const (
	lineFile = "../docs/line.schema.json"
	lineAt   = "#/components/schemas/Line"
)

// local makes every reference one into the bundle itself.
func (b *bundle) local(n *yaml.Node) error {
	if to := value(n, "$ref"); to != nil && to.Value == lineFile {
		line := bytes.ReplaceAll(schema.JSONSchema(), []byte(`"#/$defs/`), []byte(`"`+lineAt+`/$defs/`))
		var document yaml.Node
		if err := yaml.Unmarshal(line, &document); err != nil {
			return err
		}
		*n = *document.Content[0]
		return nil
	} else if to != nil {
		file, pointer, _ := strings.Cut(to.Value, "#")
		if file != "" && (b.roots[file] == nil || !strings.HasPrefix(pointer, "/components/")) {
			return fmt.Errorf("nothing stands at %s", to.Value)
		}
		to.Value = "#" + pointer
	}
	for _, child := range n.Content {
		if err := b.local(child); err != nil {
			return err
		}
	}
	return nil
}

// tellPermissions ends the description of each operation with its permissions: readers of OpenAPI show no roles of bearer tokens.
func (b *bundle) tellPermissions() {
	paths := value(b.roots[entry], "paths")
	for i := 1; i < len(paths.Content); i += 2 {
		item := paths.Content[i]
		for j := 0; j < len(item.Content); j += 2 {
			if o := item.Content[j+1]; methods[item.Content[j].Value] {
				tellPermissions(o)
			}
		}
	}
}

func tellPermissions(operation *yaml.Node) {
	var roles []string
	if alternatives := value(operation, "security"); alternatives != nil {
		for _, one := range alternatives.Content {
			for _, role := range one.Content[1].Content {
				roles = append(roles, "`"+role.Value+"`")
			}
		}
	}
	if len(roles) == 0 {
		return
	}
	text := "Permission: " + strings.Join(roles, " or ")
	if d := value(operation, "description"); d != nil {
		d.Value = strings.TrimSpace(d.Value) + "\n\n" + text
		return
	}
	operation.Content = append(operation.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "description"},
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
}

// value returns what a mapping has under a key, nil if it has none or is none.
func value(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func writeJSON(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeAll(out, n.Content, '{', '}')
	case yaml.SequenceNode:
		return writeAll(out, n.Content, '[', ']')
	case yaml.ScalarNode:
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		text, err := json.Marshal(v)
		out.Write(text)
		return err
	}
	return fmt.Errorf("line %d: aliases are not for a description that others read", n.Line)
}

// writeAll writes members or items; a mapping's content is its keys and values by turns.
func writeAll(out *bytes.Buffer, content []*yaml.Node, begin, end byte) error {
	out.WriteByte(begin)
	for i, n := range content {
		isKey := begin == '{' && i%2 == 0
		if begin == '{' && !isKey {
			out.WriteByte(':')
		} else if i > 0 {
			out.WriteByte(',')
		}
		if isKey {
			text, err := json.Marshal(n.Value)
			if err != nil {
				return err
			}
			out.Write(text)
		} else if err := writeJSON(out, n); err != nil {
			return err
		}
	}
	out.WriteByte(end)
	return nil
}
