package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// leastCopied is the size of the smallest part that S3 copies, in bytes.
const leastCopied = 5 << 20

// newSource writes an object and returns its key.
func newSource(t *testing.T, b *objects.Bucket, content []byte) string {
	t.Helper()
	key := uniqueKey("work/sections/source")
	errtest.Fatal(t, b.WriteObject(t.Context(), key, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}))
	return key
}

// Sections that are copied to a writer, by S3 or through the process, are joined in their order, whatever their sizes.
func TestJoinedSections(t *testing.T) {
	t.Parallel()
	const least = leastCopied
	var used requestPaths
	b := used.bucket(workBucket)
	content := bytes.Repeat([]byte("0123456789abcde"), (2*least+30)/15)
	source := newSource(t, b, content)
	for name, c := range map[string]struct {
		// sizes are those of the sections; a negative number is one of bytes that are written.
		sizes  []int
		copies int
	}{
		"small ones":                         {[]int{0, 1, 10}, 0},
		"one byte too small":                 {[]int{least - 1}, 0},
		"large enough":                       {[]int{least}, 1},
		"a small one at the end":             {[]int{least, 3}, 1},
		"several":                            {[]int{least, least + 1, 2 * least, 7, 0}, 3},
		"after some bytes":                   {[]int{-1, least + 5}, 0},
		"after some bytes, large enough":     {[]int{-1, 2*least - 1, 4}, 1},
		"after some bytes, one byte too few": {[]int{-1, 2*least - 2}, 0},
		"after a whole part":                 {[]int{-8 << 20, least, -3}, 1},
		"after nearly two parts":             {[]int{-8 << 20, -least, least}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			used.take()
			testJoin(t, b, source, content, c.sizes)
			difftest.Equal(t, "S3 has copied: sections", c.copies, used.take())
		})
	}
}

// testJoin writes an object of sections of a source, one byte after another, and of bytes of its content, whose number
// is negative among the sizes, and reads it.
func testJoin(t *testing.T, b *objects.Bucket, source string, content []byte, sizes []int) {
	t.Helper()
	key := uniqueKey("work/sections/joined")
	w := b.Create(t.Context(), key)
	defer w.Abort()
	var want []byte
	for from, size := range sizes {
		if size < 0 {
			want = append(want, content[:-size]...)
			w.Write(content[:-size])
			continue
		}
		want = append(want, content[from:from+size]...)
		n, err := io.Copy(w, b.Section(t.Context(), source, int64(from), int64(from+size)))
		if err != nil || n != int64(size) {
			t.Fatalf("copied %d bytes, %v, want %d", n, err, size)
		}
	}
	if err := w.Close(); err != nil || w.Size() != int64(len(want)) {
		t.Fatalf("closed with %d bytes, %v, want %d", w.Size(), err, len(want))
	}
	if got := read(t, b, key, 0, -1); !bytes.Equal(got, want) {
		t.Errorf("the object has %d bytes, want the %d that were joined", len(got), len(want))
	}
}

// A section of an object that does not exist, or that ends after its object, is an error.
func TestMissingSections(t *testing.T) {
	t.Parallel()
	b := bucket(workBucket)
	content := []byte("0123456789")
	source, size := newSource(t, b, content), int64(len(content))
	for name, missing := range map[string]*objects.Section{
		"no object":          b.Section(t.Context(), source+"x", 0, leastCopied),
		"more than there is": b.Section(t.Context(), source, size-5, size+leastCopied),
	} {
		w := b.Create(t.Context(), uniqueKey("work/sections/missing"))
		_, err := io.Copy(w, missing)
		if err == nil {
			err = w.Close()
		}
		if abortErr := w.Abort(); err == nil || abortErr != nil {
			t.Errorf("%s: the error is %v, then %v on Abort; want one, then none", name, err, abortErr)
		}
	}
}

// requestPaths counts the copies that a client of S3 asks for.
type requestPaths struct{ requestCounter }

func (c *requestPaths) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Amz-Copy-Source") != "" {
		c.mu.Lock()
		c.used.puts++
		c.mu.Unlock()
	}
	return http.DefaultClient.Do(r)
}

