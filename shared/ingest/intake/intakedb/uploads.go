// Package intakedb is the intake.UploadStore on DynamoDB.
package intakedb

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/intake"
	"sluice/shared/kit/dynamo"
)

// Store is the intake.UploadStore on the table of batches. The partition key is id (the object's key) and the sort key
// is part ("upload#" and the ETag). The index waiting (waiting / received_at) holds the uploads that are waiting only.
type Store struct {
	db    *dynamodb.Client
	table string
	now   func() time.Time
}

var _ intake.UploadStore = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string, now func() time.Time) *Store {
	return &Store{db, table, now}
}

// retention is how long the table keeps an item: longer than the bucket keeps the object.
const retention = 30 * 24 * time.Hour

// waitingForScan begins the value of the attribute waiting, which is absent from an upload that is not waiting. A digit
// of waitingShards follows, so that no partition of the index takes all writes. Earlier releases wrote no digit.
const waitingForScan, waitingShards = "scan", "0123456789abcdef"

// waitingValue returns the value of the attribute waiting of an upload.
func waitingValue(key string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key))
	return waitingForScan + string(waitingShards[sum.Sum32()%uint32(len(waitingShards))])
}

// uploadRow is the item of an upload.
type uploadRow struct {
	Key  string `dynamodbav:"id"`
	ETag string `dynamodbav:"etag"`
	// Version is the version that S3 reported, ScannedVersion the one that the result is about.
	Version        string `dynamodbav:"version"`
	ScannedVersion string `dynamodbav:"scanned_version"`
	Size           int64  `dynamodbav:"size"`
	ReceivedAt     string `dynamodbav:"received_at"`
	Result         string `dynamodbav:"result"`
	Threat         string `dynamodbav:"threat"`
	// Failures are the IDs of the events of failed scans.
	Failures []string `dynamodbav:"failures,stringset"`
}

func uploadKey(key, etag string) dynamo.Item {
	return dynamo.Item{"id": dynamo.String(key), "part": dynamo.String("upload#" + etag)}
}

// RecordArrival records that an object is complete.
func (s *Store) RecordArrival(ctx context.Context, o batch.Object, at time.Time) (intake.Upload, error) {
	return s.update(ctx, uploadKey(o.Key, o.ETag), &dynamodb.UpdateItemInput{
		UpdateExpression: aws.String("SET received_at = if_not_exists(received_at, :at), waiting = :waiting, " +
			"etag = :etag, #version = :version, #size = :size, expires = :expires"),
		ExpressionAttributeNames: map[string]string{"#version": "version", "#size": "size"},
		ExpressionAttributeValues: dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(at)), ":waiting": dynamo.String(waitingValue(o.Key)),
			":etag": dynamo.String(o.ETag), ":version": dynamo.String(o.Version), ":size": dynamo.Number(o.Size),
			":expires": s.expires(),
		},
	})
}

// RecordScan records a final result, on the condition that it is the most severe so far, or else a failure.
func (s *Store) RecordScan(ctx context.Context, r intake.ScanReport) (intake.Upload, error) {
	in := &dynamodb.UpdateItemInput{
		UpdateExpression: aws.String("SET etag = :etag, scanned_version = :version, expires = :expires, " +
			"#result = :result, threat = :threat, weight = :weight"),
		ConditionExpression:      aws.String("attribute_not_exists(weight) OR weight < :weight"),
		ExpressionAttributeNames: map[string]string{"#result": "result"},
		ExpressionAttributeValues: dynamo.Item{
			":etag": dynamo.String(r.ETag), ":version": dynamo.String(r.Version), ":expires": s.expires(),
			":result": dynamo.String(string(r.Result)), ":threat": dynamo.String(r.Threat),
			":weight": dynamo.Number(int64(r.Result.Severity())),
		},
	}
	if !r.Result.IsFinal() {
		in = &dynamodb.UpdateItemInput{
			UpdateExpression: aws.String("SET etag = :etag, expires = :expires ADD failures :event"),
			ExpressionAttributeValues: dynamo.Item{
				":etag": dynamo.String(r.ETag), ":expires": s.expires(),
				":event": &types.AttributeValueMemberSS{Value: []string{r.Event}},
			},
		}
	}
	return s.update(ctx, uploadKey(r.Key, r.ETag), in)
}

