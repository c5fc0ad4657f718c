package e2e

import (
	"fmt"
	"os"
	"testing"
)

// home is the local cloud that most tests share: chunks so small that every batch has many.
var home *Home

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	data, err := os.MkdirTemp("", "sluice-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(data)
	if home, err = startLocal(data, "ChunkBytes=8192"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := home.stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// another starts a local cloud of its own for a test that needs other settings.
func another(t *testing.T, parameters ...string) *Home {
	t.Helper()
	h, err := startLocal(t.TempDir(), parameters...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}
