package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/client/clienttest"
)

// call runs a command against a service in this process.
func call(ctx context.Context, t *testing.T, s *clienttest.Server, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for name, value := range connectionOf(s) {
		args = append(args, "--"+strings.ReplaceAll(name, "_", "-"), value)
	}
	var out, errs bytes.Buffer
	code = dispatch(ctx, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batch.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for during, want := range map[string]string{
		"POST /oauth2/token": "interrupted; nothing was stored, and the same command starts anew",
		"PUT /storage":       "interrupted; nothing was stored, and the same command starts anew",
		"GET /tm/realtime/api/transactions/batch/status/":      "interrupted; the batch goes on: sluice status 01980000-0000-7000-8000-000000000001",
		"GET /tm/realtime/api/transactions/batch/validation-r": "interrupted; the batch goes on: sluice status 01980000-0000-7000-8000-000000000001",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		s := clienttest.New()
		s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.Method+" "+r.URL.Path, during) {
				cancel()
				_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client has gone
				<-r.Context().Done()
			}
			return false
		}
		code, _, stderr := call(ctx, t, s, "upload", path)
		if code != exitCannot || stderr != "sluice: "+want+"\n" {
			t.Errorf("during %s: exit %d, %s", during, code, stderr)
		}
		s.Close()
		cancel()
	}
}

// A service that fails while the batch is followed does not take the batch away.
func TestAFailureAfterTheUpload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batch.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := clienttest.New()
	defer s.Close()
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/status/") {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	code, _, stderr := call(t.Context(), t, s, "upload", path)
	if code != exitCannot || stderr != "sluice: the service answers 403: Forbidden; the batch goes on: sluice status 01980000-0000-7000-8000-000000000001\n" {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
