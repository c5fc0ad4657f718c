package batches

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/command"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// A command that follows a batch to which nothing was uploaded names the reason why the batch waits.
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
	code, stdout, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, "status",
		"01980000-0000-7000-8000-000000000001", "--follow")
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
	errtest.Fatal(t, err)
	ctx, end := context.WithCancel(t.Context())
	var shown strings.Builder
	_, err = follow(ctx, c, terminal.New(&shown), "b", func(int) time.Duration {
		end()
		return 0
	}, true)
	if want := "The scan of the file has not begun yet"; err == nil || !strings.Contains(shown.String(), want) ||
		strings.Contains(shown.String(), "not yet uploaded") {
		t.Errorf("got %v, printed %q; want %q", err, shown.String(), want)
	}
}

func TestFormatCounts(t *testing.T) {
	one, many := int64(1), int64(1234)
	for want, c := range map[string]client.Counts{
		"":                                 {},
		"1 line, 1 accepted":               {Total: &one, Accepted: &one},
		"1,234 lines, 1 invalid, 1 stored": {Total: &many, Invalid: &one, Ingested: &one},
	} {
		difftest.Equal(t, "formatCounts", want, formatCounts(c))
	}
}

// What matters least is left out first, so that the line always fits.
func TestProgressFitsTheTerminal(t *testing.T) {
	total, stored, invalid := int64(4_000_000), int64(1_000_000), int64(3)
	s := client.Status{BatchStatus: wire.BatchStatus{
		Status: client.StatusInProgress, BytesTotal: 2_000_000_000, BytesDone: 500_000_000,
		Counts: client.Counts{Total: &total, Accepted: &total, Invalid: &invalid, Ingested: &stored},
	}}
	now := time.Now()
	p := pace{status: s.Status, since: now.Add(-20 * time.Second)}
	for width, want := range map[int]string{
		150: "  [#######-----------------------]   25 %  50,000 lines/s  1:00 left  " +
			"1,000,000 of 4,000,000 stored, 3 invalid  500.0 MB of 2.0 GB",
		80: "   25 %  50,000 lines/s  1:00 left  1,000,000 of 4,000,000 stored, 3 invalid",
		60: "   25 %  50,000 lines/s  1:00 left",
		20: "   25 %  1:00 left",
	} {
		got := terminal.FitParts(p.format(s, now), width)
		difftest.Equal(t, fmt.Sprintf("in %d columns", width), want, got)
		if terminal.Columns(got) > width {
			t.Errorf("in %d columns: %d columns are used", width, terminal.Columns(got))
		}
	}
}

// Each pass has a rate of its own: validation is faster than ingestion.
func TestPaceBeginsAnewWithEachPass(t *testing.T) {
	var p pace
	at := time.Now()
	text := func(status string, done int64) string {
		at = at.Add(2 * time.Second)
		s := client.Status{BatchStatus: wire.BatchStatus{Status: status, BytesTotal: 1000, BytesDone: done}}
		return terminal.FitParts(p.format(s, at), 200)
	}
	text(client.StatusValidationStarted, 0)
	difftest.Contains(t, "half of validation", text(client.StatusValidationStarted, 500), "50 %  250 B/s  0:02 left")
	if got := text(client.StatusInProgress, 100); strings.Contains(got, "/s") || !strings.Contains(got, "10 %") {
		t.Errorf("beginning of ingestion: %q, want 10 %% and no rate", got)
	}
	difftest.Contains(t, "ingestion", text(client.StatusInProgress, 110), " 11 %  5 B/s  2:58 left")
	difftest.Equal(t, "before a status", "  waiting for 0 s",
		terminal.FitParts(p.format(client.Status{}, at.Add(time.Second)), 200))
}

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
	difftest.Equal(t, "exit code and stderr", []any{command.ExitInterrupted, want}, []any{code, stderr})
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
		difftest.Equal(t, fmt.Sprintf("of height %d: lines of", height), []any{want, 4 - len(want)}, []any{got, hidden})
	}
}
