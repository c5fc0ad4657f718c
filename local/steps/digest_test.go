package steps

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/pipeline"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func sha(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// The digests of batches: of files as they were uploaded, of the accepted lines if there are any, and of those again
// that are left when others are rejected, whatever chunk they are in.
func TestDigests(t *testing.T) {
	t.Parallel()
	valid, other, last := line("a"), strings.TrimSuffix(line("b"), "\n")+"\r\n", strings.TrimSuffix(line("c"), "\n")
	const bom = "\xEF\xBB\xBF"
	var many, accepted strings.Builder
	for i := range 6 { // in chunks of 700 bytes, all, some or none of whose lines are accepted
		text := line(fmt.Sprint("m", i))
		many.WriteString(text)
		accepted.WriteString(text)
		if i%2 == 0 {
			many.WriteString("nonsense " + strings.Repeat("x", i*400) + "\n \n")
		}
	}
	for _, tt := range []struct {
		name, file string
		reject     bool
		status     batch.Status
		// accepted is what is hashed; "" if nothing is.
		accepted string
	}{
		{"all valid", valid + other, true, batch.Processed, valid + other},
		{"with what belongs to no line", bom + valid + "\n \r\n" + other + last, true, batch.Processed,
			valid + other + last + "\n"},
		{"some rejected", many.String(), false, batch.Processed, accepted.String()},
		{"a rejected end", valid + "nonsense", false, batch.Processed, valid},
		{"an accepted end", bom + "nonsense\n" + last, false, batch.Processed, last + "\n"},
		{"rejected as a whole", valid + "nonsense\n", true, batch.ValidationFailed, ""},
		{"none valid", "nonsense\n", false, batch.ValidationFailed, ""},
		{"empty", "", false, batch.ValidationFailed, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestBatch(t, tt.file, tt.reject)
			b := w.run()
			if b.Status != tt.status || !bytes.Equal(b.FileSHA256, sha(tt.file)) {
				t.Fatalf("batch %s with the digest %x of its file, want %s with %x", b.Status, b.FileSHA256, tt.status,
					sha(tt.file))
			}
			var want []byte
			if tt.accepted != "" {
				want = sha(tt.accepted)
			}
			if got := b.Verdict.AcceptedSHA256; !bytes.Equal(got, want) {
				t.Errorf("the digest of the accepted lines is %x, want %x", got, want)
			}
			difftest.Equal(t, "the file was read again", !tt.reject && tt.status == batch.Processed,
				b.AcceptedSHA256 != nil)
		})
	}
}

// A file that is not the announced one ends its batch, and its digest is recorded.
func TestFileThatWasNotAnnounced(t *testing.T) {
	t.Parallel()
	file := line("a")
	for _, tt := range []struct {
		name    string
		change  func(*batch.Batch)
		refused bool
	}{
		{"announced", func(b *batch.Batch) { b.Declared.SHA256 = sha(file) }, false},
		{"not announced", func(b *batch.Batch) { b.Declared.SHA256 = sha("x") }, true},
		{"announced of the packed file", func(b *batch.Batch) {
			b.Declared.SHA256, b.Content, b.Object.Key = sha("x"), b.Object, "uploads/packed"
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestBatch(t, file, true)
			b := w.current()
			b.ID, b.Status, b.Plan.ChunkBytes = "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f", batch.ValidationStarted, 700
			tt.change(&b)
			errtest.Fatal(t, w.batches.Create(t.Context(), b))
			for range 2 {
				_, err := w.digest.Run(t.Context(), pipeline.DigestInput{ID: b.ID})
				if refused := errors.As(err, new(*pipeline.NotAnnounced)); refused != tt.refused ||
					!refused && err != nil {
					t.Errorf("got the error %v, want it refused = %v", err, tt.refused)
				}
			}
			w.id = b.ID
			if got := w.current().FileSHA256; !bytes.Equal(got, sha(file)) {
				t.Errorf("the digest of the file is %x, want %x", got, sha(file))
			}
		})
	}
}
