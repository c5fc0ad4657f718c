package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sluice/client/clienttest"
	"sluice/internal/command"
)

// isToken reports whether a request asks for a token.
func isToken(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/oauth2/") }

// Commands that read what is stored end with 2 if the client lacks the permission, and with 130 after Ctrl-C.
func TestReadingCannot(t *testing.T) {
	for _, args := range [][]string{
		{"entity", "list"}, {"entity", "show", "e-1"}, {"transaction", "show", "t1"},
		{"document", "show", "d"}, {"document", "list", "e-1"}, {"document", "download", "d", "-o", "-"},
		{"screen", "Ivan", "--service"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			s := clienttest.New()
			defer s.Close()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if isToken(r) {
					return false
				}
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprint(w, `{"message":"The client lacks the permission."}`)
				return true
			}
			const refused = "sluice: the service answers 403: The client lacks the permission.\n"
			if code, stdout, stderr := runWithServer(ctx, t, s, args...); code != 2 || stdout != "" ||
				stderr != refused {
				t.Errorf("without the permission: exit code %d, %q, %q; want 2 and %q", code, stdout, stderr, refused)
			}
			s.SetBefore(func(_ http.ResponseWriter, r *http.Request) bool {
				return !isToken(r) && awaitEnd(r, interrupt)
			})
			if code, stdout, stderr := runWithServer(ctx, t, s, args...); code != command.ExitInterrupted ||
				stdout != "" || stderr != "sluice: interrupted\n" {
				t.Errorf("interrupted: exit code %d, %q, %q; want 130", code, stdout, stderr)
			}
		})
	}
}
