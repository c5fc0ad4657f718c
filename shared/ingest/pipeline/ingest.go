package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Ingest is the step of the state IngestChunk: it stores the accepted lines of one chunk and records in the chunk's
// cursor how far that is. It judges nothing: Settle has decided which lines are accepted.
type Ingest struct {
	Batches      batch.JobStore
	Transactions transactions
	Uploads      uploads
	Work         *objects.Bucket
	// Slots learns when the table of transactions refuses writes.
	Slots interface {
		ReportRefused(ctx context.Context) error
	}
	// Budget is the time after which a run returns, so that the next run resumes at the cursor.
	Budget time.Duration
	Now    func() time.Time
	Log    *slog.Logger
}

type transactions interface {
	// Put stores versions of lines. Storing one again replaces it by itself. It returns how many writes the table
	// refused at first, because of its rate.
	Put(ctx context.Context, versions []transaction.Version) (refused int, err error)
}

// IngestOutput tells the state machine whether the chunk is done. If it is not, the state machine runs the step again.
type IngestOutput struct {
	Done bool `json:"done"`
}

// windowLines is how many lines are stored before the cursor is advanced and the status of the batch is checked. Two
// windows are stored at the same time, which bounds the writes for a batch that has failed meanwhile.
const windowLines = 1000

// Run stores the accepted lines of a chunk from its cursor on.
func (s *Ingest) Run(ctx context.Context, in ChunkInput) (IngestOutput, error) {
	return runStep(ctx, s.Log, in.ID, func(ctx context.Context) (IngestOutput, error) {
		done, err := s.run(ctx, in)
		return IngestOutput{done}, err
	})
}

func (s *Ingest) run(ctx context.Context, in ChunkInput) (done bool, err error) {
	end := s.Now().Add(s.Budget)
	j, err := openJob(ctx, s.Batches, in.ID)
	if err != nil {
		return false, err
	}
	if err := s.begin(ctx, j); err != nil {
		return false, err
	}
	c, err := j.validatedChunk(ctx, in.Index)
	if err != nil {
		return false, err
	}
	if c.Settled == nil {
		return false, fmt.Errorf("batch %s: chunk %d is not settled", in.ID, in.Index)
	}
	var cursor batch.IngestCursor
	if c.Ingested != nil {
		cursor = *c.Ingested
	}
	if cursor.Done {
		return true, nil
	}
	// A cursor after the last accepted line may be at the end of the chunk, from where nothing must be read.
	if cursor.Stored < c.Settled.Accepted {
		if cursor, err = s.storeLines(ctx, j, c, cursor, end); err != nil || cursor.Done {
			return cursor.Done, err
		}
		if cursor.Stored < c.Settled.Accepted && s.Now().After(end) {
			return false, nil
		}
	}
	if cursor.Stored != c.Settled.Accepted {
		return false, fmt.Errorf("batch %s: chunk %d: %d of %d lines are stored", in.ID, in.Index, cursor.Stored,
			c.Settled.Accepted)
	}
	cursor.Done, cursor.Offset, cursor.Line = true, c.Validated.Bytes, c.Validated.Lines
	_, err = s.Batches.AdvanceCursor(ctx, in.ID, in.Index, cursor)
	return true, err
}

// begin makes the transitions by which the first chunk to arrive here begins ingestion.
func (s *Ingest) begin(ctx context.Context, j *job) error {
	for _, next := range []batch.Status{batch.Initialized, batch.InProgress} {
		if !j.Status.CanTransitionTo(next) {
			continue
		}
		if err := j.transition(ctx, batch.Transition{To: next, At: s.Now()}); err != nil {
			return err
		}
	}
	return nil
}

