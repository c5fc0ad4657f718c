package batchdb

import (
	"context"
	"errors"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// update makes a conditional update of the item of a batch and returns the batch as it is after that. isMade is false
// if the condition has failed; the batch is then as the update found it. doing names the update in errors.
func (s *Store) update(ctx context.Context, id batch.ID, doing string, w dynamo.Write) (b batch.Batch, isMade bool,
	err error) {
	item, err := s.table.Exchange(ctx, doing+" of batch "+string(id), w)
	isMade = err == nil
	switch {
	case !isMade && !errors.Is(err, dynamo.ErrRefused):
		return batch.Batch{}, false, err
	case item == nil:
		return batch.Batch{}, false, batch.ErrNotFound
	}
	b, err = unmarshalBatch(item)
	return b, isMade, err
}
