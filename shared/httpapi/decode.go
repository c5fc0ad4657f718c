package httpapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/fault"
)

// JSON makes an endpoint of a function of a decoded body, which is answered with 200. An absent body is an empty object.
// Keys that In does not have are ignored; everything else is strict: one JSON object, valid UTF-8, no key twice, exact
// case, the right types. Errors name the place.
func JSON[In, Out any](f func(ctx context.Context, c Caller, in In) (Out, error)) Endpoint {
	return func(ctx context.Context, c Caller, r *http.Request) (Reply, error) {
		var in In
		if err := Decode(r, &in); err != nil {
			return Reply{}, err
		}
		out, err := f(ctx, c, in)
		return Reply{Body: out}, err
	}
}

// Path makes an endpoint of a function of one path parameter.
func Path(name string, f func(ctx context.Context, c Caller, value string) (Reply, error)) Endpoint {
	return func(ctx context.Context, c Caller, r *http.Request) (Reply, error) {
		return f(ctx, c, r.PathValue(name))
	}
}

// Decode reads the JSON body of a request into a struct. An absent body leaves it as it is.
func Decode(r *http.Request, into any, options ...json.Options) error {
	text, err := Body(r)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return nil
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return fault.New(fault.UnsupportedMedia, "content_type", "The content type must be application/json.")
	}
	if kind := jsontext.Value(text).Kind(); kind != '{' && jsontext.Value(text).IsValid() {
		return invalid(fault.Detail{Loc: []any{"body"}, Msg: "The body must be a JSON object.", Type: "object_type"})
	}
	if err := json.Unmarshal(text, into, options...); err != nil {
		return invalid(detailOf(err))
	}
	return nil
}

// Body reads the whole body of a request that an API serves; a body over the API's limit is a fault.TooLarge.
func Body(r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, fault.Newf(fault.TooLarge, "body_too_large", "The request body is larger than %d bytes.", large.Limit)
	}
	return text, err
}

func invalid(d fault.Detail) error {
	return fault.New(fault.Invalid, "invalid_request", "The request is not valid.").With(d)
}

// detailOf says where a body is wrong, without a word of what it holds.
func detailOf(err error) fault.Detail {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		d := fault.Detail{Loc: location(semantic.JSONPointer), Msg: "The value has the wrong type.", Type: "type"}
		if errors.Is(err, json.ErrUnknownName) {
			return fault.Detail{Loc: d.Loc, Msg: "This key is not known here.", Type: "extra_forbidden"}
		}
		if semantic.GoType != nil {
			t := jsonType(semantic.GoType)
			d.Msg, d.Type = "The value must be of type "+t+".", t+"_type"
		}
		return d
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.Detail{Loc: location(syntactic.JSONPointer), Msg: "This key stands twice.", Type: "json_duplicate_key"}
		}
		return fault.Detail{Loc: []any{"body", syntactic.ByteOffset}, Msg: "The body is not valid JSON.", Type: "json_invalid"}
	}
	return fault.Detail{Loc: []any{"body"}, Msg: "The body is not valid JSON.", Type: "json_invalid"}
}

// jsonType is what a client calls a type of ours.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice:
		return "array"
	}
	return t.Kind().String() // string, bool
}

func location(p jsontext.Pointer) []any {
	loc := []any{"body"}
	for token := range p.Tokens() {
		if n, err := strconv.Atoi(token); err == nil {
			loc = append(loc, n)
		} else {
			loc = append(loc, token)
		}
	}
	return loc
}
