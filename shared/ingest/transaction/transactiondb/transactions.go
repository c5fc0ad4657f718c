// Package transactiondb stores accepted lines in DynamoDB, both of batches and of single requests.
package transactiondb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/storedline"
	"sluice/shared/kit/dynamo"
)

// Store stores versions of modifications. It is safe for concurrent use. Its table has the keys
//
//	transaction   <tenant>#<transaction_external_id>
//	version       binary: length (1 byte) and bytes of the modification ID, receipt time in nanoseconds since 1970
//	              (8 bytes, big-endian), batch ID (16 bytes, all of them 0 for the line of a single request)
//
// so that the versions of one modification are adjacent, oldest first, and storing a line again writes the same item.
// The attribute d is the line in the form of package storedline. Items of earlier releases, which are never rewritten,
// have a bare frame as d, and beside it l, the number of the line, and m, the role of the main entity. A line that is
// stored again by a release with another dictionary gets another d, which says the same. A line that expires has the
// attribute expires, in seconds since 1970: DynamoDB deletes it within some days after that, and until then List
// returns it.
type Store struct {
	table dynamo.Table
	lines *storedline.Codec
	// calls has an element for each call of Put to the table that is under way or being prepared.
	calls chan struct{}
}

// versionTail is the length of the receipt time and the batch ID in the key of a version.
const versionTail = 8 + 16

var errMalformedRow = errors.New("read transaction: malformed row")

// New returns the store on the given table. It fails only if the program was built with broken dictionaries.
func New(db *dynamodb.Client, table string) (*Store, error) {
	lines, err := storedline.New()
	return &Store{dynamo.Table{DB: db, Name: table}, lines, make(chan struct{}, dynamo.Concurrency)}, err
}

// Put stores versions of batches, which must differ in transaction or modification. The key and the content of an item
// follow from the version alone, so that repeating the call, also at the same time, changes nothing. After an error any
// of the versions may be stored.
//
// Items are made when they are about to be sent, while others are on their way. All calls of Put on a store together
// have dynamo.Concurrency requests under way at once: one that begins before another has ended takes over what the
// other one no longer needs.
func (s *Store) Put(ctx context.Context, versions []transaction.Version) (refused int, err error) {
	var count atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for page := range slices.Chunk(versions, dynamo.MaxPutItems) {
		select {
		case s.calls <- struct{}{}:
		case <-ctx.Done(): // a page failed, or the caller has given up
			return 0, cmp.Or(g.Wait(), context.Cause(ctx))
		}
		g.Go(func() error {
			defer func() { <-s.calls }()
			refused, err := s.putPage(ctx, page)
			count.Add(int64(refused))
			return err
		})
	}
	err = g.Wait()
	return int(count.Load()), err
}

// putPage is Put for at most dynamo.MaxPutItems versions.
func (s *Store) putPage(ctx context.Context, versions []transaction.Version) (refused int, err error) {
	items := make([]dynamo.Item, len(versions))
	for i, v := range versions {
		if v.IsSingle() {
			return 0, errors.New("store transactions: a version has no batch")
		}
		item, err := s.marshalVersion(v)
		if err != nil {
			return 0, err
		}
		items[i] = item
	}
	if refused, err = dynamo.PutPage(ctx, s.table.DB, s.table.Name, items); err != nil {
		return refused, fmt.Errorf("store transactions: %w", err)
	}
	return refused, nil
}

// Add stores the version of a single request, on the condition that no single request stored another one for the same
// modification and receipt time: then it returns transaction.ErrExists and changes nothing. Repeating the call with the
// same version succeeds.
func (s *Store) Add(ctx context.Context, v transaction.Version) error {
	if !v.IsSingle() {
		return errors.New("store transaction: the version has a batch")
	}
	item, err := s.marshalVersion(v)
	if err != nil {
		return err
	}
	existing, err := s.table.Exchange(ctx, "store transaction",
		s.table.Put(item, "attribute_not_exists(#transaction) OR d = :d", dynamo.Item{":d": item["d"]}))
	if errors.Is(err, dynamo.ErrRefused) {
		return s.compareText(existing, v)
	}
	return err
}

