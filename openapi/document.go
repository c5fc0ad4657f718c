// Package openapi holds the interface description, sluice.yaml with a file for each area, and checks requests and
// replies against it. Tests and the rendering of the reference use it; nothing that is deployed does.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/shared/kit/routing"
)

// Document is the whole description. It is safe for concurrent use.
type Document struct {
	// JSON is the description in the order in which its files are written.
	JSON []byte
	// Root is the description decoded, with numbers as they are written.
	Root map[string]any
	// Operations are ordered by path and method.
	Operations []Operation
	routes     routing.Table[Operation]

	// mu guards compiler, which is not safe for concurrent use, and compiled.
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	// compiled are the schemas that have been used, by their pointers.
	compiled map[string]*jsonschema.Schema
}

// documentURL is the name under which schemas are compiled.
const documentURL = "mem:///sluice.json"

// Load reads the description.
func Load() (*Document, error) {
	text, err := bundleFiles()
	if err != nil {
		return nil, err
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	d := &Document{
		JSON: text, Root: root.(map[string]any),
		compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{},
	}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(documentURL, d.Root); err != nil {
		return nil, err
	}
	d.Operations, err = d.collectOperations()
	for _, o := range d.Operations {
		d.routes.Add(o.Method, o.Path, o)
	}
	return d, err
}

// Bundle returns the whole description as indented JSON, which openapi/sluice.bundled.json keeps for generators of
// clients and other tools that read one file.
func (d *Document) Bundle() ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, d.JSON, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// schema returns the compiled schema at a pointer. Schemas are compiled when they are first used.
func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(documentURL + pointer)
	if err != nil {
		return nil, err
	}
	d.compiled[pointer] = s
	return s, nil
}

// resolve returns the value at a pointer such as "#/a/b", and the pointer to it, after following references.
func (d *Document) resolve(pointer string) (any, string, error) {
	var v any = d.Root
	for _, token := range strings.Split(pointer, "/")[1:] {
		var ok bool
		if v, ok = childOf(v, unescapePointer.Replace(token)); !ok {
			return nil, "", fmt.Errorf("the description has nothing at %s", pointer)
		}
	}
	if m, ok := v.(map[string]any); ok && m["$ref"] != nil {
		return d.resolve(m["$ref"].(string))
	}
	return v, pointer, nil
}

// resolveObject is resolve for an object. It returns nil and the given pointer if there is nothing.
func (d *Document) resolveObject(pointer string) (map[string]any, string) {
	v, resolved, err := d.resolve(pointer)
	if err != nil {
		return nil, pointer
	}
	m, _ := v.(map[string]any)
	return m, resolved
}

// childOf returns the member or item of a value that a token of a pointer names.
func childOf(v any, token string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		child, ok := v[token]
		return child, ok
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// Tokens of pointers escape two characters (RFC 6901).
var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// page is complete in itself: a browser fetches nothing for it.
var page = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; worker-src blob:">
<link rel="icon" href="data:,">
<title>{{.Title}}</title>
<style>body { margin: 0 }</style>
</head>
<body>
<div id="reference"></div>
<script>{{.Script}}</script>
<script>
Redoc.init({{.Description}}, {{.Options}}, document.getElementById("reference"))
</script>
</body>
</html>
`))

// options are those of Redoc.
const options = `{sortRequiredPropsFirst: true, hideDownloadButton: true, expandResponses: "200,202", ` +
	`jsonSamplesExpandLevel: 4}`

// logo is the only address from which Redoc fetches something.
var logo = []byte("https://cdn.redoc.ly/redoc/logo-mini.svg")

// WriteHTML writes the description as a page that Redoc renders; script is Redoc's standalone bundle. No text of the
// description can end the page's script, because encoding/json has escaped each <.
func (d *Document) WriteHTML(w io.Writer, script []byte) error {
	script = bytes.ReplaceAll(script, logo, []byte("data:,"))
	script = bytes.ReplaceAll(script, []byte("</script"), []byte(`<\/script`))
	return page.Execute(w, map[string]string{
		"Title": d.Root["info"].(map[string]any)["title"].(string), "Script": string(script),
		"Description": string(d.JSON), "Options": options,
	})
}
