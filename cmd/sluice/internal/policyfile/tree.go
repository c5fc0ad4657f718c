package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// Limits of a file. Aliases of YAML count each time they are used, so that a small file cannot stand for a large one.
const (
	// MaxBytes is the size of the largest file.
	MaxBytes = 64 << 20
	maxDepth = 100
	maxNodes = 2 << 20
)

// parseTree reads a text as a tree of values with their lines. A text that begins with a brace or a bracket is JSON,
// any other is YAML.
func parseTree(text []byte) (*yaml.Node, *Problem) {
	if len(text) > MaxBytes {
		return nil, &Problem{Message: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		return parseJSON(text)
	}
	return parseYAML(text)
}

// lineOfYAML finds the line in an error of the YAML library.
var lineOfYAML = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func parseYAML(text []byte) (*yaml.Node, *Problem) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, &Problem{Line: 1, Message: "the file is empty"}
	case err != nil:
		return nil, yamlProblem(err)
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, &Problem{Line: second.Line, Message: "a second document begins here; a file has one"}
	case !errors.Is(err, io.EOF):
		return nil, yamlProblem(err)
	}
	return document.Content[0], nil
}

func yamlProblem(err error) *Problem {
	m := lineOfYAML.FindStringSubmatch(err.Error())
	if m == nil {
		return &Problem{Message: "not YAML: " + err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	return &Problem{Line: line, Message: "not YAML: " + err.Error()[len(m[0]):]}
}

// parseJSON reads JSON strictly. Its tree is that of the same text in YAML, but the library for YAML does not read all
// of JSON: it refuses tabs and surrogates.
func parseJSON(text []byte) (*yaml.Node, *Problem) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	p := jsonParser{text: text, d: d, line: 1}
	node, err := p.value(0)
	if err == nil {
		if _, err = p.d.ReadToken(); errors.Is(err, io.EOF) {
			return node, nil
		} else if err == nil {
			err = errors.New("something follows the end of the object")
		}
	}
	offset := p.d.InputOffset()
	if syntax := new(jsontext.SyntacticError); errors.As(err, &syntax) {
		offset, err = syntax.ByteOffset, syntax.Err
	}
	return nil, &Problem{Line: p.lineAt(offset), Message: "not JSON: " + err.Error()}
}

// jsonParser makes a tree of JSON.
type jsonParser struct {
	text []byte
	d    *jsontext.Decoder
	// counted is how many bytes the line is the number of.
	counted int64
	line    int
}

// lineAt returns the line of a byte. Offsets grow from call to call.
func (p *jsonParser) lineAt(offset int64) int {
	if offset = min(offset, int64(len(p.text))); offset > p.counted {
		p.line += bytes.Count(p.text[p.counted:offset], []byte("\n"))
		p.counted = offset
	}
	return p.line
}

func (p *jsonParser) value(depth int) (*yaml.Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	token, err := p.d.ReadToken()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Line: p.lineAt(p.d.InputOffset())}
	switch kind := token.Kind(); kind {
	case '{', '[':
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
		end := jsontext.Kind('}')
		if kind == '[' {
			node.Kind, node.Tag, end = yaml.SequenceNode, "!!seq", ']'
		}
		for p.d.PeekKind() != end {
			inner, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, inner)
		}
		_, err = p.d.ReadToken()
		return node, err
	case '"':
		node.Tag = "!!str"
	case '0':
		node.Tag = "!!float"
		if _, err := strconv.ParseInt(token.String(), 10, 64); err == nil {
			node.Tag = "!!int"
		}
	case 't', 'f':
		node.Tag = "!!bool"
	default:
		node.Tag = "!!null"
	}
	node.Kind, node.Value = yaml.ScalarNode, token.String()
	return node, nil
}

// child returns the value of a member, or an element, of a value; an empty node with the line of the value if there is
// none.
func child(n *yaml.Node, key any) *yaml.Node {
	n = resolve(n)
	switch key := key.(type) {
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				value := *resolve(n.Content[i+1])
				value.Line = n.Content[i].Line
				return &value
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && key < len(n.Content) {
			return resolve(n.Content[key])
		}
	}
	return &yaml.Node{Line: n.Line}
}
