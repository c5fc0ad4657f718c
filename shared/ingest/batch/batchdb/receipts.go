package batchdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/dynamo"
)

const (
	// receiptPart is the part of the item with the receipt of a batch. It does not expire.
	receiptPart = "receipt"
	// receiptKeysID and receiptKeysPart are the key of the item with the keys that sign receipts. It is in the table of
	// what they sign, so that both are restored together.
	receiptKeysID, receiptKeysPart = "receipt-keys", "keys"
)

// Receipt returns the receipt of a batch.
func (s *Store) Receipt(ctx context.Context, id batch.ID) (string, error) {
	item, err := s.get(ctx, id, receiptPart)
	return dynamo.StringAttribute(item, "jws"), err
}

// CommitReceipt keeps the receipt of a batch.
func (s *Store) CommitReceipt(ctx context.Context, id batch.ID, text string) (string, error) {
	item := key(id, receiptPart)
	item["jws"] = dynamo.String(text)
	kept, err := s.table.Exchange(ctx, "keep the receipt of batch "+string(id), s.table.Put(item, dynamo.Absent, nil))
	switch {
	case errors.Is(err, dynamo.ErrRefused):
		return dynamo.StringAttribute(kept, "jws"), nil
	case err != nil:
		return "", err
	}
	return text, nil
}

// ReceiptKeys reads the keys of receipts.
func (s *Store) ReceiptKeys(ctx context.Context) ([]receipt.Key, int64, error) {
	item, err := s.get(ctx, receiptKeysID, receiptKeysPart)
	if err != nil || item == nil {
		return nil, 0, err
	}
	var row receiptKeysRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return nil, 0, fmt.Errorf("read the keys of receipts: %w", err)
	}
	keys := make([]receipt.Key, len(row.Keys))
	var errs []error
	for i, k := range row.Keys {
		activeFrom, err := dynamo.ParseTime(k.ActiveFrom)
		errs = append(errs, err)
		keys[i] = receipt.Key{ID: k.ID, KMSKey: k.KMSKey, PublicKey: k.PublicKey, ActiveFrom: activeFrom}
	}
	return keys, row.Version, errors.Join(errs...)
}

// ReplaceReceiptKeys replaces the keys of receipts.
func (s *Store) ReplaceReceiptKeys(ctx context.Context, keys []receipt.Key, version int64) error {
	row := receiptKeysRow{ID: receiptKeysID, Part: receiptKeysPart, Version: version + 1}
	for _, k := range keys {
		row.Keys = append(row.Keys, receiptKeyRow{k.ID, k.KMSKey, k.PublicKey, dynamo.FormatTime(k.ActiveFrom)})
	}
	err := dynamo.ReplaceVersion(ctx, s.table.DB, s.table.Name, row, version)
	if _, failed := dynamo.ConditionFailed(err); failed {
		return receipt.ErrKeysChanged
	}
	if err != nil {
		return fmt.Errorf("replace the keys of receipts: %w", err)
	}
	return nil
}

// receiptKeysRow is the item of all keys of receipts; Version counts its replacements.
type receiptKeysRow struct {
	ID      string          `dynamodbav:"id"`
	Part    string          `dynamodbav:"part"`
	Version int64           `dynamodbav:"version"`
	Keys    []receiptKeyRow `dynamodbav:"keys"`
}

type receiptKeyRow struct {
	ID         string `dynamodbav:"kid"`
	KMSKey     string `dynamodbav:"kms_key"`
	PublicKey  []byte `dynamodbav:"public"`
	ActiveFrom string `dynamodbav:"active_from"`
}
