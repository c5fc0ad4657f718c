package batchdb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/batch"
	"sluice/shared/dynamo"
)

// unannouncedShards begins the partition keys of the index unfinished under which the batches are that have ended and
// whose end is to be announced. A batch gets there by the write that ends it, so that no announcement can be forgotten.
const unannouncedShards = "unannounced-"

// forgetAnnouncement removes everything that is stored about an announcement that is made.
const forgetAnnouncement = "REMOVE unannounced, unfinished, look_at, announcer, announcer_until"

// EachUnannounced reads the index unfinished, the shards in random order.
func (s *Store) EachUnannounced(ctx context.Context, before time.Time, visit func(batch.ID) error) error {
	return s.eachLookedAt(ctx, unannouncedShards, before, visit)
}

// PostponeAnnouncement sets look_at, on the condition that something is to be announced.
func (s *Store) PostponeAnnouncement(ctx context.Context, id batch.ID, at time.Time) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(id, batchPart),
		UpdateExpression:          aws.String("SET look_at = :at"),
		ConditionExpression:       aws.String("attribute_exists(unannounced)"),
		ExpressionAttributeValues: dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))},
	})
	if _, failed := dynamo.ConditionFailed(err); err != nil && !failed {
		return fmt.Errorf("postpone the announcement of batch %s: %w", id, err)
	}
	return nil
}

// ClaimAnnouncement writes the attempt's name, on the condition that there is something to announce and no other name,
// or one whose time is over.
func (s *Store) ClaimAnnouncement(ctx context.Context, id batch.ID, attempt string, now, until time.Time) (batch.Batch,
	error) {
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(id, batchPart),
		UpdateExpression: aws.String("SET announcer = :attempt, announcer_until = :until"),
		ConditionExpression: aws.String("attribute_exists(unannounced) AND " +
			"(attribute_not_exists(announcer) OR announcer = :attempt OR announcer_until < :now)"),
		ExpressionAttributeValues: dynamo.Item{
			":attempt": dynamo.String(attempt), ":now": dynamo.String(dynamo.FormatTime(now)),
			":until": dynamo.String(dynamo.FormatTime(until)),
		},
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	item, failed := dynamo.ConditionFailed(err)
	switch {
	case failed && item == nil:
		return batch.Batch{}, batch.ErrNotFound
	case failed:
		return batch.Batch{}, batch.ErrNothingToAnnounce
	case err != nil:
		return batch.Batch{}, fmt.Errorf("claim the announcement of batch %s: %w", id, err)
	}
	return unmarshalBatch(out.Attributes)
}

// MarkAnnounced takes receivers from those to whom the end of a batch is to be announced. Usually none remain, which
// takes one write; each further one goes by what the one before it found.
func (s *Store) MarkAnnounced(ctx context.Context, id batch.ID, to []batch.Receiver) error {
	known := to
	for range 5 {
		rest := slices.DeleteFunc(slices.Clone(known), func(r batch.Receiver) bool { return slices.Contains(to, r) })
		if len(rest) == len(known) {
			return nil // they were told before
		}
		item, err := s.replaceUnannounced(ctx, id, known, rest)
		if _, failed := dynamo.ConditionFailed(err); err == nil || failed && item == nil {
			return nil
		} else if !failed {
			return fmt.Errorf("record the announcement of batch %s: %w", id, err)
		}
		b, err := unmarshalBatch(item)
		if err != nil {
			return err
		}
		known = b.Unannounced
	}
	return fmt.Errorf("record the announcement of batch %s: it is being changed all the time", id)
}

// replaceUnannounced replaces the receivers to whom the end of a batch is to be announced, on the condition that they
// are those that are known. If they are not, it returns the item as it is beside the error.
func (s *Store) replaceUnannounced(ctx context.Context, id batch.ID, known, rest []batch.Receiver) (dynamo.Item, error) {
	update, values := forgetAnnouncement, dynamo.Item{":known": receiverSet(known)}
	if len(rest) > 0 {
		update, values[":rest"] = "SET unannounced = :rest", receiverSet(rest)
	}
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(id, batchPart),
		UpdateExpression:                    &update,
		ConditionExpression:                 aws.String("unannounced = :known"),
		ExpressionAttributeValues:           values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	item, _ := dynamo.ConditionFailed(err)
	return item, err
}

// receiverSet returns receivers as a set of strings, which must not be empty.
func receiverSet(receivers []batch.Receiver) *types.AttributeValueMemberSS {
	set := &types.AttributeValueMemberSS{}
	for _, r := range receivers {
		set.Value = append(set.Value, string(r))
	}
	return set
}