func (c *requestPaths) bucket(name string) *objects.Bucket {
	cfg := s3.Copy()
	cfg.HTTPClient = &http.Client{Transport: c}
	return objects.New(cfg, name, objects.Options{PathStyle: true})
}

// take returns the number of copies since the last call.
func (c *requestPaths) take() int { return c.requestCounter.take().puts }

// The files that tell what was rejected have all of it, for lines of every kind at the ends of chunks.
func TestFilesOfRejectedLines(t *testing.T) {
	t.Parallel()
	good := strings.TrimSuffix(line("good"), "\n")
	lines := []string{
		"\xEF\xBB\xBF" + `{"first":1}`, good, "", "nonsense\r", " \t", strings.TrimSuffix(line("twin"), "\n"),
		strings.Repeat("x", 5000), `{"=cmd":"a,b"}`,
		strings.NewReplacer("known", "gone", "good", "of nobody").Replace(good), strings.TrimSuffix(line("twin"), "\n"),
		strings.NewReplacer("good", "-1+1", `"amount":1`, `"amount":"x"`).Replace(good), "[]",
	}
	for _, chunkBytes := range []int64{700, 1 << 20} {
		t.Run(fmt.Sprintf("chunks of %d bytes", chunkBytes), func(t *testing.T) {
			t.Parallel()
			w := newTestBatch(t, strings.Join(lines, "\n"), false)
			w.plan.ChunkBytes = chunkBytes
			v := w.run().Verdict
			var rejected strings.Builder
			for _, i := range []int{0, 3, 5, 7, 8, 9, 10, 11} {
				rejected.WriteString(strings.TrimPrefix(lines[i], "\xEF\xBB\xBF") + "\n")
			}
			difftest.Equal(t, "rejected lines", rejected.String(), w.file(v.RejectedKey))
			if v.RejectedLeftOut != 1 || v.Invalid != 9 || v.Accepted != 1 {
				t.Errorf("verdict %+v, want 9 of 10 lines rejected and one of them left out", v)
			}
			csv, wantRecords := w.file(v.CSVKey), strings.Count(w.file(v.ReportKey), `"loc":`)
			if n := strings.Count(csv, "\r\n") - 1; n != wantRecords || !strings.HasPrefix(csv, report.CSVHeader) ||
				!strings.Contains(csv, "\r\n11,'-1+1,t--1+1,") {
				t.Errorf("CSV of %d records, want the header and %d, one of them with an escaped ID:\n%s", n,
					wantRecords, csv)
			}
			var sum report.Summary
			if err := json.Unmarshal([]byte(w.file(v.SummaryKey)), &sum); err != nil || len(sum.Fields) == 0 {
				t.Errorf("summary %+v, %v, want fields", sum, err)
			}
		})
	}
}

// file returns a file of the work bucket.
func (w *testBatch) file(key string) string {
	w.t.Helper()
	return string(read(w.t, bucket(workBucket), key, 0, -1))
}

// A batch without rejected lines has none of the files, nor has one that a release began which wrote none.
func TestNoFilesOfRejectedLines(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"valid": line("a"), "empty": "\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newTestBatch(t, content, false).run().Verdict
			if v.CSVKey != "" || v.RejectedKey != "" || v.ReportKey == "" {
				t.Errorf("verdict %+v, want a report alone", v)
			}
		})
	}
	t.Run("settled by an earlier release", func(t *testing.T) {
		t.Parallel()
		w := newTestBatch(t, line("a")+"nonsense\n", false)
		old := &oldSettler{JobStore: w.batches}
		w.settle.Batches = old
		if v := w.run().Verdict; v.CSVKey != "" || v.RejectedKey != "" || v.ReportKey == "" {
			t.Errorf("verdict %+v, want a report alone", v)
		}
	})
}

// oldSettler commits what a release committed that knew neither the CSV nor the rejected lines.
type oldSettler struct{ batch.JobStore }

func (s *oldSettler) CommitSettled(ctx context.Context, id batch.ID, index int, r batch.SettleResult) (
	batch.SettleResult, error) {
	r.CSVKey, r.CSVBytes, r.CSVShortBytes, r.RejectedKey, r.RejectedBytes = "", 0, 0, "", 0
	return s.JobStore.CommitSettled(ctx, id, index, r)
}
