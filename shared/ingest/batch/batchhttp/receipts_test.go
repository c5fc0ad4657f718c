package batchhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/permission"
	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchhttp"
	"sluice/shared/ingest/receipt"
	"sluice/shared/ingest/receipt/issue"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/jose"
)

// switchedKMS signs unless it is off.
type switchedKMS struct {
	*kms.Client
	isOff bool
}

func (k *switchedKMS) Sign(ctx context.Context, in *kms.SignInput, o ...func(*kms.Options)) (*kms.SignOutput, error) {
	if k.isOff {
		return nil, errors.New("KMSInternalException: arn:aws:kms:eu-west-1:123456789012:key/leak")
	}
	return k.Client.Sign(ctx, in, o...)
}

// newReceiptsAPI returns an interface that serves receipts beside batches, its KMS, and its log.
func newReceiptsAPI(t *testing.T) (*api, *switchedKMS, *bytes.Buffer) {
	t.Helper()
	a, log := newAPI(t), new(bytes.Buffer)
	k := &switchedKMS{Client: outboundtest.NewKMS(t)}
	created := errtest.Must(k.CreateKey(t.Context(),
		&kms.CreateKeyInput{KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify}))(t)
	r := &batchhttp.Receipts{
		Store: a.batches, URL: "https://api.test", Log: slog.New(slog.NewJSONHandler(log, nil)),
		Issuer: &issue.Issuer{Store: a.batches, KMS: k, FirstKMSKey: *created.KeyMetadata.Arn,
			Now: func() time.Time { return a.now }},
	}
	a.Routes = append(a.Routes, r.Routes()...)
	return a, k, log
}

// get asks for a receipt and returns the answer of the function.
func (a *api) get(t *testing.T, id string) events.APIGatewayProxyResponse {
	t.Helper()
	return a.invoke(t, "GET", "/batch/receipt/"+id, "")
}

// keys returns the published keys of receipts.
func (a *api) keys(t *testing.T) jose.JWKSet {
	t.Helper()
	r, err := httpapi.Lambda(a.Handler())(t.Context(), events.APIGatewayProxyRequest{HTTPMethod: "GET",
		Path: "/receipts/jwks.json"})
	var set jose.JWKSet
	if err != nil || r.StatusCode != 200 || json.Unmarshal([]byte(r.Body), &set) != nil ||
		r.MultiValueHeaders["Cache-Control"][0] != "public, max-age=240" {
		t.Fatalf("keys: got %+v, %v, want a set that may be cached for 240 s", r, err)
	}
	return set
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	a, kms, log := newReceiptsAPI(t)
	id := a.createBatch(t)
	notEnded := func() {
		t.Helper()
		if status, reply := a.call(t, "GET", "/batch/receipt/"+id, ""); status != 409 ||
			reply["message"] != "The batch has not ended yet; its receipt is made when it has." {
			t.Errorf("a batch that has not ended: got %d %v, want 409", status, reply)
		}
	}
	notEnded()
	sum := bytes.Repeat([]byte{7}, 32)
	for _, change := range append(transitions(batch.Verdict{Total: 3, Accepted: 2, Invalid: 1, AcceptedSHA256: sum}),
		batch.Transition{To: batch.Initialized}, batch.Transition{To: batch.InProgress}) {
		a.apply(t, id, change)
		if change.To == batch.ValidationStarted {
			errtest.Fatal(t, errtest.Of(a.batches.CommitFileDigests(t.Context(), batch.ID(id),
				batch.FileDigests{FileSHA256: sum, LinesSHA256: sum})))
		}
		notEnded()
	}
	a.apply(t, id, batch.Transition{To: batch.Processed})

	kms.isOff = true
	if status, reply := a.call(t, "GET", "/batch/receipt/"+id, ""); status != 503 ||
		reply["message"] != "The receipt cannot be signed at the moment. Try again later." {
		t.Errorf("a key that does not sign: got %d %v, want 503", status, reply)
	}
	difftest.Contains(t, "the log lacks the line that the alarm counts", log.String(),
		`"msg":"a receipt cannot be signed"`)
	kms.isOff = false

	first := a.get(t, id)
	if first.StatusCode != 200 || first.MultiValueHeaders["Content-Type"][0] != "application/jose" {
		t.Fatalf("got %d %v, want 200 application/jose", first.StatusCode, first.MultiValueHeaders)
	}
	a.now = a.now.Add(time.Hour)
	kms.isOff = true
	if again := a.get(t, id); again.StatusCode != 200 || again.Body != first.Body {
		t.Errorf("again: got %d %s, want the same receipt, which needs no key", again.StatusCode, again.Body)
	}
	c, err := receipt.Verify(first.Body, "https://api.test", a.keys(t))
	if err != nil || c.Tenant != "t1" || c.BatchID != id || c.Status != "PROCESSED" || *c.FileBytes != 1000 ||
		*c.Counts.Ingested != 2 || *c.AcceptedSHA256 != strings.Repeat("07", 32) {
		t.Errorf("got the claims %+v, error %v", c, err)
	}
}

func TestReceiptIsRefused(t *testing.T) {
	t.Parallel()
	a, _, _ := newReceiptsAPI(t)
	id := a.createBatch(t)
	a.apply(t, id, batch.Transition{To: batch.Failed, ErrorMessage: batch.NeverUploaded})
	c, err := receipt.Verify(a.get(t, id).Body, "https://api.test", a.keys(t))
	if err != nil || c.Status != "ERROR" || c.FileSHA256 != nil || c.ReceivedAt != nil || c.Counts.Total != nil {
		t.Errorf("a batch without a file: got %+v, error %v, want a receipt that says so", c, err)
	}
	for _, tt := range []struct {
		name, id string
		change   func()
		want     int
	}{
		{"no UUID", "x", func() {}, 422},
		{"unknown", "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f", func() {}, 404},
		{"of another tenant", id, func() { a.caller.Tenant = "t2" }, 404},
		{"without permission", id, func() { a.caller.Permissions = []string{permission.BatchUpload} }, 403},
	} {
		caller := a.caller
		tt.change()
		difftest.Reply(t, tt.name, tt.want)(a.call(t, "GET", "/batch/receipt/"+tt.id, ""))
		a.caller = caller
	}
}