// compareText returns nil if an item has the text of a version: a release with another form or dictionary stored it.
// Otherwise it returns transaction.ErrExists.
func (s *Store) compareText(item dynamo.Item, v transaction.Version) error {
	existing, err := s.unmarshalVersion(item, v.TransactionID)
	if err != nil {
		return err
	}
	if !bytes.Equal(existing.Text, v.Text) {
		return transaction.ErrExists
	}
	return nil
}

// List returns the first versions of a range, as of every write acknowledged before, and whether there may be more. It
// may return fewer than the limit although there are more.
func (s *Store) List(ctx context.Context, r transaction.Range) ([]transaction.Version, bool, error) {
	query := s.table.Select("#transaction = :t", dynamo.Item{":t": dynamo.String(r.Tenant + "#" + r.TransactionID)})
	query.Limit = aws.Int32(int32(r.Limit))
	if r.KeysOnly {
		query.ProjectionExpression = aws.String("version, expires")
	}
	if err := selectRange(query, r); err != nil {
		return nil, false, err
	}
	page, err := s.table.DB.Query(ctx, query)
	if err != nil {
		return nil, false, fmt.Errorf("read transaction: %w", err)
	}
	versions := make([]transaction.Version, len(page.Items))
	for i, item := range page.Items {
		if r.KeysOnly {
			versions[i], err = unmarshalKey(item)
		} else {
			versions[i], err = s.unmarshalVersion(item, r.TransactionID)
		}
		if err != nil {
			return nil, false, err
		}
		versions[i].Tenant, versions[i].TransactionID = r.Tenant, r.TransactionID
	}
	return versions, page.LastEvaluatedKey != nil, nil
}

// Find returns those of some versions that are stored, each once and in any order, as of every write acknowledged
// before. With keysOnly it leaves out what Range.KeysOnly does. Versions that have expired may be among them.
func (s *Store) Find(ctx context.Context, wanted []transaction.Version, keysOnly bool) ([]transaction.Version, error) {
	var keys []dynamo.Item
	isWanted := map[string]bool{}
	for _, v := range wanted {
		key, err := versionKey(v)
		if err != nil {
			return nil, err
		}
		owner := v.Tenant + "#" + v.TransactionID
		if name := owner + string(key); !isWanted[name] {
			isWanted[name] = true
			keys = append(keys, dynamo.Item{"transaction": dynamo.String(owner), "version": dynamo.Binary(key)})
		}
	}
	var attributes []string
	if keysOnly {
		attributes = []string{"transaction", "version", "expires"}
	}
	items, err := s.table.GetAll(ctx, keys, attributes...)
	if err != nil {
		return nil, fmt.Errorf("read transactions: %w", err)
	}
	found := make([]transaction.Version, len(items))
	for i, item := range items {
		tenant, id, _ := strings.Cut(dynamo.StringAttribute(item, "transaction"), "#")
		if keysOnly {
			found[i], err = unmarshalKey(item)
		} else {
			found[i], err = s.unmarshalVersion(item, id)
		}
		if err != nil {
			return nil, err
		}
		found[i].Tenant, found[i].TransactionID = tenant, id
	}
	return found, nil
}

// selectRange adds the condition on the sort key, and the direction, of a range.
func selectRange(query *dynamodb.QueryInput, r transaction.Range) error {
	if r.Modification == "" {
		if r.After != "" {
			query.KeyConditionExpression = aws.String("#transaction = :t AND version > :after")
			query.ExpressionAttributeValues[":after"] = dynamo.Binary(boundaryKey(r.After, 0xff))
		}
		return nil
	}
	last := boundaryKey(r.Modification, 0xff)
	if r.Before != nil {
		before := *r.Before
		before.Modification = r.Modification
		key, err := versionKey(before)
		if err != nil {
			return err
		}
		last = precedingKey(key)
	}
	query.KeyConditionExpression = aws.String("#transaction = :t AND version BETWEEN :first AND :last")
	query.ExpressionAttributeValues[":first"] = dynamo.Binary(boundaryKey(r.Modification, 0))
	query.ExpressionAttributeValues[":last"] = dynamo.Binary(last)
	query.ScanIndexForward = aws.Bool(false)
	return nil
}

