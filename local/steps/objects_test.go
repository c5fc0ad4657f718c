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

	"sluice/shared/objects"
)

// A writer gives back what was written, whatever its size is to that of a part and however it was cut into writes.
func TestWriter(t *testing.T) {
	const part = 8 << 20
	b := bucket(workBucket)
	content := bytes.Repeat([]byte("0123456789abcde"), 2*part/15+2)
	for _, size := range []int{0, 1, part - 1, part, part + 1, 2 * part, 2*part + 1} {
		for _, step := range []int{1 << 16, part - 1, part, 3 * part} {
			key := fmt.Sprintf("work/writer/%d-%d", size, step)
			w := b.Create(context.Background(), key)
			for from := 0; from < size; from += step {
				if n, err := w.Write(content[from:min(from+step, size)]); err != nil || n != min(step, size-from) {
					t.Fatalf("%s: %d, %v", key, n, err)
				}
			}
			if _, err := b.Open(context.Background(), key, "", 0, -1); !errors.Is(err, objects.ErrNotFound) {
				t.Errorf("%s is there before it is whole: %v", key, err)
			}
			kept, err := w.CommitIfWritten()
			if err != nil || w.Size() != int64(size) {
				t.Fatalf("%s: %d bytes, %v", key, w.Size(), err)
			}
			if size == 0 {
				if _, err := b.Open(context.Background(), key, "", 0, -1); kept != "" || !errors.Is(err, objects.ErrNotFound) {
					t.Errorf("nothing was kept as %q, %v", kept, err)
				}
				continue
			}
			if got := read(t, b, key, 0, -1); !bytes.Equal(got, content[:size]) {
				t.Errorf("%s: %d bytes came back", key, len(got))
			}
		}
	}
}

func TestAbandonedWriter(t *testing.T) {
	b := bucket(workBucket)
	ctx, cancel := context.WithCancel(context.Background())
	w := b.Create(ctx, "work/abandoned")
	if _, err := w.Write(make([]byte, 9<<20)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := w.Close(); err == nil {
		t.Error("closed without an error although its context had ended")
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if _, err := b.Open(context.Background(), "work/abandoned", "", 0, -1); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("something was left: %v", err)
	}
}

func read(t *testing.T, b *objects.Bucket, key string, from, to int64) []byte {
	t.Helper()
	body, err := b.Open(context.Background(), key, "", from, to)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRanges(t *testing.T) {
	b := bucket(workBucket)
	w := b.Create(context.Background(), "work/ranges")
	io.WriteString(w, "0123456789")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to int64
		want     string
	}{{0, -1, "0123456789"}, {0, 10, "0123456789"}, {3, 4, "3"}, {3, -1, "3456789"}, {9, 10, "9"}, {4, 4, ""}} {
		if got := string(read(t, b, "work/ranges", tt.from, tt.to)); got != tt.want {
			t.Errorf("[%d, %d): %q", tt.from, tt.to, got)
		}
	}
	if _, err := b.Open(context.Background(), "work/ranges", `"another"`, 0, -1); !errors.Is(err, objects.ErrChanged) {
		t.Errorf("another ETag: %v", err)
	}
}

// A URL dies with the credentials that signed it, and says so.
func TestSignedURLs(t *testing.T) {
	now := time.Now()
	short := s3.Copy()
	short.Credentials = aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		c, err := s3.Credentials.Retrieve(ctx)
		c.CanExpire, c.Expires = true, now.Add(90*time.Second)
		return c, err
	})
	b := objects.New(short, uploadsBucket, objects.Options{PathStyle: true, Now: func() time.Time { return now }})
	signed, err := b.SignPut(context.Background(), "uploads/t/signed", 15*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if left := signed.Expires.Sub(now); left > 90*time.Second || left < 88*time.Second {
		t.Errorf("lives %v", left)
	}
	req, err := http.NewRequest(signed.Method, signed.URL, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range signed.Headers {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("put: %v %v", resp, err)
	}
	resp.Body.Close()
	get, err := b.SignGet(context.Background(), "uploads/t/signed", `name "x".jsonl`, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	resp, err = http.Get(get.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || string(text) != "hello" || !strings.Contains(resp.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("get: %s %q %q", resp.Status, text, resp.Header.Get("Content-Disposition"))
	}
}

func TestARefusedObjectIsDenied(t *testing.T) {
	b := bucket(uploadsBucket)
	w := b.Create(context.Background(), "uploads/t/refused")
	io.WriteString(w, "x")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Tag(context.Background(), "uploads/t/refused", "sluice-verdict", "refused"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(context.Background(), "uploads/t/refused", "", 0, -1); !errors.Is(err, objects.ErrDenied) {
		t.Errorf("%v", err)
	}
}
