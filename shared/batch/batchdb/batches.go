// Package batchdb is the batch.Store on DynamoDB.
package batchdb

import (
	"context"
	"errors"
	"fmt"
	"sluice/shared/dynamo"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/batch"
)

// Store is the batch.Store on DynamoDB. Table: id (the batch) / part ("batch", "chunk#0001", "marks#03"); index
// by-tenant: tenant / id, which only the "batch" rows are in.
type Store struct {
	db    *dynamodb.Client
	table string
}

var _ batch.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db, table} }

const batchPart = "batch"

func key(id batch.ID, part string) dynamo.Item {
	return dynamo.Item{"id": dynamo.String(string(id)), "part": dynamo.String(part)}
}

// Create stores a new batch. Of a call whose answer was lost the row tells by its random key that it is the same batch.
func (s *Store) Create(ctx context.Context, b batch.Batch) error {
	row, err := marshalBatch(b)
	if err != nil {
		return err
	}
	_, err = s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                &s.table,
		Item:                     row,
		ConditionExpression:      aws.String("attribute_not_exists(id) OR (digest_key = :key AND #status = :new)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: dynamo.Item{
			":key": &types.AttributeValueMemberB{Value: b.DigestKey[:]}, ":new": dynamo.String(string(batch.AwaitingUpload)),
		},
	})
	if err != nil {
		return fmt.Errorf("create batch %s: %w", b.ID, err)
	}
	return nil
}

// Get reads a batch.
func (s *Store) Get(ctx context.Context, id batch.ID) (batch.Batch, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: key(id, batchPart), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return batch.Batch{}, fmt.Errorf("get batch %s: %w", id, err)
	}
	if out.Item == nil {
		return batch.Batch{}, batch.ErrNotFound
	}
	return unmarshalBatch(out.Item)
}

// Move makes one legal step.
func (s *Store) Move(ctx context.Context, id batch.ID, c batch.Change) (batch.Batch, error) {
	set, names, values, err := changeExpression(c)
	if err != nil {
		return batch.Batch{}, err
	}
	before := batch.Before(c.To)
	if c.From != "" {
		before = []batch.Status{c.From}
	}
	var from []string
	for i, status := range before {
		name := ":from" + strconv.Itoa(i)
		values[name] = dynamo.String(string(status))
		from = append(from, name)
	}
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &s.table,
		Key:                                 key(id, batchPart),
		UpdateExpression:                    aws.String("SET " + strings.Join(set, ", ")),
		ConditionExpression:                 aws.String("#status IN (" + strings.Join(from, ", ") + ")"),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           values,
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	switch {
	case errors.As(err, &failed) && failed.Item == nil:
		return batch.Batch{}, batch.ErrNotFound
	case errors.As(err, &failed):
		now, err := unmarshalBatch(failed.Item)
		if err != nil {
			return batch.Batch{}, err
		}
		return batch.Batch{}, &batch.Moved{To: c.To, Now: now}
	case err != nil:
		return batch.Batch{}, fmt.Errorf("move batch %s to %s: %w", id, c.To, err)
	}
	return unmarshalBatch(out.Attributes)
}

// changeExpression spells out a change as the parts of a SET clause and their values.
func changeExpression(c batch.Change) (set []string, names map[string]string, values dynamo.Item, err error) {
	set, names = []string{"#status = :to", "updated_at = :at"}, map[string]string{"#status": "status"}
	values = dynamo.Item{":to": dynamo.String(string(c.To)), ":at": dynamo.String(dynamo.FormatTime(c.At))}
	nested := func(name string, v any) error {
		av, err := attributevalue.Marshal(v)
		if err != nil {
			return err
		}
		set = append(set, fmt.Sprintf("#%s = :%s", name, name))
		names["#"+name] = name // some are words that DynamoDB reserves
		values[":"+name] = av
		return nil
	}
	var errs []error
	if c.Object != nil {
		errs = append(errs, nested("object", objectRow(*c.Object)), nested("received_at", dynamo.FormatTime(c.ReceivedAt)))
	}
	if c.Plan != nil {
		errs = append(errs, nested("chunk_bytes", c.Plan.ChunkBytes), nested("max_line_bytes", c.MaxLineBytes),
			nested("max_transactions", c.MaxTransactions))
	}
	if c.Verdict != nil {
		errs = append(errs, nested("verdict", verdictRow(*c.Verdict)))
	}
	if c.ErrorMessage != "" {
		errs = append(errs, nested("error_message", c.ErrorMessage))
	}
	return set, names, values, errors.Join(errs...)
}

// Recent lists a tenant's batches, newest first.
func (s *Store) Recent(ctx context.Context, tenant string, limit int) ([]batch.Batch, error) {
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.table,
		IndexName:                 aws.String("by-tenant"),
		KeyConditionExpression:    aws.String("tenant = :tenant"),
		ExpressionAttributeValues: dynamo.Item{":tenant": dynamo.String(tenant)},
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(int32(limit)),
	})
	if err != nil {
		return nil, fmt.Errorf("list batches: %w", err)
	}
	batches := make([]batch.Batch, 0, len(out.Items))
	for _, row := range out.Items {
		b, err := unmarshalBatch(row)
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

// Statuses reads where several batches of any tenant stand, as of every write acknowledged before; unknown ones are left
// out. It is what decides whether stored lines can be seen.
func (s *Store) Statuses(ctx context.Context, ids []batch.ID) (map[batch.ID]batch.Status, error) {
	found := make(map[batch.ID]batch.Status, len(ids))
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = key(id, batchPart)
	}
	items, err := dynamo.GetAll(ctx, s.db, s.table, keys, "id", "status")
	if err != nil {
		return nil, fmt.Errorf("read batch statuses: %w", err)
	}
	for _, item := range items {
		found[batch.ID(dynamo.StringAttribute(item, "id"))] = batch.Status(dynamo.StringAttribute(item, "status"))
	}
	return found, nil
}
