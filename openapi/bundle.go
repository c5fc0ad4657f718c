package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/shared/ingest/transaction/schema"
)

//go:embed *.yaml
var files embed.FS

// entryFile is the file that names the paths of the others.
const entryFile = "sluice.yaml"

// lineSchemaFile is how the description names the schema of a line. Its definitions become components whose references
// begin with lineSchemaPointer.
const (
	lineSchemaFile    = "../docs/line.schema.json"
	lineSchemaPointer = schemaPrefix + "Line"
)

// bundler makes one description of all files. The paths of the entry file refer to path items of the others, and the
// components of all files come together under their own names. Everything keeps the order in which it is written.
type bundler struct {
	// roots are the documents by the name of their file.
	roots map[string]*yaml.Node
	entry *yaml.Node
}

// bundleFiles returns the whole description as JSON.
func bundleFiles() ([]byte, error) {
	b := bundler{roots: map[string]*yaml.Node{}}
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
	b.entry = b.roots[entryFile]
	if err := b.inlinePaths(); err != nil {
		return nil, err
	}
	for _, f := range entries {
		if err := b.mergeComponents(f.Name()); err != nil {
			return nil, err
		}
	}
	if err := b.insertLineSchema(); err != nil {
		return nil, err
	}
	if err := b.rewriteReferences(b.entry); err != nil {
		return nil, err
	}
	if err := b.normalize(); err != nil {
		return nil, err
	}
	b.describePermissions()
	if err := b.addSamples(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = writeJSON(&out, b.entry)
	return out.Bytes(), err
}

// inlinePaths replaces the references of the entry file's paths by the path items of other files. A path must refer to
// a path item of its own name.
func (b *bundler) inlinePaths() error {
	paths := memberOf(b.entry, "paths")
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		file, escaped, _ := strings.Cut(memberOf(item, "$ref").Value, "#/paths/")
		pointer, err := url.PathUnescape(escaped)
		if err != nil {
			return fmt.Errorf("%s: the path %s: %w", entryFile, path, err)
		}
		name := unescapePointer.Replace(pointer)
		target := memberOf(memberOf(b.roots[file], "paths"), name)
		if target == nil || name != path {
			return fmt.Errorf("%s: the path %s refers to %s#%s", entryFile, path, file, pointer)
		}
		paths.Content[i+1] = target
	}
	return nil
}

// mergeComponents adds the components of a file to those of the entry file. Two components of a kind may not have the
// same name.
func (b *bundler) mergeComponents(file string) error {
	from, into := memberOf(b.roots[file], "components"), memberOf(b.entry, "components")
	if from == nil || file == entryFile {
		return nil
	}
	for i := 0; i < len(from.Content); i += 2 {
		kind, added := from.Content[i], from.Content[i+1]
		all := memberOf(into, kind.Value)
		if all == nil {
			all = &yaml.Node{Kind: yaml.MappingNode}
			into.Content = append(into.Content, kind, all)
		}
		for j := 0; j < len(added.Content); j += 2 {
			name := added.Content[j]
			if memberOf(all, name.Value) != nil {
				return fmt.Errorf("%s: there are two components %s/%s", file, kind.Value, name.Value)
			}
			all.Content = append(all.Content, name, added.Content[j+1])
		}
	}
	return nil
}

// insertLineSchema makes the schema of a line and its definitions components, whose names begin with Line.
func (b *bundler) insertLineSchema() error {
	text := bytes.ReplaceAll(schema.JSONSchema(), []byte(`"#/$defs/`), []byte(`"`+lineSchemaPointer))
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return err
	}
	schemas := memberOf(memberOf(b.entry, "components"), "schemas")
	line := memberOf(schemas, "Line")
	if to := memberOf(line, "$ref"); to == nil || to.Value != lineSchemaFile {
		return fmt.Errorf("the component Line is not a reference to %s", lineSchemaFile)
	}
	line.Content = nil
	for i := 0; i < len(document.Content[0].Content); i += 2 {
		keyword, value := document.Content[0].Content[i], document.Content[0].Content[i+1]
		switch keyword.Value {
		case "$schema":
		case "$defs":
			for j := 0; j < len(value.Content); j += 2 {
				setMember(schemas, "Line"+value.Content[j].Value, value.Content[j+1])
			}
		default:
			line.Content = append(line.Content, keyword, value)
		}
	}
	replaceText(b.entry, examplePlaceholder, "```json\n"+string(schema.ExampleLine)+"```")
	return nil
}

