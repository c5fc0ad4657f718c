package files

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sluice/internal/command"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
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
	errtest.Is(t, "read", errtest.Of(io.ReadAll(file)), command.ErrInterrupted)
	whole := newInterruptible(t.Context(), strings.NewReader("text"))
	defer whole.Close()
	difftest.Equal(t, "read", "text", string(errtest.Must(io.ReadAll(whole))(t)))
}

func TestSpool(t *testing.T) {
	file, size, err := spool(t.Context(), strings.NewReader("text"))
	errtest.Fatal(t, err)
	defer file.Close()
	text := make([]byte, 10)
	n, err := file.ReadAt(text, 0)
	if size != 4 || string(text[:n]) != "text" || err != io.EOF {
		t.Errorf("size %d, content %q, %v; want 4, \"text\", EOF", size, text[:n], err)
	}
}
