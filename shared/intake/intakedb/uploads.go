package intakedb

import (
	"context"
	"errors"
	"fmt"
	"sluice/shared/dynamo"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/batch"
	"sluice/shared/upload"
)

// Store is the upload.Store on the table of batches: id (the object's key) / part ("upload#" and its ETag); index waiting:
// waiting / received_at, which only uploads that wait are in.
type Store struct {
	db    *dynamodb.Client
	table string
	now   func() time.Time
}

var _ upload.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string, now func() time.Time) *Store {
	return &Store{db, table, now}
}

// uploadLife is how long the table keeps a row: longer than the bucket keeps the object.
const uploadLife = 30 * 24 * time.Hour

const waitingScan = "scan"

// uploadRow is an upload as it lies in the table.
type uploadRow struct {
	Key        string   `dynamodbav:"id"`
	ETag       string   `dynamodbav:"etag"`
	Version    string   `dynamodbav:"version"`         // that S3 told
	ScannedOf  string   `dynamodbav:"scanned_version"` // that the result is about
	Size       int64    `dynamodbav:"size"`
	ReceivedAt string   `dynamodbav:"received_at"`
	Result     string   `dynamodbav:"result"`
	Threat     string   `dynamodbav:"threat"`
	Failures   []string `dynamodbav:"failures,stringset"` // ids of events
}

func uploadKey(key, etag string) dynamo.Item {
	return dynamo.Item{"id": dynamo.String(key), "part": dynamo.String("upload#" + etag)}
}

// Arrived records that the object is complete.
func (s *Store) Arrived(ctx context.Context, o batch.Object, at time.Time) (upload.Upload, error) {
	return s.update(ctx, uploadKey(o.Key, o.ETag), &dynamodb.UpdateItemInput{
		UpdateExpression: aws.String("SET received_at = if_not_exists(received_at, :at), waiting = :waiting, " +
			"etag = :etag, #version = :version, #size = :size, expires = :expires"),
		ExpressionAttributeNames: map[string]string{"#version": "version", "#size": "size"},
		ExpressionAttributeValues: dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(at)), ":waiting": dynamo.String(waitingScan), ":etag": dynamo.String(o.ETag), ":version": dynamo.String(o.Version),
			":size": dynamo.Number(o.Size), ":expires": s.expires(),
		},
	})
}

// Scanned records a result: a final one if it is the heaviest so far, another one as a failure.
func (s *Store) Scanned(ctx context.Context, r upload.Scanned) (upload.Upload, error) {
	in := &dynamodb.UpdateItemInput{
		UpdateExpression:         aws.String("SET etag = :etag, scanned_version = :version, expires = :expires, #result = :result, threat = :threat, weight = :weight"),
		ConditionExpression:      aws.String("attribute_not_exists(weight) OR weight < :weight"),
		ExpressionAttributeNames: map[string]string{"#result": "result"},
		ExpressionAttributeValues: dynamo.Item{
			":etag": dynamo.String(r.ETag), ":version": dynamo.String(r.Version), ":expires": s.expires(), ":result": dynamo.String(string(r.Result)),
			":threat": dynamo.String(r.Threat), ":weight": dynamo.Number(int64(r.Result.Weight())),
		},
	}
	if !r.Result.Final() {
		in = &dynamodb.UpdateItemInput{
			UpdateExpression: aws.String("SET etag = :etag, expires = :expires ADD failures :event"),
			ExpressionAttributeValues: dynamo.Item{
				":etag": dynamo.String(r.ETag), ":expires": s.expires(), ":event": &types.AttributeValueMemberSS{Value: []string{r.Event}},
			},
		}
	}
	return s.update(ctx, uploadKey(r.Key, r.ETag), in)
}

// update writes and returns the row after it; a row whose condition does not hold is returned as it is.
func (s *Store) update(ctx context.Context, key dynamo.Item, in *dynamodb.UpdateItemInput) (upload.Upload, error) {
	in.TableName, in.Key = &s.table, key
	in.ReturnValues = types.ReturnValueAllNew
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := s.db.UpdateItem(ctx, in)
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return unmarshalUpload(failed.Item)
	}
	if err != nil {
		return upload.Upload{}, fmt.Errorf("record upload: %w", err)
	}
	return unmarshalUpload(out.Attributes)
}

func (s *Store) expires() types.AttributeValue {
	return dynamo.Number(s.now().Add(uploadLife).Unix())
}

// Get reads an upload.
func (s *Store) Get(ctx context.Context, o batch.Object) (upload.Upload, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: uploadKey(o.Key, o.ETag), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return upload.Upload{}, fmt.Errorf("get upload: %w", err)
	}
	return unmarshalUpload(out.Item)
}

// Settled takes the upload out of the index.
func (s *Store) Settled(ctx context.Context, o batch.Object) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: uploadKey(o.Key, o.ETag), UpdateExpression: aws.String("REMOVE waiting"),
		ConditionExpression: aws.String("attribute_exists(part)"),
	})
	var gone *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("settle upload: %w", err)
	}
	return nil
}

// Waiting reads the index, oldest first.
func (s *Store) Waiting(ctx context.Context, before time.Time, f func(upload.Upload) error) error {
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("waiting"),
		KeyConditionExpression:    aws.String("waiting = :waiting AND received_at < :before"),
		ExpressionAttributeValues: dynamo.Item{":waiting": dynamo.String(waitingScan), ":before": dynamo.String(dynamo.FormatTime(before))},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list waiting uploads: %w", err)
		}
		for _, row := range page.Items {
			u, err := unmarshalUpload(row)
			if err == nil {
				err = f(u)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func unmarshalUpload(av dynamo.Item) (upload.Upload, error) {
	var row uploadRow
	if err := attributevalue.UnmarshalMap(av, &row); err != nil {
		return upload.Upload{}, fmt.Errorf("read upload row: %w", err)
	}
	at, err := dynamo.ParseTime(row.ReceivedAt)
	if err != nil {
		return upload.Upload{}, fmt.Errorf("read upload row: %w", err)
	}
	u := upload.Upload{
		Object:     batch.Object{Key: row.Key, ETag: row.ETag, Version: row.Version, Size: row.Size},
		ReceivedAt: at, Failures: len(row.Failures),
	}
	// A bucket without versions has none to tell, or tells "null". Two versions that differ are two objects.
	if row.Version == row.ScannedOf || row.Version == "" || row.ScannedOf == "" {
		u.Result, u.Threat = upload.Result(row.Result), row.Threat
	}
	return u, nil
}
