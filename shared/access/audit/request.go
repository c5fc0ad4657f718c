package audit

import "context"

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
