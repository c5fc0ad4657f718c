package issue_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"sluice/shared/connect/outbound/outboundtest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/receipt"
	"sluice/shared/ingest/receipt/issue"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// memory is an issue.Store.
type memory struct {
	mu       sync.Mutex
	receipts map[batch.ID]string
	keys     []receipt.Key
	version  int64
	err      error
}

func (m *memory) Receipt(_ context.Context, id batch.ID) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.receipts[id], m.err
}

func (m *memory) CommitReceipt(_ context.Context, id batch.ID, text string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept := m.receipts[id]; kept != "" {
		return kept, nil
	}
	if m.receipts == nil {
		m.receipts = map[batch.ID]string{}
	}
	m.receipts[id] = text
	return text, nil
}

func (m *memory) ReceiptKeys(context.Context) ([]receipt.Key, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.keys, m.version, nil
}

func (m *memory) ReplaceReceiptKeys(_ context.Context, keys []receipt.Key, version int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if version != m.version {
		return receipt.ErrKeysChanged
	}
	m.keys, m.version = slices.Clone(keys), version+1
	return nil
}

const (
	issuer = "https://api.test/live"
	id     = batch.ID("0199a6a4-6f00-7cc3-98c4-dc0c0c07398f")
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 500, time.UTC)

// newKMSKey creates a key in KMS and returns its ARN.
func newKMSKey(t *testing.T, k *kms.Client) string {
	t.Helper()
	created := errtest.Must(k.CreateKey(t.Context(),
		&kms.CreateKeyInput{KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify}))(t)
	return *created.KeyMetadata.Arn
}

// scene is an issuer with its store and its clock.
type scene struct {
	*issue.Issuer
	store *memory
	kms   *kms.Client
	now   time.Time
}

func newScene(t *testing.T) *scene {
	t.Helper()
	k := outboundtest.NewKMS(t)
	s := &scene{store: &memory{}, kms: k, now: now}
	s.Issuer = s.another(newKMSKey(t, k))
	return s
}

// another returns an issuer of another process.
func (s *scene) another(firstKey string) *issue.Issuer {
	return &issue.Issuer{Store: s.store, KMS: s.kms, FirstKMSKey: firstKey, Now: func() time.Time { return s.now }}
}

// processed is a batch some of whose lines were rejected.
func processed() batch.Batch {
	return batch.Batch{
		ID: id, Tenant: "t", Status: batch.Processed, UpdatedAt: now, ReceivedAt: now.Add(-time.Minute),
		Object: batch.Object{Key: "k", Size: 70}, FileSHA256: []byte{0xab, 1}, LinesSHA256: []byte{2},
		AcceptedSHA256: []byte{3},
		Verdict:        &batch.Verdict{Total: 3, Accepted: 2, Invalid: 1, AcceptedSHA256: []byte{3}},
	}
}

// issued returns the claims of the receipt of a batch, as JSON.
func (s *scene) issued(t *testing.T, b batch.Batch) receipt.Claims {
	t.Helper()
	text := errtest.Must(s.Receipt(t.Context(), issuer, b, receipt.Counts{Total: new(int64(3))}))(t)
	keys := errtest.Must(s.KeySet(t.Context()))(t)
	return errtest.Must(receipt.Verify(text, issuer, keys))(t)
}

func TestClaims(t *testing.T) {
	t.Parallel()
	counts := receipt.Counts{Total: new(int64(3))}
	want := receipt.Claims{
		Issuer: issuer, IssuedAt: now.Unix(), Tenant: "t", BatchID: string(id), Status: "PROCESSED", EndedAt: now,
		ReceivedAt: new(now.Add(-time.Minute)), FileSHA256: new("ab01"), FileBytes: new(int64(70)),
		Counts:         counts,
		AcceptedSHA256: new("03"),
	}
	for _, tt := range []struct {
		name   string
		change func(*batch.Batch)
		want   func(*receipt.Claims)
	}{
		{"processed", func(*batch.Batch) {}, func(*receipt.Claims) {}},
		{"packed", func(b *batch.Batch) { b.Content = batch.Object{Key: "c", Size: 900} },
			func(c *receipt.Claims) { c.FileBytes = new(int64(900)) }},
		{"rejected as a whole", func(b *batch.Batch) {
			b.Status, b.Verdict.AcceptedSHA256, b.AcceptedSHA256 = batch.ValidationFailed, nil, nil
		}, func(c *receipt.Claims) { c.Status, c.AcceptedSHA256 = "VALIDATION_FAILED", nil }},
		{"failed after its verdict", func(b *batch.Batch) { b.Status = batch.Failed },
			func(c *receipt.Claims) { c.Status, c.AcceptedSHA256 = "ERROR", nil }},
		{"refused by the scan", func(b *batch.Batch) { b.Status, b.Verdict, b.FileSHA256 = batch.Failed, nil, nil },
			func(c *receipt.Claims) {
				c.Status, c.FileSHA256, c.FileBytes, c.AcceptedSHA256 = "ERROR", nil, nil, nil
			}},
		{"never uploaded", func(b *batch.Batch) {
			*b = batch.Batch{ID: id, Tenant: "t", Status: batch.Failed, UpdatedAt: now}
		}, func(c *receipt.Claims) {
			c.Status, c.ReceivedAt, c.FileSHA256, c.FileBytes, c.AcceptedSHA256 = "ERROR", nil, nil, nil, nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, want := processed(), want
			tt.change(&b)
			tt.want(&want)
			difftest.Equal(t, "claims", want, newScene(t).issued(t, b))
		})
	}
	text := errtest.Must(json.Marshal(want))(t)
	const wire = `{"iss":"https://api.test/live","iat":1795680900,"tenant":"t",` +
		`"batch_id":"0199a6a4-6f00-7cc3-98c4-dc0c0c07398f","status":"PROCESSED",` +
		`"received_at":"2026-11-26T08:14:00.0000005Z","ended_at":"2026-11-26T08:15:00.0000005Z","file_sha256":"ab01",` +
		`"file_bytes":70,"counts":{"total":3,"accepted":null,"invalid":null,"ingested":null},"accepted_sha256":"03"}`
	if string(text) != wire {
		t.Errorf("got\n%s\nwant\n%s", text, wire)
	}
}

