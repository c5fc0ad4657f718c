package client

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/openapi/wire"
)

var (
	// ErrAlreadyUploaded means that the URL of a batch has been used: the file that is stored there is not this call's.
	ErrAlreadyUploaded = errors.New("a file was already uploaded to this URL")
	// ErrTooLarge means that the file is larger than the service accepts.
	ErrTooLarge = errors.New("the file is too large")
)

// Error is a refusal by the interface.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Message is the reply's message, or its reason (of a transaction that was sent singly), or "".
	Message string
	// Code is the stable code of an error of the policies; "" otherwise.
	Code string
	// Details are the validation errors of a 422, or of a 400 on platform paths.
	Details []Detail
	// RetryAfter is how long the service asks to wait, of a 429 or a 503; otherwise 0.
	RetryAfter time.Duration
	// RequestID identifies the request in the service's logs; "" if the answer names none.
	RequestID string
	// URL is the address that answered, without its query, and APIURL is Config.APIURL.
	URL, APIURL string
	// Foreign means that the answer is not one that the service gives on its paths: APIURL is probably not the address
	// of the API.
	Foreign bool
}

// Detail is one thing that is wrong with a request or with a line.
type Detail = wire.ValidationError

// Error returns the status and everything that the service said, or which address gave an answer that is not its own.
func (e *Error) Error() string {
	if e.Foreign {
		return fmt.Sprintf("%s answers %d (%s), which is not an answer of the interface; "+
			"is %s the address of the API? The paths of the interface (/tm/realtime/...) are appended to it",
			e.URL, e.Status, http.StatusText(e.Status), e.APIURL)
	}
	text := e.Message
	for _, d := range e.Details {
		var path []string
		for _, part := range d.Loc {
			path = append(path, fmt.Sprint(part))
		}
		text = strings.TrimSpace(text + " " + strings.Join(path, ".") + ": " + d.Msg)
	}
	if text == "" {
		text = http.StatusText(e.Status)
	}
	return fmt.Sprintf("the service answers %d: %s", e.Status, text)
}

// isTemporary reports whether the same call may succeed later.
func (e *Error) isTemporary() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusConflict: // with the time, it is about the idempotency key
		return e.RetryAfter > 0
	}
	return false
}

// newError reads a refusal. A reply that has another shape than the interface's yields the status alone.
func newError(resp *http.Response, text []byte, called *url.URL, apiURL string) *Error {
	var body struct {
		Message string          `json:"message"`
		Reason  string          `json:"reason"`
		Detail  json.RawMessage `json:"detail"`
		// Data and Messages are those of platform paths. Data are the validation errors of a 400.
		Data     json.RawMessage `json:"data"`
		Messages []struct {
			Message string `json:"message"`
		} `json:"messages"`
	}
	e := &Error{Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"), URL: withoutQuery(called),
		APIURL: apiURL}
	if json.Unmarshal(text, &body) == nil {
		e.Message = cmp.Or(body.Message, body.Reason)
		_ = json.Unmarshal(body.Detail, &e.Details)
		if len(body.Messages) > 0 {
			e.Message = body.Messages[0].Message
			e.Details = platformDetails(body.Data)
		}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/problem+json" {
		e.readProblem(text)
	}
	e.Foreign = isForeign(e)
	e.RetryAfter = retryAfter(resp)
	return e
}

