package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"sluice/shared/access/audit"
	"sluice/shared/access/idempotency"
	"sluice/shared/kit/fault"
)

const (
	// IdempotencyHeader is the header field by which a client names a request that it may repeat.
	IdempotencyHeader = "Idempotency-Key"
	// ReplayedHeader is true in the answer to a request that was answered before.
	ReplayedHeader = "Idempotency-Replayed"
)

// Idempotency says how a route takes idempotency keys: docs/contract/batch.md, "Repeating a request".
//
// An endpoint of such a route finds the run of its request by idempotency.FromContext. It uses the values that the run
// has pinned, and does nothing twice if the run Repeats.
type Idempotency struct {
	// NewID makes the ID of the object that the request creates; nil if it needs none.
	NewID func() (string, error)
	// Headers are the names of the header fields in which requests with the same key must agree, beside their bodies.
	Headers []string
	// KeepsBody means that the body of a successful answer is stored, and sent again. It must hold nothing that is
	// secret or ends. Otherwise the endpoint is called again, with the answer in its run, and makes the body anew.
	KeepsBody bool
}

// Codes of requests with an idempotency key.
const (
	CodeKeyInvalid = "idempotency_key"
	CodeKeyReused  = "idempotency_key_reused"
	CodeKeyInUse   = "idempotency_key_in_use"
)

// errInKey returns the error of a request whose idempotency key is refused.
func errInKey(message, code string) error {
	return fault.NewInvalid(fault.Detail{
		Source: fault.InHeader, Path: []any{IdempotencyHeader}, Message: message, Code: code,
	})
}

var (
	errKeyInvalid = errInKey("The value must be one key of 1 to 255 printable ASCII characters.", CodeKeyInvalid)
	errKeyReused  = errInKey("The key was used for another request. Use a new key for each request.", CodeKeyReused)
	errKeyInUse   = fault.New(fault.Conflict, CodeKeyInUse,
		"A request with this Idempotency-Key is still running. Repeat it in a second.").WithRetryAfter(time.Second)
)

// callEndpoint calls the endpoint of a route, or answers as an earlier request with the same key was answered.
func (a API) callEndpoint(ctx context.Context, route Route, c Caller, r *http.Request) (Reply, error) {
	names, hasKey := r.Header[IdempotencyHeader]
	if route.Idempotency == nil || a.Idempotency == nil || !hasKey {
		return route.Endpoint(ctx, c, r)
	}
	if len(names) != 1 || !idempotency.IsValidName(names[0]) {
		return Reply{}, errKeyInvalid
	}
	text, err := io.ReadAll(r.Body)
	r.Body = readBody{bytes.NewReader(text), err}
	if err != nil { // which the endpoint reports in its own way, and does nothing
		return route.Endpoint(ctx, c, r)
	}
	key := idempotency.Key{Tenant: c.Tenant, Client: c.Client, Path: route.Path, Name: names[0]}
	newID := func() (string, error) { return "", nil }
	if route.Idempotency.NewID != nil {
		newID = route.Idempotency.NewID
	}
	run, err := a.Idempotency.Begin(ctx, key, route.Idempotency.digest(r.Header, text), newID, a.endOf(ctx))
	switch {
	case errors.Is(err, idempotency.ErrReused):
		return Reply{}, errKeyReused
	case errors.Is(err, idempotency.ErrRunning):
		return Reply{}, errKeyInUse
	case err != nil:
		return Reply{}, err
	case run.Answer != nil:
		return replay(ctx, route, c, r, run)
	}
	return a.carryOut(ctx, route, c, r, run)
}

// replay answers as a run that has ended did.
func replay(ctx context.Context, route Route, c Caller, r *http.Request, run *idempotency.Run) (Reply, error) {
	reply := Reply{Status: run.Answer.Status, Body: encoded(run.Answer.Body)}
	if run.Answer.Body == nil {
		var err error
		if reply, err = route.Endpoint(idempotency.NewContext(ctx, run), c, r); err != nil {
			return reply, err
		}
	}
	audit.AddObject(ctx, "replayed", "true")
	reply.Header = mergeHeaders(reply.Header, http.Header{ReplayedHeader: {"true"}})
	return reply, nil
}

// carryOut calls the endpoint of a route and records how the run has ended. The answer is the same if that fails.
func (a API) carryOut(ctx context.Context, route Route, c Caller, r *http.Request, run *idempotency.Run) (
	reply Reply, err error) {
	end := run.Fail // also after a panic
	defer func() {
		if err := end(ctx); errors.Is(err, idempotency.ErrLost) {
			a.Log.InfoContext(ctx, "another run has the idempotency key", "route", route.Path)
		} else if err != nil {
			a.Log.WarnContext(ctx, "the end of a run is not recorded", "route", route.Path, "error", err)
		}
	}()
	reply, err = route.Endpoint(idempotency.NewContext(ctx, run), c, r)
	switch status := a.statusOf(reply, err); {
	case status < http.StatusBadRequest:
		answer := idempotency.Answer{Status: status}
		if route.Idempotency.KeepsBody {
			if answer.Body, err = encode(reply.Body); err != nil {
				return Reply{}, fmt.Errorf("encode an answer: %w", err)
			}
			reply.Body = encoded(answer.Body)
		}
		end = func(ctx context.Context) error { return run.Succeed(ctx, answer) }
	case status < http.StatusInternalServerError:
		end = run.Refuse
	}
	return reply, err
}

// statusOf returns the status with which an endpoint is answered.
func (a API) statusOf(reply Reply, err error) int {
	switch {
	case err != nil:
		return a.Errors.statusOf(faultOf(err).Kind)
	case reply.Status == 0:
		return http.StatusOK
	}
	return reply.Status
}

// defaultPatience is how long a request may take whose context has no end.
const defaultPatience = 30 * time.Second

// endOf returns when the function that serves a request will have ended, if not before.
func (a API) endOf(ctx context.Context) time.Time {
	if end, ok := ctx.Deadline(); ok {
		return end.Add(replyMargin)
	}
	return a.Now().Add(defaultPatience)
}

// digest returns the digest of everything in which requests with the same key must agree.
func (i Idempotency) digest(header http.Header, body []byte) idempotency.Digest {
	h := sha256.New()
	add := func(text []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		h.Write(text)
	}
	for _, name := range i.Headers {
		add([]byte(header.Get(name)))
	}
	if len(body) == 0 {
		body = []byte("{}") // the same request
	}
	add(body)
	return idempotency.Digest(h.Sum(nil))
}

// encoded is a body that is JSON text already.
type encoded []byte

// EncodeJSON returns the text as it is.
func (e encoded) EncodeJSON() ([]byte, error) { return e, nil }

// readBody is a body that was read before; reading it ends with the same error, if that was not the end of the body.
type readBody struct {
	*bytes.Reader
	err error
}

// Read reads from the body.
func (b readBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF && b.err != nil {
		err = b.err
	}
	return n, err
}

// Close does nothing.
func (b readBody) Close() error { return nil }
