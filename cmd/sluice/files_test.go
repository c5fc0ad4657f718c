package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/internal/command"
)

// Ctrl-C ends a command that waits for its input.
func TestInterruptedSpool(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	input, writer := io.Pipe()
	defer writer.Close()
	go func() {
		_, _ = io.WriteString(writer, "{}\n") // returns when it was read
		cancel()
	}()
	if _, _, err := spool(ctx, input); !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("spool returned %v, want that it was interrupted", err)
	}
}

// The same holds where input is not copied first.
func TestInterruptedReading(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	input, writer := io.Pipe()
	defer writer.Close()
	go func() {
		_, _ = io.WriteString(writer, "text") // returns when it was read
		cancel()
	}()
	file := newInterruptible(ctx, input)
	defer file.Close()
	if text, err := io.ReadAll(file); !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("read %q and %v, want that it was interrupted", text, err)
	}
	whole := newInterruptible(t.Context(), strings.NewReader("text"))
	defer whole.Close()
	if text, err := io.ReadAll(whole); string(text) != "text" || err != nil {
		t.Errorf("read %q and %v, want all", text, err)
	}
}

func TestSpool(t *testing.T) {
	file, size, err := spool(t.Context(), strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text := make([]byte, 10)
	n, err := file.ReadAt(text, 0)
	if size != 4 || string(text[:n]) != "text" || err != io.EOF {
		t.Errorf("size %d, content %q, %v; want 4, \"text\", EOF", size, text[:n], err)
	}
}

// A command that follows a batch to which nothing was uploaded says what the batch waits for.
func TestFollowWithoutAnUpload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := clienttest.New()
	defer s.Close()
	reads := 0
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/status/") {
			return false
		}
		if reads++; reads == 3 {
			cancel()
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"message":"`+clienttest.NotUploaded+`"}`)
		return true
	}
	code, stdout, stderr := runWithServer(ctx, t, s, "status", "b", "--follow")
	if code != command.ExitInterrupted || !strings.Contains(stderr, "interrupted; the batch continues") {
		t.Errorf("exit code %d, stderr %q; want 130 and that it was interrupted", code, stderr)
	}
	for _, want := range []string{"Batch not yet uploaded completely", "must be PUT to the URL"} {
		if strings.Count(stdout, want) != 1 {
			t.Errorf("printed %q, want %q once", stdout, want)
		}
	}
}

// A command that has uploaded the file does not say that it is not uploaded, while the service has not noticed it yet.
func TestFollowAfterUpload(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/status/") {
			return false
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"message":"`+clienttest.NotUploaded+`"}`)
		return true
	}
	c, err := client.New(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var shown strings.Builder
	_, err = follow(ctx, c, newTerminal(&shown), "b", func(int) time.Duration {
		end()
		return 0
	}, true)
	if want := "The scan of the file has not begun yet"; err == nil || !strings.Contains(shown.String(), want) ||
		strings.Contains(shown.String(), "not yet uploaded") {
		t.Errorf("got %v, printed %q; want %q", err, shown.String(), want)
	}
}
