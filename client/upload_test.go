package client_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/client"
)

func uploaded(t *testing.T, c *client.Client, u client.Upload) bool {
	t.Helper()
	s, err := c.Status(t.Context(), u.BatchID)
	if err != nil {
		t.Fatal(err)
	}
	return s.Message != "Batch not yet uploaded completely."
}

func TestProgress(t *testing.T) {
	_, c, _ := setup(t)
	content := strings.Repeat(good, 1<<16)
	for _, size := range []int64{0, 1, 1 << 20, 1<<20 + 1, int64(len(content))} {
		var mu sync.Mutex
		var seen []int64
		err := c.Send(t.Context(), newUpload(t, c), strings.NewReader(content), size, func(n int64) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, n)
		})
		if err != nil || seen[0] != 0 || seen[len(seen)-1] != size || !slices.IsSorted(seen) {
			t.Errorf("%d bytes: %v, progress from %d to %d", size, err, seen[0], seen[len(seen)-1])
		}
	}
}

func TestASecondUploadIsRefused(t *testing.T) {
	s, c, p := setup(t)
	u := newUpload(t, c)
	if err := send(t, c, u, good); err != nil {
		t.Fatal(err)
	}
	if err := send(t, c, u, good); !errors.Is(err, client.ErrAlreadyUploaded) {
		t.Error(err)
	}
	if n := count(s, "PUT"); n != 2 || len(p.made) != 0 {
		t.Errorf("%d puts, pauses %v", n, p.made)
	}
}

func TestALostAnswer(t *testing.T) {
	s, c, _ := setup(t)
	var lost atomic.Bool
	s.After = func(r *http.Request) bool { return r.Method == http.MethodPut && !lost.Swap(true) }
	u := newUpload(t, c)
	if err := send(t, c, u, good); err != nil {
		t.Error(err)
	}
	if n := count(s, "PUT"); n != 2 || !uploaded(t, c, u) {
		t.Errorf("%d puts", n)
	}
}

func TestABrokenUploadIsTriedAgain(t *testing.T) {
	for _, status := range []int{409, 500, 503} {
		s, c, p := setup(t)
		failing(s, "/storage/uploads", 3, status, nil)
		u := newUpload(t, c)
		if err := send(t, c, u, good); err != nil || !uploaded(t, c, u) {
			t.Errorf("%d: %v", status, err)
		}
		if len(p.made) != 3 || p.made[2] != 2*time.Second {
			t.Errorf("%d: pauses %v", status, p.made)
		}
	}
}

// A file that somebody else put there while our attempt was refused cleanly is not ours.
func TestARefusalDoesNotMakeAForeignFileOurs(t *testing.T) {
	s, c, _ := setup(t)
	u := newUpload(t, c)
	if err := send(t, c, u, good); err != nil {
		t.Fatal(err)
	}
	failing(s, "/storage/uploads", 1, 409, nil)
	if err := send(t, c, u, good); !errors.Is(err, client.ErrAlreadyUploaded) {
		t.Error(err)
	}
}

func TestRefusedUploads(t *testing.T) {
	s, c, _ := setup(t)
	u := newUpload(t, c)
	u.URL += "0"
	var refused *client.StorageError
	if err := send(t, c, u, good); !errors.As(err, &refused) || refused.Status != 403 || refused.Code != "SignatureDoesNotMatch" {
		t.Error(err)
	} else if strings.Contains(err.Error(), "X-Amz") {
		t.Errorf("the message gives the URL away: %v", err)
	}
	if n := count(s, "PUT"); n != 1 {
		t.Errorf("%d puts", n)
	}
	u.MaxBytes = int64(len(good)) - 1
	if err := send(t, c, u, good); !errors.Is(err, client.ErrTooLarge) {
		t.Error(err)
	}
	if n := count(s, "PUT"); n != 1 {
		t.Error("a file that is too large was sent")
	}
}

func TestNothingIsTriedAfterTheURLEnds(t *testing.T) {
	s, c, _ := setup(t)
	failing(s, "/storage/uploads", 100, 503, nil)
	for left, want := range map[time.Duration]int{0: 1, 400 * time.Millisecond: 1, time.Hour: 4} {
		before := count(s, "PUT")
		u := newUpload(t, c)
		u.ExpiresAt = time.Now().Add(left)
		if err := send(t, c, u, good); err == nil {
			t.Error("no error")
		}
		if n := count(s, "PUT") - before; n != want {
			t.Errorf("%v left: %d puts, want %d", left, n, want)
		}
	}
}

// spoiled is a file that cannot be read from a place on.
type spoiled struct{ from int64 }

var errDisk = errors.New("disk failure")

func (s spoiled) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), max(s.from-off, 0)))
	if n < len(p) {
		return n, errDisk
	}
	return n, nil
}

func TestAFileThatCannotBeRead(t *testing.T) {
	for _, from := range []int64{0, 1, 1 << 19, 1<<20 - 1} {
		_, c, _ := setup(t)
		u := newUpload(t, c)
		if err := c.Send(t.Context(), u, spoiled{from}, 1<<20, nil); !errors.Is(err, errDisk) {
			t.Errorf("fails after %d: %v", from, err)
		}
		if uploaded(t, c, u) {
			t.Errorf("fails after %d: a part was stored", from)
		}
	}
}

func TestAFileThatShrinks(t *testing.T) {
	s, c, _ := setup(t)
	u := newUpload(t, c)
	err := c.Send(t.Context(), u, strings.NewReader(good), int64(len(good))+1, nil)
	if err == nil || !strings.Contains(err.Error(), "shorter") || count(s, "PUT") > 1 {
		t.Error(err)
	}
}

func TestAnEndedContextEndsTheUpload(t *testing.T) {
	s, c, _ := setup(t)
	u := newUpload(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	content := strings.Repeat(good, 1<<18)
	err := c.Send(ctx, u, strings.NewReader(content), int64(len(content)), func(n int64) {
		if n > 1<<20 {
			once.Do(cancel)
		}
	})
	if !errors.Is(err, context.Canceled) || uploaded(t, c, u) {
		t.Error(err)
	}
	if n := count(s, "PUT"); n > 1 {
		t.Errorf("%d puts", n)
	}
}

// A refusal ends a large upload before its body is sent.
func TestALargeUploadIsRefusedEarly(t *testing.T) {
	s, c, _ := setup(t)
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	var sent atomic.Int64
	var refused *client.StorageError
	err := c.Send(t.Context(), newUpload(t, c), spoiled{1 << 40}, 1<<30, sent.Store)
	if !errors.As(err, &refused) || refused.Status != 403 || sent.Load() > 1<<20 {
		t.Errorf("%v after %d bytes", err, sent.Load())
	}
}
