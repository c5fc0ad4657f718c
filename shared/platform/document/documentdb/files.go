package documentdb

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/platform/document"
)

// waitingShards are the partition keys of the index waiting. Files are spread over them by a hash of their IDs, so that
// no partition takes all writes.
const waitingShards = "0123456789abcdef"

// untilScanned is the time until which a file counts as open that is uploaded: it is later than all others.
const untilScanned = "9999"

// visitsPerShard is the number of files of one shard that one call of EachWaiting visits.
const visitsPerShard = 100

func waitingShard(id string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(id))
	return string(waitingShards[sum.Sum32()%uint32(len(waitingShards))])
}

// createFile returns the write that stores the new file of its first document, which expects it from now on. The client
// that may upload it is the one that has changed the document last.
func (s *Store) createFile(d document.Document, now time.Time) types.TransactWriteItem {
	item := fileKey(d.Tenant, d.FileID)
	item["documents"], item["client"] = dynamo.Number(1), dynamo.String(d.UpdatedBy)
	item["waiting"], item["since"] = dynamo.String(waitingShard(d.FileID)), dynamo.String(dynamo.FormatTime(now))
	item["look_at"] = item["since"]
	item["unscanned"], item["bytes"] = dynamo.String(d.Tenant), dynamo.Number(d.FileLimit)
	item["open_until"] = dynamo.String(dynamo.FormatTime(now.Add(document.OpenFor)))
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
	}}
}

// shareFile returns the write by which one more document shares a file.
func (s *Store) shareFile(tenant, id string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: fileKey(tenant, id),
		UpdateExpression:          aws.String("SET documents = documents + :one"),
		ConditionExpression:       aws.String("attribute_exists(part) AND attribute_not_exists(going)"),
		ExpressionAttributeValues: dynamo.Item{":one": dynamo.Number(1)},
	}}
}

// removeReference returns the write by which one document fewer shares a file, or by which the file's record is deleted
// with its last document.
func (s *Store) removeReference(tenant, id string, last bool) types.TransactWriteItem {
	if last {
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &s.table, Key: fileKey(tenant, id), ConditionExpression: aws.String("attribute_exists(going)"),
		}}
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.table, Key: fileKey(tenant, id),
		UpdateExpression:          aws.String("SET documents = documents - :one"),
		ConditionExpression:       aws.String("documents > :one"),
		ExpressionAttributeValues: dynamo.Item{":one": dynamo.Number(1)},
	}}
}

// ReleaseFile implements document.Store.
func (s *Store) ReleaseFile(ctx context.Context, d document.Document) (bool, error) {
	if d.FileID == "" {
		return false, nil
	}
	err := s.updateFile(ctx, d.Tenant, d.FileID, "SET going = :yes REMOVE waiting, look_at, unscanned",
		"documents = :one", dynamo.Item{":one": dynamo.Number(1), ":yes": dynamo.Bool(true)})
	if _, failed := dynamo.ConditionFailed(err); failed {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("release file: %w", err)
	}
	return true, nil
}

// ReplaceFile implements document.Store.
func (s *Store) ReplaceFile(ctx context.Context, d document.Document, previous string, last bool) (document.Document,
	error) {
	version := d.Version
	d.Version++
	item, err := marshalDocument(d)
	if err != nil {
		return document.Document{}, err
	}
	failed, err := dynamo.Transact(ctx, s.db, []types.TransactWriteItem{
		{Put: &types.Put{
			TableName: &s.table, Item: item,
			ConditionExpression:       aws.String("version = :version"),
			ExpressionAttributeValues: dynamo.Item{":version": dynamo.Number(version)},
		}},
		s.createFile(d, d.UpdatedAt),
		s.removeReference(d.Tenant, previous, last),
	})
	if failed[0] || failed[2] {
		return document.Document{}, document.ErrChanged
	}
	if err != nil {
		return document.Document{}, fmt.Errorf("replace file: %w", err)
	}
	return d, nil
}

