package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/console"
	"sluice/internal/command"
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
		socket, err := listenOnThisMachine(address)
		if err != nil {
			t.Fatal(err)
		}
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
	c, err := client.New(service.Config())
	if err != nil {
		t.Fatal(err)
	}
	input, enter := io.Pipe()
	output, printed := io.Pipe()
	defer enter.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		o := consoleOptions{noOpen: true, address: "127.0.0.1:0", input: input}
		ended <- o.serve(ctx, console.Config{Client: c, Assets: fstest.MapFS{"index.html": {Data: []byte("the page")}}},
			newTerminal(printed))
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
	if err := <-ended; err != nil {
		t.Errorf("the command ends with %v", err)
	}
}

// The lists are those of 'sluice admin', recorded as its are, and have no secrets.
func TestConsoleOperator(t *testing.T) {
	f := newFakeInstallation(t)
	tenant := runAdmin[tenantOutput](t, f, "tenant", "create").TenantID
	created := runAdmin[clientOutput](t, f, "client", "create", "--tenant", tenant, "--permission", "all")
	stored, err := f.registry.Client(t.Context(), created.ClientID)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := json.Marshal(stored.Secret)
	if err != nil {
		t.Fatal(err)
	}
	f.records = nil
	o := consoleOperator{isLocal: true, data: f.data}
	for name, list := range map[string]struct {
		read func(context.Context) (any, error)
		want string
	}{
		"admin tenant list": {o.Tenants, tenant}, "admin client list": {o.Clients, created.ClientID},
		"admin key list": {o.Keys, "["},
	} {
		result, err := list.read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(result)
		if err != nil || !strings.Contains(string(text), list.want) {
			t.Errorf("%s: got %s (%v), want %s", name, text, err, list.want)
		}
		for _, secret := range []string{created.ClientSecret, strings.Trim(string(hash), `"{}`), "secret"} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has a secret: %s", name, text)
			}
		}
		recorded := 0
		for _, r := range f.records {
			if r.Route == name && time.Since(r.Time) < time.Minute {
				recorded++
			}
		}
		if recorded != 2 {
			t.Errorf("%s has %d records, want its start and its end", name, recorded)
		}
	}
}
