package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/kit/fault"
)

// JSON makes an endpoint of a function of a decoded body, which is answered with 200. An absent body is an empty
// object. Keys that In does not have are ignored; everything else is strict, see Body.Decode. The errors of all members
// are reported together, with those that a method Check of In finds in the members of the right types.
func JSON[In, Out any](f func(ctx context.Context, c Caller, in In) (Out, error)) Endpoint {
	return func(ctx context.Context, c Caller, r *http.Request) (Reply, error) {
		body, err := ReadBody(r)
		if err != nil {
			return Reply{}, err
		}
		var in In
		if err := body.Decode(&in, ""); err != nil {
			return Reply{}, body.checkMembers(new(In), err)
		}
		out, err := f(ctx, c, in)
		return Reply{Body: out}, err
	}
}

// ReadAll reads the whole body of a request that an API serves, in any format. A body over the API's limit is a
// fault.TooLarge.
func ReadAll(r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(r.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.Newf(fault.TooLarge, "body_too_large", "The request body is larger than %d bytes.",
			tooLarge.Limit)
	}
	return text, err
}

// Body is the JSON body of one request. The zero value is an absent body.
type Body struct {
	// Text is the body as it was sent, not yet checked; it is empty if the request has no body.
	Text jsontext.Value

	// parsed is the body as AttemptedValue reads it.
	parsed   any
	isParsed bool
}

// ReadBody reads the body of a request, which must have the content type application/json unless it is empty.
func ReadBody(r *http.Request) (*Body, error) {
	text, err := ReadAll(r)
	if err != nil || len(text) == 0 {
		return &Body{}, err
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, fault.New(fault.UnsupportedMedia, "content_type", "The content type must be application/json.")
	}
	return &Body{Text: text}, nil
}

// Decode decodes the body into the struct that into points to; an absent body leaves it as it is. The body must be one
// JSON object in valid UTF-8, without duplicate keys, with the keys' exact case and values of the right types.
// Otherwise the error is a fault.Invalid with one final validation error. Its path is relative to the value that root
// points to; a value outside of that has its path from the beginning of the body.
func (b *Body) Decode(into any, root jsontext.Pointer, options ...json.Options) error {
	if len(b.Text) == 0 {
		return nil
	}
	if b.Text.Kind() != '{' && b.Text.IsValid() {
		return fault.NewInvalid(fault.Detail{
			Source: fault.InBody, Message: "The body must be a JSON object.", Code: "object_type",
			AttemptedValue: b.AttemptedValue(),
		})
	}
	if err := json.Unmarshal(b.Text, into, options...); err != nil {
		return fault.NewInvalid(b.detailOf(err, root))
	}
	return nil
}

// checkMembers returns the errors of all members of a body that cannot be decoded. It is first if the body is no
// object, or its text is not JSON.
func (b *Body) checkMembers(into any, first error) error {
	var members map[string]jsontext.Value
	if json.Unmarshal(b.Text, &members) != nil {
		return first
	}
	var details []fault.Detail
	refused := map[any]bool{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, err := json.Marshal(map[string]jsontext.Value{name: members[name]})
		if err == nil {
			err = json.Unmarshal(member, into)
		}
		if err != nil {
			details = append(details, b.detailOf(err, ""))
			refused[name] = true
		}
	}
	if checked, ok := into.(interface{ Check() []fault.Detail }); ok {
		for _, d := range checked.Check() {
			if len(d.Path) == 0 || !refused[d.Path[0]] {
				details = append(details, d)
			}
		}
	}
	if len(details) == 0 {
		return first
	}
	return fault.NewInvalid(details...)
}

// CodeNotJSON is the code of a body that violates the grammar of JSON. The path of the validation error is the offset
// of the byte at which reading stopped.
const CodeNotJSON = "json_invalid"

