package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"sluice/shared/setup/setuptest"
)

// Before its first request a function talks to nobody: a cold start must not wait for a network.
func TestFunctionsStartAlone(t *testing.T) {
	programs, err := filepath.Glob("../bin/functions/*")
	if err != nil || len(programs) == 0 {
		t.Fatalf("no functions: run `make build` first (%v)", err)
	}
	for _, program := range programs {
		took, requests, err := setuptest.Init(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		if requests != 0 || took > 5*time.Second {
			t.Errorf("%s: %d requests, %v before the first event", filepath.Base(program), requests, took)
		}
	}
}
