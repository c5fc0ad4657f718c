// Package linestest makes the work files of batches and the index of their lines, for tests of what became of them.
package linestest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
)

// maxLineBytes is the length of the longest line.
const maxLineBytes = 4096

// Index is an index of lines with its files, which work files are in, too.
type Index struct {
	lineindex.Indexer
	lineindex.Searcher
	*lineindextest.Files
	// LineKey is the key of the digests.
	LineKey lineindex.Key
}

// NewIndex returns an empty index.
func NewIndex(db *dynamodb.Client, now func() time.Time) *Index {
	catalog, files := lineindexdb.New(db, "test-index"), lineindextest.NewFiles()
	return &Index{
		Indexer: lineindex.Indexer{Catalog: catalog, Work: files, Files: files, NewName: uuid.NewString,
			Lease: time.Minute, Now: now},
		Searcher: lineindex.Searcher{Catalog: catalog, Files: files, IsGone: lineindextest.IsGone, Now: now},
		Files:    files, LineKey: lineindex.Key{1},
	}
}

// Find returns LineKey for every tenant.
func (x *Index) Find(context.Context, string) (lineindex.Key, time.Time, bool, error) {
	return x.LineKey, time.Time{}, true, nil
}

// Open reads an object.
func (x *Index) Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error) {
	return x.Files.Open(ctx, key, etag, from, to)
}

// Validate validates a file in chunks as the steps of a batch do, without its entities, and indexes its lines. It
// completes the batch by what they pin, and returns its chunks.
func (x *Index) Validate(t testing.TB, b *batch.Batch, file []byte, chunkBytes int64) []batch.Chunk {
	t.Helper()
	b.Object.Size, b.MaxLineBytes = int64(len(file)), maxLineBytes
	b.Plan = chunk.NewPlan(int64(len(file)), chunkBytes)
	v := &validator{t: t, batch: b, file: file, objects: x.Objects, key: x.LineKey}
	v.validate()
	v.settle(v.reconcile())
	files, err := lineindex.ChunksOf(t.Context(), v.chunks, v.accepted)
	v.check(err)
	v.check(x.Add(t.Context(), b.Tenant, lineindex.BatchOf(*b), files))
	return v.chunks
}

type validator struct {
	t       testing.TB
	batch   *batch.Batch
	file    []byte
	chunks  []batch.Chunk
	objects map[string][]byte
	key     lineindex.Key
}

func (v *validator) check(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

// store stores an object, unless it is empty, and returns its key.
func (v *validator) store(content []byte, format string, args ...any) string {
	if len(content) == 0 {
		return ""
	}
	key := fmt.Sprintf("work/%s/", v.batch.ID) + fmt.Sprintf(format, args...)
	v.objects[key] = content
	return key
}

// open returns an object, nil if there is none.
func (v *validator) open(key string) chunk.Source {
	if key == "" {
		return nil
	}
	return chunk.NewSource(bytes.NewReader(v.objects[key]))
}

func (v *validator) chunkInput(index int) validation.ChunkInput {
	return validation.ChunkInput{
		Source: chunk.NewSource(bytes.NewReader(v.file)), Plan: v.batch.Plan, Chunk: index, MaxLineBytes: maxLineBytes,
		Scanner: scanner.New(transaction.Rules{ReceivedAt: v.batch.ReceivedAt, MaxLineBytes: maxLineBytes}),
	}
}

func (v *validator) validate() {
	for i := range v.batch.Plan.Count() {
		var findings, index bytes.Buffer
		r, err := validation.ValidateChunk(v.t.Context(), validation.ValidateInput{
			ChunkInput: v.chunkInput(i), DigestKey: v.batch.DigestKey, IdentifiersKey: &v.key,
			Identifiers: &index}, &findings, &index)
		v.check(err)
		indexKey := v.store(index.Bytes(), "%d.index", i)
		v.chunks = append(v.chunks, batch.Chunk{Index: i, Validated: &batch.ValidateResult{
			Lines: r.Lines, Transactions: r.Transactions, Bytes: r.Bytes, IndexSections: string(r.IndexSections),
			FindingsKey: v.store(findings.Bytes(), "%d.findings", i), IndexKey: indexKey,
			IdentifiersKey: indexKey, IdentifiersOffset: r.IndexBytes,
		}})
	}
}

// reconcile returns the rejections by partition.
func (v *validator) reconcile() []chunk.Source {
	rejections := make([]chunk.Source, validation.Partitions)
	for p := range rejections {
		var out bytes.Buffer
		_, err := validation.ReconcilePartition(v.t.Context(), validation.ReconcileInput{
			Partition: p, LineCounts: batch.CountLines(v.chunks).ByChunk, DigestKey: v.batch.DigestKey,
			Index: func(i int) chunk.Source { return v.open(v.chunks[i].Validated.IndexKey) },
		}, &out)
		v.check(err)
		rejections[p] = v.open(v.store(out.Bytes(), "%d.rejections", p))
	}
	return rejections
}

func (v *validator) settle(rejections []chunk.Source) {
	counts := batch.CountLines(v.chunks)
	for i := range v.chunks {
		c := &v.chunks[i]
		in := validation.SettleInput{ChunkInput: v.chunkInput(i), FirstLine: counts.FirstLine(i),
			LineCount: c.Validated.Lines, Transactions: c.Validated.Transactions, Rejections: rejections}
		if key := c.Validated.FindingsKey; key != "" {
			in.Findings = bytes.NewReader(v.objects[key])
		}
		var report, accepted bytes.Buffer
		r, err := validation.SettleChunk(v.t.Context(), in, &report, &accepted)
		v.check(err)
		c.Settled = &batch.SettleResult{
			FirstLine: in.FirstLine, Accepted: r.Summary.Counts.Accepted, Invalid: r.Summary.Counts.Invalid,
			ReportKey: v.store(report.Bytes(), "%d.report", i), ReportBytes: int64(report.Len()),
		}
		if c.Settled.Acceptance() == batch.AcceptSome {
			c.Settled.AcceptedKey = v.store(accepted.Bytes(), "%d.accepted", i)
		}
	}
}

// accepted is a lineindex.Accepted.
func (v *validator) accepted(_ context.Context, c batch.Chunk) (func(line int64) bool, error) {
	if c.Settled.Acceptance() != batch.AcceptSome {
		return func(int64) bool { return c.Settled.Acceptance() == batch.AcceptAll }, nil
	}
	bitmap, err := validation.ReadBitmap(bytes.NewReader(v.objects[c.Settled.AcceptedKey]), c.Validated.Lines)
	return bitmap.Accepted, err
}

// Line returns a line with IDs of its transaction and modification, of a valid type or not.
func Line(transactionID, modification string, isValid bool) string {
	kind := "capture"
	if !isValid {
		kind = "nonsense"
	}
	return fmt.Sprintf(`{"request_uuid":"1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15","payment_external_id":"p",`+
		`"transaction_external_id":%q,"modification":{"external_id":%q,"type":%q,"amount":1,"currency":"EUR",`+
		`"created_at":"2026-11-26T08:00:00Z"},"sender":{"by_external_id":"known"},`+
		`"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"u"}}}`, transactionID, modification,
		kind)
}
