package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/receipt"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Digest is the step of the states DigestFile and DigestAccepted, which read the file from its start to its end and
// commit digests of it, for its receipt: while the chunks are validated, the digests of the file and of all its lines;
// and for a batch some of whose lines are accepted and others are not, that of the accepted ones, once it is known
// which they are.
type Digest struct {
	Batches batch.JobStore
	Uploads uploads
	Work    *objects.Bucket
	Log     *slog.Logger
}

// DigestInput is the input of the states DigestFile and DigestAccepted.
type DigestInput struct {
	ID batch.ID `json:"batch_id"`
	// Accepted means that the accepted lines are to be read, and no others.
	Accepted bool `json:"accepted"`
}

// readAhead hides the latency of storage, and the rate of a single stream, which is lower than the rate of the network
// of a function: four streams, and 32 MiB of memory. The digest itself is computed as fast as ten of them deliver.
var readAhead = chunk.ReadAhead{PartBytes: 8 << 20, Parts: 4}

// NotAnnounced reports that the checksum of the uploaded file is not the one that the client has announced. No retry
// can help.
type NotAnnounced struct{ Message string }

// Error implements error.
func (e *NotAnnounced) Error() string { return e.Message }

// errNotAnnounced means that the file has another checksum than the announced one.
var errNotAnnounced = errors.New("the checksum of the file is not the announced one")

// Run commits the digests of a file, or of its accepted lines. It reads nothing if they are committed.
func (s *Digest) Run(ctx context.Context, in DigestInput) (struct{}, error) {
	return runAction(ctx, s.Log, in.ID, func(ctx context.Context) error {
		j, err := openJob(ctx, s.Batches, in.ID)
		if err != nil {
			return err
		}
		if in.Accepted {
			err = s.digestAccepted(ctx, j)
		} else {
			err = s.digestFile(ctx, j)
		}
		if conflict, ok := errors.AsType[*batch.ConflictError](err); ok && conflict.Current.Status.IsTerminal() {
			return errOver(conflict.Current)
		}
		return err
	})
}

// digestFile commits the digests of the whole file, and then compares them with the announced ones, so that the receipt
// describes the received file in either case.
func (s *Digest) digestFile(ctx context.Context, j *job) error {
	sum := j.FileSHA256
	if sum == nil {
		d := receipt.NewDigest(nil)
		sums, err := s.read(ctx, j, d)
		if err != nil {
			return err
		}
		committed, err := s.Batches.CommitFileDigests(ctx, j.ID,
			batch.FileDigests{FileSHA256: sums.File, LinesSHA256: sums.Lines})
		if err != nil {
			return err
		}
		sum = committed.FileSHA256
	}
	// The announced digest of a packed file is compared where it is unpacked.
	if want := j.Declared.SHA256; want != nil && j.Source() == j.Object && !bytes.Equal(want, sum) {
		return errNotAnnounced
	}
	return nil
}

// digestAccepted commits the digest of the accepted lines.
func (s *Digest) digestAccepted(ctx context.Context, j *job) error {
	if j.AcceptedSHA256 != nil {
		return nil
	}
	chunks, err := j.validatedChunks(ctx)
	if err != nil {
		return err
	}
	accepted := int64(0)
	for _, c := range chunks {
		if c.Settled == nil {
			return fmt.Errorf("batch %s: chunk %d is not settled", j.ID, c.Index)
		}
		accepted += c.Settled.Accepted
	}
	filter := lineFilter{ctx: ctx, work: s.Work, chunks: chunks}
	sums, err := s.read(ctx, j, receipt.NewLineDigest(filter.accepts))
	if err := errors.Join(err, filter.err); err != nil {
		return err
	}
	if sums.LineCount != accepted {
		return fmt.Errorf("batch %s: %d accepted lines were read, want %d", j.ID, sums.LineCount, accepted)
	}
	_, err = s.Batches.CommitAcceptedDigest(ctx, j.ID, sums.Lines)
	return err
}

// read writes the whole file to a digest.
func (s *Digest) read(ctx context.Context, j *job, d *receipt.Digest) (receipt.Sums, error) {
	file := readAhead.Open(ctx, pinnedUpload(j.Batch, s.Uploads), j.Source().Size)
	defer file.Close()
	if _, err := io.Copy(d, file); err != nil {
		return receipt.Sums{}, err
	}
	sums := d.Sum()
	metric.Add(ctx, metric.Lines, sums.LineCount)
	metric.Add(ctx, metric.Bytes, sums.Bytes)
	return sums, nil
}

// lineFilter knows which lines of a file are accepted. It is asked for one line after the other, and holds the accept
// bitmap of one chunk.
type lineFilter struct {
	ctx  context.Context
	work *objects.Bucket
	// chunks are the chunks not yet begun.
	chunks []batch.Chunk
	// first and end are the numbers of the lines of the current chunk, without end, and isAccepted reports whether one
	// of them is accepted, by its number in the chunk.
	first, end int64
	isAccepted func(line int64) bool
	// err is what prevented an accept bitmap from being read; no line is accepted after it.
	err error
}

func (f *lineFilter) accepts(line int64) bool {
	for f.err == nil && line >= f.end && len(f.chunks) > 0 {
		c := f.chunks[0]
		f.chunks = f.chunks[1:]
		f.first, f.end = c.Settled.FirstLine, c.Settled.FirstLine+c.Validated.Lines
		if line < f.end {
			f.isAccepted, f.err = AcceptedLines(f.work)(f.ctx, c)
		}
	}
	return f.err == nil && line >= f.first && line < f.end && f.isAccepted(line-f.first)
}