// ItemSize returns the size of the item that stores a version, as DynamoDB counts it. It needs no database.
func (s *Store) ItemSize(v transaction.Version) (int, error) {
	item, err := s.marshalVersion(v)
	return dynamo.ItemSize(item), err
}

func (s *Store) marshalVersion(v transaction.Version) (dynamo.Item, error) {
	key, err := versionKey(v)
	if err != nil {
		return nil, err
	}
	item := dynamo.Item{
		"transaction": dynamo.String(v.Tenant + "#" + v.TransactionID),
		"version":     dynamo.Binary(key),
		"d": dynamo.Binary(s.lines.Encode(storedline.Line{
			TransactionID: v.TransactionID, ModificationID: v.Modification,
			Number: v.Line, MainEntity: v.MainEntity, Text: v.Text,
		})),
	}
	if !v.Expires.IsZero() {
		item["expires"] = dynamo.Number(v.Expires.Unix())
	}
	return item, nil
}

// unmarshalVersion returns the version that an item of any release stores.
func (s *Store) unmarshalVersion(item dynamo.Item, transactionID string) (transaction.Version, error) {
	v, err := unmarshalKey(item)
	if err != nil {
		return v, err
	}
	stored := dynamo.BinaryAttribute(item, "d")
	l, err := s.lines.Decode(stored, transactionID, v.Modification)
	if err != nil {
		return v, fmt.Errorf("read transaction: %w", err)
	}
	v.Line, v.MainEntity, v.Text = l.Number, l.MainEntity, l.Text
	if storedline.IsFrame(stored) {
		if item["l"] == nil || item["m"] == nil {
			return v, errMalformedRow
		}
		v.Line, v.MainEntity = dynamo.NumberAttribute(item, "l"), transaction.Role(dynamo.NumberAttribute(item, "m"))
	}
	return v, nil
}

func versionKey(v transaction.Version) ([]byte, error) {
	var batchID uuid.UUID
	var err error
	if !v.IsSingle() {
		batchID, err = uuid.Parse(v.Batch)
	}
	if err != nil || len(v.Modification) > transaction.MaxIDBytes {
		return nil, fmt.Errorf("transaction: batch %q and a modification ID of %d bytes cannot form a key",
			v.Batch, len(v.Modification))
	}
	key := make([]byte, 0, 1+len(v.Modification)+versionTail)
	key = append(key, byte(len(v.Modification)))
	key = append(key, v.Modification...)
	key = binary.BigEndian.AppendUint64(key, uint64(v.ReceivedAt.UnixNano()))
	return append(key, batchID[:]...), nil
}

// boundaryKey returns the first (fill 0) or the last (fill 0xff) key that a version of the modification can have.
func boundaryKey(modification string, fill byte) []byte {
	key := append([]byte{byte(len(modification))}, modification...)
	return append(key, bytes.Repeat([]byte{fill}, versionTail)...)
}

// precedingKey returns the greatest key of the same length that is less than key. The key of a version has a time, and
// so is never all zeros after its modification.
func precedingKey(key []byte) []byte {
	key = bytes.Clone(key)
	for i := len(key) - 1; i >= 0; i-- {
		key[i]--
		if key[i] != 0xff {
			break
		}
	}
	return key
}

// unmarshalKey returns the key of the version of an item, the inverse of versionKey, and its expiry.
func unmarshalKey(item dynamo.Item) (transaction.Version, error) {
	key := dynamo.BinaryAttribute(item, "version")
	if len(key) < 1+versionTail || len(key) != 1+int(key[0])+versionTail {
		return transaction.Version{}, errMalformedRow
	}
	modification, tail := key[1:1+int(key[0])], key[1+int(key[0]):]
	v := transaction.Version{
		Modification: string(modification),
		ReceivedAt:   time.Unix(0, int64(binary.BigEndian.Uint64(tail))).UTC(),
	}
	if item["expires"] != nil {
		v.Expires = time.Unix(dynamo.NumberAttribute(item, "expires"), 0).UTC()
	}
	if batchID := uuid.UUID(tail[8:]); batchID != uuid.Nil {
		v.Batch = batchID.String()
	}
	return v, nil
}