// examplePlaceholder is what the description writes where the example of a line is to be.
const examplePlaceholder = "EXAMPLE_LINE"

// replaceText replaces a text in all texts inside n.
func replaceText(n *yaml.Node, old, new string) {
	if n.Kind == yaml.ScalarNode {
		n.Value = strings.ReplaceAll(n.Value, old, new)
	}
	for _, child := range n.Content {
		replaceText(child, old, new)
	}
}

// rewriteReferences makes references to other files references into the bundle.
func (b *bundler) rewriteReferences(n *yaml.Node) error {
	if reference := memberOf(n, "$ref"); reference != nil {
		file, pointer, _ := strings.Cut(reference.Value, "#")
		if file != "" && (b.roots[file] == nil || !strings.HasPrefix(pointer, "/components/")) {
			return fmt.Errorf("the reference %s leads nowhere", reference.Value)
		}
		reference.Value = "#" + pointer
	}
	for _, child := range n.Content {
		if err := b.rewriteReferences(child); err != nil {
			return err
		}
	}
	return nil
}

// describePermissions adds its permissions to the description of each operation: renderers of OpenAPI do not show the
// roles of bearer tokens.
func (b *bundler) describePermissions() {
	paths := memberOf(b.entry, "paths")
	for i := 1; i < len(paths.Content); i += 2 {
		item := paths.Content[i]
		for j := 0; j < len(item.Content); j += 2 {
			if isMethod[item.Content[j].Value] {
				describePermissions(item.Content[j+1])
				offerClientCredentials(item.Content[j+1])
			}
		}
	}
}

func describePermissions(operation *yaml.Node) {
	var sets []string
	if alternatives := memberOf(operation, "security"); alternatives != nil {
		for _, requirement := range alternatives.Content {
			var roles []string
			for i := 1; i < len(requirement.Content); i += 2 {
				for _, role := range requirement.Content[i].Content {
					roles = append(roles, "`"+role.Value+"`")
				}
			}
			if roles != nil {
				sets = append(sets, strings.Join(roles, " and "))
			}
		}
	}
	if sets == nil {
		return
	}
	text := "Permission: " + strings.Join(sets, " or ")
	if d := memberOf(operation, "description"); d != nil {
		d.Value = strings.TrimSpace(d.Value) + "\n\n" + text
		return
	}
	operation.Content = append(operation.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "description"},
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
}

// offerClientCredentials adds, to the security of an operation that asks for a token, the scheme by which a tool
// fetches the token by itself.
func offerClientCredentials(operation *yaml.Node) {
	alternatives := memberOf(operation, "security")
	if alternatives == nil {
		return
	}
	for _, requirement := range alternatives.Content {
		if memberOf(requirement, "BearerToken") != nil {
			alternatives.Content = append(alternatives.Content, &yaml.Node{Kind: yaml.MappingNode,
				Content: []*yaml.Node{
					{Kind: yaml.ScalarNode, Value: "ClientCredentials"},
					{Kind: yaml.SequenceNode, Style: yaml.FlowStyle},
				}})
			return
		}
	}
}

// memberOf returns the value of a key in a mapping, nil if there is none or the node is not a mapping.
func memberOf(n *yaml.Node, key string) *yaml.Node {
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

// writeJSON writes a node as JSON, with the members of objects in the order of the node.
func writeJSON(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeObject(out, n.Content)
	case yaml.SequenceNode:
		return writeArray(out, n.Content)
	case yaml.ScalarNode:
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		return writeValue(out, v)
	}
	return fmt.Errorf("line %d: the description may not use aliases", n.Line)
}

// writeObject writes members, given as keys and values by turns.
func writeObject(out *bytes.Buffer, members []*yaml.Node) error {
	out.WriteByte('{')
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeValue(out, members[i].Value); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeJSON(out, members[i+1]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeArray(out *bytes.Buffer, items []*yaml.Node) error {
	out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeJSON(out, item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func writeValue(out *bytes.Buffer, v any) error {
	text, err := json.Marshal(v)
	out.Write(text)
	return err
}
