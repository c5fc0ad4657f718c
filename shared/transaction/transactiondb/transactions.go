package transactiondb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sluice/shared/dynamo"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"sluice/shared/transaction"
)

// Store keeps accepted lines. Table: transaction (tenant + "#" + transaction_external_id) / version (binary: length
// and bytes of the modification ID, receipt time, batch ID), so that versions of one modification lie together, oldest
// first, and writing a line again writes the same item. Attribute names are short because most items should fit into one
// write unit of 1 KB: l the line number, m the role of the main entity, d the compressed text.
type Store struct {
	db    *dynamodb.Client
	table string
	enc   *zstd.Encoder
	dec   *zstd.Decoder
}

// maxText bounds what one stored line may unpack to; lines are far smaller (transaction.MaxLineBytes is a setting).
const maxText = 16 << 20

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) (*Store, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxText))
	return &Store{db, table, enc, dec}, err
}

// Put stores records, each under a key that follows from the record alone: doing it again changes nothing. The records of
// one call must differ in transaction or modification.
func (s *Store) Put(ctx context.Context, records []transaction.Record) error {
	items := make([]dynamo.Item, len(records))
	for i, r := range records {
		version, err := versionKey(r)
		if err != nil {
			return err
		}
		items[i] = dynamo.Item{
			"transaction": dynamo.String(r.Tenant + "#" + r.TransactionID),
			"version":     &types.AttributeValueMemberB{Value: version},
			"l":           dynamo.Number(r.Line),
			"m":           dynamo.Number(int64(r.MainEntity)),
			"d":           &types.AttributeValueMemberB{Value: s.enc.EncodeAll(r.Text, nil)},
		}
	}
	if err := dynamo.PutAll(ctx, s.db, s.table, items); err != nil {
		return fmt.Errorf("store transactions: %w", err)
	}
	return nil
}

// Versions calls yield with every stored version of a transaction, those of one modification together and oldest first,
// until it returns false. It begins behind the modification after; "" is the start.
func (s *Store) Versions(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Record) bool) error {
	return s.query(ctx, tenant, transactionID, after, nil, s.record, yield)
}

// Keys is Versions without lines: the records have neither Line nor MainEntity nor Text.
func (s *Store) Keys(ctx context.Context, tenant, transactionID, after string, yield func(transaction.Record) bool) error {
	return s.query(ctx, tenant, transactionID, after, aws.String("version"), keyRecord, yield)
}

func (s *Store) query(ctx context.Context, tenant, transactionID, after string, projection *string,
	read func(dynamo.Item) (transaction.Record, error), yield func(transaction.Record) bool) error {
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
		query.ExpressionAttributeValues[":after"] = &types.AttributeValueMemberB{Value: lastVersionKey(after)}
	}
	for pages := dynamodb.NewQueryPaginator(s.db, query); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("read transaction: %w", err)
		}
		for _, row := range page.Items {
			r, err := read(row)
			if err != nil {
				return err
			}
			r.Tenant, r.TransactionID = tenant, transactionID
			if !yield(r) {
				return nil
			}
		}
	}
	return nil
}

var errRow = errors.New("read transaction row: malformed")

func (s *Store) record(row dynamo.Item) (transaction.Record, error) {
	r, err := keyRecord(row)
	if err != nil {
		return r, err
	}
	line, ok1 := row["l"].(*types.AttributeValueMemberN)
	role, ok2 := row["m"].(*types.AttributeValueMemberN)
	data, ok3 := row["d"].(*types.AttributeValueMemberB)
	if !ok1 || !ok2 || !ok3 {
		return r, errRow
	}
	n, err1 := strconv.ParseInt(line.Value, 10, 64)
	m, err2 := strconv.ParseUint(role.Value, 10, 8)
	r.Line, r.MainEntity = n, transaction.Role(m)
	var err3 error
	r.Text, err3 = s.dec.DecodeAll(data.Value, nil)
	return r, errors.Join(err1, err2, err3)
}

func keyRecord(row dynamo.Item) (transaction.Record, error) {
	version, ok := row["version"].(*types.AttributeValueMemberB)
	if !ok {
		return transaction.Record{}, errRow
	}
	return parseVersionKey(version.Value)
}

const versionTail = 8 + 16 // receipt time in nanoseconds since 1970, batch ID

func versionKey(r transaction.Record) ([]byte, error) {
	id, err := uuid.Parse(r.Batch)
	if err != nil || len(r.Modification) > transaction.MaxIDBytes {
		return nil, fmt.Errorf("store transactions: batch %q or modification of %d bytes cannot be a key", r.Batch, len(r.Modification))
	}
	k := make([]byte, 0, 1+len(r.Modification)+versionTail)
	k = append(k, byte(len(r.Modification)))
	k = append(k, r.Modification...)
	k = binary.BigEndian.AppendUint64(k, uint64(r.ReceivedAt.UnixNano()))
	return append(k, id[:]...), nil
}

// lastVersionKey is not below the key of any version of a modification, and below those of every later modification.
func lastVersionKey(modification string) []byte {
	k := append([]byte{byte(len(modification))}, modification...)
	return append(k, bytes.Repeat([]byte{0xff}, versionTail)...)
}

func parseVersionKey(k []byte) (transaction.Record, error) {
	if len(k) < 1+versionTail || len(k) != 1+int(k[0])+versionTail {
		return transaction.Record{}, errRow
	}
	tail := k[1+int(k[0]):]
	return transaction.Record{
		Modification: string(k[1 : 1+int(k[0])]),
		ReceivedAt:   time.Unix(0, int64(binary.BigEndian.Uint64(tail))).UTC(),
		Batch:        uuid.UUID(tail[8:]).String(),
	}, nil
}
