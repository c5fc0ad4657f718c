package openapi

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are compiled when they are first needed: the compiler is for one at a time.
type schemas struct {
	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

// Validate checks a value, as jsonschema.UnmarshalJSON returns it, against the schema at a pointer of the description.
func (d *Document) Validate(pointer string, v any) error {
	s, err := d.schema(pointer)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.schemas.mu.Lock()
	defer d.schemas.mu.Unlock()
	if s := d.schemas.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(address + pointer)
	if err != nil {
		return nil, err
	}
	if d.schemas.compiled == nil {
		d.schemas.compiled = map[string]*jsonschema.Schema{}
	}
	d.schemas.compiled[pointer] = s
	return s, nil
}

// ValidateJSON is Validate for a JSON text.
func (d *Document) ValidateJSON(pointer string, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return d.Validate(pointer, v)
}

// CheckResponse says what in a response is not as described: its status, a header, its type, its body.
func (d *Document) CheckResponse(o Operation, status int, header http.Header, body []byte) error {
	at := o.pointer + "/responses/"
	response, at := d.response(at, status)
	if response == nil {
		return fmt.Errorf("the status %d is not described", status)
	}
	headers, _ := response["headers"].(map[string]any)
	for _, name := range keys(headers) {
		h, p := d.object(at + "/headers/" + escape.Replace(name))
		value := header.Get(name)
		if required, _ := h["required"].(bool); value == "" && !required {
			continue
		}
		if err := d.validateText(p+"/schema", value); err != nil {
			return fmt.Errorf("header %s %q: %w", name, value, err)
		}
	}
	return d.checkBody(at, header.Get("Content-Type"), body)
}

// response finds the description of a status: its own, or that of its class.
func (d *Document) response(at string, status int) (map[string]any, string) {
	code := strconv.Itoa(status)
	if r, p := d.object(at + code); r != nil {
		return r, p
	}
	return d.object(at + code[:1] + "XX")
}

func (d *Document) checkBody(at, contentType string, body []byte) error {
	content, _ := d.object(at + "/content")
	if content == nil {
		if len(body) > 0 {
			return fmt.Errorf("no body is described")
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || content[media] == nil {
		return fmt.Errorf("the content type %q is not described", contentType)
	}
	schema := at + "/content/" + escape.Replace(media) + "/schema"
	if media != "application/x-www-form-urlencoded" {
		return d.ValidateJSON(schema, body)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return err
	}
	fields := map[string]any{}
	for name := range form {
		fields[name] = form.Get(name)
	}
	return d.Validate(schema, fields)
}

// CheckRequest says what in a request is not as described, though it may be served all the same: a parameter, or the body.
func (d *Document) CheckRequest(o Operation, u *url.URL, header http.Header, body []byte) error {
	segments := strings.Split(u.EscapedPath(), "/")
	for _, p := range o.parameters {
		var value string
		given := true
		switch p.in {
		case "path":
			for i, s := range o.segments {
				if s == "{"+p.name+"}" {
					value, _ = url.PathUnescape(segments[len(segments)-len(o.segments)+i])
				}
			}
		case "query":
			value, given = u.Query().Get(p.name), u.Query().Has(p.name)
		case "header":
			value, given = header.Get(p.name), header.Get(p.name) != ""
		}
		if !given && !p.required {
			continue
		}
		if err := d.validateText(p.schema, value); err != nil {
			return fmt.Errorf("parameter %s %q: %w", p.name, value, err)
		}
	}
	request, at := d.object(o.pointer + "/requestBody")
	if required, _ := request["required"].(bool); len(body) == 0 && !required {
		return nil
	}
	if request == nil {
		return fmt.Errorf("no body is described")
	}
	return d.checkBody(at, header.Get("Content-Type"), body)
}

// validateText checks what has no type on the wire: a schema of another type than string means the text as JSON.
func (d *Document) validateText(pointer, text string) error {
	schema, pointer := d.object(pointer)
	if t, _ := schema["type"].(string); t == "integer" || t == "number" || t == "boolean" {
		return d.ValidateJSON(pointer, []byte(text))
	}
	return d.Validate(pointer, text)
}
