package batchdb

import (
	"context"
	"errors"
	"fmt"
	"sluice/shared/dynamo"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/batch"
)

const (
	chunkPrefix = "chunk#"
	marksPrefix = "marks#"
)

func chunkPart(index int) string { return fmt.Sprintf("%s%05d", chunkPrefix, index) }
func marksPart(p int) string     { return fmt.Sprintf("%s%02d", marksPrefix, p) }

// chunkRow is a chunk as it lies in the table. Its parts are stored as maps under the field names of batch.Chunk.
type chunkRow struct {
	Part      string           `dynamodbav:"part"`
	Validated *batch.Validated `dynamodbav:"validated,omitempty"`
	Settled   *batch.Settled   `dynamodbav:"settled,omitempty"`
	Ingested  *batch.Ingested  `dynamodbav:"ingested,omitempty"`
}

func (r chunkRow) chunk() (batch.Chunk, error) {
	index, err := strconv.Atoi(r.Part[len(chunkPrefix):])
	return batch.Chunk{Index: index, Validated: r.Validated, Settled: r.Settled, Ingested: r.Ingested}, err
}

// Chunk reads one chunk.
func (s *Store) Chunk(ctx context.Context, id batch.ID, index int) (batch.Chunk, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: key(id, chunkPart(index)), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return batch.Chunk{}, fmt.Errorf("get chunk %d of %s: %w", index, id, err)
	}
	if out.Item == nil {
		return batch.Chunk{Index: index}, nil
	}
	return unmarshalChunk(out.Item)
}

func unmarshalChunk(av dynamo.Item) (batch.Chunk, error) {
	var row chunkRow
	if err := attributevalue.UnmarshalMap(av, &row); err != nil {
		return batch.Chunk{}, fmt.Errorf("read chunk row: %w", err)
	}
	return row.chunk()
}

// Chunks reads all chunk rows of a batch.
func (s *Store) Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error) {
	var chunks []batch.Chunk
	err := s.parts(ctx, id, chunkPrefix, func(row dynamo.Item) error {
		c, err := unmarshalChunk(row)
		chunks = append(chunks, c)
		return err
	})
	return chunks, err
}

// parts calls f with every row of a batch whose part begins with prefix, in order.
func (s *Store) parts(ctx context.Context, id batch.ID, prefix string, f func(dynamo.Item) error) error {
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName:                 &s.table,
		KeyConditionExpression:    aws.String("id = :id AND begins_with(part, :prefix)"),
		ExpressionAttributeValues: dynamo.Item{":id": dynamo.String(string(id)), ":prefix": dynamo.String(prefix)},
		ConsistentRead:            aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("read %s rows of %s: %w", prefix, id, err)
		}
		for _, row := range page.Items {
			if err := f(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// CommitValidated makes v the result of the first pass over a chunk, unless there is one.
func (s *Store) CommitValidated(ctx context.Context, id batch.ID, index int, v batch.Validated) (batch.Validated, error) {
	return commit(ctx, s, key(id, chunkPart(index)), "validated", v)
}

// CommitSettled makes v the result of the second pass over a chunk, unless there is one.
func (s *Store) CommitSettled(ctx context.Context, id batch.ID, index int, v batch.Settled) (batch.Settled, error) {
	return commit(ctx, s, key(id, chunkPart(index)), "settled", v)
}

// CommitMarks makes k the marks of a partition, unless it has some.
func (s *Store) CommitMarks(ctx context.Context, id batch.ID, partition int, k string) (string, error) {
	return commit(ctx, s, key(id, marksPart(partition)), "key", k)
}

// commit sets an attribute of a row if it is not yet set, and returns what is then there: of two attempts at a step, one
// becomes the result and the other learns of it.
func commit[T any](ctx context.Context, s *Store, row dynamo.Item, name string, v T) (T, error) {
	av, err := attributevalue.Marshal(v)
	if err != nil {
		return v, err
	}
	_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &s.table,
		Key:                                 row,
		UpdateExpression:                    aws.String("SET #name = :value"),
		ConditionExpression:                 aws.String("attribute_not_exists(#name)"),
		ExpressionAttributeNames:            map[string]string{"#name": name},
		ExpressionAttributeValues:           dynamo.Item{":value": av},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		var committed T
		return committed, attributevalue.Unmarshal(failed.Item[name], &committed)
	}
	if err != nil {
		return v, fmt.Errorf("commit %s: %w", name, err)
	}
	return v, nil
}

// Advance records how far a chunk is ingested, never backwards.
func (s *Store) Advance(ctx context.Context, id batch.ID, index int, v batch.Ingested) (batch.Ingested, error) {
	av, err := attributevalue.Marshal(v)
	if err != nil {
		return v, err
	}
	line, err := attributevalue.Marshal(v.Line)
	if err != nil {
		return v, err
	}
	_, err = s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:        &s.table,
		Key:              key(id, chunkPart(index)),
		UpdateExpression: aws.String("SET ingested = :value"),
		ConditionExpression: aws.String(
			"attribute_not_exists(ingested) OR (ingested.Done <> :done AND ingested.Line <= :line)"),
		ExpressionAttributeValues: dynamo.Item{
			":value": av, ":line": line, ":done": &types.AttributeValueMemberBOOL{Value: true}},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		var furthest batch.Ingested
		return furthest, attributevalue.Unmarshal(failed.Item["ingested"], &furthest)
	}
	if err != nil {
		return v, fmt.Errorf("advance chunk %d of %s: %w", index, id, err)
	}
	return v, nil
}

// Marks reads the committed marks of all partitions.
func (s *Store) Marks(ctx context.Context, id batch.ID) ([batch.Partitions]string, error) {
	var keys [batch.Partitions]string
	err := s.parts(ctx, id, marksPrefix, func(av dynamo.Item) error {
		var row struct {
			Part string `dynamodbav:"part"`
			Key  string `dynamodbav:"key"`
		}
		if err := attributevalue.UnmarshalMap(av, &row); err != nil {
			return err
		}
		p, err := strconv.Atoi(row.Part[len(marksPrefix):])
		if err != nil || p < 0 || p >= len(keys) {
			return fmt.Errorf("read marks row %q", row.Part)
		}
		keys[p] = row.Key
		return nil
	})
	return keys, err
}
