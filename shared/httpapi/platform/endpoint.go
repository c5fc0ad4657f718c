package platform

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/fault"
	"sluice/shared/httpapi"
)

// Command makes an endpoint of a function of the data of an enveloped body; it answers 202. If In has a method
// Check(*Faults), it is called first and every fault it notes is answered with 400.
func Command[In, Out any](f func(ctx context.Context, c httpapi.Caller, r *http.Request, in In) (Out, error)) httpapi.Endpoint {
	return endpoint(http.StatusAccepted, enveloped[In], f)
}

// Search is Command for the read side; it answers 200.
func Search[In, Out any](f func(ctx context.Context, c httpapi.Caller, r *http.Request, in In) (Out, error)) httpapi.Endpoint {
	return endpoint(http.StatusOK, enveloped[In], f)
}

// Bare is Command with a body that has no envelope and may be any JSON value.
func Bare[In, Out any](f func(ctx context.Context, c httpapi.Caller, r *http.Request, in In) (Out, error)) httpapi.Endpoint {
	return endpoint(http.StatusAccepted, bare[In], f)
}

// Act makes an endpoint of a function that reads no body; it answers 202.
func Act[Out any](f func(ctx context.Context, c httpapi.Caller, r *http.Request) (Out, error)) httpapi.Endpoint {
	return bodiless(http.StatusAccepted, f)
}

// Read is Act for the read side; it answers 200.
func Read[Out any](f func(ctx context.Context, c httpapi.Caller, r *http.Request) (Out, error)) httpapi.Endpoint {
	return bodiless(http.StatusOK, f)
}

// Plain has an endpoint answer a refused body with 400 plain: what is wrong stands in the message, and the data is null.
func Plain(next httpapi.Endpoint) httpapi.Endpoint {
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		reply, err := next(ctx, c, r)
		var e *fault.Error
		if errors.As(err, &e) && e.Kind == fault.BadRequest && len(e.Details) > 0 {
			said := []string{e.Message}
			for _, f := range failures(e.Details) {
				said = append(said, f.PropertyName+": "+f.ErrorMessage)
			}
			err = fault.New(e.Kind, e.Code, strings.Join(said, " ")).Because(err)
		}
		return reply, err
	}
}

func bodiless[Out any](status int, f func(ctx context.Context, c httpapi.Caller, r *http.Request) (Out, error)) httpapi.Endpoint {
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		out, err := f(ctx, c, r)
		return httpapi.Reply{Status: status, Body: envelopeOf(out)}, attempted(err, r, nil)
	}
}

func endpoint[In, Out any](status int, read func(*http.Request) (In, error),
	f func(ctx context.Context, c httpapi.Caller, r *http.Request, in In) (Out, error)) httpapi.Endpoint {
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		body, err := keep(r)
		if err != nil {
			return httpapi.Reply{}, err
		}
		in, err := read(r)
		if err != nil {
			return httpapi.Reply{}, attempted(refused(err), r, body)
		}
		if err := check(&in); err != nil {
			return httpapi.Reply{}, attempted(err, r, body)
		}
		out, err := f(ctx, c, r, in)
		return httpapi.Reply{Status: status, Body: envelopeOf(out)}, attempted(err, r, body)
	}
}

func check(in any) error {
	var faults Faults
	if checked, ok := in.(interface{ Check(*Faults) }); ok {
		checked.Check(&faults)
	}
	if len(faults.details) > 0 {
		return faults.Err()
	}
	return nil
}

func enveloped[In any](r *http.Request) (In, error) {
	var body struct {
		Data *In `json:"data"`
	}
	if err := httpapi.Decode(r, &body, json.RejectUnknownMembers(true)); err != nil {
		var none In
		return none, err
	}
	if body.Data == nil {
		var none In
		return none, notNull("data")
	}
	return *body.Data, nil
}

func bare[In any](r *http.Request) (In, error) {
	var in In
	text, err := httpapi.Body(r)
	if err != nil {
		return in, err
	}
	if len(text) == 0 {
		return in, notNull("body")
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return in, fault.New(fault.UnsupportedMedia, "content_type", "The content type must be application/json.")
	}
	if jsontext.Value(text).Kind() == 'n' {
		return in, notNull("body")
	}
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		var f Faults
		f.Add("body", "The body is not valid JSON of the right type.", "type")
		return in, f.Err().Because(err)
	}
	return in, nil
}

func notNull(name string) error {
	var f Faults
	f.Add(name, "The value is missing.", NotNull)
	return f.Err()
}

// refused turns the edge's complaint about a body into a 400: platform endpoints know no 422.
func refused(err error) error {
	var e *fault.Error
	if errors.As(err, &e) && e.Kind == fault.Invalid {
		return fault.New(fault.BadRequest, e.Code, e.Message).With(e.Details...)
	}
	return err
}
