package batchdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// The attributes by which the index open counts. A batch of a release without them is not in the index.
const (
	// openAttribute is the tenant of a batch that is not in a terminal status.
	openAttribute = "open"
	// unvalidatedAttribute is the size of a file that is uploaded and not validated, and Reserved until it is uploaded.
	unvalidatedAttribute = "unvalidated"
)

// closes returns the REMOVE clause of a transition to a status, "" for none.
func closes(to batch.Status) string {
	switch {
	case to.IsTerminal():
		return " REMOVE #" + openAttribute + ", #" + unvalidatedAttribute
	case to == batch.PendingIngestion:
		return " REMOVE #" + unvalidatedAttribute
	}
	return ""
}

// CountOpen reads the index open. There is no counter beside the batches that could differ from them. Only if the
// index reaches the limit, the batches themselves are read, which say whether they count.
func (s *Store) CountOpen(ctx context.Context, tenant string, enough batch.OpenWork, now time.Time) (batch.OpenWork,
	error) {
	var keys []dynamo.Item
	var listed batch.OpenWork
	query := s.table.SelectIn("open", "#"+openAttribute+" = :tenant", dynamo.Item{":tenant": dynamo.String(tenant)})
	query.ScanIndexForward = aws.Bool(false) // the newest batch first
	for item, err := range s.table.Query(ctx, query) {
		if err != nil {
			return batch.OpenWork{}, fmt.Errorf("count open batches: %w", err)
		}
		keys = append(keys, key(batch.ID(dynamo.StringAttribute(item, "id")), batchPart))
		listed.Batches++
		listed.UnvalidatedBytes += dynamo.NumberAttribute(item, unvalidatedAttribute)
	}
	if !listed.ReachesAny(enough) {
		return listed, nil
	}
	return s.countBatches(ctx, keys, enough, now)
}

// countBatches is CountOpen for batches, by their keys.
func (s *Store) countBatches(ctx context.Context, keys []dynamo.Item, enough batch.OpenWork, now time.Time) (
	batch.OpenWork, error) {
	var found batch.OpenWork
	for page := range slices.Chunk(keys, dynamo.MaxGetKeys) {
		items, err := s.table.GetAll(ctx, page)
		if err != nil {
			return batch.OpenWork{}, fmt.Errorf("count open batches: %w", err)
		}
		for _, item := range items {
			b, err := unmarshalBatch(item)
			if err != nil {
				return batch.OpenWork{}, err
			}
			if !b.CountsAsOpen(now) {
				continue
			}
			found.Batches++
			found.UnvalidatedBytes += dynamo.NumberAttribute(item, unvalidatedAttribute)
			if b.Status == batch.AwaitingUpload {
				found.Awaiting++
				found.ReservedBytes += b.Reserved
			}
			if found.ReachesAny(enough) {
				return found, nil
			}
		}
	}
	return found, nil
}

// Uncount takes a batch out of the index open.
func (s *Store) Uncount(ctx context.Context, id batch.ID, uploadBy time.Time) error {
	_, err := s.updateAwaiting(ctx, id, "REMOVE #open", " AND upload_by = :by",
		dynamo.Item{":by": dynamo.String(dynamo.FormatTime(uploadBy))})
	if _, ok := errors.AsType[*batch.ConflictError](err); ok || errors.Is(err, batch.ErrNotFound) {
		return nil
	}
	return err
}
