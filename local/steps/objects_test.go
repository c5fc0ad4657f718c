package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/objects"
)

// What was written is read back unchanged, for sizes around multiples of a part and for writes of various sizes.
func TestWriter(t *testing.T) {
	t.Parallel()
	const part = 8 << 20
	b := bucket(workBucket)
	content := bytes.Repeat([]byte("0123456789abcde"), 2*part/15+2)
	for _, size := range []int{0, 1, part - 1, part, part + 1, 2 * part, 2*part + 1} {
		for _, step := range []int{1 << 16, part - 1, part, 3 * part} {
			key := uniqueKey(fmt.Sprintf("work/writer/%d-%d", size, step))
			w := b.Create(context.Background(), key)
			for offset := 0; offset < size; offset += step {
				difftest.Equal(t, key+": Write", min(step, size-offset),
					errtest.Must(w.Write(content[offset:min(offset+step, size)]))(t))
			}
			errtest.Is(t, key+": Open before the commit", errtest.Of(b.Open(context.Background(), key, "", 0, -1)),
				objects.ErrNotFound)
			committed, err := w.CommitIfWritten()
			if err != nil || w.Size() != int64(size) {
				t.Fatalf("%s: committed %d bytes, %v; want %d", key, w.Size(), err, size)
			}
			if size == 0 {
				if _, err := b.Open(context.Background(), key, "", 0, -1); committed != "" ||
					!errors.Is(err, objects.ErrNotFound) {
					t.Errorf("empty object committed as %q, %v; want no object", committed, err)
				}
				continue
			}
			if got := read(t, b, key, 0, -1); !bytes.Equal(got, content[:size]) {
				t.Errorf("%s: read %d bytes, want the %d that were written", key, len(got), size)
			}
		}
	}
}

func TestAbandonedWriter(t *testing.T) {
	t.Parallel()
	b := bucket(workBucket)
	ctx, cancel := context.WithCancel(context.Background())
	key := uniqueKey("work/abandoned")
	w := b.Create(ctx, key)
	errtest.Fatal(t, errtest.Of(w.Write(make([]byte, 9<<20))))
	cancel()
	errtest.Fails(t, "Close after the end of the context", w.Close())
	errtest.Fatal(t, w.Abort())
	errtest.Is(t, "Open after Abort", errtest.Of(b.Open(context.Background(), key, "", 0, -1)), objects.ErrNotFound)
}

// read returns the bytes of an object from start up to but excluding end; -1 means its end.
func read(t *testing.T, b *objects.Bucket, key string, start, end int64) []byte {
	t.Helper()
	body := errtest.Must(b.Open(context.Background(), key, "", start, end))(t)
	defer body.Close()
	return errtest.Must(io.ReadAll(body))(t)
}

func TestRanges(t *testing.T) {
	t.Parallel()
	b := bucket(workBucket)
	key := uniqueKey("work/ranges")
	w := b.Create(context.Background(), key)
	io.WriteString(w, "0123456789")
	errtest.Fatal(t, w.Close())
	for _, tt := range []struct {
		start, end int64
		want       string
	}{{0, -1, "0123456789"}, {0, 10, "0123456789"}, {3, 4, "3"}, {3, -1, "3456789"}, {9, 10, "9"}, {4, 4, ""}} {
		difftest.Equal(t, fmt.Sprintf("[%d, %d)", tt.start, tt.end), tt.want, string(read(t, b, key, tt.start, tt.end)))
	}
	errtest.Is(t, "Open with another ETag", errtest.Of(b.Open(context.Background(), key, `"another"`, 0, -1)),
		objects.ErrChanged)
}

// A signed URL expires with the credentials that signed it, and its expiry says so.
func TestSignedURLs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	short := s3.Copy()
	short.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		c, err := s3.Credentials.Retrieve(ctx)
		c.CanExpire, c.Expires = true, now.Add(90*time.Second)
		return c, err
	})
	b := objects.New(short, uploadsBucket, objects.Options{PathStyle: true, Now: func() time.Time { return now }})
	key := uniqueKey("uploads/t")
	signed := errtest.Must(b.SignPutOf(context.Background(), key, 0, 15*time.Minute))(t)
	if left := signed.Expires.Sub(now); left > 90*time.Second || left < 88*time.Second {
		t.Errorf("the URL expires in %v, want 90 seconds", left)
	}
	req := errtest.Must(http.NewRequest(signed.Method, signed.URL, strings.NewReader("hello")))(t)
	for name, value := range signed.Headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("PUT: %v, %v", resp, err)
	}
	resp.Body.Close()
	get, err := b.SignGet(context.Background(), key, objects.Download{FileName: `name "x".jsonl`}, time.Minute)
	errtest.Fatal(t, err)
	resp = errtest.Must(http.Get(get.URL))(t)
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || string(text) != "hello" ||
		!strings.Contains(resp.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("GET: %s %q with disposition %q, want 200 hello as an attachment", resp.Status, text,
			resp.Header.Get("Content-Disposition"))
	}
}

func TestRefusedObjectIsDenied(t *testing.T) {
	t.Parallel()
	b := bucket(uploadsBucket)
	key := uniqueKey("uploads/t")
	w := b.Create(context.Background(), key)
	io.WriteString(w, "x")
	errtest.Fatal(t, w.Close())
	errtest.Fatal(t, b.Tag(context.Background(), key, "sluice-verdict", "refused"))
	errtest.Is(t, "Open of a refused object", errtest.Of(b.Open(context.Background(), key, "", 0, -1)),
		objects.ErrDenied)
}
