package client

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Error is a refusal by the API.
type Error struct {
	Status     int // HTTP
	Message    string
	Details    []Detail      // of a 422: what is wrong with the request
	RetryAfter time.Duration // of a 429
}

// Detail names one fault of a request or of a line.
type Detail struct {
	Loc  []any  `json:"loc"` // strings and numbers: the way to the value
	Msg  string `json:"msg"`
	Type string `json:"type"`
}

func (e *Error) Error() string {
	text := e.Message
	for _, d := range e.Details {
		var way []string
		for _, part := range d.Loc {
			way = append(way, fmt.Sprint(part))
		}
		text = strings.TrimSpace(text + " " + strings.Join(way, ".") + ": " + d.Msg)
	}
	if text == "" {
		text = http.StatusText(e.Status)
	}
	return fmt.Sprintf("the service answers %d: %s", e.Status, text)
}

func (e *Error) mayPass() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return true
	}
	return false
}

func newError(resp *http.Response, text []byte) *Error {
	var body struct {
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	e := &Error{Status: resp.StatusCode}
	if json.Unmarshal(text, &body) == nil {
		e.Message = body.Message
		_ = json.Unmarshal(body.Detail, &e.Details) // a foreign shape has no details for us
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}

// TokenError is a refusal by the token endpoint, with a code of RFC 6749, section 5.2.
type TokenError struct {
	Status      int
	Code        string // such as invalid_client; "" where the reply has none
	Description string
}

func (e *TokenError) Error() string {
	text := fmt.Sprintf("the token endpoint answers %d", e.Status)
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Description != "" {
		text += " (" + e.Description + ")"
	}
	return text
}

// UnreachableError says that no complete answer came.
type UnreachableError struct {
	Host string
	Err  error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s does not answer: %v", e.Host, e.Err)
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// unreachable wraps what the transport says, without the address: it may be a signed URL, which is a secret.
func unreachable(err error) error {
	var at *url.Error
	host := "the service"
	if errors.As(err, &at) {
		if u, parseErr := url.Parse(at.URL); parseErr == nil {
			host = u.Host
		}
		err = at.Err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &UnreachableError{host, err}
}

// StorageError is a refusal by object storage: of an upload, or of the download of a report.
type StorageError struct {
	Status  int
	Code    string // of S3, such as AccessDenied or EntityTooLarge; "" where the reply has none
	Message string
}

func (e *StorageError) Error() string {
	text := fmt.Sprintf("the storage answers %d", e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

func (e *StorageError) mayPass() bool {
	return e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusConflict || e.Code == "RequestTimeout"
}

func newStorageError(resp *http.Response, text []byte) *StorageError {
	var body struct {
		Code    string
		Message string
	}
	_ = xml.Unmarshal(text, &body) // a foreign shape has no code for us
	return &StorageError{resp.StatusCode, body.Code, body.Message}
}

var (
	// ErrAlreadyUploaded says that the URL's file is there already and is not the one of this call.
	ErrAlreadyUploaded = errors.New("a file was already uploaded to this URL")
	// ErrTooLarge says that the file is larger than the service takes.
	ErrTooLarge = errors.New("the file is too large")
)