// storeLines stores the accepted lines from the cursor on, window by window, until the end of the chunk or of the time,
// and returns the cursor after the last line stored. While one window is stored and recorded, the next one is already
// being stored and the one after that is read, so that the table always has something to do.
func (s *Ingest) storeLines(ctx context.Context, j *job, c batch.Chunk, cursor batch.IngestCursor,
	end time.Time) (batch.IngestCursor, error) {
	isAccepted, err := AcceptedLines(s.Work)(ctx, c)
	if err != nil {
		return cursor, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	windows, from := make(chan window), cursor
	reporter := refusalReporter{Ingest: s}
	var readErr error // valid once windows is closed
	running.Go(func() {
		defer close(windows)
		readErr = s.readWindows(ctx, j, c, from, isAccepted, windows)
	})
	var earlier *storing
	for w := range windows {
		if earlier != nil && s.Now().After(end) {
			err := s.record(ctx, j, c.Index, earlier, &cursor)
			return cursor, err
		}
		next := &storing{window: w, stored: make(chan error, 1)}
		running.Go(func() {
			refused, err := s.Transactions.Put(ctx, w.versions)
			if refused > len(w.versions)/10 {
				reporter.report(ctx)
			}
			next.stored <- err
		})
		if err := s.record(ctx, j, c.Index, earlier, &cursor); err != nil || cursor.Done {
			return cursor, err
		}
		earlier = next
	}
	if err := s.record(ctx, j, c.Index, earlier, &cursor); err != nil || cursor.Done {
		return cursor, err
	}
	return cursor, readErr
}

// readWindows reads the accepted lines from a cursor on to the end of the chunk and passes them on, until the context
// ends. All windows but the last are full.
func (s *Ingest) readWindows(ctx context.Context, j *job, c batch.Chunk, from batch.IngestCursor,
	isAccepted func(line int64) bool, windows chan<- window) error {
	start, _ := j.Plan.Range(c.Index)
	options := chunk.Options{MaxLineBytes: int(j.MaxLineBytes)}
	if from.Line > 0 {
		options.Start = chunk.Position{Line: from.Line, Offset: start + from.Offset}
	}
	r := chunk.NewReader(ctx, pinnedUpload(j.Batch, s.Uploads), j.Plan, c.Index, options)
	defer r.Close()
	pass := func(w window) error {
		select {
		case windows <- w:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	maker := versionMaker{batch: j.Batch, scanner: j.newScanner(), firstLine: c.Settled.FirstLine}
	var w window
	for r.Next() {
		line := r.Line()
		if !isAccepted(line.Number) {
			continue
		}
		var err error
		if w.versions, err = maker.appendVersion(w.versions, line); err != nil {
			return err
		}
		if len(w.versions) < windowLines {
			continue
		}
		// An accepted line is never a cut one, so the next line begins after its line feed.
		w.isFull, w.endOffset, w.endLine = true, line.Offset+int64(len(line.Text))+1-start, line.Number+1
		if err := pass(w); err != nil {
			return err
		}
		w = window{}
	}
	if err := r.Err(); err != nil || len(w.versions) == 0 {
		return err
	}
	return pass(w)
}

// refusalReporter reports that the table refuses writes, once in reportPause. It is safe for concurrent use.
type refusalReporter struct {
	*Ingest
	mu       sync.Mutex
	reported time.Time
}

const reportPause = 5 * time.Second

// report logs an error: the next report makes up for it.
func (r *refusalReporter) report(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	if now.Sub(r.reported) < reportPause {
		return
	}
	r.reported = now
	if err := r.Slots.ReportRefused(ctx); err != nil {
		r.Log.WarnContext(ctx, "refused writes cannot be reported", "error", err)
	}
}

// storing is a window that is being stored.
type storing struct {
	window
	// stored gets the result.
	stored chan error
}

// record waits until a window is stored, counts it in the cursor and, unless it is the last one, records the cursor. It
// does nothing if there is no window.
func (s *Ingest) record(ctx context.Context, j *job, index int, w *storing, cursor *batch.IngestCursor) error {
	if w == nil {
		return nil
	}
	if err := <-w.stored; err != nil {
		return err
	}
	cursor.Stored += int64(len(w.versions))
	metric.Add(ctx, metric.Lines, int64(len(w.versions)))
	metric.Add(ctx, metric.Bytes, w.bytes())
	if !w.isFull { // the last one; the end of the chunk is recorded with it
		return nil
	}
	cursor.Offset, cursor.Line = w.endOffset, w.endLine
	return s.advance(ctx, j, index, cursor)
}

// advance records the cursor and checks that the batch is still open. If another run has finished the chunk, its
// cursor, which is done, replaces this one. If another run is only further, this one continues: both store the same
// versions.
func (s *Ingest) advance(ctx context.Context, j *job, index int, cursor *batch.IngestCursor) error {
	furthest, err := s.Batches.AdvanceCursor(ctx, j.ID, index, *cursor)
	if err != nil {
		return err
	}
	if furthest.Done {
		*cursor = furthest
		return nil
	}
	return j.checkOpen(ctx)
}

// window is the versions that are stored together.
type window struct {
	versions []transaction.Version
	// isFull means that there may be more lines. They begin after endOffset bytes and endLine lines of the chunk.
	isFull             bool
	endOffset, endLine int64
}

// bytes returns the length of the lines of the window.
func (w *window) bytes() int64 {
	var n int64
	for _, v := range w.versions {
		n += int64(len(v.Text))
	}
	return n
}

// versionMaker makes the versions of the lines of a chunk.
type versionMaker struct {
	batch     batch.Batch
	scanner   *scanner.Scanner
	firstLine int64
}

// appendVersion appends the version of an accepted line, and nothing for a blank line.
func (m *versionMaker) appendVersion(versions []transaction.Version, line *chunk.Line) ([]transaction.Version, error) {
	identity := m.scanner.Identify(line.Text)
	if identity.Blank {
		return versions, nil
	}
	if identity.TransactionExternalID == nil || identity.ModificationID == nil {
		return nil, fmt.Errorf("batch %s: accepted line %d has no identifiers", m.batch.ID, m.firstLine+line.Number)
	}
	return append(versions, transaction.Version{
		Tenant:        m.batch.Tenant,
		TransactionID: string(identity.TransactionExternalID),
		Modification:  string(identity.ModificationID),
		ReceivedAt:    m.batch.ReceivedAt,
		Batch:         string(m.batch.ID),
		Expires:       m.batch.Settings.ExpiryOf(m.batch.ReceivedAt),
		Line:          m.firstLine + line.Number,
		MainEntity:    identity.MainEntity,
		Text:          bytes.Clone(line.Text),
	}), nil
}
