// Package issue issues the receipts of batches: it signs each once, by a key in KMS that no function but its own may
// use, and keeps it, so that a batch has one receipt for ever.
package issue

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/jose"
	"sluice/shared/kit/kmskey"
)

// Store keeps receipts and the keys that sign them. It is safe for concurrent use; a read sees every acknowledged
// write. Every write is one conditional write of one item.
type Store interface {
	// Receipt returns the receipt of a batch; "" if none is kept.
	Receipt(ctx context.Context, id batch.ID) (string, error)
	// CommitReceipt keeps a receipt unless one is kept, and returns the one that is kept then: of several calls at the
	// same time one keeps its receipt, and all return it.
	CommitReceipt(ctx context.Context, id batch.ID, text string) (string, error)
	// ReceiptKeys reads all keys and the version of the set: no keys and version 0 before the first are stored.
	ReceiptKeys(ctx context.Context) (keys []receipt.Key, version int64, err error)
	// ReplaceReceiptKeys replaces all keys if the version of the set is still the given one. Otherwise it returns
	// receipt.ErrKeysChanged; so does a repetition of a call that succeeded.
	ReplaceReceiptKeys(ctx context.Context, keys []receipt.Key, version int64) error
}

// KMS is the part of the KMS client that an Issuer needs.
type KMS interface {
	kmskey.API
	// GetPublicKey is the operation GetPublicKey of KMS.
	GetPublicKey(ctx context.Context, in *kms.GetPublicKeyInput, opts ...func(*kms.Options)) (*kms.GetPublicKeyOutput,
		error)
}

// Issuer issues receipts. It is safe for concurrent use.
type Issuer struct {
	Store Store
	KMS   KMS
	// FirstKMSKey is the ID or ARN of the KMS key that signs before any rotation.
	FirstKMSKey string
	Now         func() time.Time

	mu sync.Mutex
	// keys are those that were read at readAt.
	keys   []receipt.Key
	readAt time.Time
}

// keysAge is how long an issuer uses its copy of the keys. It is shorter than the time for which a new key is published
// before it signs.
const keysAge = time.Minute

// Receipt returns the receipt of a batch that has ended, which states the counts. It signs one if none is kept; of
// several first calls at the same time, all return the same receipt.
func (i *Issuer) Receipt(ctx context.Context, issuer string, b batch.Batch, counts receipt.Counts) (string, error) {
	if kept, err := i.Store.Receipt(ctx, b.ID); err != nil || kept != "" {
		return kept, err
	}
	now := i.Now()
	keys, err := i.load(ctx, now)
	if err != nil {
		return "", err
	}
	key, ok := receipt.ActiveKey(keys, now)
	if !ok {
		return "", fmt.Errorf("%w: no key is active", receipt.ErrNotSigned)
	}
	public, err := jose.ParsePublicKey(key.PublicKey)
	if err != nil {
		return "", fmt.Errorf("receipt key %s: %w", key.ID, err)
	}
	text, err := jose.Sign(&kmskey.Signer{Context: ctx, KMS: i.KMS, KeyID: key.KMSKey, PublicKey: public},
		jose.Header{Algorithm: jose.ES256, Type: receipt.Type, KeyID: key.ID}, claims(issuer, now, b, counts))
	if err != nil {
		return "", fmt.Errorf("%w: %w", receipt.ErrNotSigned, err)
	}
	return i.Store.CommitReceipt(ctx, b.ID, text)
}

// claims returns the claims of the receipt of a batch. They depend only on values that do not change after the end of
// the batch.
func claims(issuer string, now time.Time, b batch.Batch, counts receipt.Counts) receipt.Claims {
	c := receipt.Claims{
		Issuer: issuer, IssuedAt: now.Unix(), Tenant: b.Tenant, BatchID: string(b.ID), Status: string(b.Status),
		EndedAt: b.UpdatedAt.UTC(), Counts: counts,
	}
	if !b.ReceivedAt.IsZero() {
		at := b.ReceivedAt.UTC()
		c.ReceivedAt = &at
	}
	if b.FileSHA256 != nil {
		sum, size := hex.EncodeToString(b.FileSHA256), b.Source().Size
		c.FileSHA256, c.FileBytes = &sum, &size
	}
	// A batch that has failed after its verdict has accepted nothing.
	if b.Status == batch.Processed && b.Verdict.AcceptedSHA256 != nil {
		sum := hex.EncodeToString(b.Verdict.AcceptedSHA256)
		c.AcceptedSHA256 = &sum
	}
	return c
}

// KeySet returns all keys that have ever been published, and those that are about to sign.
func (i *Issuer) KeySet(ctx context.Context) (jose.JWKSet, error) {
	keys, err := i.load(ctx, i.Now())
	if err != nil {
		return jose.JWKSet{}, err
	}
	return receipt.PublicKeys(keys)
}

// load returns the keys as read at most keysAge ago. If the store has none, it stores the record of the first one; of
// issuers that do so at the same time one succeeds, and all use the stored key.
func (i *Issuer) load(ctx context.Context, now time.Time) ([]receipt.Key, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.keys) > 0 && now.Sub(i.readAt) < keysAge {
		return i.keys, nil
	}
	keys, _, err := i.Store.ReceiptKeys(ctx)
	if err == nil && len(keys) == 0 {
		keys, err = i.storeFirstKey(ctx, now)
	}
	if err != nil {
		return nil, err
	}
	i.keys, i.readAt = keys, now
	return keys, nil
}

func (i *Issuer) storeFirstKey(ctx context.Context, now time.Time) ([]receipt.Key, error) {
	first, err := NewKey(ctx, i.KMS, i.FirstKMSKey)
	if err != nil {
		return nil, err
	}
	err = i.Store.ReplaceReceiptKeys(ctx, receipt.AddKey(nil, first, now.Truncate(time.Second)), 0)
	if err != nil && !errors.Is(err, receipt.ErrKeysChanged) {
		return nil, err
	}
	keys, _, err := i.Store.ReceiptKeys(ctx)
	return keys, err
}

// NewKey returns the record of a KMS key under a new random ID. Its time is still to be set.
func NewKey(ctx context.Context, k KMS, kmsKeyID string) (receipt.Key, error) {
	out, err := k.GetPublicKey(ctx, &kms.GetPublicKeyInput{KeyId: &kmsKeyID})
	if err != nil {
		return receipt.Key{}, fmt.Errorf("read the public key of receipts: %w", err)
	}
	return receipt.Key{ID: uuid.NewString(), KMSKey: kmsKeyID, PublicKey: out.PublicKey}, nil
}