// retryAfter returns how long an answer asks to wait, 0 if it does not.
func retryAfter(resp *http.Response) time.Duration {
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// readProblem reads problem details (RFC 9457), which policies answer with.
func (e *Error) readProblem(text []byte) {
	var body struct {
		Title            string `json:"title"`
		Detail           string `json:"detail"`
		ErrorCode        string `json:"errorCode"`
		ValidationErrors []struct {
			PropertyName  string `json:"propertyName"`
			ErrorMessage  string `json:"errorMessage"`
			ValidatorType string `json:"validatorType"`
		} `json:"validationErrors"`
	}
	if json.Unmarshal(text, &body) != nil {
		return
	}
	e.Message, e.Code = cmp.Or(body.Detail, body.Title), body.ErrorCode
	for _, v := range body.ValidationErrors {
		e.Details = append(e.Details, Detail{Loc: []any{v.PropertyName}, Msg: v.ErrorMessage, Type: v.ValidatorType})
	}
}

// platformDetails reads the validation errors of a platform path; nil if there are none.
func platformDetails(data json.RawMessage) []Detail {
	var failures []struct {
		PropertyName string `json:"propertyName"`
		ErrorMessage string `json:"errorMessage"`
		ErrorCode    string `json:"errorCode"`
	}
	if json.Unmarshal(data, &failures) != nil {
		return nil
	}
	var details []Detail
	for _, f := range failures {
		details = append(details, Detail{Loc: []any{f.PropertyName}, Msg: f.ErrorMessage, Type: f.ErrorCode})
	}
	return details
}

// isForeign reports whether a refusal is not one of the interface on its own paths, which always have a message of
// their own for what they do not find. API Gateway has others for a path without a route.
func isForeign(e *Error) bool {
	switch e.Status {
	case http.StatusNotFound:
		return e.Message == "" || e.Message == "Not found." || e.Message == "Not Found"
	case http.StatusForbidden:
		return e.Message == "Missing Authentication Token"
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
		http.StatusMethodNotAllowed:
		return true
	case http.StatusBadRequest:
		return e.Message == "" && e.Details == nil
	}
	return e.Status < http.StatusBadRequest
}

// withoutQuery returns an address without its query and its user, either of which may hold secrets.
func withoutQuery(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// TokenError is a refusal by the token endpoint (RFC 6749, section 5.2).
type TokenError struct {
	// Status is the HTTP status.
	Status int
	// Code is the reply's error code, such as "invalid_client", or "".
	Code string
	// Description is the reply's error_description, or "".
	Description string
	// URL is the address that answered, without its query.
	URL string
	// RetryAfter is how long the service asks to wait, of a 429 or a 503; otherwise 0.
	RetryAfter time.Duration
}

// Error returns the status, the code and the description, or which address gave an answer that is not of RFC 6749.
func (e *TokenError) Error() string {
	if e.Code == "" && e.Status < http.StatusInternalServerError && e.Status != http.StatusTooManyRequests {
		return fmt.Sprintf("%s answers %d (%s), which is not an answer of an OAuth 2.0 token endpoint; "+
			"is it the token URL? It usually ends with /oauth2/token", e.URL, e.Status, http.StatusText(e.Status))
	}
	text := fmt.Sprintf("the token endpoint answers %d", e.Status)
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Description != "" {
		text += " (" + e.Description + ")"
	}
	return text
}

// UnreachableError means that no complete answer came. Whether the request had an effect is unknown.
type UnreachableError struct {
	// Host is the host and port of the address that was called.
	Host string
	// Err is the transport's error.
	Err error
}

// Error returns the host and the transport's error, without the path and query of the address.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s does not answer: %v", e.Host, e.Err)
}

// Unwrap returns Err.
func (e *UnreachableError) Unwrap() error { return e.Err }

// unreachable converts an error of the transport. It leaves the address out: it may be a signed URL, which is a secret.
// The end of a context remains what it is.
func unreachable(err error) error {
	var urlError *url.Error
	host := "the service"
	if errors.As(err, &urlError) {
		if u, parseErr := url.Parse(urlError.URL); parseErr == nil {
			host = u.Host
		}
		err = urlError.Err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &UnreachableError{host, err}
}

// StorageError is a refusal by object storage, of an upload or of the download of a report.
type StorageError struct {
	// Status is the HTTP status.
	Status int
	// Code is S3's error code, such as "AccessDenied" or "EntityTooLarge", or "".
	Code string
	// Message is S3's message, or "".
	Message string
}

// Error returns the status, the code and the message.
func (e *StorageError) Error() string {
	text := fmt.Sprintf("the storage answers %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Code == "SignatureDoesNotMatch" {
		text += " (the URL was changed, or a header that it requires, such as If-None-Match: *, was not sent)"
	}
	return text
}

// isTemporary reports whether the same request may succeed later.
func (e *StorageError) isTemporary() bool {
	return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusConflict ||
		e.Code == "RequestTimeout"
}

// newStorageError reads S3's XML. A reply of another shape yields the status alone.
func newStorageError(resp *http.Response, text []byte) *StorageError {
	var body struct {
		Code    string
		Message string
	}
	_ = xml.Unmarshal(text, &body)
	return &StorageError{resp.StatusCode, body.Code, body.Message}
}
