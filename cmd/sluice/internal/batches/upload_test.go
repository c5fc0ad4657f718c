package batches

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestInterruptedUpload(t *testing.T) {
	path := commandtest.WriteBatch(t)
	const (
		nothing = "sluice: interrupted; nothing was stored, run the same command again to start over\n"
		unknown = "sluice: interrupted; whether the service has the file is not known, " +
			"but this says it: sluice status 01980000-0000-7000-8000-000000000001\n"
		continues = "sluice: interrupted; the batch continues: sluice status 01980000-0000-7000-8000-000000000001\n"
	)
	for during, want := range map[string]string{
		"POST /oauth2/token": nothing,
		"POST /tm/realtime":  nothing,
		"PUT /storage":       unknown,
		"GET /tm/realtime/api/transactions/batch/status/":      continues,
		"GET /tm/realtime/api/transactions/batch/validation-r": continues,
	} {
		t.Run(during, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := clienttest.New()
			defer s.Close()
			s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if strings.HasPrefix(r.Method+" "+r.URL.Path, during) {
					cancel()
					_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
					<-r.Context().Done()
				}
				return false
			}
			code, _, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, "upload", path)
			want := commandtest.WithFlags(s, want)
			difftest.Equal(t, "exit code and stderr", []any{command.ExitInterrupted, want}, []any{code, stderr})
		})
	}
}

// If the connection breaks after the whole file was sent, the service may have it.
func TestLostAnswerOfTheUpload(t *testing.T) {
	t.Parallel() // it waits between attempts
	s := clienttest.New()
	defer s.Close()
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/storage") {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		}
		return false
	}
	code, _, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", commandtest.WriteBatch(t))
	want := commandtest.WithFlags(s, "; whether the service has the file is not known, "+
		"but this says it: sluice status 01980000-0000-7000-8000-000000000001\n")
	if code != command.ExitFailed || !strings.HasSuffix(stderr, want) {
		t.Errorf("exit code %d, stderr %q; want 2 and at the end %q", code, stderr, want)
	}
}

// A service that fails while the batch is followed does not end the batch.
func TestFailureAfterTheUpload(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/status/") {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	}
	code, _, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", commandtest.WriteBatch(t))
	want := commandtest.WithFlags(s, "sluice: the service answers 403: Forbidden; the batch continues: "+
		"sluice status 01980000-0000-7000-8000-000000000001\n")
	difftest.Equal(t, "exit code and stderr", []any{command.ExitFailed, want}, []any{code, stderr})
}

// What was sent before an interrupt is counted in words.
func TestInterruptedSending(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for sent, want := range map[int64]string{
		0: "interrupted; 0 transactions were sent", 1: "interrupted; 1 transaction was sent",
	} {
		if err := (&sender{stored: sent}).finish(ctx, nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// An upload in parts that is interrupted says how to resume it, and the resumed one sends only what is missing.
func TestResumedUpload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a batch.jsonl")
	errtest.Fatal(t, os.WriteFile(path, []byte(`{"key": "a value"}`+"\n"), 0o600))
	s := clienttest.New()
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/3") && r.Method == http.MethodPut {
			cancel()
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}
		return false
	}
	const id = "01980000-0000-7000-8000-000000000001"
	code, _, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, "upload", path, "--parts")
	if want := commandtest.WithFlags(s, "sluice: interrupted; continue with: sluice upload --resume "+id+" '"+path+
		"'\n"); code != command.ExitInterrupted || stderr != want {
		t.Errorf("exit code %d, stderr %q; want 130, %q", code, stderr, want)
	}
	s.SetBefore(nil)
	for _, want := range []string{"uploaded", "The service has the file already."} {
		code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", "--resume", id, path)
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) || !strings.Contains(stdout, "PROCESSED") {
			t.Errorf("exit code %d, stdout %q, stderr %q; want 0 and %q", code, stdout, stderr, want)
		}
	}
	code, _, stderr = commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", "--resume", "nonsense", path)
	if want := `--resume takes the ID of a batch, such as 0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01, not "nonsense"`; code !=
		command.ExitFailed || !strings.Contains(stderr, want) {
		t.Errorf("no ID: exit code %d, stderr %q; want 2 and %q", code, stderr, want)
	}
	code, _, stderr = commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", "--resume", id, path,
		"--name", "x")
	if code != command.ExitFailed || !strings.Contains(stderr, "leave out --name") {
		t.Errorf("with another name: exit code %d, stderr %q; want 2", code, stderr)
	}
	longer := commandtest.WriteBatch(t)
	begin := []string{"upload", "--parts", longer}
	s.SetBefore(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	code, _, stderr = commandtest.RunWithServer(t.Context(), t, Commands(), s, begin...)
	want := commandtest.WithFlags(s, "sluice upload --resume 01980000-0000-7000-8000-000000000002 ")
	if code != command.ExitFailed || !strings.Contains(stderr, want) {
		t.Errorf("a refused part: exit code %d, stderr %q; want 2 and %q", code, stderr, want)
	}
	s.SetBefore(nil)
	code, _, stderr = commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", "--resume",
		"01980000-0000-7000-8000-000000000002",
		path)
	if want := "it is not the file of this upload"; code != command.ExitFailed || !strings.Contains(stderr, want) {
		t.Errorf("another file: exit code %d, stderr %q; want 2 and %q", code, stderr, want)
	}
}

// An upload by a single PUT that does not begin is resumed with a new URL, by the same file only.
func TestResumedSinglePut(t *testing.T) {
	t.Parallel() // it waits between attempts
	path := commandtest.WriteBatch(t)
	other := filepath.Join(t.TempDir(), "other.jsonl")
	errtest.Fatal(t, os.WriteFile(other, []byte(`{"key": "a value"}`+"\n"), 0o600))
	s := clienttest.New()
	defer s.Close()
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	const id = "01980000-0000-7000-8000-000000000001"
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"upload", path, "--detach"}, command.ExitFailed, ""},
		{[]string{"batches", "--state", "awaiting_upload"}, 0, id},
		{[]string{"batches", "--state", "ended"}, 0, ""},
		{[]string{"upload", "--resume", id, other}, command.ExitFailed, "it is not the file of this upload: its"},
		{[]string{"upload", "--resume", id, path}, 0, "uploaded"},
		{[]string{"upload", "--resume", id, path}, 0, "The service has the file already."},
		{[]string{"batches", "--state", "ended", "--state", "open"}, 0, id},
	} {
		code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, step.args...)
		if code != step.code || !strings.Contains(stdout+stderr, step.want) {
			t.Errorf("%q: exit code %d, %q, %q; want %d and %q", step.args, code, stdout, stderr, step.code, step.want)
		}
		s.SetBefore(nil)
	}
}
