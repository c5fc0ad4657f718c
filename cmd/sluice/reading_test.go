package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/cmd/sluice/internal/entities"
	"sluice/cmd/sluice/internal/screening"
	"sluice/cmd/sluice/internal/transactions"
	"sluice/internal/command"
)

// Commands that read what is stored end with 2 if the client lacks the permission, and with 130 after Ctrl-C.
func TestReadingCannot(t *testing.T) {
	commands := func() []*cobra.Command {
		return slices.Concat(entities.Commands(), transactions.Commands(), []*cobra.Command{screening.Command()})
	}
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
				if commandtest.IsToken(r) {
					return false
				}
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprint(w, `{"message":"The client lacks the permission."}`)
				return true
			}
			const refused = "sluice: the service answers 403: The client lacks the permission.\n"
			if code, stdout, stderr := commandtest.RunWithServer(ctx, t, commands(), s,
				args...); code != 2 || stdout != "" ||
				stderr != refused {
				t.Errorf("without the permission: exit code %d, %q, %q; want 2 and %q", code, stdout, stderr, refused)
			}
			s.SetBefore(func(_ http.ResponseWriter, r *http.Request) bool {
				return !commandtest.IsToken(r) && commandtest.AwaitEnd(r, interrupt)
			})
			if code, stdout, stderr := commandtest.RunWithServer(ctx, t, commands(), s,
				args...); code != command.ExitInterrupted ||
				stdout != "" || stderr != "sluice: interrupted\n" {
				t.Errorf("interrupted: exit code %d, %q, %q; want 130", code, stdout, stderr)
			}
		})
	}
}
