package batchdb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// fileRow is the item of a file that was processed. Its ID is not the ID of a batch; its part is filePart.
type fileRow struct {
	ID   string `dynamodbav:"id"`
	Part string `dynamodbav:"part"`
	// Batch is the batch that was PROCESSED last with the file.
	Batch string `dynamodbav:"batch"`
	// Expires is when the file counts as processed no more, in seconds, for the table's time to live.
	Expires int64 `dynamodbav:"expires"`
}

const filePart = "file"

func fileKey(f batch.File) dynamo.Item {
	return key(batch.ID("file#"+f.Tenant+"#"+hex.EncodeToString(f.SHA256)), filePart)
}

// ProcessedAs reads the item of the file.
func (s *Store) ProcessedAs(ctx context.Context, f batch.File, now time.Time) (batch.ID, error) {
	row, err := s.readFile(ctx, f)
	if err != nil || row.Expires <= now.Unix() {
		return "", err
	}
	return batch.ID(row.Batch), nil
}

// readFile returns the item of a file, the zero row if it does not exist.
func (s *Store) readFile(ctx context.Context, f batch.File) (row fileRow, err error) {
	item, err := s.table.Get(ctx, fileKey(f))
	if err == nil {
		err = attributevalue.UnmarshalMap(item, &row)
	}
	if err != nil {
		return fileRow{}, fmt.Errorf("read who has processed a file: %w", err)
	}
	return row, nil
}

// maxFileWrites is how often a transition is tried while other batches with the same file make theirs.
const maxFileWrites = 20

// applyWithFile makes an update of a batch that becomes PROCESSED with a file, in one transaction with the item of the
// file: of batches that become PROCESSED at the same time, each one names the one before it.
func (s *Store) applyWithFile(ctx context.Context, id batch.ID, t batch.Transition, update dynamo.Write) (batch.Batch,
	error) {
	expires := t.At.Add(batch.DuplicateWindow).Unix()
	for range maxFileWrites {
		seen, err := s.readFile(ctx, *t.File)
		if err != nil {
			return batch.Batch{}, err
		}
		condition, values := dynamo.Absent, dynamo.Item{
			":batch": dynamo.String(string(id)), ":expires": dynamo.Number(expires),
		}
		if seen.Batch != "" {
			condition, values[":seen"] = "#batch = :seen", dynamo.String(seen.Batch)
		}
		file := s.table.Update(fileKey(*t.File), "SET #batch = :batch, expires = :expires", condition, values)
		named := update
		if seen.Batch != "" && seen.Expires > t.At.Unix() {
			named = s.namingDuplicate(*update.Update, seen.Batch)
		}
		if b, isLost, err := s.transact(ctx, id, t, named, file); !isLost {
			return b, err
		}
	}
	return batch.Batch{}, fmt.Errorf("transition of batch %s to %s: its file is being processed all the time", id, t.To)
}

// openFileRow is the item of a file that is being processed. Its ID is that of the fileRow; its part is openFilePart.
type openFileRow struct {
	// Batches are those that began to process the file, and perhaps have ended since.
	Batches []string `dynamodbav:"batches"`
}

const openFilePart = "open"

// applyOpening makes an update of a batch that begins to process a file, in one transaction with the item of the open
// file: of batches that begin at the same time, each one sees those before it.
func (s *Store) applyOpening(ctx context.Context, id batch.ID, t batch.Transition, update dynamo.Write) (batch.Batch,
	error) {
	item := fileKey(*t.Opens)
	item["part"] = dynamo.String(openFilePart)
	for range maxFileWrites {
		stored, open, err := s.openBatches(ctx, item, id)
		if err == nil && t.Alone {
			err = s.checkAlone(ctx, *t.Opens, open, t.At) // after the open ones: a batch is in one of the two
		}
		if err != nil {
			return batch.Batch{}, err
		}
		if t.To.IsTerminal() {
			return s.applyUpdate(ctx, id, t, update)
		}
		batches, err := attributevalue.Marshal(append(open, string(id)))
		if err != nil {
			return batch.Batch{}, err
		}
		condition, values := dynamo.Absent, dynamo.Item{
			":batches": batches, ":expires": dynamo.Number(t.At.Add(batch.DuplicateWindow).Unix()),
		}
		if stored != nil {
			condition, values[":stored"] = "batches = :stored", stored
		}
		file := s.table.Update(item, "SET batches = :batches, expires = :expires", condition, values)
		if b, isLost, err := s.transact(ctx, id, t, update, file); !isLost {
			return b, err
		}
	}
	return batch.Batch{}, fmt.Errorf("transition of batch %s to %s: its file is being opened all the time", id, t.To)
}

// openBatches returns what the item of an open file has stored, and those of its batches, without one, that are past
// their validation and have not ended.
func (s *Store) openBatches(ctx context.Context, item dynamo.Item, without batch.ID) (stored types.AttributeValue,
	open []string, err error) {
	found, err := s.table.Get(ctx, item)
	var row openFileRow
	if err == nil {
		err = attributevalue.UnmarshalMap(found, &row)
	}
	if err != nil || len(row.Batches) == 0 {
		return nil, nil, err
	}
	var ids []batch.ID
	for _, id := range row.Batches {
		ids = append(ids, batch.ID(id))
	}
	statuses, err := s.Statuses(ctx, ids)
	for _, id := range ids {
		if status := statuses[id]; id != without && status != "" && !status.IsTerminal() {
			open = append(open, string(id))
		}
	}
	return found["batches"], open, err
}

// checkAlone returns a *batch.FileTakenError if some batches process a file, or another one has processed it.
func (s *Store) checkAlone(ctx context.Context, f batch.File, open []string, now time.Time) error {
	if len(open) > 0 {
		return &batch.FileTakenError{By: batch.ID(open[0])}
	}
	by, err := s.ProcessedAs(ctx, f, now)
	if err == nil && by != "" {
		err = &batch.FileTakenError{By: by, IsProcessed: true}
	}
	return err
}

// namingDuplicate returns an update that also names the batch which had the same file, unless one is named already.
func (s *Store) namingDuplicate(u types.Update, of string) dynamo.Write {
	values := dynamo.Item{":previous": dynamo.String(of)}
	maps.Copy(values, u.ExpressionAttributeValues)
	return s.table.Update(u.Key, "SET duplicate_of = if_not_exists(duplicate_of, :previous), "+
		strings.TrimPrefix(*u.UpdateExpression, "SET "), *u.ConditionExpression, values)
}

// errFileChanged is returned inside the store if a file is not as it was read.
var errFileChanged = errors.New("batchdb: the file has changed")

// transact makes a transition of a batch together with the write of its file, and returns the batch after that. isLost
// reports that nothing was written because others have changed the file.
func (s *Store) transact(ctx context.Context, id batch.ID, t batch.Transition, update, file dynamo.Write) (
	b batch.Batch, isLost bool, err error) {
	err = s.table.Transact(ctx, fmt.Sprintf("transition of batch %s to %s", id, t.To), update, file.Or(errFileChanged))
	isMade := err == nil
	if !isMade && !errors.Is(err, dynamo.ErrRefused) {
		return batch.Batch{}, errors.Is(err, errFileChanged), err
	}
	if b, err = s.Get(ctx, id); err == nil {
		b, err = s.afterTransition(ctx, b, t, isMade)
	}
	return b, false, err
}
