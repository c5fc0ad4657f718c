package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/shared/kit/errtest"
)

// isUploaded reports whether the service has the file of a batch.
func isUploaded(t *testing.T, c *client.Client, u client.Upload) bool {
	t.Helper()
	s, err := c.Status(t.Context(), u.BatchID)
	errtest.Fatal(t, err)
	return s.Message != clienttest.NotUploaded
}

// wantPuts checks how many attempts at uploads reached the server.
func wantPuts(t *testing.T, s *clienttest.Server, want int) {
	t.Helper()
	if got := countRequests(s, "PUT"); got != want {
		t.Errorf("%d PUT requests, want %d", got, want)
	}
}

func TestUploadProgress(t *testing.T) {
	_, c, _ := newClient(t)
	content := strings.Repeat("x", 9<<20) // one line: the server reads every line
	for _, size := range []int64{0, 1, 1 << 20, 1<<20 + 1, int64(len(content))} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			var mu sync.Mutex
			var seen []int64
			err := c.UploadFile(t.Context(), createUpload(t, c), strings.NewReader(content), size, func(n int64) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, n)
			})
			errtest.Fatal(t, err)
			if seen[0] != 0 || seen[len(seen)-1] != size || !slices.IsSorted(seen) {
				t.Errorf("progress from %d to %d, want it to rise from 0 to %d", seen[0], seen[len(seen)-1], size)
			}
		})
	}
}

func TestSecondUploadIsRefused(t *testing.T) {
	s, c, p := newClient(t)
	u := createUpload(t, c)
	errtest.Fatal(t, uploadText(t, c, u, good))
	if err := uploadText(t, c, u, good); !errors.Is(err, client.ErrAlreadyUploaded) {
		t.Errorf("second upload: %v, want ErrAlreadyUploaded", err)
	}
	wantPuts(t, s, 2)
	if len(p.pauses) != 0 {
		t.Errorf("pauses %v, want none", p.pauses)
	}
}

func TestUploadWhoseAnswerIsLostSucceeds(t *testing.T) {
	s, c, _ := newClient(t)
	var lost atomic.Bool
	s.After = func(r *http.Request) bool { return r.Method == http.MethodPut && !lost.Swap(true) }
	u := createUpload(t, c)
	if err := uploadText(t, c, u, good); err != nil {
		t.Error(err)
	}
	wantPuts(t, s, 2)
	if !isUploaded(t, c, u) {
		t.Error("the file is not stored")
	}
}

func TestTemporaryUploadFailuresAreRetried(t *testing.T) {
	for _, status := range []int{409, 500, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s, c, p := newClient(t)
			failFirst(s, "/storage/uploads", 3, status, nil)
			u := createUpload(t, c)
			if err := uploadText(t, c, u, good); err != nil || !isUploaded(t, c, u) {
				t.Errorf("upload: %v, want the file stored", err)
			}
			if len(p.pauses) != 3 || p.pauses[2] != 2*time.Second {
				t.Errorf("pauses %v, want 3 with 2 s as the last", p.pauses)
			}
		})
	}
}

// A file that somebody else uploaded while our attempt was cleanly refused is not ours.
func TestRefusedUploadDoesNotAdoptAnotherFile(t *testing.T) {
	s, c, _ := newClient(t)
	u := createUpload(t, c)
	errtest.Fatal(t, uploadText(t, c, u, good))
	failFirst(s, "/storage/uploads", 1, 409, nil)
	if err := uploadText(t, c, u, good); !errors.Is(err, client.ErrAlreadyUploaded) {
		t.Errorf("upload after a 409: %v, want ErrAlreadyUploaded", err)
	}
}

