package batchhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/permission"
	"sluice/shared/access/ratelimit"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/jose"
)

// receiptIssuer issues receipts and publishes the keys that verify them; an *issue.Issuer.
type receiptIssuer interface {
	Receipt(ctx context.Context, issuer string, b batch.Batch, counts receipt.Counts) (string, error)
	KeySet(ctx context.Context) (jose.JWKSet, error)
}

// Receipts answers the routes of receipts. They have a function of their own, so that no other one may use their keys.
type Receipts struct {
	Store  getter
	Issuer receiptIssuer
	// URL is the issuer in receipts; "" means the address of the API.
	URL string
	Log *slog.Logger
}

// receiptPath precedes the ID of a batch in the path of its receipt.
const receiptPath = "/tm/realtime/api/transactions/batch/receipt/"

// Routes returns the routes of receipts.
func (s *Receipts) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodGet, Path: receiptPath + "{batch_id}",
			Limit: ratelimit.BatchResults, Permissions: []string{permission.BatchRead}, Query: httpapi.NoQuery,
			Endpoint: s.Receipt},
		{Method: http.MethodGet, Path: receipt.KeysPath, Public: true, Limit: ratelimit.WholeAPI,
			Endpoint: s.keys},
	}
}

var (
	errNotEnded = fault.New(fault.Conflict, "batch_not_ended",
		"The batch has not ended yet; its receipt is made when it has.")
	errNotSigned = fault.New(fault.Unavailable, "receipt_not_signed",
		"The receipt cannot be signed at the moment. Try again later.")
)

// compactJWS is a body that is sent as it is.
type compactJWS string

// EncodeJSON returns the text itself, which is not JSON.
func (j compactJWS) EncodeJSON() ([]byte, error) { return []byte(j), nil }

// Receipt returns the receipt of a batch that has ended, the same bytes each time.
func (s *Receipts) Receipt(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := findBatch(ctx, s.Store, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if !b.Status.IsTerminal() {
		return httpapi.Reply{}, errNotEnded
	}
	gateway := httpapi.GatewayOf(ctx)
	counts, _ := sumUp(b, nil)
	text, err := s.Issuer.Receipt(ctx, httpapi.APIURL(s.URL, gateway.DomainName, gateway.Stage), b,
		receipt.Counts(counts))
	if errors.Is(err, receipt.ErrNotSigned) {
		s.Log.ErrorContext(ctx, "a receipt cannot be signed", "batch", b.ID, "error", err) // an alarm counts it
		return httpapi.Reply{}, errNotSigned.WithCause(err)
	}
	return httpapi.Reply{Header: http.Header{"Content-Type": {receipt.MediaType}}, Body: compactJWS(text)}, err
}

// keys returns all keys that verify receipts.
func (s *Receipts) keys(ctx context.Context, _ httpapi.Caller, _ *http.Request) (httpapi.Reply, error) {
	set, err := s.Issuer.KeySet(ctx)
	header := http.Header{"Cache-Control": {fmt.Sprintf("public, max-age=%d", int64(keysMaxAge/time.Second))}}
	return httpapi.Reply{Header: header, Body: set}, err
}

// keysMaxAge is for HTTP caches. It is shorter than receipt.KeySetLifetime, because the issuer's own copy may be a
// minute old.
const keysMaxAge = receipt.KeySetLifetime - time.Minute
