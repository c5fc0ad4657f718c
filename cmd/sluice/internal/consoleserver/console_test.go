package consoleserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/console"
	"sluice/internal/command"
	"sluice/shared/kit/errtest"
)

// The console acts with the user's credentials, so only this machine reaches it.
func TestConsoleListensOnThisMachineOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "8470", "127.0.0.1",
		"127.0.0.1.nip.io:0"} {
		socket, err := listenOnThisMachine(address)
		if socket != nil {
			socket.Close()
		}
		var code command.ExitCode
		if err == nil || errors.As(err, &code) {
			t.Errorf("--address %s: %v, want a refusal", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0", ":0"} {
		socket := errtest.Must(listenOnThisMachine(address))(t)
		if got := socket.Addr().String(); !strings.HasPrefix(got, "127.0.0.1:") {
			t.Errorf("--address %s listens at %s", address, got)
		}
		socket.Close()
	}
}

// The command prints an address that opens the console, and another one for each Enter; Ctrl-C ends it without an
// error.
func TestConsoleIsServed(t *testing.T) {
	service := clienttest.New()
	defer service.Close()
	c := errtest.Must(client.New(service.Config()))(t)
	input, enter := io.Pipe()
	output, printed := io.Pipe()
	defer enter.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		o := consoleOptions{noOpen: true, address: "127.0.0.1:0", input: input}
		ended <- o.serve(ctx, console.Config{Client: c, Assets: fstest.MapFS{"index.html": {Data: []byte("the page")}}},
			terminal.New(printed))
		printed.Close()
	}()
	lines := bufio.NewScanner(output)
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/open/[A-Z0-9]{26}`)
	open := func() {
		t.Helper()
		found := ""
		for found == "" && lines.Scan() {
			found = address.FindString(lines.Text())
		}
		jar, _ := cookiejar.New(nil) // without options there is no error
		resp, err := (&http.Client{Jar: jar}).Get(found)
		if err != nil {
			t.Fatalf("open %q: %v", found, err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || string(text) != "the page" {
			t.Errorf("%s shows %d %s", found, resp.StatusCode, text)
		}
	}
	open()
	go func() { _, _ = io.WriteString(enter, "\n") }()
	open()
	go func() { _, _ = io.Copy(io.Discard, output) }()
	interrupt()
	errtest.Is(t, "the command ends with", <-ended, nil)
}
