package platform

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"sluice/shared/access/httpapi"
	"sluice/shared/kit/fault"
)

// Endpoint makes an endpoint of a function of a decoded request. The body is {"data": In} and closed: keys that In does
// not have are refused. If *In has a method Check(*ValidationErrors), it is called before f. With NoBody as In, no body
// is read.
//
// The reply is {"data": Out, "messages": []}; with WithWarnings as Out it has messages, with NoData the data is null,
// and EncodedData is sent as it is. Its status is 202, or 200 for GET and with ReadOnly.
func Endpoint[In, Out any](f func(ctx context.Context, r *Request, in In) (Out, error),
	options ...Option) httpapi.Endpoint {
	var o endpointOptions
	for _, apply := range options {
		apply(&o)
	}
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		request := &Request{Caller: c, http: r, body: &httpapi.Body{}, bodyProperty: o.bodyProperty,
			isBodyOptional: o.isBodyOptional}
		out, err := call(ctx, request, f)
		if err != nil {
			if o.hideValues {
				err = withoutAttemptedValues(err)
			}
			if o.flattenErrors {
				err = flatten(err)
			}
			return httpapi.Reply{}, err
		}
		status := http.StatusAccepted
		if r.Method == http.MethodGet || o.readOnly {
			status = http.StatusOK
		}
		return httpapi.Reply{Status: status, Body: envelopeOf(out)}, nil
	}
}

type endpointOptions struct {
	bodyProperty   string
	isBodyOptional bool
	readOnly       bool
	flattenErrors  bool
	hideValues     bool
}

// Option changes how an endpoint reads requests or writes replies.
type Option func(*endpointOptions)

// Unenveloped makes the body In itself, any JSON value, without an envelope. Validation errors call it by the name of a
// property.
func Unenveloped(property string) Option {
	return func(o *endpointOptions) { o.bodyProperty = property }
}

// OptionalBody lets a request do without a body: In is then its zero value.
func OptionalBody() Option { return func(o *endpointOptions) { o.isBodyOptional = true } }

// ReadOnly marks an endpoint that changes nothing although its method is not GET.
func ReadOnly() Option { return func(o *endpointOptions) { o.readOnly = true } }

// FlattenErrors puts validation errors into the message of the reply, whose data is null instead of their list.
func FlattenErrors() Option { return func(o *endpointOptions) { o.flattenErrors = true } }

// HideAttemptedValues keeps sent values out of validation errors: a body that holds secrets may hold them in the wrong
// place, too.
func HideAttemptedValues() Option { return func(o *endpointOptions) { o.hideValues = true } }

// NoBody is the input of an endpoint that reads no body.
type NoBody struct{}

// NoData is the data of a reply without data: null.
type NoData struct{}

// MarshalJSON writes null.
func (NoData) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// WithWarnings is the data of a reply with messages beside it.
type WithWarnings[T any] struct {
	Data     T
	Messages []Message
}

func (w WithWarnings[T]) envelope() Envelope {
	return Envelope{w.Data, append([]Message{}, limitMessages(w.Messages)...)}
}

// EncodedData is the data of a reply that is JSON text already. It is sent as it is, without a message beside it.
type EncodedData []byte

// encodedEnvelope is the envelope of encoded data.
type encodedEnvelope struct{ data EncodedData }

// EncodeJSON returns the envelope as JSON, without going through the data again.
func (e encodedEnvelope) EncodeJSON() ([]byte, error) {
	return slices.Concat([]byte(`{"data":`), e.data, []byte(`,"messages":[]}`)), nil
}

func envelopeOf(out any) any {
	switch out := out.(type) {
	case interface{ envelope() Envelope }:
		return out.envelope()
	case EncodedData:
		return encodedEnvelope{out}
	}
	return Envelope{out, []Message{}}
}

// call decodes and checks a request and runs f.
func call[In, Out any](ctx context.Context, r *Request, f func(context.Context, *Request, In) (Out,
	error)) (out Out, err error) {
	var in In
	if _, ok := any(in).(NoBody); !ok {
		if in, err = decode[In](r); err != nil {
			return out, err
		}
	}
	if in, ok := any(&in).(interface{ Check(*ValidationErrors) }); ok {
		if err := r.Validate(in.Check); err != nil {
			return out, err
		}
	}
	return f(ctx, r, in)
}

// decode reads the body of a request, once, and decodes it.
func decode[In any](r *Request) (in In, err error) {
	if r.body, err = httpapi.ReadBody(r.http); err != nil {
		return in, err
	}
	if r.isBodyOptional && len(r.body.Text) == 0 {
		return in, nil
	}
	if r.bodyProperty != "" {
		return decodeUnenveloped[In](r.body)
	}
	var envelope struct {
		Data *In `json:"data"`
	}
	if err := r.body.Decode(&envelope, "/data", json.RejectUnknownMembers(true)); err != nil {
		return in, err
	}
	if envelope.Data == nil {
		return in, fault.NewInvalid(fault.Detail{
			Source: fault.InBody, Path: []any{"data"}, Message: "The value is missing.", Code: CodeRequired,
			AttemptedValue: r.body.AttemptedValue("data"),
		})
	}
	return *envelope.Data, nil
}

// decodeUnenveloped decodes a body that may be any JSON value. Its errors are about the body as a whole.
func decodeUnenveloped[In any](body *httpapi.Body) (in In, err error) {
	invalid := func(message, code string) *fault.Error {
		return fault.NewInvalid(fault.Detail{
			Source: fault.InBody, Message: message, Code: code, AttemptedValue: body.AttemptedValue(),
		})
	}
	if len(body.Text) == 0 || body.Text.Kind() == 'n' {
		return in, invalid("The value is missing.", CodeRequired)
	}
	if err := json.Unmarshal(body.Text, &in, json.RejectUnknownMembers(true)); err != nil {
		return in, invalid("The body is not valid JSON of the right type.", codeWrongType).WithCause(err)
	}
	return in, nil
}

// flatten moves the validation errors of err into its message.
func flatten(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Details) == 0 {
		return err
	}
	sentences := []string{e.Message}
	for _, f := range failuresOf(e.Details) {
		sentences = append(sentences, f.PropertyName+": "+f.ErrorMessage)
	}
	return fault.New(fault.BadRequest, e.Code, strings.Join(sentences, " ")).WithCause(err)
}

// withoutAttemptedValues removes the attempted values from the validation errors about the body.
func withoutAttemptedValues(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || len(e.Details) == 0 {
		return err
	}
	hidden := *e
	hidden.Details = slices.Clone(e.Details)
	for i := range hidden.Details {
		if hidden.Details[i].Source == fault.InBody {
			hidden.Details[i].AttemptedValue = nil
		}
	}
	return &hidden
}
