package batchdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// visitsPerShard is the number of batches of one shard that one call of EachUnfinished visits.
const visitsPerShard = 100

// shard returns the partition key of the index unfinished under which a batch is: the last digit of its ID, which is
// random.
func shard(id batch.ID) string {
	if id == "" {
		return dynamo.Shards[:1]
	}
	return string(id[len(id)-1:])
}

// EachUnfinished reads the index unfinished, the shards in random order.
func (s *Store) EachUnfinished(ctx context.Context, before time.Time, visit func(batch.ID) error) error {
	return s.eachLookedAt(ctx, "", before, visit)
}

// eachLookedAt visits the batches of all shards whose names have a beginning.
func (s *Store) eachLookedAt(ctx context.Context, beginning string, before time.Time,
	visit func(batch.ID) error) error {
	for item, err := range s.table.Due(ctx, "unfinished", beginning, visitsPerShard, before) {
		if err != nil {
			return fmt.Errorf("list unfinished batches: %w", err)
		}
		if err := visit(batch.ID(dynamo.StringAttribute(item, "id"))); err != nil {
			return err
		}
	}
	return nil
}

// countsPerShard is the number of batches of one shard that Backlogs counts.
const countsPerShard = 1000

// Backlogs reads the index unfinished, one page of each shard.
func (s *Store) Backlogs(ctx context.Context) (map[batch.Status]batch.Backlog, error) {
	backlogs := map[batch.Status]batch.Backlog{}
	isCut := false
	for i := range dynamo.Shards {
		query := s.table.SelectIn("unfinished", "unfinished = :shard",
			dynamo.Item{":shard": dynamo.String(dynamo.Shards[i : i+1])})
		query.Limit = aws.Int32(countsPerShard)
		out, err := s.table.DB.Query(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("count unfinished batches: %w", err)
		}
		isCut = isCut || out.LastEvaluatedKey != nil
		for _, item := range out.Items {
			status := batch.Status(dynamo.StringAttribute(item, "status"))
			since, err := dynamo.ParseTime(dynamo.StringAttribute(item, "updated_at"))
			if err != nil {
				return nil, fmt.Errorf("count unfinished batches: batch %s: %w", dynamo.StringAttribute(item, "id"),
					err)
			}
			b := backlogs[status]
			if b.Batches++; b.Batches == 1 || since.Before(b.Since) {
				b.Since = since
			}
			backlogs[status] = b
		}
	}
	for status, b := range backlogs {
		b.IsCut = isCut
		backlogs[status] = b
	}
	return backlogs, nil
}

// Postpone sets look_at, on the condition that the status is not terminal.
func (s *Store) Postpone(ctx context.Context, id batch.ID, at time.Time) error {
	return s.lookAt(ctx, id, at, "")
}

// lookAt puts a batch into the index unfinished, on the condition that its status is not terminal and on another one.
func (s *Store) lookAt(ctx context.Context, id batch.ID, at time.Time, condition string) error {
	values := dynamo.Item{":shard": dynamo.String(shard(id)), ":at": dynamo.String(dynamo.FormatTime(at))}
	return s.table.Apply(ctx, "postpone batch "+string(id), s.table.Update(key(id, batchPart),
		"SET unfinished = :shard, look_at = :at", isUnfinished(values)+condition, values).Or(nil))
}

// isUnfinished returns the condition that a status is not terminal, and adds the values that the condition names.
func isUnfinished(values dynamo.Item) string {
	var names []string
	for i, status := range batch.Statuses() {
		if !status.IsTerminal() {
			name := ":open" + strconv.Itoa(i)
			values[name] = dynamo.String(string(status))
			names = append(names, name)
		}
	}
	return "#status IN (" + strings.Join(names, ", ") + ")"
}

// The item that says how far AdoptUnfinished has come through the index by-tenant.
var adoptionKey = dynamo.Item{"id": dynamo.String("sweep"), "part": dynamo.String("adoption")}

const (
	// adoptionPages and adoptionPageSize limit what one call of AdoptUnfinished reads.
	adoptionPages, adoptionPageSize = 10, 1000
	// adoptionWalks is the number of times that AdoptUnfinished walks through all batches, with adoptionPause between
	// two: while a release is being deployed, functions of the one before it may still create batches.
	adoptionWalks = 2
	adoptionPause = time.Hour
)

// AdoptUnfinished walks through the index by-tenant, page by page, and puts batches without look_at into the index
// unfinished.
func (s *Store) AdoptUnfinished(ctx context.Context, now time.Time) error {
	item, err := s.table.Get(ctx, adoptionKey)
	if err != nil {
		return fmt.Errorf("read how far the adoption of batches is: %w", err)
	}
	walks := dynamo.NumberAttribute(item, "walks")
	if walks >= adoptionWalks || now.Unix() < dynamo.NumberAttribute(item, "not_before") {
		return nil
	}
	var start dynamo.Item
	if m, ok := item["next"].(*types.AttributeValueMemberM); ok {
		start = m.Value
	}
	for range adoptionPages {
		if start, err = s.adoptPage(ctx, now, start); err != nil {
			return err
		}
		if len(start) == 0 {
			return s.saveAdoption(ctx, walks+1, now.Add(adoptionPause), dynamo.Item{})
		}
	}
	return s.saveAdoption(ctx, walks, now, start)
}

// adoptPage adopts the batches of one page and returns the key before the next page, which is empty after the last one.
func (s *Store) adoptPage(ctx context.Context, now time.Time, start dynamo.Item) (dynamo.Item, error) {
	values := dynamo.Item{}
	in := &dynamodb.ScanInput{
		TableName: &s.table.Name, IndexName: aws.String("by-tenant"), Limit: aws.Int32(adoptionPageSize),
		FilterExpression:         aws.String(isUnfinished(values) + " AND attribute_not_exists(look_at)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"}, ExpressionAttributeValues: values,
	}
	if len(start) > 0 {
		in.ExclusiveStartKey = start
	}
	out, err := s.table.DB.Scan(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("look for batches of earlier releases: %w", err)
	}
	var errs []error
	for _, item := range out.Items {
		at, err := dynamo.ParseTime(dynamo.StringAttribute(item, "updated_at"))
		if err != nil {
			at = now
		}
		id := batch.ID(dynamo.StringAttribute(item, "id"))
		errs = append(errs, s.lookAt(ctx, id, at, " AND attribute_not_exists(look_at)"))
	}
	return out.LastEvaluatedKey, errors.Join(errs...)
}

// saveAdoption records how far the adoption is. Two that run at once do the same work twice.
func (s *Store) saveAdoption(ctx context.Context, walks int64, notBefore time.Time, next dynamo.Item) error {
	return s.table.Apply(ctx, "record how far the adoption of batches is",
		s.table.Update(adoptionKey, "SET walks = :walks, not_before = :at, #next = :next", "", dynamo.Item{
			":walks": dynamo.Number(walks), ":at": dynamo.Number(notBefore.Unix()),
			":next": &types.AttributeValueMemberM{Value: next},
		}))
}