func TestRefusedUploads(t *testing.T) {
	s, c, _ := newClient(t)
	u := createUpload(t, c)
	u.URL += "0"
	var refused *client.StorageError
	err := uploadText(t, c, u, good)
	if !errors.As(err, &refused) || refused.Status != 403 || refused.Code != "SignatureDoesNotMatch" {
		t.Fatalf("altered URL: %v, want a 403 SignatureDoesNotMatch", err)
	}
	if !strings.Contains(err.Error(), "If-None-Match: *") {
		t.Errorf("the message does not name the header that may be missing: %v", err)
	}
	if strings.Contains(err.Error(), "X-Amz") {
		t.Errorf("the message contains the signed URL: %v", err)
	}
	wantPuts(t, s, 1)
	u.MaxBytes = int64(len(good)) - 1
	if err := uploadText(t, c, u, good); !errors.Is(err, client.ErrTooLarge) {
		t.Errorf("a file one byte too large: %v, want ErrTooLarge", err)
	}
	wantPuts(t, s, 1)
}

func TestNoAttemptAfterTheURLExpires(t *testing.T) {
	s, c, _ := newClient(t)
	failFirst(s, "/storage/uploads", 100, 503, nil)
	for left, want := range map[time.Duration]int{0: 1, 400 * time.Millisecond: 1, time.Hour: 4} {
		t.Run(left.String(), func(t *testing.T) {
			before := countRequests(s, "PUT")
			u := createUpload(t, c)
			u.ExpiresAt = time.Now().Add(left)
			if err := uploadText(t, c, u, good); err == nil {
				t.Error("the upload succeeded, want an error")
			}
			if n := countRequests(s, "PUT") - before; n != want {
				t.Errorf("%d PUT requests, want %d", n, want)
			}
		})
	}
}

// brokenFile is a file of which only the first bytes can be read.
type brokenFile struct{ readable int64 }

var errDisk = errors.New("disk failure")

func (f brokenFile) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), max(f.readable-off, 0)))
	if n < len(p) {
		return n, errDisk
	}
	return n, nil
}

func TestUploadOfAFileThatCannotBeRead(t *testing.T) {
	for _, readable := range []int64{0, 1, 1 << 19, 1<<20 - 1} {
		t.Run(fmt.Sprint(readable, " bytes can"), func(t *testing.T) {
			_, c, _ := newClient(t)
			u := createUpload(t, c)
			if err := c.UploadFile(t.Context(), u, brokenFile{readable}, 1<<20, nil); !errors.Is(err, errDisk) {
				t.Errorf("upload: %v, want the file's error", err)
			}
			if isUploaded(t, c, u) {
				t.Error("a part of the file was stored")
			}
		})
	}
}

func TestUploadOfAFileThatShrinks(t *testing.T) {
	s, c, _ := newClient(t)
	err := c.UploadFile(t.Context(), createUpload(t, c), strings.NewReader(good), int64(len(good))+1, nil)
	if err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("upload: %v, want an error that says it has become shorter", err)
	}
	if n := countRequests(s, "PUT"); n > 1 {
		t.Errorf("%d PUT requests, want at most 1", n)
	}
}

func TestCanceledContextEndsTheUpload(t *testing.T) {
	s, c, _ := newClient(t)
	u := createUpload(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	content := strings.Repeat(good, 1<<18)
	err := c.UploadFile(ctx, u, strings.NewReader(content), int64(len(content)), func(n int64) {
		if n > 1<<20 {
			once.Do(cancel)
		}
	})
	if !errors.Is(err, context.Canceled) || isUploaded(t, c, u) {
		t.Errorf("upload: %v, want context.Canceled and nothing stored", err)
	}
	if n := countRequests(s, "PUT"); n > 1 {
		t.Errorf("%d PUT requests, want at most 1", n)
	}
}

func TestLargeUploadIsRefusedBeforeItsBodyIsSent(t *testing.T) {
	s, c, _ := newClient(t)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	var sent atomic.Int64
	var refused *client.StorageError
	err := c.UploadFile(t.Context(), createUpload(t, c), brokenFile{1 << 40}, 1<<30, sent.Store)
	if !errors.As(err, &refused) || refused.Status != 403 || sent.Load() > 1<<20 {
		t.Errorf("upload: %v after %d bytes, want a 403 within the first MiB", err, sent.Load())
	}
}
