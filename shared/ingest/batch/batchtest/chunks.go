package batchtest

import (
	"fmt"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func testChunks(t *testing.T, s batch.Store) {
	id := newID(t)
	c := errtest.Must(s.Chunk(t.Context(), id, 7))(t)
	difftest.Equal(t, "Chunk without results: chunk", batch.Chunk{Index: 7}, c)
	validated := batch.ValidateResult{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "f",
		IndexKey: "i", IndexSections: "\x01\x80\x02", NamesSections: "\x03",
		IdentifiersKey: "i", IdentifiersOffset: 1 << 33}
	for _, r := range []batch.ValidateResult{validated, {Lines: 99}} {
		difftest.Equal(t, fmt.Sprintf("CommitValidated(%+v)", r), validated,
			errtest.Must(s.CommitValidated(t.Context(), id, 7, r))(t))
	}
	settled := batch.SettleResult{
		FirstLine: 1, Accepted: 8, Invalid: 1, AcceptedKey: "a", ReportKey: "r", ReportBytes: 5, SummaryKey: "s",
	}
	for _, r := range []batch.SettleResult{settled, {Skipped: true}} {
		difftest.Equal(t, fmt.Sprintf("CommitSettled(%+v)", r), settled,
			errtest.Must(s.CommitSettled(t.Context(), id, 7, r))(t))
	}
	skipped := batch.SettleResult{Skipped: true}
	for _, r := range []batch.SettleResult{skipped, settled} {
		difftest.Equal(t, fmt.Sprintf("CommitSettled(%+v)", r), skipped,
			errtest.Must(s.CommitSettled(t.Context(), id, 12, r))(t))
	}
	for _, index := range []int{300, 0, 12} {
		errtest.Fatal(t,
			errtest.Of(s.CommitValidated(t.Context(), id, index, batch.ValidateResult{Lines: int64(index)})))
	}
	got, err := s.Chunks(t.Context(), id)
	want := []batch.Chunk{
		{Index: 0, Validated: &batch.ValidateResult{}},
		{Index: 7, Validated: &validated, Settled: &settled},
		{Index: 12, Validated: &batch.ValidateResult{Lines: 12}, Settled: &skipped},
		{Index: 300, Validated: &batch.ValidateResult{Lines: 300}},
	}
	errtest.Fatal(t, err)
	difftest.Equal(t, "Chunks: chunks", want, got)
}

func testCursor(t *testing.T, s batch.Store) {
	id := newID(t)
	begun := batch.IngestCursor{Line: 4, Offset: 40, Stored: 4}
	done := batch.IngestCursor{Line: 10, Offset: 100, Stored: 8, Done: true}
	for _, tt := range []struct {
		name      string
		put, want batch.IngestCursor
	}{
		{"the first", begun, begun},
		{"one that is behind", batch.IngestCursor{Line: 2, Offset: 20, Stored: 2}, begun},
		{"the last", done, done},
		{"one after the last", batch.IngestCursor{Line: 10, Offset: 100, Stored: 9}, done},
	} {
		difftest.Equal(t, "AdvanceCursor with "+tt.name, tt.want,
			errtest.Must(s.AdvanceCursor(t.Context(), id, 7, tt.put))(t))
	}
	c := errtest.Must(s.Chunk(t.Context(), id, 7))(t)
	difftest.Equal(t, "Chunk: chunk", batch.Chunk{Index: 7, Ingested: &done}, c)
}

func testPartitions(t *testing.T, s batch.Store) {
	id := newID(t)
	some, none := batch.ReconcileResult{RejectionsKey: "k", RejectionsSections: "\x00\x80\x01"}, batch.ReconcileResult{}
	for _, tt := range []struct {
		partition int
		put, want batch.ReconcileResult
	}{{0, some, some}, {0, none, some}, {15, none, none}, {15, some, none}} {
		difftest.Equal(t, fmt.Sprintf("CommitReconciled(%d, %+v)", tt.partition, tt.put), tt.want,
			errtest.Must(s.CommitReconciled(t.Context(), id, tt.partition, tt.put))(t))
	}
	got, err := s.Reconciled(t.Context(), id)
	want := [batch.Partitions]*batch.ReconcileResult{0: &some, 15: &none}
	errtest.Fatal(t, err)
	difftest.Equal(t, "Reconciled: results", want, got)
}

func testLineCounts(t *testing.T, s batch.Store) {
	id := newID(t)
	if got, err := s.LineCounts(t.Context(), id); err != nil || got != nil {
		t.Errorf("LineCounts before the commit: got %+v, error %v, want nil", got, err)
	}
	want := batch.LineCounts{ByChunk: []int64{10, 0, 7}, Transactions: 16}
	for _, put := range []batch.LineCounts{want, {ByChunk: []int64{1}}} {
		difftest.Equal(t, "CommitLineCounts: counts", want, errtest.Must(s.CommitLineCounts(t.Context(), id, put))(t))
	}
	got := errtest.Must(s.LineCounts(t.Context(), id))(t)
	difftest.Equal(t, "LineCounts: counts", &want, got)
	difftest.Equal(t, "Chunks", 0, len(errtest.Must(s.Chunks(t.Context(), id))(t)))
}
