// Package transactiondb keeps the accepted lines of batches in DynamoDB.
package transactiondb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"sluice/shared/dynamo"
	"sluice/shared/transaction"
)

// Store keeps versions of modifications. It is safe for concurrent use. Its table has the keys
//
//	transaction   <tenant>#<transaction_external_id>
//	version       binary: length (1 byte) and bytes of the modification ID, receipt time in nanoseconds since 1970 (8 bytes,
//	              big-endian), batch ID (16 bytes)
//
// so that the versions of one modification are adjacent, oldest first, and storing a line again writes the same item. Attribute
// names are short because most items should fit into one write unit of 1 KB: l is the line number, m the role of the main entity, d
// the text, compressed with zstd.
type Store struct {
	db      *dynamodb.Client
	table   string
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// maxTextBytes limits the size of a decompressed line. It is far above the size of a line (setting MaxLineBytes).
const maxTextBytes = 16 << 20

// versionTail is the length of the receipt time and the batch ID in the key of a version.
const versionTail = 8 + 16

var errMalformedRow = errors.New("read transaction: malformed row")

// New returns the store on the given table. It fails only if the options of the compression are wrong.
func New(db *dynamodb.Client, table string) (*Store, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxTextBytes))
	return &Store{db, table, encoder, decoder}, err
}

// Put stores versions, which must differ in transaction or modification. The key and the content of an item follow from the version
// alone, so that repeating the call, also at the same time, changes nothing. After an error any of the versions may be stored.
func (s *Store) Put(ctx context.Context, versions []transaction.Version) error {
	items := make([]dynamo.Item, len(versions))
	for i, v := range versions {
		key, err := versionKey(v)
		if err != nil {
			return err
		}
		items[i] = dynamo.Item{
			"transaction": dynamo.String(v.Tenant + "#" + v.TransactionID),
			"version":     dynamo.Binary(key),
			"l":           dynamo.Number(v.Line),
			"m":           dynamo.Number(int64(v.MainEntity)),
			"d":           dynamo.Binary(s.encoder.EncodeAll(v.Text, nil)),
		}
	}
	if err := dynamo.PutAll(ctx, s.db, s.table, items); err != nil {
		return fmt.Errorf("store transactions: %w", err)
	}
	return nil
}

// ReadVersions calls yield with every stored version of a transaction until yield returns false: modification by modification, and
// the versions of one modification oldest first. It begins after the modification with the ID after; "" is the beginning.
func (s *Store) ReadVersions(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Version) bool) error {
	return s.query(ctx, tenant, transactionID, after, nil, s.unmarshalVersion, yield)
}

// ReadKeys is ReadVersions without the lines: the versions have neither Line nor MainEntity nor Text.
func (s *Store) ReadKeys(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Version) bool) error {
	return s.query(ctx, tenant, transactionID, after, aws.String("version"), unmarshalKey, yield)
}

func (s *Store) query(ctx context.Context, tenant, transactionID, after string, projection *string,
	unmarshal func(dynamo.Item) (transaction.Version, error), yield func(transaction.Version) bool) error {
	query := &dynamodb.QueryInput{
		TableName:                 &s.table,
		KeyConditionExpression:    aws.String("#t = :t"),
		ExpressionAttributeNames:  map[string]string{"#t": "transaction"},
		ExpressionAttributeValues: dynamo.Item{":t": dynamo.String(tenant + "#" + transactionID)},
		ConsistentRead:            aws.Bool(true),
		ProjectionExpression:      projection,
	}
	if after != "" {
		query.KeyConditionExpression = aws.String("#t = :t AND version > :after")
		query.ExpressionAttributeValues[":after"] = dynamo.Binary(lastVersionKey(after))
	}
	for pages := dynamodb.NewQueryPaginator(s.db, query); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("read transaction: %w", err)
		}
		for _, item := range page.Items {
			v, err := unmarshal(item)
			if err != nil {
				return err
			}
			v.Tenant, v.TransactionID = tenant, transactionID
			if !yield(v) {
				return nil
			}
		}
	}
	return nil
}

func (s *Store) unmarshalVersion(item dynamo.Item) (transaction.Version, error) {
	v, err := unmarshalKey(item)
	if err != nil {
		return v, err
	}
	text := dynamo.BinaryAttribute(item, "d")
	if item["l"] == nil || item["m"] == nil || text == nil {
		return v, errMalformedRow
	}
	v.Line, v.MainEntity = dynamo.NumberAttribute(item, "l"), transaction.Role(dynamo.NumberAttribute(item, "m"))
	if v.Text, err = s.decoder.DecodeAll(text, nil); err != nil {
		return v, fmt.Errorf("read transaction: %w", err)
	}
	return v, nil
}

func versionKey(v transaction.Version) ([]byte, error) {
	batchID, err := uuid.Parse(v.Batch)
	if err != nil || len(v.Modification) > transaction.MaxIDBytes {
		return nil, fmt.Errorf("store transactions: batch %q and a modification ID of %d bytes cannot form a key",
			v.Batch, len(v.Modification))
	}
	key := make([]byte, 0, 1+len(v.Modification)+versionTail)
	key = append(key, byte(len(v.Modification)))
	key = append(key, v.Modification...)
	key = binary.BigEndian.AppendUint64(key, uint64(v.ReceivedAt.UnixNano()))
	return append(key, batchID[:]...), nil
}

// lastVersionKey returns a key that no version of the modification is above, and that every version of a later modification is
// above.
func lastVersionKey(modification string) []byte {
	key := append([]byte{byte(len(modification))}, modification...)
	return append(key, bytes.Repeat([]byte{0xff}, versionTail)...)
}

// unmarshalKey is the inverse of versionKey.
func unmarshalKey(item dynamo.Item) (transaction.Version, error) {
	key := dynamo.BinaryAttribute(item, "version")
	if len(key) < 1+versionTail || len(key) != 1+int(key[0])+versionTail {
		return transaction.Version{}, errMalformedRow
	}
	modification, tail := key[1:1+int(key[0])], key[1+int(key[0]):]
	return transaction.Version{
		Modification: string(modification),
		ReceivedAt:   time.Unix(0, int64(binary.BigEndian.Uint64(tail))).UTC(),
		Batch:        uuid.UUID(tail[8:]).String(),
	}, nil
}
