package e2e

import (
	"path/filepath"
	"testing"
	"time"

	"sluice/functions/setup/setuptest"
)

// A function sends no requests before its first event: a cold start must not wait for a network.
func TestFunctionsStartAlone(t *testing.T) {
	const limit, attempts = 5 * time.Second, 5 // another attempt if the machine is busy with other things
	programs, err := filepath.Glob("../bin/functions/*")
	require(t, err == nil && len(programs) != 0, "there are no functions: run `make build` first (%v)", err)
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) {
			took, requests, err := setuptest.Init(t.Context(), program)
			for attempt := 1; err == nil && requests == 0 && took > limit && attempt < attempts; attempt++ {
				took, requests, err = setuptest.Init(t.Context(), program)
			}
			must(t, err)
			assert(t, requests == 0 && took <= limit,
				"%d requests and %v before the first event, want none and at most %v", requests, took, limit)
		})
	}
}
