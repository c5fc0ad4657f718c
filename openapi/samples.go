package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"
)

// call is what a sample of an operation shows.
type call struct {
	method, path string
	// header has names and values by turns; in a value, $TOKEN and $TENANT_ID stand for variables of the environment.
	header [][2]string
	// body is the example of the body, nil without one. If it is a form, fields has its fields by turns.
	body   []byte
	fields [][2]string
}

// addSamples gives each operation samples in curl, Python and Go, made from the examples of its parameters and body.
func (b *bundler) addSamples() error {
	paths := memberOf(b.entry, "paths")
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i].Value, paths.Content[i+1]
		for j := 0; j < len(item.Content); j += 2 {
			method, operation := item.Content[j].Value, item.Content[j+1]
			if !isMethod[method] {
				continue
			}
			c, err := b.sampleCall(strings.ToUpper(method), path, item, operation)
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			samples := &yaml.Node{Kind: yaml.SequenceNode}
			for _, s := range []struct{ lang, label, source string }{
				{"Shell", "curl", c.curl()}, {"Python", "Python", c.python()}, {"Go", "Go", c.golang()},
			} {
				sample := &yaml.Node{Kind: yaml.MappingNode}
				setMember(sample, "lang", text(s.lang))
				setMember(sample, "label", text(s.label))
				setMember(sample, "source", text(s.source))
				samples.Content = append(samples.Content, sample)
			}
			setMember(operation, "x-codeSamples", samples)
		}
	}
	return nil
}

// sampleCall returns the call of an operation with the examples of what it requires.
func (b *bundler) sampleCall(method, path string, item, operation *yaml.Node) (call, error) {
	c := call{method: method, path: path}
	if b.takesToken(operation) {
		c.header = append(c.header, [2]string{"Authorization", "Bearer $TOKEN"})
	}
	for _, owner := range []*yaml.Node{item, operation} {
		parameters := memberOf(owner, "parameters")
		for i := 0; parameters != nil && i < len(parameters.Content); i++ {
			b.addParameter(&c, b.target(parameters.Content[i]))
		}
	}
	request := b.target(memberOf(operation, "requestBody"))
	content := memberOf(request, "content")
	if content == nil {
		return c, nil
	}
	media, example := content.Content[0].Value, exampleOf(content.Content[1])
	if example == nil {
		return c, fmt.Errorf("the body has no example")
	}
	if media == "application/x-www-form-urlencoded" {
		for i := 0; i < len(example.Content); i += 2 {
			c.fields = append(c.fields, [2]string{example.Content[i].Value, example.Content[i+1].Value})
		}
		return c, nil
	}
	var body bytes.Buffer
	if err := writeJSON(&body, example); err != nil {
		return c, err
	}
	c.header = append(c.header, [2]string{"Content-Type", media})
	c.body = body.Bytes()
	return c, nil
}

// takesToken reports whether an operation is called with an access token.
func (b *bundler) takesToken(operation *yaml.Node) bool {
	security := memberOf(operation, "security")
	if security == nil {
		security = memberOf(b.entry, "security")
	}
	for _, requirement := range security.Content {
		if memberOf(requirement, "BearerToken") != nil {
			return true
		}
	}
	return false
}

// addParameter adds a parameter that the operation requires.
func (b *bundler) addParameter(c *call, p *yaml.Node) {
	required, example := memberOf(p, "required"), memberOf(p, "example")
	if required == nil || required.Value != "true" {
		return
	}
	name, value := memberOf(p, "name").Value, "VALUE"
	if example != nil {
		value = example.Value
	}
	switch memberOf(p, "in").Value {
	case "path":
		c.path = strings.ReplaceAll(c.path, "{"+name+"}", url.PathEscape(value))
	case "query":
		separator := "?"
		if strings.Contains(c.path, "?") {
			separator = "&"
		}
		c.path += separator + url.QueryEscape(name) + "=" + url.QueryEscape(value)
	case "header":
		if name == "X-TENANT-ID" {
			value = "$TENANT_ID"
		}
		c.header = append(c.header, [2]string{name, value})
	}
}

// target follows a reference into the components.
func (b *bundler) target(n *yaml.Node) *yaml.Node {
	for memberOf(n, "$ref") != nil {
		to := strings.Split(memberOf(n, "$ref").Value, "/")
		n = b.entry
		for _, token := range to[1:] {
			n = memberOf(n, unescapePointer.Replace(token))
		}
	}
	return n
}

// exampleOf returns the first example of a content.
func exampleOf(content *yaml.Node) *yaml.Node {
	if example := memberOf(content, "example"); example != nil {
		return example
	}
	if all := memberOf(content, "examples"); all != nil {
		return memberOf(all.Content[1], "value")
	}
	return nil
}

