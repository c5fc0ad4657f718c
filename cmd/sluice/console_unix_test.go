//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/console"
)

// A terminal that is closed ends the console as Ctrl-C does: dropped files and the webhook of a listener are removed.
func TestConsoleEndsWithItsTerminal(t *testing.T) {
	service := clienttest.New()
	defer service.Close()
	c, err := client.New(service.Config())
	if err != nil {
		t.Fatal(err)
	}
	output, printed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		o := consoleOptions{noOpen: true, address: "127.0.0.1:0"}
		ended <- o.serve(context.Background(), console.Config{Client: c, Assets: fstest.MapFS{}}, newTerminal(printed))
		printed.Close()
	}()
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.Contains(lines.Text(), "Ctrl-C ends it") {
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the console ends with %v", err)
	}
}
