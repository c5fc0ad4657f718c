package batches

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
)

// Ctrl-C leaves the batches alone and says how to follow those that have not ended.
func TestInterruptedStatuses(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	paths := writeBatches(t, 2)
	_, stdout, _ := commandtest.RunWithServer(t.Context(), t, Commands(), s, "upload", "--detach", "--quiet",
		paths[0], paths[1])
	ids := strings.Fields(stdout)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/status/") {
			cancel()
			<-r.Context().Done()
		}
		return false
	}
	code, _, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, append([]string{"status", "--follow"},
		ids...)...)
	want := commandtest.WithFlags(s,
		"sluice: interrupted; the batches continue: sluice status --follow "+strings.Join(ids, " ")+
			"\n")
	if code != command.ExitInterrupted || stderr != want {
		t.Errorf("exit code %d, stderr %q; want 130, %q", code, stderr, want)
	}
}

// A table that is too long for the terminal leaves out the batches that have ended.
func TestLinesOfALongTable(t *testing.T) {
	s := statuses{ids: []string{"a", "b", "c", "d"}}
	for _, status := range []string{client.StatusProcessed, client.StatusInProgress, client.StatusError,
		client.StatusInProgress} {
		s.rows = append(s.rows, statusRow{isRead: true})
		s.rows[len(s.rows)-1].status.Status = status
	}
	for height, want := range map[int]string{4: "abcd", 3: "bcd", 2: "bd", 1: "b"} {
		lines, hidden := s.chooseLines(height)
		got := ""
		for _, line := range lines {
			got += line[:1]
		}
		if got != want || hidden != 4-len(want) {
			t.Errorf("of height %d: lines of %q and %d hidden, want %q", height, got, hidden, want)
		}
	}
}