func (c call) curl() string {
	var s strings.Builder
	s.WriteString("curl -sS")
	if c.method != "GET" && (c.method != "POST" || c.body == nil && c.fields == nil) {
		s.WriteString(" -X " + c.method)
	}
	s.WriteString(` "$API_URL` + c.path + `"`)
	for _, h := range c.header {
		s.WriteString(" \\\n  -H \"" + h[0] + ": " + h[1] + `"`)
	}
	for _, f := range c.fields {
		s.WriteString(" \\\n  --data-urlencode '" + f[0] + "=" + f[1] + "'")
	}
	if c.body != nil {
		s.WriteString(" \\\n  -d '" + strings.ReplaceAll(string(c.body), "'", `'\''`) + "'")
	}
	return s.String()
}

func (c call) python() string {
	var s strings.Builder
	s.WriteString("import os\nimport requests\n\nreply = requests." + strings.ToLower(c.method) + "(\n")
	s.WriteString("    os.environ[\"API_URL\"] + " + quote(c.path) + ",\n")
	if headers := withoutContentType(c.header); len(headers) > 0 {
		s.WriteString("    headers={")
		for _, h := range headers {
			s.WriteString("\n        " + quote(h[0]) + ": " + inLanguage(h[1], `os.environ["`, `"]`) + ",")
		}
		s.WriteString("\n    },\n")
	}
	if c.fields != nil {
		s.WriteString("    data={\n")
		for _, f := range c.fields {
			s.WriteString("        " + quote(f[0]) + ": " + quote(f[1]) + ",\n")
		}
		s.WriteString("    },\n")
	}
	if c.body != nil {
		s.WriteString("    json=" + pythonLiteral(c.body) + ",\n")
	}
	s.WriteString(")\nreply.raise_for_status()\nprint(reply.json())")
	return s.String()
}

func (c call) golang() string {
	body := "nil"
	switch {
	case c.fields != nil:
		var fields []string
		for _, f := range c.fields {
			fields = append(fields, quote(f[0])+": {"+quote(f[1])+"}")
		}
		body = "strings.NewReader(url.Values{\n\t" + strings.Join(fields, ",\n\t") + ",\n}.Encode())"
		c.header = append(c.header, [2]string{"Content-Type", "application/x-www-form-urlencoded"})
	case c.body != nil:
		body = "strings.NewReader(`" + string(c.body) + "`)"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "request, err := http.NewRequest(%s, os.Getenv(\"API_URL\")+%s, %s)\n", quote(c.method),
		quote(c.path), body)
	s.WriteString("if err != nil {\n\treturn err\n}\n")
	for _, h := range c.header {
		fmt.Fprintf(&s, "request.Header.Set(%s, %s)\n", quote(h[0]), inLanguage(h[1], `os.Getenv("`, `")`))
	}
	s.WriteString("reply, err := http.DefaultClient.Do(request)\nif err != nil {\n\treturn err\n}\ndefer " +
		"reply.Body.Close()\n")
	s.WriteString("fmt.Println(reply.Status)\n_, err = io.Copy(os.Stdout, reply.Body)\nreturn err")
	return s.String()
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

// inLanguage returns the expression of a value of a header; before and after enclose the name of a variable.
func inLanguage(value, before, after string) string {
	fixed, name, isVariable := strings.Cut(value, "$")
	switch {
	case !isVariable:
		return quote(value)
	case fixed == "":
		return before + name + after
	}
	return quote(fixed) + " + " + before + name + after
}

func withoutContentType(header [][2]string) [][2]string {
	var rest [][2]string
	for _, h := range header {
		if h[0] != "Content-Type" {
			rest = append(rest, h)
		}
	}
	return rest
}

// pythonLiteral returns a JSON text as Python writes it: its texts are the same, its constants are not.
func pythonLiteral(text []byte) string {
	var out strings.Builder
	tokens := json.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	at := int64(0)
	for {
		token, err := tokens.Token()
		if err != nil {
			break
		}
		end := tokens.InputOffset()
		written := string(text[at:end])
		switch token {
		case true:
			written = strings.Replace(written, "true", "True", 1)
		case false:
			written = strings.Replace(written, "false", "False", 1)
		case nil:
			written = strings.Replace(written, "null", "None", 1)
		}
		for _, mark := range []string{",", ":"} {
			if strings.HasPrefix(written, mark) {
				written = mark + " " + written[1:]
			}
		}
		out.WriteString(written)
		at = end
	}
	return out.String()
}
