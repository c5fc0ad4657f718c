package validation

import (
	"context"
	"fmt"
	"io"
	"sync"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
)

// seekPointDistance is about the distance, in bytes, between the seek points of a chunk.
const seekPointDistance = 64 << 10

// ValidateInput is the input of ValidateChunk.
type ValidateInput struct {
	ChunkInput
	// DigestKey is the key of the digests of IDs. It must be unknown to the author of the file, and the same for all
	// chunks and partitions of a batch.
	DigestKey [16]byte
	// Names receives the names of unknown entities (see names.go) that the Scanner collects; nil if they are not
	// screened.
	Names io.Writer
	// IdentifiersKey is the key of the digests by which the lines are found (package lineindex), and Identifiers
	// receives them, once the index is written; nil if they are not indexed.
	IdentifiersKey *lineindex.Key
	Identifiers    io.Writer
}

// ValidateResult is what later passes need from a chunk besides its work files.
type ValidateResult struct {
	// Lines is the number of lines that start in the chunk, with blank lines.
	Lines int64
	// Transactions is the number of these lines that are not blank.
	Transactions int64
	// Invalid is the number of transactions that have findings.
	Invalid int64
	// Bytes is the size of the chunk.
	Bytes int64
	// FindingsBytes is the number of bytes written to findings. If it is 0, there are none, and the file is not needed.
	FindingsBytes int64
	// IndexBytes is the number of bytes written to index. If it is 0, the index is empty, and the file is not needed.
	IndexBytes int64
	// NamesBytes is the number of bytes written to names. If it is 0, there are none, and the file is not needed.
	NamesBytes int64
	// IndexSections and NamesSections are the sections of the index and the names; empty if nothing was written.
	IndexSections, NamesSections Sections
	// SeekPoints are the positions of some lines in order, so that a line can be read again without all lines preceding
	// it.
	SeekPoints []chunk.Position
	// MinReportBytes is a number of bytes that the chunk's part of a report of full entries is not shorter than.
	MinReportBytes int64
}

// ValidateChunk is the first pass. It reads the lines that start in a chunk, judges each line by itself, and writes two
// work files: findings (see findings.go) while it reads, and the index (see index.go) at the end. It writes nothing to
// a file that would be empty.
func ValidateChunk(ctx context.Context, in ValidateInput, findings, index io.Writer) (ValidateResult, error) {
	v := validators.Get().(*chunkValidator)
	defer validators.Put(v)
	return v.validate(ctx, in, findings, index)
}

// validators are idle. A function that validates one chunk after the other would otherwise allocate, clear and collect
// their memory each time.
var validators = sync.Pool{New: func() any { return new(chunkValidator) }}

// chunkValidator validates one chunk at a time and keeps its memory for the next one.
type chunkValidator struct {
	// entities checks the references to entities at once. If it is nil, they are written to the index, for
	// ReconcilePartition.
	entities *directoryCheck

	result ValidateResult
	// chunkStart is the offset of the chunk in the file.
	chunkStart int64
	// nextSeekPoint is the offset from which on the next line becomes a seek point.
	nextSeekPoint int64
	findings      findingsWriter
	index         indexWriter
	names         namesWriter
	identifiers   lineindex.Collector
}

func (v *chunkValidator) validate(
	ctx context.Context, in ValidateInput, findings, index io.Writer,
) (ValidateResult, error) {
	start, end := in.Plan.Range(in.Chunk)
	if end-start > chunk.MaxBytes {
		return ValidateResult{}, fmt.Errorf("chunk of %d bytes, the maximum is %d", end-start, int64(chunk.MaxBytes))
	}
	v.chunkStart, v.nextSeekPoint, v.result = start, start+seekPointDistance, ValidateResult{Bytes: end - start}
	v.findings.reset(findings)
	v.index.reset(in.DigestKey)
	v.names.reset(in.DigestKey)
	v.identifiers.Reset(in.IdentifiersKey, end-start)
	defer v.findings.reset(io.Discard) // keeps no file
	if err := v.readLines(ctx, in.ChunkInput); err != nil {
		return ValidateResult{}, err
	}
	if err := v.findings.close(); err != nil {
		return ValidateResult{}, fmt.Errorf("write findings: %w", err)
	}
	indexBytes, err := v.index.writeTo(index)
	if err != nil {
		return ValidateResult{}, fmt.Errorf("write index: %w", err)
	}
	v.result.FindingsBytes, v.result.IndexBytes = v.findings.written, indexBytes
	v.result.IndexSections = v.index.sections.written
	if in.Names != nil {
		if v.result.NamesBytes, err = v.names.writeTo(in.Names); err != nil {
			return ValidateResult{}, fmt.Errorf("write names: %w", err)
		}
		v.result.NamesSections = v.names.sections.written
	}
	if in.IdentifiersKey != nil {
		if _, err := v.identifiers.WriteTo(in.Identifiers); err != nil {
			return ValidateResult{}, fmt.Errorf("write identifiers: %w", err)
		}
	}
	return v.result, nil
}

