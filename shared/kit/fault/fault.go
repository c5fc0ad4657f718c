// Package fault is the vocabulary of errors that a client may see. The service's code returns an *Error with a kind, a
// stable code and a message that is safe for the client; package httpapi maps kinds to statuses in one place. Every
// other error is an internal one: its text goes to the log and never to the client.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind classifies errors by the client's remedy.
type Kind int

const (
	// Internal is a defect or an outage: the client tries again later.
	Internal Kind = iota
	// Invalid is a request of the wrong shape or with wrong values; Details name them. Its status is 400 or 422, by the
	// convention of the interface.
	Invalid
	// BadRequest is a request that is wrong as a whole: status 400.
	BadRequest
	// Unauthorized is a request without a valid token: status 401.
	Unauthorized
	// Forbidden is a request with a valid token that does not permit it: status 403.
	Forbidden
	// NotFound means that the tenant has nothing of that name: status 404.
	NotFound
	// Conflict means that the state has changed, and the client must read it again: status 409.
	Conflict
	// TooLarge is a request or a reply over a documented limit: status 413.
	TooLarge
	// UnsupportedMedia is a body of the wrong content type: status 415.
	UnsupportedMedia
	// Throttled means too many requests: the client waits before the next one. Status 429.
	Throttled
	// Unavailable means that a service which is needed does not answer: the client tries again later. Status 503.
	Unavailable
)

// Error is a failure that the client is told about.
type Error struct {
	Kind Kind
	// Code is the stable name of the failure, explained in docs/errors.md.
	Code string
	// Message is sent to the client as it is.
	Message string
	// Details are the validation errors of a request of the kind Invalid.
	Details []Detail
	// RetryAfter is how long the client is told to wait before it tries again; 0 if it is told nothing.
	RetryAfter time.Duration

	cause error
}

// Parts of a request that a Detail can be about.
const (
	InBody   = "body"
	InPath   = "path"
	InQuery  = "query"
	InHeader = "header"
)

// Detail is one validation error: the error of one value of a request.
type Detail struct {
	// Source is the part of the request that holds the value: InBody, InPath, InQuery or InHeader.
	Source string
	// Path leads to the value inside its source: keys and names as string, indexes as int. It is empty for the source
	// as a whole. For a body that is not JSON, it is the byte offset of the error.
	Path []any
	// Message has the error, or the rule for the value.
	Message string
	// Code is the stable name of the error, explained in docs/errors.md.
	Code string
	// AttemptedValue is the value that was sent, if it is a string (cut to its beginning if it is long), a number or a
	// boolean; otherwise nil. Not every interface sends it back.
	AttemptedValue any
}

// New returns an error of the given kind. The message goes to the client as it is.
func New(kind Kind, code, message string) *Error {
	return &Error{Kind: kind, Code: code, Message: message}
}

// Newf is New with a formatted message. Never format a foreign error into it: that is what WithCause is for.
func Newf(kind Kind, code, format string, args ...any) *Error {
	return New(kind, code, fmt.Sprintf(format, args...))
}

// NewInvalid returns the error of a request with the given validation errors.
func NewInvalid(details ...Detail) *Error {
	return New(Invalid, "invalid_request", "The request is not valid.").WithDetails(details...)
}

// WithCause returns a copy of e that carries its cause, for the log and for errors.Is.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithDetails returns a copy of e with the given validation errors added.
func (e *Error) WithDetails(details ...Detail) *Error {
	c := *e
	c.Details = slices.Concat(e.Details, details)
	return &c
}

// WithRetryAfter returns a copy of e that tells the client how long to wait.
func (e *Error) WithRetryAfter(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Error returns the code, the message and the cause, for the log.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause, nil if there is none.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an *Error of the same kind and code; message and cause may differ.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Kind == e.Kind
}

// As returns the first *Error in err's chain, or an internal error with err as its cause. err must not be nil.
func As(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return New(Internal, "internal", "Internal server error.").WithCause(err)
}