// detailOf returns the validation error for an error of the JSON library, none of whose text reaches the client.
func (b *Body) detailOf(err error, root jsontext.Pointer) fault.Detail {
	notJSON := fault.Detail{Source: fault.InBody, Message: "The body is not valid JSON.", Code: CodeNotJSON}
	at := func(p jsontext.Pointer, message, code string) fault.Detail {
		relative := p
		if root != "" && p != root && root.Contains(p) {
			relative = p[len(root):]
		}
		return fault.Detail{
			Source: fault.InBody, Path: pathOf(relative), Message: message, Code: code,
			AttemptedValue: b.AttemptedValue(pathOf(p)...),
		}
	}
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic) && errors.Is(err, json.ErrUnknownName):
		return at(semantic.JSONPointer, "This key is not known here.", "extra_forbidden")
	case errors.As(err, &semantic) && errors.Is(err, strconv.ErrRange):
		return at(semantic.JSONPointer, "The number is too large or too small.", "number_range")
	case errors.As(err, &semantic) && semantic.GoType != nil:
		t := jsonTypeOf(semantic.GoType)
		return at(semantic.JSONPointer, "The value must be of type "+t+".", t+"_type")
	case errors.As(err, &semantic):
		return at(semantic.JSONPointer, "The value has the wrong type.", "type")
	case errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName):
		return at(syntactic.JSONPointer, "This key appears twice.", "json_duplicate_key")
	case errors.As(err, &syntactic):
		notJSON.Path = []any{syntactic.ByteOffset}
		notJSON.Message = fmt.Sprintf("The body is not valid JSON: it could be read up to byte %d.",
			syntactic.ByteOffset)
	}
	return notJSON
}

// jsonTypeOf returns the name that a client knows a Go type by.
func jsonTypeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonTypeOf(t.Elem())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice:
		return "array"
	}
	return t.Kind().String() // string, bool
}

// pathOf returns the tokens of a pointer; those that are numbers count as indexes.
func pathOf(p jsontext.Pointer) []any {
	var path []any
	for token := range p.Tokens() {
		if n, err := strconv.Atoi(token); err == nil {
			path = append(path, n)
		} else {
			path = append(path, token)
		}
	}
	return path
}

// maxAttemptedChars is how many characters of a refused text are sent back.
const maxAttemptedChars = 256

// AttemptedValue returns the value of the body at a path of keys and indexes: a string (cut to its first 256
// characters), a number as jsontext.Value (the beginning of a longer one as a string), or a boolean; nil for everything
// else, and if there is nothing. It also reads bodies that Decode refuses for their keys or for invalid UTF-8; of a key
// that appears twice it returns the last value.
func (b *Body) AttemptedValue(path ...any) any {
	if !b.isParsed {
		b.parsed, b.isParsed = parseLeniently(b.Text), true
	}
	v := b.parsed
	for _, step := range path {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[fmt.Sprint(step)]
		case []any:
			v = elementAt(parent, step)
		default:
			return nil
		}
	}
	switch v := v.(type) {
	case string:
		return firstChars(v, maxAttemptedChars)
	case jsontext.Value:
		if len(v) > maxAttemptedChars {
			return string(v[:maxAttemptedChars]) // the beginning of a number is another number, so it is sent as text
		}
		return v
	case bool:
		return v
	}
	return nil
}

// AttemptedText returns a parameter's value as a fault.Detail reports it: cut to its first 256 characters, nil for "".
func AttemptedText(value string) any {
	if value == "" {
		return nil
	}
	return firstChars(value, maxAttemptedChars)
}

// parseLeniently parses JSON text with numbers as jsontext.Value; it returns nil for text that is not JSON.
func parseLeniently(text jsontext.Value) any {
	numbersAsSent := json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		if d.PeekKind() == '0' {
			*v = jsontext.Value(nil) // decodes into the text of the number
		}
		return errors.ErrUnsupported
	})
	var v any
	err := json.Unmarshal(text, &v, json.WithUnmarshalers(numbersAsSent),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return v
}

// elementAt returns an element of a list by its index, an int or its decimal digits; nil if it does not exist.
func elementAt(list []any, step any) any {
	i, err := strconv.Atoi(fmt.Sprint(step))
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// firstChars returns the first n characters of s.
func firstChars(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n])
}
