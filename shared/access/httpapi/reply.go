package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Reply is the answer of an endpoint.
type Reply struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	Header http.Header
	// Body is sent as JSON; nil sends no body. A body with the method EncodeJSON() ([]byte, error) encodes itself, and
	// is sent as it does.
	Body any
}

// securityHeader returns the header fields that every reply has unless its own differ: it is neither cached nor taken
// for anything but JSON, and its host is reached by HTTPS only for a year. template.yaml has the same for the gateway.
func securityHeader() http.Header {
	return http.Header{
		"Cache-Control": {"no-store"}, "X-Content-Type-Options": {"nosniff"},
		"Strict-Transport-Security": {"max-age=31536000"},
	}
}

// write sends a reply and returns its status.
func (r Reply) write(ctx context.Context, w http.ResponseWriter, log *slog.Logger) int {
	header := w.Header()
	maps.Copy(header, securityHeader())
	maps.Copy(header, r.Header)
	if id := requestID(ctx); id != "" {
		header.Set("X-Request-Id", id)
	}
	status := r.Status
	if status == 0 {
		status = http.StatusOK
	}
	var text []byte
	if r.Body != nil {
		var err error
		if text, err = encode(r.Body); err != nil {
			log.ErrorContext(ctx, "reply cannot be encoded", "error", err)
			status, text = http.StatusInternalServerError, []byte(`{"message":"Internal server error."}`)
		}
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "application/json")
		}
	}
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		log.WarnContext(ctx, "reply was not sent", "error", err)
	}
	return status
}

// requestID returns the ID of a request in the gateway's log and replies or, without a gateway, that of the invocation.
func requestID(ctx context.Context) string {
	if id := GatewayOf(ctx).RequestID; id != "" {
		return id
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}

// encode writes & as it is, so that a person can copy a signed URL out of the reply.
func encode(body any) ([]byte, error) {
	if own, ok := body.(interface{ EncodeJSON() ([]byte, error) }); ok {
		return own.EncodeJSON()
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(body)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// ReplyBudget is the number of bytes left for the items of a reply. Lambda accepts replies of at most 6 MB.
type ReplyBudget int

// ListBudget is the budget of a reply that is a list.
const ListBudget ReplyBudget = 5 << 20

// FullBudget is the budget of a whole body that may be as large as Lambda accepts: 6 MiB, of which 16 KiB are kept for
// status, header and the escapes of the gateway's JSON.
const FullBudget ReplyBudget = 6<<20 - 16<<10

// Reserve subtracts the size of item, as escaped inside the gateway's JSON, and returns full if the budget is exceeded.
func (b *ReplyBudget) Reserve(item any, full error) error {
	text, err := encode(item)
	if err != nil {
		return err
	}
	if !b.ReserveText(text) {
		return full
	}
	return nil
}

// ReserveText is Reserve for an item that is JSON text already. It reports whether the item fits.
func (b *ReplyBudget) ReserveText(text []byte) bool {
	*b -= ReplyBudget(escapedSize(text))
	return *b >= 0
}

// ReleaseText adds the size of JSON text which was reserved and will not be sent.
func (b *ReplyBudget) ReleaseText(text []byte) { *b += ReplyBudget(escapedSize(text)) }

// escapedSize returns the size of text inside a JSON string as encoding/json writes it, which the Lambda runtime uses.
func escapedSize(text []byte) int {
	size := len(text)
	for _, c := range text {
		switch c {
		case '"', '\\':
			size++
		case '<', '>', '&':
			size += len(`\u003c`) - 1
		}
	}
	return size
}
