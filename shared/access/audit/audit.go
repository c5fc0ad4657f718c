// Package audit writes the audit trail: one record for each request that reaches a function or the authorizer, each
// act of an administrator, and each state change of a batch or an entity. A record names who did what to which object
// and how it ended. It never holds a secret, a token, a signed URL, or data of a line.
//
// Functions print their records as JSON lines beside their log, independent of its level. The member "record" tells
// them from other lines: "audit" or "transition". docs/operations/records.md says where they are kept,
// docs/operations.md how to search them.
package audit

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Outcome says how a request or an act ended.
type Outcome string

// The outcomes of requests and acts.
const (
	// OK: it was done.
	OK Outcome = "ok"
	// Denied: the caller could not be authenticated, or may not do it.
	Denied Outcome = "denied"
	// Refused: the request was not acceptable for another reason.
	Refused Outcome = "refused"
	// Failed: the service failed.
	Failed Outcome = "failed"
	// Started: an administrator began an act; a record of its end follows.
	Started Outcome = "started"
)

// Record is the record of one request or act.
type Record struct {
	Time time.Time `json:"time"`
	// Kind is "audit".
	Kind   string `json:"record"`
	Tenant string `json:"tenant,omitempty"`
	// Client is the client that called. If the outcome is Denied with the status 400 or 401, it is the one that the
	// request claimed, which nothing has proved.
	Client string `json:"client,omitempty"`
	// TokenID is the jti claim of the access token that was used or issued.
	TokenID string `json:"token_id,omitempty"`
	// Caller is the name of the administrator; Client, TokenID and Source are empty then.
	Caller string `json:"caller,omitempty"`
	// Source is the address from which the request came.
	Source string `json:"source,omitempty"`
	Method string `json:"method,omitempty"`
	// Route is the path with its parameters unfilled, or the command of an administrator.
	Route string `json:"route"`
	// Objects are the IDs that the path names and the IDs of created objects, by name.
	Objects map[string]string `json:"objects,omitempty"`
	Outcome Outcome           `json:"outcome"`
	// Reason is the stable code of the error if the outcome is not OK.
	Reason string `json:"reason,omitempty"`
	// Status is the HTTP status; 0 for an act.
	Status       int    `json:"status,omitempty"`
	Milliseconds int64  `json:"ms"`
	RequestID    string `json:"request_id,omitempty"`
}

// MarshalJSON encodes a record with all its members; those without a value are null.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record // without this method
	return json.Marshal(struct {
		plain
		Tenant    *string           `json:"tenant"`
		Client    *string           `json:"client"`
		TokenID   *string           `json:"token_id"`
		Source    *string           `json:"source"`
		Method    *string           `json:"method"`
		Objects   map[string]string `json:"objects"`
		Reason    *string           `json:"reason"`
		Status    *int              `json:"status"`
		RequestID *string           `json:"request_id"`
	}{plain(r), orNull(r.Tenant), orNull(r.Client), orNull(r.TokenID), orNull(r.Source), orNull(r.Method), r.Objects,
		orNull(r.Reason), orNull(r.Status), orNull(r.RequestID)})
}