// update makes an update and returns the upload after it. If the condition of the update does not hold, it returns the
// upload as it is.
func (s *Store) update(ctx context.Context, key dynamo.Item, in *dynamodb.UpdateItemInput) (intake.Upload, error) {
	in.TableName, in.Key = &s.table, key
	in.ReturnValues = types.ReturnValueAllNew
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := s.db.UpdateItem(ctx, in)
	if item, failed := dynamo.ConditionFailed(err); failed {
		return unmarshalUpload(item)
	}
	if err != nil {
		return intake.Upload{}, fmt.Errorf("record upload: %w", err)
	}
	return unmarshalUpload(out.Attributes)
}

func (s *Store) expires() types.AttributeValue {
	return dynamo.Number(s.now().Add(retention).Unix())
}

// Get returns an upload.
func (s *Store) Get(ctx context.Context, o batch.Object) (intake.Upload, error) {
	item, err := dynamo.Get(ctx, s.db, s.table, uploadKey(o.Key, o.ETag))
	if err != nil {
		return intake.Upload{}, fmt.Errorf("get upload: %w", err)
	}
	return unmarshalUpload(item)
}

// StopWaiting removes an upload from the index.
func (s *Store) StopWaiting(ctx context.Context, o batch.Object) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: uploadKey(o.Key, o.ETag), UpdateExpression: aws.String("REMOVE waiting"),
		ConditionExpression: aws.String("attribute_exists(part)"),
	})
	if _, unknown := dynamo.ConditionFailed(err); err != nil && !unknown {
		return fmt.Errorf("stop waiting for upload: %w", err)
	}
	return nil
}

// EachWaiting reads the index, one shard after the other, and at first what earlier releases wrote.
func (s *Store) EachWaiting(ctx context.Context, before time.Time, visit func(intake.Upload) error) error {
	for i := -1; i < len(waitingShards); i++ {
		value := waitingForScan
		if i >= 0 {
			value += waitingShards[i : i+1]
		}
		if err := s.eachWaitingAs(ctx, value, before, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachWaitingAs is EachWaiting for one value of the attribute waiting.
func (s *Store) eachWaitingAs(ctx context.Context, value string, before time.Time,
	visit func(intake.Upload) error) error {
	query := &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("waiting"),
		KeyConditionExpression: aws.String("waiting = :waiting AND received_at < :before"),
		ExpressionAttributeValues: dynamo.Item{":waiting": dynamo.String(value),
			":before": dynamo.String(dynamo.FormatTime(before))},
	}
	for row, err := range dynamo.Query(ctx, s.db, query) {
		if err != nil {
			return fmt.Errorf("list waiting uploads: %w", err)
		}
		u, err := unmarshalUpload(row)
		if err == nil {
			err = visit(u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unmarshalUpload(av dynamo.Item) (intake.Upload, error) {
	var row uploadRow
	if err := attributevalue.UnmarshalMap(av, &row); err != nil {
		return intake.Upload{}, fmt.Errorf("read upload row: %w", err)
	}
	at, err := dynamo.ParseTime(row.ReceivedAt)
	if err != nil {
		return intake.Upload{}, fmt.Errorf("read upload row: %w", err)
	}
	u := intake.Upload{
		Object:     batch.Object{Key: row.Key, ETag: row.ETag, Version: row.Version, Size: row.Size},
		ReceivedAt: at, Failures: len(row.Failures),
	}
	// Events of a bucket without versions have no version or "null". Two different versions are two objects.
	if row.Version == row.ScannedVersion || row.Version == "" || row.ScannedVersion == "" {
		u.Result, u.Threat = intake.ScanResult(row.Result), row.Threat
	}
	return u, nil
}
