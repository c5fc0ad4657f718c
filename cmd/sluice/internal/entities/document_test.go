package entities

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/shared/kit/errtest"
)

// isStorage reports whether a request is one of a file of a document.
func isStorage(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/storage/documents/") }

// A document whose file is not uploaded is deleted again, also after Ctrl-C; if it cannot be, the error names it.
func TestDocumentUploadBreaksOff(t *testing.T) {
	const id = "02980000-0000-7000-8000-000000000001"
	forbid := func(w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"message":"No."}`)
		return true
	}
	for name, c := range map[string]struct {
		before func(w http.ResponseWriter, r *http.Request, interrupt func()) bool
		code   int
		stderr string
		// isLeft means that the document remains.
		isLeft bool
	}{
		"the storage refuses": {
			func(w http.ResponseWriter, r *http.Request, _ func()) bool { return isStorage(r) && forbid(w) },
			2, "sluice: the storage answers 403\n", false,
		},
		"the storage refuses, and it cannot be deleted": {
			func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				return (isStorage(r) || r.Method == http.MethodDelete) && forbid(w)
			},
			2, "sluice: the storage answers 403; the document " + id + " remains without a file\n", true,
		},
		"Ctrl-C during the upload": {
			func(_ http.ResponseWriter, r *http.Request, interrupt func()) bool {
				return isStorage(r) && commandtest.AwaitEnd(r, interrupt)
			},
			command.ExitInterrupted, "sluice: interrupted; the file was not uploaded\n", false,
		},
		"Ctrl-C during the scan": {
			func(_ http.ResponseWriter, r *http.Request, interrupt func()) bool {
				return strings.HasSuffix(r.URL.Path, id) && r.Method == http.MethodGet && commandtest.AwaitEnd(r,
					interrupt)
			},
			command.ExitInterrupted, "sluice: interrupted; the scan goes on: sluice document show " + id + "\n", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := clienttest.New()
			defer s.Close()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s.Before = func(w http.ResponseWriter, r *http.Request) bool { return c.before(w, r, interrupt) }
			code, stdout, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, "document", "upload",
				commandtest.WriteBatch(t), "--entity", "e-1")
			if want := commandtest.WithFlags(s, c.stderr); code != c.code || stdout != "" || stderr != want {
				t.Errorf("exit code %d, %q, %q; want %d, nothing and %q", code, stdout, stderr, c.code, want)
			}
			s.SetBefore(nil)
			_, list, _ := commandtest.RunWithServer(t.Context(), t, Commands(), s, "document", "list", "e-1")
			if isLeft := strings.Contains(list, id); isLeft != c.isLeft {
				t.Errorf("the document remains: %t, want %t", isLeft, c.isLeft)
			}
		})
	}
}

// A download that breaks off leaves no file.
func TestDocumentDownloadBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w http.ResponseWriter, r *http.Request, interrupt func()) bool
		code   int
		stderr string
	}{
		"the connection is lost": {
			func(w http.ResponseWriter, r *http.Request, _ func()) bool {
				if !isStorage(r) {
					return false
				}
				w.Header().Set("Content-Length", "100")
				_, _ = io.WriteString(w, "half")
				return true
			},
			2, "unexpected EOF",
		},
		"Ctrl-C": {
			func(w http.ResponseWriter, r *http.Request, interrupt func()) bool {
				if !isStorage(r) {
					return false
				}
				_, _ = io.WriteString(w, "half")
				w.(http.Flusher).Flush()
				return commandtest.AwaitEnd(r, interrupt)
			},
			command.ExitInterrupted, "interrupted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := clienttest.New()
			defer s.Close()
			code, _, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, "document", "upload",
				commandtest.WriteBatch(t), "--entity", "e-1")
			if code != 0 {
				t.Fatalf("upload: exit code %d, %s", code, stderr)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s.SetBefore(func(w http.ResponseWriter, r *http.Request) bool { return c.before(w, r, interrupt) })
			path := filepath.Join(t.TempDir(), "file")
			code, stdout, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, "document", "download",
				"02980000-0000-7000-8000-000000000001", "-o", path)
			if code != c.code || stdout != "" || !strings.Contains(stderr, c.stderr) {
				t.Errorf("exit code %d, %q, %q; want %d and %q", code, stdout, stderr, c.code, c.stderr)
			}
			errtest.Is(t, "the file", errtest.Of(os.Stat(path)), fs.ErrNotExist)
		})
	}
}
