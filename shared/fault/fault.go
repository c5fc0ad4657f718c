// Package fault is the vocabulary of errors that a client may see. Code inside the house returns a *Error with a kind, a
// stable code and a sentence fit for the client; httpapi maps kinds to statuses in one place. Anything else is an internal
// error: its text goes to the log and never to the wire.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what went wrong in terms of what the caller can do about it.
type Kind int

const (
	Internal         Kind = iota // a defect or an outage: retry later
	Invalid                      // the request has the wrong shape: 422 with its details
	BadRequest                   // the request is wrong: 400
	Unauthorized                 // no valid token
	Forbidden                    // a valid token that may not do this
	NotFound                     // nothing of that name for this tenant
	Conflict                     // the state has moved on: read it again
	TooLarge                     // over a documented limit
	UnsupportedMedia             // wrong content type
	Throttled                    // too many requests: retry after a while
	Unavailable                  // a part we need does not answer: retry later
)

// Error is a failure with a client-safe message.
type Error struct {
	Kind    Kind
	Code    string // stable, documented in docs/errors.md
	Message string // safe to send to the client
	Details []Detail
	cause   error
}

// Detail names one fault inside a request, in the shape of the contract's ValidationError.
type Detail struct {
	Loc  []any  `json:"loc"` // strings and integers: the way to the value
	Msg  string `json:"msg"`
	Type string `json:"type"`
	Sent any    `json:"-"` // the value that stands there, where the shape of a reply has a place for it
}

// New makes an error of the given kind. The message goes to the client as it is.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Newf is New with a formatted message. Never format a foreign error into it: use Because.
func Newf(kind Kind, code, format string, args ...any) *Error {
	return New(kind, code, fmt.Sprintf(format, args...))
}

// Because returns a copy of e that carries its cause, for the log and for errors.Is.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// With returns a copy of e that carries the details of a refused request.
func (e *Error) With(details ...Detail) *Error {
	c := *e
	c.Details = append(append([]Detail(nil), e.Details...), details...)
	return &c
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is a fault of the same code, whatever its message and cause.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Kind == e.Kind
}

// As finds the fault in err, or makes the internal one around it.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return New(Internal, "internal", "Internal server error.").Because(err)
}
