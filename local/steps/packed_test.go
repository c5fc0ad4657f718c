package steps

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// A packed upload is unpacked, and all steps work on the copy in as many chunks as on a plain file.
func TestPackedUploadInChunks(t *testing.T) {
	t.Parallel()
	for encoding, newWriter := range map[batch.Encoding]func(io.Writer) (io.WriteCloser, error){
		batch.Gzip: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		batch.Zstd: func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		},
	} {
		t.Run(string(encoding), func(t *testing.T) {
			t.Parallel()
			var lines, packed strings.Builder
			const n = 60
			for i := range n {
				lines.WriteString(line(fmt.Sprint("m", i)))
			}
			p := errtest.Must(newWriter(&packed))(t)
			io.WriteString(p, lines.String())
			errtest.Fatal(t, p.Close())
			const chunks = 3
			w := newCountedBatch(t, packed.String(), int64(lines.Len()), chunks, tenancy.Settings{})
			w.runOnce(t, int64(packed.Len()))
			b := w.current()
			if b.Encoding != encoding || b.Content.Size != int64(lines.Len()) || b.Plan.Count() != chunks ||
				b.Verdict == nil || b.Verdict.Accepted != n {
				t.Errorf("got %+v, want %d lines accepted, of %d bytes in %d chunks, unpacked from %s", b, n,
					lines.Len(), chunks, encoding)
			}
			content := string(read(t, bucket(uploadsBucket), b.Content.Key, 0, -1))
			info, err := bucket(uploadsBucket).Head(t.Context(), b.Content.Key)
			if content != lines.String() || err != nil || info.ETag != b.Content.ETag {
				t.Errorf("the copy has %d bytes and the ETag %s, error %v, want %d and %s", len(content), info.ETag,
					err, lines.Len(), b.Content.ETag)
			}
		})
	}
}

// What StoreObject returns is what Head does, also of an object in several parts.
func TestStoredObjectIsDescribed(t *testing.T) {
	t.Parallel()
	b := bucket(workBucket)
	for _, size := range []int{0, 10, 8 << 20, 8<<20 + 1} {
		key := uniqueKey(fmt.Sprint("work/described-", size))
		got := errtest.Must(b.StoreObject(t.Context(), key, func(w io.Writer) error {
			_, err := io.Copy(w, bytes.NewReader(make([]byte, size)))
			return err
		}))(t)
		want, err := b.Head(t.Context(), key)
		want.Modified = got.Modified
		if err != nil || got != want || got == (objects.Info{}) {
			t.Errorf("%d bytes: got %+v, error %v, want %+v", size, got, err, want)
		}
	}
}
