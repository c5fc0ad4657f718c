package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// Reason is the stable name of why a call failed.
type Reason string

// The reasons. docs/errors.md explains them.
const (
	// URLRefused: the URL is not one that may be called.
	URLRefused Reason = "url_refused"
	// NameNotFound: the name of the receiver could not be looked up.
	NameNotFound Reason = "name_not_found"
	// AddressRefused: the receiver has no address that may be called.
	AddressRefused Reason = "address_refused"
	// ConnectionFailed: the receiver does not accept a connection, or ended it.
	ConnectionFailed Reason = "connection_failed"
	// TimedOut: the receiver was too slow.
	TimedOut Reason = "timed_out"
	// TLSFailed: no TLS connection could be agreed on.
	TLSFailed Reason = "tls_failed"
	// CertificateRefused: the receiver's certificate is not one that the configuration accepts.
	CertificateRefused Reason = "certificate_refused"
	// ClientCertificateUnusable: the configured client certificate cannot be presented.
	ClientCertificateUnusable Reason = "client_certificate_unusable"
	// ClientCertificateRefused: the receiver did not accept the client certificate, or wants one.
	ClientCertificateRefused Reason = "client_certificate_refused"
	// TokenFailed: the token endpoint gave no access token.
	TokenFailed Reason = "token_failed"
	// ReplyUnreadable: the receiver's reply is not HTTP, or its headers are too large.
	ReplyUnreadable Reason = "reply_unreadable"
)

// Error is a call that failed because of its receiver, its URL or its configuration. Its text is for the tenant: it
// contains no secret, no path and nothing that the receiver has sent.
type Error struct {
	Reason  Reason
	Message string
	// Repeats is Reply.Repeats of a call without a reply.
	Repeats int

	cause error
}

// withRepeats returns the error of a call with its number of repeats.
func withRepeats(err error, repeats int) error {
	var e *Error
	if repeats == 0 || !errors.As(err, &e) {
		return err
	}
	c := *e // it may be one of the shared ones
	c.Repeats = repeats
	return &c
}

// Error returns reason and message.
func (e *Error) Error() string { return string(e.Reason) + ": " + e.Message }

// Is reports whether target is an *Error of the same reason.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason
}

func newError(reason Reason, message string) *Error { return &Error{Reason: reason, Message: message} }

// withCause adds what only the operator's log is told.
func (e *Error) withCause(cause error) *Error {
	e.cause = cause
	return e
}

// errTimeout is the cause with which the context of an exchange ends.
var errTimeout = newError(TimedOut, "The receiver did not answer in time.")

// remoteError is what crypto/tls calls an alert of the peer.
const remoteError = "remote error"

// explain turns an error of an exchange into an *Error. The errors of a context that the caller has ended are returned
// as they are. No text of the given error is passed on but that of TLS alerts, which are fixed: errors of package http
// quote the text that the receiver has sent.
func explain(ctx context.Context, err error) error {
	var known *Error
	var operation *net.OpError
	var record tls.RecordHeaderError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &known):
		return known
	case context.Cause(ctx) == errTimeout || errors.Is(err, os.ErrDeadlineExceeded):
		return errTimeout
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &operation) && operation.Op == remoteError:
		return explainAlert(strings.TrimPrefix(operation.Err.Error(), "tls: "))
	case errors.As(err, &record):
		return newError(TLSFailed, "The receiver does not speak TLS at this port.")
	case errors.As(err, &timeout) && timeout.Timeout():
		return errTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return newError(ConnectionFailed, "The receiver refuses connections.")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return newError(ConnectionFailed, "The receiver ended the connection before its reply was complete.")
	case errors.As(err, &operation):
		return newError(ConnectionFailed, "The receiver cannot be reached.")
	case strings.HasPrefix(err.Error(), "tls: "):
		return newError(TLSFailed, "No TLS connection could be agreed on: TLS 1.2 or later is needed.")
	}
	return newError(ReplyUnreadable, "The receiver's reply is not HTTP/1.1, or its headers are too large.")
}

// errHandshakeFailure is the alert by which receivers that speak TLS 1.2 refuse whatever has no alert of its own.
var errHandshakeFailure = newError(TLSFailed, "The receiver refuses the TLS connection (TLS alert: handshake failure).")

// explainAlert turns the name of a TLS alert of the peer into an *Error.
func explainAlert(alert string) *Error {
	switch alert {
	case "handshake failure":
		return errHandshakeFailure
	case "certificate required", "bad certificate", "unsupported certificate", "revoked certificate",
		"expired certificate", "unknown certificate", "unknown certificate authority", "access denied":
		return newError(ClientCertificateRefused, "The receiver refuses the client certificate, or the lack of one "+
			"(TLS alert: "+alert+").")
	}
	return newError(TLSFailed, "The receiver refuses the TLS connection (TLS alert: "+alert+").")
}
