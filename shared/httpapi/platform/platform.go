// Package platform holds the rules that all platform endpoints share: the tenant header, the correlation id, envelopes, closed
// bodies with the wrong field named, error bodies, and paging tokens.
package platform

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice/shared/fault"
	"sluice/shared/httpapi"
)

// Headers of every platform call.
const (
	TenantHeader      = "X-Tenant-Id"
	CorrelationHeader = "X-Correlation-Id"
)

const maxCorrelationBytes = 128

// Message is a remark beside the data of a reply.
type Message struct {
	Message   string `json:"message"`
	Type      string `json:"type"` // Info, Warning, Error or Forbidden
	ErrorCode string `json:"errorCode,omitempty"`
}

// Envelope is the body of every reply.
type Envelope struct {
	Data     any       `json:"data"`
	Messages []Message `json:"messages"`
}

// Remarked is a result with messages beside it.
type Remarked[T any] struct {
	Result   T
	Messages []Message
}

func (r Remarked[T]) envelope() Envelope {
	return Envelope{r.Result, append([]Message{}, r.Messages...)}
}

func envelopeOf(result any) Envelope {
	if r, ok := result.(interface{ envelope() Envelope }); ok {
		return r.envelope()
	}
	return Envelope{result, []Message{}}
}

// None is the data of a reply that has none: null.
type None struct{}

// MarshalJSON writes null.
func (None) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Handler serves platform routes.
func Handler(routes []httpapi.Route, log *slog.Logger, now func() time.Time) http.Handler {
	guarded := make([]httpapi.Route, len(routes))
	for i, r := range routes {
		r.Endpoint = guard(r.Endpoint)
		guarded[i] = r
	}
	api := httpapi.API{Routes: guarded, Errors: Errors, Log: log, Now: now}.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id := r.Header.Get(CorrelationHeader); id != "" && len(id) <= maxCorrelationBytes {
			w.Header().Set(CorrelationHeader, id)
			log.InfoContext(r.Context(), "correlated", "correlation_id", id)
		}
		api.ServeHTTP(w, r)
	})
}

// guard lets a call through whose tenant header names the tenant of its token.
func guard(next httpapi.Endpoint) httpapi.Endpoint {
	return func(ctx context.Context, c httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
		header := r.Header.Values(TenantHeader)
		if len(header) == 0 || header[0] == "" {
			return httpapi.Reply{}, fault.New(fault.BadRequest, "MissingTenantHeader", "The header X-TENANT-ID is missing.")
		}
		id, err := uuid.Parse(header[0])
		if len(header) != 1 || err != nil || !strings.EqualFold(id.String(), c.Tenant) {
			return httpapi.Reply{}, fault.New(fault.Forbidden, "TenantMismatch", "The header X-TENANT-ID names another tenant than the token.")
		}
		return next(ctx, c, r)
	}
}

// Errors is the shape of errors of platform endpoints.
func Errors(e *fault.Error) any {
	m := Message{e.Message, "Error", e.Code}
	var data any = struct{}{}
	switch e.Kind {
	case fault.Unauthorized:
		return map[string]string{"message": "Unauthorized"}
	case fault.Forbidden:
		m.Type = "Forbidden"
	case fault.Conflict:
		m.ErrorCode = "CONFLICT"
	case fault.Internal, fault.Unavailable:
		m.ErrorCode = "INTERNAL_SERVER_ERROR"
	case fault.UnsupportedMedia:
		return map[string]any{"type": "about:blank", "title": "Unsupported Media Type", "status": http.StatusUnsupportedMediaType, "detail": e.Message}
	case fault.BadRequest, fault.Invalid:
		data = nil
		if len(e.Details) > 0 {
			data = failures(e.Details)
		}
	}
	return Envelope{data, []Message{m}}
}

// Failure is one item of the data of a 400.
type Failure struct {
	PropertyName   string `json:"propertyName"`
	ErrorMessage   string `json:"errorMessage"`
	AttemptedValue any    `json:"attemptedValue"` // a text, a number or a boolean; else null
	ErrorCode      string `json:"errorCode"`
}

func failures(details []fault.Detail) []Failure {
	out := make([]Failure, len(details))
	for i, d := range details {
		out[i] = Failure{propertyName(d.Loc), d.Msg, d.Sent, d.Type}
	}
	return out
}

// propertyName writes a place as "pageOptions.pageSize"; the body and its envelope are no part of the name.
func propertyName(loc []any) string {
	var parts []string
	for i, step := range loc {
		if i == 0 && step == "body" && len(loc) > 1 || i == 1 && step == "data" && len(loc) > 2 {
			continue
		}
		if s, ok := step.(string); ok {
			parts = append(parts, s)
		} else if text, err := json.Marshal(step); err == nil {
			parts = append(parts, string(text))
		}
	}
	return strings.Join(parts, ".")
}
