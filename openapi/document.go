// Package openapi holds the interface description, sluice.yaml with a file for each area, and checks what goes over the wire against it. Tests and the
// rendering of the reference read it; nothing that is deployed does.
package openapi

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is the description with all that it refers to. It is safe for concurrent use.
type Document struct {
	JSON       []byte // in the order of its files
	Root       map[string]any
	Operations []Operation // in order of path and method

	compiler *jsonschema.Compiler
	schemas  schemas
}

// Load reads the description.
func Load() (*Document, error) {
	text, err := bundled()
	if err != nil {
		return nil, err
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)) // keeps numbers as they are written
	if err != nil {
		return nil, err
	}
	d := &Document{JSON: text, Root: root.(map[string]any), compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(address, d.Root); err != nil {
		return nil, err
	}
	return d, d.operations()
}

// address is the name under which schemas are compiled.
const address = "mem:///sluice.json"

// at returns what stands at a pointer ("#/a/b") and the pointer to it, after following references.
func (d *Document) at(pointer string) (any, string, error) {
	var v any = d.Root
	for _, token := range strings.Split(pointer, "/")[1:] {
		var ok bool
		if v, ok = member(v, unescape.Replace(token)); !ok {
			return nil, "", fmt.Errorf("nothing stands at %s", pointer)
		}
	}
	if m, ok := v.(map[string]any); ok && m["$ref"] != nil {
		return d.at(m["$ref"].(string))
	}
	return v, pointer, nil
}

func member(v any, token string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		out, ok := v[token]
		return out, ok
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// object is at for a value that must be an object; nil if there is none.
func (d *Document) object(pointer string) (map[string]any, string) {
	v, p, err := d.at(pointer)
	m, _ := v.(map[string]any)
	if err != nil {
		return nil, pointer
	}
	return m, p
}

func keys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
