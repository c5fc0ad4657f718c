// Package idempotencydb is the idempotency.Store on DynamoDB.
package idempotencydb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/access/idempotency"
	"sluice/shared/kit/dynamo"
)

// Store is the idempotency.Store. Its table has one item for each key; its partition key is the tenant, the path and
// the digest of the key's name, which clients may make of data of their own.
type Store struct{ table dynamo.Table }

var _ idempotency.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{dynamo.Table{DB: db, Name: table}} }

// recordRow is the item of a key.
type recordRow struct {
	ID string `dynamodbav:"id"`
	// Digest is the digest of the request.
	Digest []byte `dynamodbav:"digest"`
	// Creates is the ID of the object that the request creates, StartedAt the time of the first run.
	Creates   string `dynamodbav:"creates,omitempty"`
	StartedAt string `dynamodbav:"started_at"`
	Run       string `dynamodbav:"run"`
	// Until is missing once the run has ended.
	Until string `dynamodbav:"until,omitempty"`
	// Status and Body are the answer; Status is missing until there is one.
	Status int    `dynamodbav:"status,omitempty"`
	Body   []byte `dynamodbav:"body,omitempty"`
	// Expires is rounded up to seconds, for the table's time to live.
	Expires int64 `dynamodbav:"expires"`
}

func keyOf(k idempotency.Key) dynamo.Item {
	text := k.Name
	if k.Client != "" {
		text = k.Client + "\n" + text
	}
	name := sha256.Sum256([]byte(text))
	return dynamo.Item{"id": dynamo.String(k.Tenant + k.Path + "#" + hex.EncodeToString(name[:]))}
}

// Create puts the item, on the condition that no unexpired item exists.
func (s *Store) Create(ctx context.Context, k idempotency.Key, r idempotency.Record, now time.Time) (
	idempotency.Record, bool, error) {
	item, err := marshalRecord(k, r)
	if err != nil {
		return idempotency.Record{}, false, err
	}
	existing, err := s.table.Exchange(ctx, "store an idempotency key", s.table.Put(item,
		"attribute_not_exists(id) OR expires <= :now", dynamo.Item{":now": dynamo.Number(now.Unix())}))
	switch {
	case errors.Is(err, dynamo.ErrRefused):
		current, err := unmarshalRecord(existing)
		return current, false, err
	case err != nil:
		return idempotency.Record{}, false, err
	}
	return r, true, nil
}

// TakeOver updates the item, on the condition that it names the run seen and no status.
func (s *Store) TakeOver(ctx context.Context, k idempotency.Key, seen, run string, until time.Time) (
	idempotency.Record, bool, error) {
	item, err := s.table.Exchange(ctx, "take over an idempotency key", s.table.Update(keyOf(k),
		"SET #run = :run, #until = :until", "#run = :seen AND attribute_not_exists(#status)", dynamo.Item{
			":run": dynamo.String(run), ":until": dynamo.String(dynamo.FormatTime(until)), ":seen": dynamo.String(seen),
		}))
	isRefused := errors.Is(err, dynamo.ErrRefused)
	if err != nil && !isRefused {
		return idempotency.Record{}, false, err
	}
	current, err := unmarshalRecord(item)
	return current, err == nil && !isRefused, err
}

// Finish records the answer, on the condition that the item names the run.
func (s *Store) Finish(ctx context.Context, k idempotency.Key, run string, a idempotency.Answer) error {
	update := "SET #status = :status REMOVE #until"
	values := dynamo.Item{":status": dynamo.Number(int64(a.Status)), ":run": dynamo.String(run)}
	if a.Body != nil {
		update, values[":body"] = "SET #status = :status, body = :body REMOVE #until", dynamo.Binary(a.Body)
	}
	return s.table.Apply(ctx, "keep the answer to an idempotency key",
		s.table.Update(keyOf(k), update, "#run = :run", values).Or(idempotency.ErrLost))
}

// ownedWithoutAnswer is the condition that the item names a run and no status.
const ownedWithoutAnswer = "#run = :run AND attribute_not_exists(#status)"

// Release removes the time until which the run has the item.
func (s *Store) Release(ctx context.Context, k idempotency.Key, run string) error {
	return s.table.Apply(ctx, "release an idempotency key", s.table.Update(keyOf(k), "REMOVE #until",
		ownedWithoutAnswer, dynamo.Item{":run": dynamo.String(run)}).Or(nil))
}

// Forget deletes the item.
func (s *Store) Forget(ctx context.Context, k idempotency.Key, run string) error {
	return s.table.Apply(ctx, "forget an idempotency key", s.table.Delete(keyOf(k), ownedWithoutAnswer,
		dynamo.Item{":run": dynamo.String(run)}).Or(nil))
}

func marshalRecord(k idempotency.Key, r idempotency.Record) (dynamo.Item, error) {
	row := recordRow{
		ID: dynamo.StringAttribute(keyOf(k), "id"), Digest: r.Digest[:], Creates: r.Pinned.ID,
		StartedAt: dynamo.FormatTime(r.Pinned.StartedAt), Run: r.Run, Until: dynamo.FormatTime(r.Until),
		Expires: r.Expires.Add(time.Second - time.Nanosecond).Unix(),
	}
	if r.Answer != nil {
		row.Status, row.Body = r.Answer.Status, r.Answer.Body
	}
	return attributevalue.MarshalMap(row)
}

// unmarshalRecord reads an item. It returns the zero Record for none.
func unmarshalRecord(item dynamo.Item) (idempotency.Record, error) {
	if len(item) == 0 {
		return idempotency.Record{}, nil
	}
	var row recordRow
	if err := attributevalue.UnmarshalMap(item, &row); err != nil {
		return idempotency.Record{}, fmt.Errorf("read an idempotency key: %w", err)
	}
	r := idempotency.Record{
		Pinned: idempotency.Pinned{ID: row.Creates}, Run: row.Run, Expires: time.Unix(row.Expires, 0).UTC(),
	}
	copy(r.Digest[:], row.Digest)
	if row.Status != 0 {
		r.Answer = &idempotency.Answer{Status: row.Status, Body: row.Body}
	}
	var errs [2]error
	r.Pinned.StartedAt, errs[0] = dynamo.ParseTime(row.StartedAt)
	r.Until, errs[1] = dynamo.ParseTime(row.Until)
	return r, errors.Join(errs[:]...)
}
