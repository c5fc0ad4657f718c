package pipeline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/export"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Export writes the accepted lines of a processed batch into a file that analysts query. It is no state of the state
// machine: the row of the batch owes the file (decision 0031), and every reader of the row that notices it requests the
// export.
type Export struct {
	Batches exportedBatches
	Uploads uploads
	Work    *objects.Bucket
	// Files is where the files are. Nothing is there of a batch that is not PROCESSED.
	Files *objects.Bucket
	// Write writes a file. The same File must give the same bytes.
	Write func(ctx context.Context, w io.Writer, f export.File) error
	// Attempt names the invocation to which a context belongs. A retry of an invocation has the same name.
	Attempt func(context.Context) string
	// Lease is how long an invocation may take; after it, another one may export the same batch.
	Lease time.Duration
	Now   func() time.Time
	Log   *slog.Logger
}

type exportedBatches interface {
	// Chunks, ClaimExport and MarkExported are as in batch.Store.
	Chunks(ctx context.Context, id batch.ID) ([]batch.Chunk, error)
	ClaimExport(ctx context.Context, id batch.ID, attempt string, now, until time.Time) (batch.Batch, error)
	MarkExported(ctx context.Context, id batch.ID, key string) error
}

// exportPatience is how long an export whose lines cannot be read is tried again. Storage does not distinguish deleted
// objects from denied ones; after this time, work files are deleted.
const exportPatience = 7 * 24 * time.Hour

// errWorkGone means that the work files of a batch have expired.
var errWorkGone = errors.New("the work files of the settled chunks of the batch are gone")

// Run writes the file of a batch, unless that is done, or being done by another invocation. Repeating it writes the
// same file under the same key, so that it does not matter when it is interrupted.
func (s *Export) Run(ctx context.Context, in BatchInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		now := s.Now()
		b, err := s.Batches.ClaimExport(ctx, in.ID, s.Attempt(ctx), now, now.Add(s.Lease))
		if errors.Is(err, batch.ErrNothingToExport) {
			s.Log.DebugContext(ctx, "nothing to export", "batch", in.ID)
			return nil
		}
		if err != nil {
			return err
		}
		metric.SetProperty(ctx, "tenant", b.Tenant)
		key, err := s.export(ctx, b)
		isGone := errors.Is(err, errUploadChanged) || errors.Is(err, errWorkGone)
		if isGone && now.Sub(b.UpdatedAt) > exportPatience {
			s.Log.ErrorContext(ctx, "the export of a batch is given up", "batch", b.ID, "error", err)
			key, err = "", nil
		}
		if err != nil {
			return err
		}
		return s.Batches.MarkExported(ctx, b.ID, key)
	})
}

// export writes the file of a batch and returns its key.
func (s *Export) export(ctx context.Context, b batch.Batch) (key string, err error) {
	chunks, err := s.Batches.Chunks(ctx, b.ID)
	if err != nil {
		return "", err
	}
	file := export.File{Tenant: b.Tenant, Batch: string(b.ID), ReceivedAt: b.ReceivedAt}
	for i, c := range chunks {
		if c.Index != i || c.Validated == nil || c.Settled == nil {
			return "", errWorkGone
		}
		file.ChunkBytes = append(file.ChunkBytes, c.Validated.Bytes)
	}
	if len(chunks) != b.Plan.Count() {
		return "", errWorkGone // its rows expire after those of the upload
	}
	j := &job{Batch: b}
	file.Lines = func(ctx context.Context, index int, visit func(export.Line) error) error {
		return s.eachLine(ctx, j, chunks[index], visit)
	}
	key = export.Key(b.Tenant, string(b.ID), b.ReceivedAt)
	return key, s.Files.WriteObject(ctx, key, func(w io.Writer) error { return s.Write(ctx, w, file) })
}

// eachLine visits the accepted lines of a chunk.
func (s *Export) eachLine(ctx context.Context, j *job, c batch.Chunk, visit func(export.Line) error) error {
	if c.Settled.Accepted == 0 {
		return nil
	}
	isAccepted, err := AcceptedLines(s.Work)(ctx, c)
	if objects.IsGone(err) {
		err = errors.Join(errWorkGone, err)
	}
	if err != nil {
		return err
	}
	r := chunk.NewReader(ctx, pinnedUpload(j.Batch, s.Uploads), j.Plan, c.Index, chunk.Options{
		MaxLineBytes: int(j.MaxLineBytes), Lookahead: transaction.Lookahead,
	})
	defer r.Close()
	identities := j.newScanner()
	lines, size := int64(0), int64(0)
	for r.Next() {
		line := r.Line()
		if !isAccepted(line.Number) {
			continue
		}
		identity := identities.Identify(line.Text)
		if identity.Blank {
			continue
		}
		lines, size = lines+1, size+int64(len(line.Text))
		err := visit(export.Line{
			Number: c.Settled.FirstLine + line.Number, MainEntity: identity.MainEntity, Text: line.Text,
		})
		if err != nil {
			return err
		}
	}
	metric.Add(ctx, metric.Lines, lines)
	metric.Add(ctx, metric.Bytes, size)
	return r.Err()
}