func (v *chunkValidator) readLines(ctx context.Context, in ChunkInput) error {
	r := in.newReader(ctx, chunk.Position{})
	defer r.Close()
	for {
		line, res := in.scanNext(r)
		if res == nil {
			return r.Err()
		}
		if err := v.addLine(line, res); err != nil {
			return fmt.Errorf("write findings: %w", err)
		}
	}
}

// addLine adds a line and its result to the work files.
func (v *chunkValidator) addLine(line *chunk.Line, res *transaction.Result) error {
	v.result.Lines++
	if line.Offset >= v.nextSeekPoint {
		v.result.SeekPoints = append(v.result.SeekPoints, chunk.Position{Line: line.Number, Offset: line.Offset})
		v.nextSeekPoint = line.Offset + seekPointDistance
	}
	if res.Blank {
		return v.findings.addBlank(line.Number)
	}
	v.result.Transactions++
	v.identifiers.Add(line.Number, res)
	// Lines with findings are indexed too: their IDs make other lines duplicates, and the report names all their
	// errors.
	if res.ModificationID != nil {
		v.index.addID(res.ModificationID, line.Number)
	}
	for i := range res.References {
		ref := &res.References[i]
		offset := line.Offset - v.chunkStart + int64(ref.Offset)
		if v.entities != nil {
			v.entities.add(ref.ID, line.Number, offset, ref.Role)
		} else {
			v.index.addReference(ref.ID, line.Number, offset, ref.Role)
		}
	}
	if len(res.Names) > 0 {
		v.names.addLine(line, line.Offset-v.chunkStart, res)
	}
	if len(res.Findings) == 0 {
		return nil
	}
	v.result.Invalid++
	v.result.MinReportBytes += report.MinBytes(res)
	return v.findings.addLine(line, res)
}

// newReader returns a reader of the lines of the chunk from a position on; the zero Position is the first line.
func (in *ChunkInput) newReader(ctx context.Context, start chunk.Position) *chunk.Reader {
	maxLineBytes := in.MaxLineBytes
	if maxLineBytes <= 0 {
		maxLineBytes = transaction.MaxLineBytes
	}
	return chunk.NewReader(ctx, in.Source, in.Plan, in.Chunk, chunk.Options{
		MaxLineBytes: maxLineBytes, Lookahead: transaction.Lookahead, Start: start,
	})
}

// scanNext reads and scans the next line. At the end of the chunk and after an error of the reader, the result is nil.
// Where the reader lets it, the scanner finds the end of the line, which saves a search for the line feed.
func (in *ChunkInput) scanNext(r *chunk.Reader) (*chunk.Line, *transaction.Result) {
	if text := r.Peek(); text != nil {
		res, n := in.Scanner.First(text)
		line := r.Consume(n)
		if line.TooLong {
			res = in.Scanner.TooLong(line.Text)
		}
		return line, res
	}
	if !r.Next() {
		return nil, nil
	}
	line := r.Line()
	return line, in.scan(line)
}

// scan scans a line that has been read by its line feed.
func (in *ChunkInput) scan(line *chunk.Line) *transaction.Result {
	if line.TooLong {
		return in.Scanner.TooLong(line.Text)
	}
	return in.Scanner.Line(line.Text)
}
