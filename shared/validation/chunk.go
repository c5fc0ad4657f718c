package validation

import (
	"context"
	"fmt"
	"io"

	"sluice/shared/chunk"
	"sluice/shared/transaction"
)

// placeBytes is about how far the known places of a chunk lie from each other.
const placeBytes = 64 << 10

// read begins to read the lines from a place on; the zero Place is the first of all.
func (l Lines) read(ctx context.Context, start chunk.Position) *chunk.Reader {
	return chunk.NewReader(ctx, l.Source, l.Plan, l.Chunk, chunk.Options{
		MaxLineBytes: l.maxLine(), Lookahead: transaction.Lookahead, Start: start,
	})
}

func (l Lines) maxLine() int {
	if l.MaxLineBytes > 0 {
		return l.MaxLineBytes
	}
	return transaction.MaxLineBytes
}

func (l *Lines) scan(line *chunk.Line) *transaction.Result {
	if line.TooLong {
		return l.Scanner.TooLong(line.Text)
	}
	return l.Scanner.Line(line.Text)
}

// Chunk reads the lines that start in a chunk, each once, and writes down what they say. Nothing is written to a file
// that would hold nothing. The index is written at the end, the findings as they are made.
func Chunk(ctx context.Context, in ChunkInput, findings, index io.Writer) (ChunkResult, error) {
	return new(chunkPass).run(ctx, in, findings, index)
}

// chunkPass reads one chunk at a time and keeps its memory for the next.
type chunkPass struct {
	judge  *judge // of entities that are at hand; nil: they are noted in the index, for Reconcile
	result ChunkResult
	start  int64 // of the chunk in the file
	// nextPlace is from where on the next line is one of the known places.
	nextPlace int64
	findings  findingsWriter
	index     index
}

func (p *chunkPass) run(ctx context.Context, in ChunkInput, findings, index io.Writer) (ChunkResult, error) {
	start, end := in.Plan.Range(in.Chunk)
	if end-start > chunk.MaxBytes {
		return ChunkResult{}, fmt.Errorf("validation: chunk of %d bytes", end-start)
	}
	p.start, p.nextPlace, p.result = start, start+placeBytes, ChunkResult{Bytes: end - start}
	p.findings.reset(findings)
	p.index.reset(in.Key)
	if err := p.read(ctx, in.Lines); err != nil {
		return ChunkResult{}, err
	}
	if err := p.findings.close(); err != nil {
		return ChunkResult{}, fmt.Errorf("write findings: %w", err)
	}
	n, err := p.index.writeTo(index)
	if err != nil {
		return ChunkResult{}, fmt.Errorf("write index: %w", err)
	}
	p.result.FindingsBytes, p.result.IndexBytes = p.findings.written, n
	return p.result, nil
}

func (p *chunkPass) read(ctx context.Context, in Lines) error {
	lines := in.read(ctx, chunk.Position{})
	defer lines.Close()
	for {
		line, res := in.next(lines)
		if res == nil {
			return lines.Err()
		}
		if err := p.add(line, res); err != nil {
			return fmt.Errorf("write findings: %w", err)
		}
	}
}

// next reads and judges a line; no result at the end. Where it can, the scanner finds the end of the line.
func (l *Lines) next(lines *chunk.Reader) (*chunk.Line, *transaction.Result) {
	if ahead := lines.Peek(); ahead != nil {
		res, n := l.Scanner.First(ahead)
		line := lines.Consume(n)
		if line.TooLong {
			res = l.Scanner.TooLong(line.Text)
		}
		return line, res
	}
	if !lines.Next() {
		return nil, nil
	}
	line := lines.Line()
	return line, l.scan(line)
}

func (p *chunkPass) add(line *chunk.Line, res *transaction.Result) error {
	p.result.Lines++
	if line.Offset >= p.nextPlace {
		p.result.SeekPoints = append(p.result.SeekPoints, chunk.Position{Line: line.Number, Offset: line.Offset})
		p.nextPlace = line.Offset + placeBytes
	}
	if res.Blank {
		return p.findings.addBlank(line.Number)
	}
	p.result.Transactions++
	// Lines that are rejected anyway take part: their ID makes others duplicates, and all their errors are reported.
	if res.ModificationID != nil {
		p.index.addID(res.ModificationID, line.Number)
	}
	for i := range res.References {
		ref := &res.References[i]
		offset := line.Offset - p.start + int64(ref.Offset)
		if p.judge != nil {
			p.judge.add(ref.ID, line.Number, offset, ref.Role)
		} else {
			p.index.addUse(ref.ID, line.Number, offset, ref.Role)
		}
	}
	if len(res.Findings) == 0 {
		return nil
	}
	p.result.Invalid++
	return p.findings.addLine(line, res)
}
