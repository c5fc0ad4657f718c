package batchtest

import (
	"bytes"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// WithEveryField returns a batch with everything that a client can ask for, and that is known of its file.
func WithEveryField(b batch.Batch) batch.Batch {
	b.Name, b.Metadata = "November, part 2", map[string]string{"region": "Århus", "empty": ""}
	b.RejectOnInvalid, b.MaxRejected, b.ValidateOnly = false, &batch.RejectLimit{Share: "0.50%"}, true
	b.Declared = batch.Declared{Length: 1000, SHA256: bytes.Repeat([]byte{1}, 32), Encoding: batch.Gzip}
	b.Multipart = &batch.Multipart{UploadID: "upload", PartSize: 400, PartCount: 3, HasChecksums: true,
		Completion: "parts", AskedAt: createdAt}
	b.OnDuplicate, b.DuplicateOf = batch.RejectDuplicate, "0193a0b4-7c00-7000-8000-00000000000d"
	b.Object = batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}
	b.Encoding = batch.Gzip
	b.Content = batch.Object{Key: "unpacked/t/b/a", ETag: `"c"`, Version: "w", Size: 9000}
	b.FileSHA256, b.ParquetKey, b.Settings.Parquet = bytes.Repeat([]byte{2}, 32), "parquet/b.parquet", true
	b.LinesSHA256, b.AcceptedSHA256 = bytes.Repeat([]byte{4}, 32), bytes.Repeat([]byte{3}, 32)
	b.History = []batch.StatusAt{{Status: batch.ValidationStarted, At: createdAt}}
	b.Verdict = &batch.Verdict{Total: 9, Accepted: 8, Invalid: 1, ReportKey: "report", SummaryKey: "summary",
		CSVKey: "csv", RejectedKey: "rejected", RejectedLeftOut: 2, AcceptedSHA256: bytes.Repeat([]byte{3}, 32)}
	return b
}

// testFields stores and reads batches with and without everything that a client can ask for.
func testFields(t *testing.T, s batch.Store) {
	full, lines, none := WithEveryField(NewBatch(t, "tenant")), NewBatch(t, "tenant"), NewBatch(t, "tenant")
	lines.MaxRejected, lines.Declared.Encoding = &batch.RejectLimit{Lines: 12}, batch.Identity
	none.MaxRejected = &batch.RejectLimit{}
	for name, want := range map[string]batch.Batch{"every field": full, "12 lines": lines, "0 lines": none} {
		errtest.Fatal(t, s.Create(t.Context(), want))
		difftest.Equal(t, name+": batch", want, errtest.Must(s.Get(t.Context(), want.ID))(t))
	}
	plan := transitionsToProcessed()[1]
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), full.ID, transitionsToProcessed()[0])))
	applied, err := s.Apply(t.Context(), full.ID, plan)
	if err != nil || applied.Plan.Size != full.Content.Size {
		t.Errorf("plan of a packed file: got %+v, error %v, want one of the unpacked copy", applied.Plan, err)
	}
}
