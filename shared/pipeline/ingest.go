package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/objects"
	"sluice/shared/transaction"
	"sluice/shared/transaction/scanner"
	"sluice/shared/validation"
)

// IngestOutput tells the state machine whether the chunk is done; if not, the row says where to go on.
type IngestOutput struct {
	Done bool `json:"done"`
}

type ingester interface {
	batches
	Chunk(ctx context.Context, id batch.ID, index int) (batch.Chunk, error)
	AdvanceCursor(ctx context.Context, id batch.ID, index int, i batch.IngestCursor) (batch.IngestCursor, error)
}

type transactions interface {
	Put(ctx context.Context, records []transaction.Record) error
}

// Ingest stores the accepted lines of one chunk. It judges nothing: what is accepted was decided by Settle.
type Ingest struct {
	Batches      ingester
	Transactions transactions
	Uploads      uploads
	Work         *objects.Bucket
	Budget       time.Duration // after which the cursor is handed on
	Now          Clock
	Log          *slog.Logger
}

// ingestWindow is how many lines are stored between two looks at the batch: what a dead batch can still write.
const ingestWindow = 1000

// Run is the state IngestChunk.
func (s *Ingest) Run(ctx context.Context, in ChunkInput) (IngestOutput, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (IngestOutput, error) {
		done, err := s.run(ctx, in)
		return IngestOutput{done}, err
	})
}

func (s *Ingest) run(ctx context.Context, in ChunkInput) (bool, error) {
	until := s.Now().Add(s.Budget)
	b, err := open(ctx, s.Batches, in.ID)
	if err != nil {
		return false, err
	}
	if b.Status == batch.Initialized { // the first chunk of all begins the processing
		if b, err = move(ctx, s.Batches, in.ID, batch.Transition{To: batch.InProgress, At: s.Now()}); err != nil {
			return false, err
		}
	}
	c, err := s.Batches.Chunk(ctx, in.ID, in.Index)
	if err != nil {
		return false, err
	}
	if c.Settled == nil {
		return false, fmt.Errorf("batch %s: chunk %d is not settled", in.ID, in.Index)
	}
	var at batch.IngestCursor
	if c.Ingested != nil {
		at = *c.Ingested
	}
	if at.Done {
		return true, nil
	}
	// A cursor behind the last accepted line may lie at the end of the chunk, where there is nothing to go on with.
	if at.Stored < c.Settled.Accepted {
		if at, err = s.store(ctx, b, c, at, until); err != nil || at.Done {
			return at.Done, err
		}
		if at.Stored < c.Settled.Accepted && s.Now().After(until) {
			return false, nil
		}
	}
	if at.Stored != c.Settled.Accepted {
		return false, fmt.Errorf("batch %s: chunk %d: %d of %d lines stored", in.ID, in.Index, at.Stored, c.Settled.Accepted)
	}
	at.Done, at.Offset, at.Line = true, c.Validated.Bytes, c.Validated.Lines
	_, err = s.Batches.AdvanceCursor(ctx, in.ID, in.Index, at)
	return true, err
}

// store writes the accepted lines from the cursor on, window by window, and returns how far it came: to the end of the
// chunk unless the time was up.
func (s *Ingest) store(ctx context.Context, b batch.Batch, c batch.Chunk, at batch.IngestCursor, until time.Time) (batch.IngestCursor, error) {
	accepted, err := s.accepted(ctx, c)
	if err != nil {
		return at, err
	}
	start, _ := b.Plan.Range(c.Index)
	options := chunk.Options{MaxLineBytes: int(b.MaxLineBytes)}
	if at.Line > 0 {
		options.Start = chunk.Position{Line: at.Line, Offset: start + at.Offset}
	}
	r := chunk.NewReader(ctx, pinned(b, s.Uploads), b.Plan, c.Index, options)
	defer r.Close()
	w := window{batch: b, scanner: newScanner(b), firstLine: c.Settled.FirstLine}
	for r.Next() {
		line := r.Line()
		if !accepted(line.Number) {
			continue
		}
		if err := w.add(line); err != nil {
			return at, err
		}
		if len(w.records) < ingestWindow {
			continue
		}
		if at, err = s.flush(ctx, &w, at); err != nil {
			return at, err
		}
		// Behind an accepted line, which is never a cut one, another line begins.
		at.Offset, at.Line = line.Offset+int64(len(line.Text))+1-start, line.Number+1
		if over, err := s.advance(ctx, b.ID, c.Index, &at); err != nil || over || s.Now().After(until) {
			return at, err
		}
	}
	if err := r.Err(); err != nil {
		return at, err
	}
	return s.flush(ctx, &w, at)
}

func (s *Ingest) flush(ctx context.Context, w *window, at batch.IngestCursor) (batch.IngestCursor, error) {
	if err := s.Transactions.Put(ctx, w.records); err != nil {
		return at, err
	}
	at.Stored += int64(len(w.records))
	w.records = w.records[:0]
	return at, nil
}

// advance records the cursor and looks whether the batch still lives. It reports whether another run has finished the
// chunk. Where another run is ahead, this one goes on all the same: both write the same items.
func (s *Ingest) advance(ctx context.Context, id batch.ID, index int, at *batch.IngestCursor) (bool, error) {
	furthest, err := s.Batches.AdvanceCursor(ctx, id, index, *at)
	if err != nil {
		return false, err
	}
	if furthest.Done {
		*at = furthest
		return true, nil
	}
	_, err = open(ctx, s.Batches, id)
	return false, err
}

// accepted returns which lines of a chunk are to be stored.
func (s *Ingest) accepted(ctx context.Context, c batch.Chunk) (func(line int64) bool, error) {
	if c.Settled.AcceptedKey == "" {
		return func(int64) bool { return true }, nil
	}
	body, err := s.Work.Open(ctx, c.Settled.AcceptedKey, "", 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	bitmap, err := validation.ReadBitmap(body, c.Validated.Lines)
	return bitmap.Accepted, err
}

// window collects the records of the lines that are stored together.
type window struct {
	batch     batch.Batch
	scanner   *scanner.Scanner
	firstLine int64
	records   []transaction.Record
}

// add takes a line over. Blank lines are none.
func (w *window) add(line *chunk.Line) error {
	r := w.scanner.Line(line.Text)
	if r.Blank {
		return nil
	}
	if r.TransactionExternalID == nil || r.ModificationID == nil {
		return fmt.Errorf("batch %s: accepted line %d has no identifiers", w.batch.ID, w.firstLine+line.Number)
	}
	w.records = append(w.records, transaction.Record{
		Tenant:        w.batch.Tenant,
		TransactionID: string(r.TransactionExternalID),
		Modification:  string(r.ModificationID),
		ReceivedAt:    w.batch.ReceivedAt,
		Batch:         string(w.batch.ID),
		Line:          w.firstLine + line.Number,
		MainEntity:    r.MainEntity,
		Text:          bytes.Clone(line.Text),
	})
	return nil
}
