package intake_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/klauspost/compress/zstd"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

const lines = "{\"a\":1}\n{\"b\":2}\n"

func packGzip(t *testing.T, content string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	errtest.Fatal(t, errtest.Of(w.Write([]byte(content))))
	errtest.Fatal(t, w.Close())
	return out.String()
}

func packZstd(t *testing.T, content string) string {
	t.Helper()
	w := errtest.Must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)))(t)
	defer w.Close()
	return string(w.EncodeAll([]byte(content), nil))
}

// declare replaces the batch of the fixture by one whose client has announced its file.
func (f *fixture) declare(t *testing.T, d batch.Declared, m *batch.Multipart) {
	t.Helper()
	id := errtest.Must(batch.NewID())(t)
	f.batch.ID, f.batch.Declared, f.batch.Multipart = id, d, m
	errtest.Fatal(t, f.store.Create(t.Context(), f.batch))
}

// arrive handles the event of the fixture's upload.
func (f *fixture) arrive(t *testing.T) error {
	t.Helper()
	return f.handle(t, f.event(t, "abc", int64(len(f.bucket.content))))
}

// copyKey returns the key of the unpacked copy that an attempt makes.
func (f *fixture) copyKey(attempt string) string {
	return "unpacked/" + f.batch.Tenant + "/" + string(f.batch.ID) + "/" + attempt
}

// expectStarted checks that the copy of an attempt is the one that is read, and that the batch is started.
func (f *fixture) expectStarted(t *testing.T, attempt, content string, encoding batch.Encoding) {
	t.Helper()
	b := f.currentBatch(t)
	want := batch.Object{Key: f.copyKey(attempt), ETag: `"` + attempt + `"`, Size: int64(len(content))}
	if b.Status != batch.Uploaded || b.Content != want || b.Source() != want || b.Encoding != encoding ||
		f.bucket.copies[want.Key] != content || len(f.machine.started) == 0 {
		t.Errorf("status %s (%q), content %+v packed as %q, a copy %q, started %v, want UPLOADED, %+v, %q, %q, a start",
			b.Status, b.ErrorMessage, b.Content, b.Encoding, f.bucket.copies[want.Key], f.machine.started, want,
			encoding, content)
	}
	difftest.Equal(t, "the verdicts", [2]string{"", "clean"},
		[2]string{f.bucket.verdictOf(b.Object.Key), f.bucket.verdictOf(want.Key)})
}

// expectRefused checks that the batch has failed with a message, and that nothing of it can be read.
func (f *fixture) expectRefused(t *testing.T, message string, encoding batch.Encoding) {
	t.Helper()
	b := f.currentBatch(t)
	if b.Status != batch.Failed || b.ErrorMessage != message || b.Encoding != encoding || len(f.machine.started) != 0 ||
		f.bucket.verdictOf(b.Object.Key) != "refused" {
		t.Errorf("status %s, message %q, packed as %q, started %v, tags %v, want ERROR with %q, %q, no start, refused",
			b.Status, b.ErrorMessage, b.Encoding, f.machine.started, f.bucket.tags, message, encoding)
	}
	for key := range f.bucket.copies {
		if verdict := f.bucket.verdictOf(key); verdict == "clean" || key == b.Content.Key && verdict != "refused" {
			t.Errorf("the verdict of the copy %s is %q, want refused", key, verdict)
		}
	}
}
