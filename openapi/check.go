package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate checks a value, decoded by jsonschema.UnmarshalJSON, against the schema at a pointer of the description.
// The error is a *jsonschema.ValidationError if the value is not valid.
func (d *Document) Validate(pointer string, v any) error {
	s, err := d.schema(pointer)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// ValidateJSON is Validate for a JSON text.
func (d *Document) ValidateJSON(pointer string, text []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return d.Validate(pointer, v)
}

// CheckResponse returns an error if a response is not as described: its status, a header, its content type or its body.
func (d *Document) CheckResponse(o Operation, status int, header http.Header, body []byte) error {
	response, at := d.describedResponse(o, status)
	if response == nil {
		return fmt.Errorf("the status %d is not described", status)
	}
	headers, _ := response["headers"].(map[string]any)
	for _, name := range sortedKeys(headers) {
		described, pointer := d.resolveObject(at + "/headers/" + escapePointer.Replace(name))
		value := header.Get(name)
		if value == "" && !isRequired(described) {
			continue
		}
		if err := d.validateText(pointer+"/schema", value); err != nil {
			return fmt.Errorf("header %s %q: %w", name, value, err)
		}
	}
	return d.checkBody(at, header.Get("Content-Type"), body)
}

// describedResponse returns the description of a status, or of its class such as 5XX, with its pointer.
func (d *Document) describedResponse(o Operation, status int) (map[string]any, string) {
	code := strconv.Itoa(status)
	if response, pointer := d.resolveObject(o.pointer + "/responses/" + code); response != nil {
		return response, pointer
	}
	return d.resolveObject(o.pointer + "/responses/" + code[:1] + "XX")
}

// checkBody checks a body against the content that the object at a pointer describes.
func (d *Document) checkBody(pointer, contentType string, body []byte) error {
	content, _ := d.resolveObject(pointer + "/content")
	if content == nil {
		if len(body) > 0 {
			return errors.New("there is a body and none is described")
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || content[media] == nil {
		return fmt.Errorf("the content type %q is not described", contentType)
	}
	schema := pointer + "/content/" + escapePointer.Replace(media) + "/schema"
	switch media {
	case "application/x-www-form-urlencoded":
	case "application/jose":
		return d.Validate(schema, string(body))
	default:
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

// CheckRequest returns an error if a request is not as described: a parameter, or the body. The service may accept such
// a request all the same.
func (d *Document) CheckRequest(o Operation, u *url.URL, header http.Header, body []byte) error {
	for _, p := range o.parameters {
		value, isGiven := o.parameterValue(p, u, header)
		if !isGiven && !p.required {
			continue
		}
		values, pointer := []string{value}, p.schema
		if schema, at := d.resolveObject(p.schema); p.in == "query" && schema["type"] == "array" {
			values, pointer = u.Query()[p.name], at+"/items" // it is repeated
		}
		for _, value := range values {
			if err := d.validateText(pointer, value); err != nil {
				return fmt.Errorf("parameter %s %q: %w", p.name, value, err)
			}
		}
	}
	request, pointer := d.resolveObject(o.pointer + "/requestBody")
	switch {
	case len(body) == 0 && !isRequired(request):
		return nil
	case request == nil:
		return errors.New("there is a body and none is described")
	}
	return d.checkBody(pointer, header.Get("Content-Type"), body)
}

// parameterValue returns the value of a parameter in a request, and whether the request gives it.
func (o Operation) parameterValue(p parameter, u *url.URL, header http.Header) (value string, isGiven bool) {
	switch p.in {
	case "query":
		return u.Query().Get(p.name), u.Query().Has(p.name)
	case "header":
		return header.Get(p.name), header.Get(p.name) != ""
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, s := range o.segments {
		if s == "{"+p.name+"}" {
			value, _ = url.PathUnescape(segments[len(segments)-len(o.segments)+i])
		}
	}
	return value, true
}

// validateText checks a parameter or header, which has no type on the wire: if its schema is not one of a string, its
// text is JSON.
func (d *Document) validateText(pointer, text string) error {
	schema, pointer := d.resolveObject(pointer)
	switch schema["type"] {
	case "integer", "number", "boolean":
		return d.ValidateJSON(pointer, []byte(text))
	}
	return d.Validate(pointer, text)
}

func isRequired(described map[string]any) bool {
	required, _ := described["required"].(bool)
	return required
}
