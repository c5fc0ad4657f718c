// Package commandtest runs commands in the process of a test.
package commandtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sluice/client/clienttest"
	"sluice/internal/command"
	"sluice/internal/environ"
)

// Run runs the command that args name, of a program that has some commands, and returns the exit code.
func Run(ctx context.Context, commands []*cobra.Command, args []string, stdout, stderr io.Writer) int {
	program := command.Group(&cobra.Command{Use: "sluice", Short: "commands under test"}, commands...)
	return command.Main(ctx, program, args, stdout, stderr)
}

// RunWithServer is Run with the flags of a connection to a server.
func RunWithServer(
	ctx context.Context, t *testing.T, commands []*cobra.Command, s *clienttest.Server, args ...string,
) (code int, stdout, stderr string) {
	t.Helper()
	for name, value := range Settings(s) {
		args = append(args, "--"+strings.ReplaceAll(name, "_", "-"), value)
	}
	var out, errs bytes.Buffer
	code = Run(ctx, commands, args, &out, &errs)
	return code, out.String(), errs.String()
}

// Settings returns the settings of a connection to a server by their names in the descriptor of a local cloud. Flags
// and variables have the same names in their own spelling.
func Settings(s *clienttest.Server) map[string]string {
	c := s.Config()
	return map[string]string{
		"api_url": c.APIURL, "token_url": c.TokenURL,
		"client_id": c.ClientID, "client_secret": c.ClientSecret, "scope": c.Scope,
	}
}

var shownCommand = regexp.MustCompile("sluice (status|upload|document show) ")

// WithFlags returns a message as commands print it that RunWithServer runs: each command line that it shows has the
// flags of the connection, without the secret.
func WithFlags(s *clienttest.Server, message string) string {
	c := s.Config()
	return shownCommand.ReplaceAllString(message, fmt.Sprintf("${0}--api-url %s --token-url %s --client-id %s "+
		"--client-secret SECRET --scope %s ", c.APIURL, c.TokenURL, c.ClientID, c.Scope))
}

// WriteBatch writes a batch of one line to a temporary file.
func WriteBatch(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "batch.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// IsToken reports whether a request asks for a token.
func IsToken(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/oauth2/") }

// AwaitEnd ends a command's context and returns when the request has ended.
func AwaitEnd(r *http.Request, interrupt func()) bool {
	_, _ = io.Copy(io.Discard, r.Body)
	interrupt()
	<-r.Context().Done()
	return true
}

// Main runs the tests of a package without the settings of whoever runs them.
func Main(m *testing.M) {
	environ.Unset("SLUICE_", "AWS_")
	os.Exit(m.Run())
}
