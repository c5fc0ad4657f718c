package admin

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/ingest/receipt"
	"sluice/shared/ingest/receipt/issue"
	"sluice/shared/kit/dynamo"
)

// receiptKeys returns the store of the keys of receipts.
func (a *admin) receiptKeys(ctx context.Context) (issue.Store, error) {
	tables, err := a.tables(ctx, "TABLE_BATCHES")
	if err != nil {
		return nil, err
	}
	return batchdb.New(dynamo.NewClient(a.aws), tables["TABLE_BATCHES"]), nil
}

// rotateReceiptKey creates a key of receipts and publishes it. The key's tag is what allows the function receipt to
// sign with it. No key is ever withdrawn.
func rotateReceiptKey(ctx context.Context, a *admin) (any, error) {
	store, err := a.receiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys, version, err := store.ReceiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	created, err := a.kms.CreateKey(ctx, &kms.CreateKeyInput{
		KeySpec: types.KeySpecEccNistP256, KeyUsage: types.KeyUsageTypeSignVerify, MultiRegion: aws.Bool(true),
		Description: aws.String(a.prefix + ": signs receipts of batches"),
		Tags:        []types.Tag{{TagKey: aws.String("sluice-receipts"), TagValue: &a.prefix}},
	})
	if err != nil {
		return nil, err
	}
	next, err := issue.NewKey(ctx, a.kms, *created.KeyMetadata.Arn)
	if err != nil {
		return nil, err
	}
	keys = receipt.AddKey(keys, next, a.now)
	if err := store.ReplaceReceiptKeys(ctx, keys, version); err != nil {
		return nil, err
	}
	return rotatedKeys(newReceiptKeyOutputs(keys)), nil
}

func listReceiptKeys(ctx context.Context, a *admin) (any, error) {
	store, err := a.receiptKeys(ctx)
	if err != nil {
		return nil, err
	}
	keys, _, err := store.ReceiptKeys(ctx)
	return newReceiptKeyOutputs(keys), err
}

func newReceiptKeyOutputs(keys []receipt.Key) []keyOutput {
	out := make([]keyOutput, len(keys))
	for i, k := range keys {
		out[i] = keyOutput{KeyID: k.ID, ActiveFrom: k.ActiveFrom, KMSKey: k.KMSKey}
	}
	return out
}