// RecordScan implements document.Store.
func (s *Store) RecordScan(ctx context.Context, tenant, file string, outcome document.State) error {
	body, err := marshalState(outcome)
	if err != nil {
		return err
	}
	err = s.updateFile(ctx, tenant, file, "SET outcome = :outcome REMOVE waiting, look_at, unscanned",
		"attribute_exists(part) AND attribute_not_exists(going) AND (attribute_not_exists(outcome) OR outcome = "+
			":outcome)",
		dynamo.Item{":outcome": dynamo.String(body)})
	if current, failed := dynamo.ConditionFailed(err); failed {
		if _, going := current["going"]; current == nil || going {
			return document.ErrNotFound
		}
		return document.ErrScanRecorded
	}
	if err != nil {
		return fmt.Errorf("record scan: %w", err)
	}
	return nil
}

// Measure implements document.Store.
func (s *Store) Measure(ctx context.Context, tenant, file string, bytes int64) error {
	err := s.updateFile(ctx, tenant, file, "SET bytes = :bytes, open_until = :scan", "attribute_exists(unscanned)",
		dynamo.Item{":bytes": dynamo.Number(bytes), ":scan": dynamo.String(untilScanned)})
	if _, failed := dynamo.ConditionFailed(err); err != nil && !failed {
		return fmt.Errorf("measure file: %w", err)
	}
	return nil
}

// Uploader implements document.Store.
func (s *Store) Uploader(ctx context.Context, tenant, file string) (string, error) {
	item, err := dynamo.Get(ctx, s.db, s.table, fileKey(tenant, file))
	if err != nil {
		return "", fmt.Errorf("read file: %w", err)
	}
	if item == nil {
		return "", document.ErrNotFound
	}
	return dynamo.StringAttribute(item, "client"), nil
}

// EachWaiting implements document.Store. It reads the index waiting, the shards in random order.
func (s *Store) EachWaiting(ctx context.Context, before time.Time, visit func(document.WaitingFile) error) error {
	for _, i := range rand.Perm(len(waitingShards)) {
		out, err := s.db.Query(ctx, &dynamodb.QueryInput{
			TableName: &s.table, IndexName: aws.String("waiting"), Limit: aws.Int32(visitsPerShard),
			KeyConditionExpression: aws.String("waiting = :shard AND look_at < :before"),
			ExpressionAttributeValues: dynamo.Item{
				":shard": dynamo.String(waitingShards[i : i+1]), ":before": dynamo.String(dynamo.FormatTime(before)),
			},
		})
		if err != nil {
			return fmt.Errorf("list waiting files: %w", err)
		}
		for _, item := range out.Items {
			tenant, id, _ := strings.Cut(dynamo.StringAttribute(item, "owner"), "#file#")
			since, err := dynamo.ParseTime(dynamo.StringAttribute(item, "since"))
			if err != nil {
				return fmt.Errorf("read waiting file: %w", err)
			}
			if err := visit(document.WaitingFile{Tenant: tenant, ID: id, Since: since}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Postpone implements document.Store.
func (s *Store) Postpone(ctx context.Context, f document.WaitingFile, at time.Time) error {
	err := s.updateFile(ctx, f.Tenant, f.ID, "SET look_at = :at", "attribute_exists(waiting)",
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))})
	if _, failed := dynamo.ConditionFailed(err); err != nil && !failed {
		return fmt.Errorf("postpone file: %w", err)
	}
	return nil
}

// CountOpen implements document.Store. It reads the index open: there is no counter beside the files that could differ
// from them.
func (s *Store) CountOpen(ctx context.Context, tenant string, enough document.Open, now time.Time) (document.Open,
	error) {
	var found document.Open
	for item, err := range dynamo.Query(ctx, s.db, &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("open"),
		KeyConditionExpression: aws.String("unscanned = :tenant AND open_until > :now"),
		ExpressionAttributeValues: dynamo.Item{":tenant": dynamo.String(tenant),
			":now": dynamo.String(dynamo.FormatTime(now))},
	}) {
		if err != nil {
			return document.Open{}, fmt.Errorf("count open files: %w", err)
		}
		found.Files++
		found.Bytes += dynamo.NumberAttribute(item, "bytes")
		if enough.Files > 0 && found.Files >= enough.Files || enough.Bytes > 0 && found.Bytes >= enough.Bytes {
			break
		}
	}
	return found, nil
}

func (s *Store) updateFile(ctx context.Context, tenant, file, set, condition string, values dynamo.Item) error {
	return dynamo.RetryConflicts(ctx, func() error {
		_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &s.table, Key: fileKey(tenant, file), UpdateExpression: &set, ConditionExpression: &condition,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
}
