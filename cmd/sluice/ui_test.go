package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        string
	}{
		{0, 10, "[----]"}, {4, 10, "[#---]"}, {5, 10, "[##--]"}, {10, 10, "[####]"},
		{11, 10, "[####]"}, {-1, 10, "[----]"}, {0, 0, "[####]"},
	} {
		if got := bar(c.done, c.total, 4); got != c.want {
			t.Errorf("bar(%d, %d, 4) = %s, want %s", c.done, c.total, got, c.want)
		}
	}
}

func TestConsoleKeepsTheChangingLineBelow(t *testing.T) {
	var out bytes.Buffer
	c := &terminal{w: &out, width: 12}
	c.setLive(part{"one", 0})
	c.setLive(part{"one", 0})
	c.printf("text\n")
	c.setLive(part{"longer than the terminal", 0})
	c.setLive()
	c.printf("%s\n", c.paint(red, "end"))
	const clear = "\r\x1b[2K"
	want := clear + "  one" + clear + "text\n  one" + clear + "  longer th" + clear + "end\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	c.color = true
	if got, want := c.paint(red, "x"), "\x1b[31mx\x1b[0m"; got != want {
		t.Errorf("painted %q, want %q", got, want)
	}
	if got := c.paint(red, ""); got != "" {
		t.Errorf("painted %q, want nothing", got)
	}
}

func TestConsoleWithoutATerminalHasNoChangingLine(t *testing.T) {
	var out bytes.Buffer
	c := newTerminal(&out)
	c.setLive(part{"bar", 0})
	c.printf("line\n")
	if got, want := out.String(), "line\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

// The bar is drawn at most once an interval, but the full one always.
func TestProgressBarIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ui := &terminal{w: &out, width: 80}
		p := newProgressBar(ui, 100)
		p.started = time.Now().Add(-time.Hour) // the last drawing was an hour ago
		draws := func() int { return bytes.Count(out.Bytes(), []byte(eraseLine)) }
		for i, step := range []struct {
			after time.Duration
			done  int64
			want  int
		}{
			{0, 10, 1}, {0, 20, 1}, {redrawInterval - 1, 30, 1}, {1, 40, 2}, {redrawInterval - 1, 50, 2}, {0, 100, 3},
		} {
			time.Sleep(step.after) // virtual
			p.update(step.done, step.done)
			if got := draws(); got != step.want {
				t.Errorf("step %d: %d bars drawn, want %d", i, got, step.want)
			}
		}
		if want := fmt.Sprintf("  %s  100 %%  0 B/s", bar(1, 1, barColumns)); ui.live != want {
			t.Errorf("last bar = %q, want %q", ui.live, want)
		}
	})
}

// What matters least is left out first, so that the line always fits.
func TestProgressFitsTheTerminal(t *testing.T) {
	total, stored, invalid := int64(4_000_000), int64(1_000_000), int64(3)
	s := client.Status{
		Status: client.StatusInProgress, BytesTotal: 2_000_000_000, BytesDone: 500_000_000,
		Counts: client.Counts{Total: &total, Accepted: &total, Invalid: &invalid, Ingested: &stored},
	}
	now := time.Now()
	p := pace{status: s.Status, since: now.Add(-20 * time.Second)}
	for width, want := range map[int]string{
		150: "  [#######-----------------------]   25 %  50,000 lines/s  1:00 left  " +
			"1,000,000 of 4,000,000 stored, 3 invalid  500.0 MB of 2.0 GB",
		80: "   25 %  50,000 lines/s  1:00 left  1,000,000 of 4,000,000 stored, 3 invalid",
		60: "   25 %  50,000 lines/s  1:00 left",
		20: "   25 %  1:00 left",
	} {
		got := fitParts(p.format(s, now), width)
		if got != want {
			t.Errorf("in %d columns: %q, want %q", width, got, want)
		}
		if columns(got) > width {
			t.Errorf("in %d columns: %d columns are used", width, columns(got))
		}
	}
}

// Each pass has a rate of its own: validation is faster than ingestion.
func TestPaceBeginsAnewWithEachPass(t *testing.T) {
	var p pace
	at := time.Now()
	text := func(status string, done int64) string {
		at = at.Add(2 * time.Second)
		return fitParts(p.format(client.Status{Status: status, BytesTotal: 1000, BytesDone: done}, at), 200)
	}
	text(client.StatusValidationStarted, 0)
	if got := text(client.StatusValidationStarted, 500); !strings.Contains(got, "50 %  250 B/s  0:02 left") {
		t.Errorf("half of validation: %q, want 50 %%, 250 B/s, 2 s left", got)
	}
	if got := text(client.StatusInProgress, 100); strings.Contains(got, "/s") || !strings.Contains(got, "10 %") {
		t.Errorf("beginning of ingestion: %q, want 10 %% and no rate", got)
	}
	if got := text(client.StatusInProgress, 110); !strings.Contains(got, " 11 %  5 B/s  2:58 left") {
		t.Errorf("ingestion: %q, want 11 %%, 5 B/s, 2:58 left", got)
	}
	if got := fitParts(p.format(client.Status{}, at.Add(time.Second)), 200); got != "  waiting for 0 s" {
		t.Errorf("before a status: %q, want that it waits", got)
	}
}

func TestFormatTimeLeft(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		elapsed     time.Duration
		want        string
	}{
		{0, 100, time.Minute, ""}, {100, 100, time.Minute, ""}, {50, 100, time.Millisecond, ""},
		{50, 100, time.Minute, "1:00 left"}, {99, 100, 10 * time.Second, "0:01 left"},
		{1, 100, time.Minute, "1:39:00 left"}, {1, 1 << 40, time.Hour, "more than 100 h left"},
	} {
		if got := formatTimeLeft(c.done, c.total, c.elapsed); got != c.want {
			t.Errorf("formatTimeLeft(%d, %d, %v) = %q, want %q", c.done, c.total, c.elapsed, got, c.want)
		}
	}
}

func TestFormatPercent(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        string
	}{
		{0, 10, "  0 %"}, {-1, 10, "  0 %"}, {999, 1000, " 99 %"}, {10, 10, "100 %"}, {11, 10, "100 %"},
		{0, 0, "100 %"},
		{1 << 62, 1<<63 - 1, " 50 %"},
	} {
		if got := formatPercent(c.done, c.total); got != c.want {
			t.Errorf("formatPercent(%d, %d) = %q, want %q", c.done, c.total, got, c.want)
		}
	}
}
