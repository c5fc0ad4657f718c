//go:build unix

package consoleserver

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/console"
	"sluice/shared/kit/errtest"
)

// A terminal that is closed ends the console as Ctrl-C does: dropped files and the webhook of a listener are removed.
func TestConsoleEndsWithItsTerminal(t *testing.T) {
	// The tests themselves may run under nohup, which has the signal ignored until someone asks for it.
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	defer signal.Stop(received)
	ended := startConsole(t, t.Context())
	errtest.Fatal(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	errtest.Is(t, "the console ends with", <-ended, nil)
}

// Under nohup the console outlives its terminal.
func TestConsoleOutlivesItsTerminalUnderNohup(t *testing.T) {
	wasIgnored := signal.Ignored(syscall.SIGHUP)
	signal.Ignore(syscall.SIGHUP)
	if !wasIgnored {
		defer signal.Reset(syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := startConsole(t, ctx)
	errtest.Fatal(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	select {
	case err := <-ended:
		t.Fatalf("the console ends with %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	errtest.Is(t, "the console ends with", <-ended, nil)
}

// startConsole starts a console beside a stand-in for the service and returns when it serves. The channel has the error
// with which it ends.
func startConsole(t *testing.T, ctx context.Context) (ended chan error) {
	t.Helper()
	service := clienttest.New()
	t.Cleanup(service.Close)
	c := errtest.Must(client.New(service.Config()))(t)
	output, printed := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		o := consoleOptions{noOpen: true, address: "127.0.0.1:0"}
		ended <- o.serve(ctx, console.Config{Client: c, Assets: fstest.MapFS{}}, terminal.New(printed))
		printed.Close()
	}()
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C ends it") {
	}
	return ended
}