// A batch has one receipt, for requests at the same time and for later ones, even after the signing key has changed.
func TestReceiptsAreSignedOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	texts := make([]string, 4)
	var group sync.WaitGroup
	for i := range texts {
		group.Go(func() {
			var err error
			if texts[i], err = s.another(s.FirstKMSKey).Receipt(t.Context(), issuer, processed(),
				receipt.Counts{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	next := errtest.Must(issue.NewKey(t.Context(), s.kms, newKMSKey(t, s.kms)))(t)
	errtest.Fatal(t, s.store.ReplaceReceiptKeys(t.Context(), receipt.AddKey(s.store.keys, next, s.now), 1))
	s.now = s.now.Add(receipt.KeySetLifetime)
	again, err := s.another("").Receipt(t.Context(), "https://elsewhere.test", processed(), receipt.Counts{})
	for _, text := range append(texts, again) {
		if err != nil || text == "" || text != texts[0] {
			t.Fatalf("got the receipts %q and error %v, want one", append(texts, again), err)
		}
	}
	other := processed()
	other.ID = "0199a6a4-6f00-7cc3-98c4-dc0c0c073990"
	if c := s.issued(t, other); c.BatchID != string(other.ID) {
		t.Errorf("got the receipt of %s, want that of %s", c.BatchID, other.ID)
	}
	keys, err := s.KeySet(t.Context())
	if err != nil || len(keys.Keys) != 2 || keys.Keys[1].KeyID != next.ID {
		t.Fatalf("got the keys %v, error %v, want two", keys, err)
	}
	errtest.Is(t, "the first receipt after the rotation", errtest.Of(receipt.Verify(texts[0], issuer, keys)), nil)
}

// A new key is published before it signs; until then, and for ever, the older one is published, too.
func TestRotation(t *testing.T) {
	t.Parallel()
	first, second := receipt.Key{ID: "1"}, receipt.Key{ID: "2"}
	keys := receipt.AddKey(nil, first, now)
	both := receipt.AddKey(keys, second, now.Add(time.Hour))
	signs := now.Add(time.Hour + receipt.KeySetLifetime)
	for _, tt := range []struct {
		at   time.Time
		want string
	}{{now.Add(-1), ""}, {now, "1"}, {signs.Add(-1), "1"}, {signs, "2"}, {signs.AddDate(10, 0, 0), "2"}} {
		if k, ok := receipt.ActiveKey(both, tt.at); k.ID != tt.want || ok != (tt.want != "") {
			t.Errorf("at %v: got the key %q, want %q", tt.at, k.ID, tt.want)
		}
	}
	if len(keys) != 1 || len(both) != 2 || both[0].ID != "1" {
		t.Errorf("got %v after %v, want a key added", both, keys)
	}
}

// failingKMS does not sign, or has no such key.
type failingKMS struct {
	issue.KMS
	err error
}

func (k failingKMS) Sign(context.Context, *kms.SignInput, ...func(*kms.Options)) (*kms.SignOutput, error) {
	return nil, k.err
}

func TestFailures(t *testing.T) {
	t.Parallel()
	errDown := errors.New("down")
	s := newScene(t)
	broken := s.another(s.FirstKMSKey)
	broken.KMS = failingKMS{s.kms, errDown}
	_, err := broken.Receipt(t.Context(), issuer, processed(), receipt.Counts{})
	if !errors.Is(err, receipt.ErrNotSigned) || !errors.Is(err, errDown) || len(s.store.receipts) != 0 {
		t.Errorf("a key that does not sign: got %v and %v kept, want ErrNotSigned and nothing", err, s.store.receipts)
	}
	if c := s.issued(t, processed()); c.BatchID != string(id) {
		t.Errorf("once it signs: got %+v", c)
	}
	missing := newScene(t)
	missing.FirstKMSKey = "0199a6a4-6f00-7cc3-98c4-dc0c0c073990"
	errtest.Fails(t, "without the first key", errtest.Of(missing.KeySet(t.Context())), "public key")
	s.store.err = errDown
	errtest.Is(t, "a store that does not answer",
		errtest.Of(s.Receipt(t.Context(), issuer, processed(), receipt.Counts{})), errDown)
}