// orNull returns a value that is encoded as null if it is zero.
func orNull[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// OutcomeOf returns the outcome of a request that is answered with an HTTP status.
func OutcomeOf(status int) Outcome {
	switch {
	case status >= 500:
		return Failed
	case status == 401 || status == 403:
		return Denied
	case status >= 400:
		return Refused
	}
	return OK
}

// Transition is the record of one state change of a batch or an entity.
type Transition struct {
	Time time.Time `json:"time"`
	// Kind is "transition".
	Kind string `json:"record"`
	// Message is "batch finished" for a terminal status of a batch.
	Message string `json:"msg"`
	Tenant  string `json:"tenant,omitempty"`
	Client  string `json:"client,omitempty"`
	Batch   string `json:"batch,omitempty"`
	Entity  string `json:"entity,omitempty"`
	// From is "" for a creation.
	From string `json:"from"`
	To   string `json:"to"`
	// Lines is the number of transactions in the file of a batch; 0 until it is known.
	Lines *int64 `json:"lines,omitempty"`
	// Bytes is the size of the file of a batch; 0 until it is uploaded.
	Bytes *int64 `json:"bytes,omitempty"`
	// Seconds is the time since the upload of a batch was complete or, without an upload, since the batch was created.
	Seconds *float64 `json:"seconds,omitempty"`
	// LinesPerSecond is Lines by Seconds, of a batch that has ended.
	LinesPerSecond float64 `json:"lines_per_second,omitempty"`
	Accepted       *int64  `json:"accepted,omitempty"`
	Invalid        *int64  `json:"invalid,omitempty"`
	// ReceivedAt and ETag are properties of the uploaded file.
	ReceivedAt *time.Time `json:"received_at,omitempty"`
	ETag       string     `json:"etag,omitempty"`
	// Error is the message that the client is shown.
	Error     string `json:"error,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// Log writes records. It is safe for concurrent use. A nil Log writes nothing.
type Log struct {
	mu  sync.Mutex
	out io.Writer
	now func() time.Time
	// requestID returns the ID of the request or invocation to which a context belongs, "" if it belongs to none.
	requestID func(context.Context) string
}

// New returns a log that writes each record as one line of JSON, in one Write, with the request ID that requestID finds
// in the context.
func New(out io.Writer, now func() time.Time, requestID func(context.Context) string) *Log {
	return &Log{out: out, now: now, requestID: requestID}
}

// Write writes the record of a request or an act. It sets the time if that is zero.
func (l *Log) Write(ctx context.Context, r Record) {
	if l == nil {
		return
	}
	r.Kind, r.Time, r.RequestID = "audit", l.timeOf(r.Time), l.requestID(ctx)
	for _, text := range []*string{&r.Tenant, &r.Client, &r.TokenID, &r.Caller, &r.Source, &r.Method, &r.Reason,
		&r.RequestID} {
		*text = Printable(*text)
	}
	l.print(r)
}

// WriteTransition writes the record of a state change. It sets the time if that is zero.
func (l *Log) WriteTransition(ctx context.Context, t Transition) {
	if l == nil {
		return
	}
	t.Kind, t.Time, t.RequestID = "transition", l.timeOf(t.Time), l.requestID(ctx)
	l.print(t)
}

func (l *Log) timeOf(t time.Time) time.Time {
	if t.IsZero() {
		t = l.now()
	}
	return t.UTC()
}

// print writes one line. A record that cannot be written has no other place to go to.
func (l *Log) print(record any) {
	text, err := json.Marshal(record)
	if err != nil {
		return // records hold nothing that JSON does not
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(text, '\n'))
}

// maxClaimedBytes is how much a record holds of a text that was sent as an ID and is not one: it may be a secret in its
// place.
const maxClaimedBytes = 16

// claimed returns an ID that a refused request claims, as a record may hold it.
func claimed(id string) string {
	isIDByte := func(r rune) bool {
		return r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
	}
	if len(id) <= maxClaimedBytes || len(id) == 36 && strings.TrimFunc(id, isIDByte) == "" {
		return Printable(id)
	}
	return Printable(id[:maxClaimedBytes]) + "..."
}

// maxTextBytes is the length of the longest text that a record holds; IDs are not longer.
const maxTextBytes = 255

// Printable returns a text that someone outside has sent as a record may hold it: with a question mark in place of each
// character that cannot be printed, and cut to 255 bytes.
func Printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text[:min(len(text), maxTextBytes)])
	for len(text) > maxTextBytes { // a cut character has become longer
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// Request collects the record of one request, while the request is handled. It belongs to one goroutine.
type Request struct {
	Record
	log *Log
}

type requestKey struct{}

// NewContext returns a context that carries the record of a request, which its handlers add to, and the log to which
// they write transitions.
func NewContext(ctx context.Context, r Record, l *Log) (context.Context, *Request) {
	request := &Request{Record: r, log: l}
	return context.WithValue(ctx, requestKey{}, request), request
}

func fromContext(ctx context.Context) *Request {
	request, _ := ctx.Value(requestKey{}).(*Request)
	if request == nil {
		request = &Request{} // which nobody reads
	}
	return request
}

// maxObjects is how many objects a record names.
const maxObjects = 10

// AddObject adds the ID of an object to the record of the context's request. It does nothing for an empty ID, after ten
// objects, and without a request.
func AddObject(ctx context.Context, name, id string) {
	r := fromContext(ctx)
	if id == "" || len(r.Objects) >= maxObjects {
		return
	}
	if r.Objects == nil {
		r.Objects = map[string]string{}
	}
	r.Objects[name] = Printable(id)
}

// SetCaller records who calls.
func SetCaller(ctx context.Context, tenant, client, tokenID string) {
	r := fromContext(ctx)
	r.Tenant, r.Client, r.TokenID = tenant, client, tokenID
}

// SetClaimedCaller records who a request claims to come from before that is proved. Of a claim that has not the form of
// an ID, the record holds the first 16 bytes.
func SetClaimedCaller(ctx context.Context, tenant, client, tokenID string) {
	SetCaller(ctx, claimed(tenant), claimed(client), claimed(tokenID))
}

// SetDenied records that the caller of a request could not be authenticated, which its status alone does not say.
func SetDenied(ctx context.Context) { fromContext(ctx).Outcome = Denied }

// SetReason records why a request is refused, where the trail may say more than the client is told. The first reason
// counts.
func SetReason(ctx context.Context, code string) {
	if r := fromContext(ctx); r.Reason == "" {
		r.Reason = code
	}
}

// RecordTransition writes a transition that the context's request has caused, with its caller.
func RecordTransition(ctx context.Context, t Transition) {
	r := fromContext(ctx)
	t.Tenant, t.Client = r.Tenant, r.Client
	r.log.WriteTransition(ctx, t)
}

type requestIDKey struct{}

// WithRequestID returns a context whose request has the given ID in all logs.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the ID of the context's request, "" if the context has none.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
