// Package intakedb is the intake.UploadStore on DynamoDB.
package intakedb

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

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
	table dynamo.Table
	now   func() time.Time
}

var _ intake.UploadStore = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string, now func() time.Time) *Store {
	return &Store{dynamo.Table{DB: db, Name: table}, now}
}

// retention is how long the table keeps an item: longer than the bucket keeps the object.
const retention = 30 * 24 * time.Hour

// waitingForScan begins the value of the attribute waiting, which is absent from an upload that is not waiting. A shard
// follows, so that no partition of the index takes all writes. Earlier releases wrote no digit.
const waitingForScan = "scan"

// waitingValue returns the value of the attribute waiting of an upload.
func waitingValue(key string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key))
	return waitingForScan + string(dynamo.Shards[sum.Sum32()%uint32(len(dynamo.Shards))])
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
	return s.update(ctx, uploadKey(o.Key, o.ETag),
		"SET received_at = if_not_exists(received_at, :at), waiting = :waiting, etag = :etag, #version = :version, "+
			"#size = :size, expires = :expires", "", dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(at)), ":waiting": dynamo.String(waitingValue(o.Key)),
			":etag": dynamo.String(o.ETag), ":version": dynamo.String(o.Version), ":size": dynamo.Number(o.Size),
			":expires": s.expires(),
		})
}

// RecordScan records a final result, on the condition that it is the most severe so far, or else a failure.
func (s *Store) RecordScan(ctx context.Context, r intake.ScanReport) (intake.Upload, error) {
	key, values := uploadKey(r.Key, r.ETag), dynamo.Item{":etag": dynamo.String(r.ETag), ":expires": s.expires()}
	if !r.Result.IsFinal() {
		values[":event"] = &types.AttributeValueMemberSS{Value: []string{r.Event}}
		return s.update(ctx, key, "SET etag = :etag, expires = :expires ADD failures :event", "", values)
	}
	values[":version"], values[":result"] = dynamo.String(r.Version), dynamo.String(string(r.Result))
	values[":threat"], values[":weight"] = dynamo.String(r.Threat), dynamo.Number(int64(r.Result.Severity()))
	return s.update(ctx, key, "SET etag = :etag, scanned_version = :version, expires = :expires, #result = :result, "+
		"threat = :threat, weight = :weight", "attribute_not_exists(weight) OR weight < :weight", values)
}

// update makes an update and returns the upload after it. If the condition of the update does not hold, it returns the
// upload as it is.
func (s *Store) update(ctx context.Context, key dynamo.Item, update, condition string, values dynamo.Item) (
	intake.Upload, error) {
	item, err := s.table.Exchange(ctx, "record upload", s.table.Update(key, update, condition, values).Or(nil))
	if err != nil {
		return intake.Upload{}, err
	}
	return unmarshalUpload(item)
}

func (s *Store) expires() types.AttributeValue {
	return dynamo.Number(s.now().Add(retention).Unix())
}

// Get returns an upload.
func (s *Store) Get(ctx context.Context, o batch.Object) (intake.Upload, error) {
	item, err := s.table.Get(ctx, uploadKey(o.Key, o.ETag))
	if err != nil {
		return intake.Upload{}, fmt.Errorf("get upload: %w", err)
	}
	return unmarshalUpload(item)
}

// StopWaiting removes an upload from the index.
func (s *Store) StopWaiting(ctx context.Context, o batch.Object) error {
	return s.table.Apply(ctx, "stop waiting for upload",
		s.table.Update(uploadKey(o.Key, o.ETag), "REMOVE waiting", dynamo.Present, nil).Or(nil))
}

// EachWaiting reads the index, one shard after the other, and at first what earlier releases wrote.
func (s *Store) EachWaiting(ctx context.Context, before time.Time, visit func(intake.Upload) error) error {
	for i := -1; i < len(dynamo.Shards); i++ {
		value := waitingForScan
		if i >= 0 {
			value += dynamo.Shards[i : i+1]
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
	query := s.table.SelectIn("waiting", "waiting = :waiting AND received_at < :before", dynamo.Item{
		":waiting": dynamo.String(value), ":before": dynamo.String(dynamo.FormatTime(before)),
	})
	for row, err := range s.table.Query(ctx, query) {
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
