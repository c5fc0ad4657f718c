package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/shared/kit/errtest"
)

// beginParts creates a batch whose file is uploaded in parts of 8 bytes.
func beginParts(t *testing.T, c *client.Client, file string, withChecksums bool) client.Upload {
	t.Helper()
	size := int64(len(file))
	u, err := c.CreateUploadWith(t.Context(), client.UploadOptions{Upload: client.UploadMultipart, ContentLength: &size,
		PartChecksums: withChecksums})
	if err != nil || u.UploadID == "" || u.URL != "" {
		t.Fatalf("the upload is %+v, %v; want one in parts", u, err)
	}
	return u
}

func sendParts(t *testing.T, c *client.Client, u client.Upload, file string, o client.PartsOptions) error {
	t.Helper()
	return c.UploadParts(t.Context(), u.BatchID, strings.NewReader(file), int64(len(file)), o)
}

// countPuts returns how many parts were sent.
func countPuts(s *clienttest.Server) int {
	n := 0
	for _, r := range s.Requests() {
		if strings.HasPrefix(r, "PUT /storage/parts/") {
			n++
		}
	}
	return n
}

func TestUploadParts(t *testing.T) {
	for _, withChecksums := range []bool{true, false} {
		for _, file := range []string{"", "{}\n", "{}\n{}\n{}", "{}\n{}\n{}\n{}\n{}\n{}\n{}\n"} {
			t.Run(fmt.Sprintf("%d bytes, checksums %t", len(file), withChecksums), func(t *testing.T) {
				s, c, _ := newClient(t)
				u := beginParts(t, c, file, withChecksums)
				var last atomic.Int64
				errtest.Fatal(t, sendParts(t, c, u, file, client.PartsOptions{Progress: last.Store}))
				if !isUploaded(t, c, u) || int64(countPuts(s)) != u.PartCount || last.Load() > int64(len(file)) {
					t.Errorf("uploaded %t with %d parts, progress %d; want true, %d and at most %d",
						isUploaded(t, c, u), countPuts(s), last.Load(), u.PartCount, len(file))
				}
			})
		}
	}
}

// An upload that broke off is resumed with the parts that are missing or differ.
func TestUploadPartsAreResumed(t *testing.T) {
	for _, withChecksums := range []bool{true, false} {
		t.Run(fmt.Sprintf("checksums %t", withChecksums), func(t *testing.T) {
			s, c, _ := newClient(t)
			const file, other = "{}\n{}\n{}\n{}\n{}\n{}\n", "{}\n[]\n{}\n{}\n{}\n{}\n" // of 18 bytes: three parts
			u := beginParts(t, c, file, withChecksums)
			ctx, cancel := context.WithCancel(t.Context())
			s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.URL.Path, "/storage/parts/") && strings.HasSuffix(r.URL.Path, "/3") {
					cancel()
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}
				return false
			}
			err := c.UploadParts(ctx, u.BatchID, strings.NewReader(other), int64(len(other)),
				client.PartsOptions{Parallel: 1})
			if !errors.Is(err, context.Canceled) || isUploaded(t, c, u) {
				t.Fatalf("the interrupted upload: %v, want the end of its context", err)
			}
			s.SetBefore(nil)
			var stored int64
			replaced := 0
			err = sendParts(t, c, u, file, client.PartsOptions{OnResume: func(n int64, r int) {
				stored, replaced = n,
					r
			}})
			if err != nil || stored != 8 || replaced != 1 || countPuts(s) != 5 || !isUploaded(t, c, u) {
				t.Errorf("resumed: %v, %d bytes stored, %d parts replaced, %d sent in all; want 8, 1 and 5", err,
					stored, replaced, countPuts(s))
			}
		})
	}
}

// A part that breaks off is sent again; so is what storage refuses for a moment, and a completion whose answer is lost.
func TestUploadPartsRetry(t *testing.T) {
	s, c, _ := newClient(t)
	const file = "{}\n{}\n{}\n{}\n"
	var broken, lost atomic.Bool
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/2") && !broken.Swap(true) {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	s.After = func(r *http.Request) bool { return strings.Contains(r.URL.Path, "complete-upload") && !lost.Swap(true) }
	u := beginParts(t, c, file, true)
	if err := sendParts(t, c, u, file, client.PartsOptions{}); err != nil || !isUploaded(t, c, u) {
		t.Errorf("upload: %v, want the file stored", err)
	}
}

func TestUploadPartsOfAnotherFile(t *testing.T) {
	s, c, _ := newClient(t)
	u := beginParts(t, c, "{}\n", false)
	if err := sendParts(t, c, u, "{}\n\n", client.PartsOptions{}); !errors.Is(err, client.ErrOtherFile) ||
		countPuts(s) != 0 {
		t.Errorf("a longer file: %v, %d parts sent; want ErrOtherFile and none", err, countPuts(s))
	}
	single := createUpload(t, c)
	var refused *client.Error
	if err := sendParts(t, c, single, "{}\n", client.PartsOptions{}); !errors.As(err, &refused) ||
		refused.Status != 409 {
		t.Errorf("parts of a single PUT: %v, want 409", err)
	}
}
