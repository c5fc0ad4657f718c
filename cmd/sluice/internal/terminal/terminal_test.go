package terminal

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/kit/difftest"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        string
	}{
		{0, 10, "[----]"}, {4, 10, "[#---]"}, {5, 10, "[##--]"}, {10, 10, "[####]"},
		{11, 10, "[####]"}, {-1, 10, "[----]"}, {0, 0, "[####]"},
	} {
		if got := Bar(c.done, c.total, 4); got != c.want {
			t.Errorf("bar(%d, %d, 4) = %s, want %s", c.done, c.total, got, c.want)
		}
	}
}

func TestConsoleKeepsTheChangingLineBelow(t *testing.T) {
	var out bytes.Buffer
	c := &Terminal{w: &out, Width: 12}
	c.SetLive(Part{"one", 0})
	c.SetLive(Part{"one", 0})
	c.Printf("text\n")
	c.SetLive(Part{"longer than the terminal", 0})
	c.SetLive()
	c.Printf("%s\n", c.Paint(Red, "end"))
	const clear = "\r\x1b[2K"
	want := clear + "  one" + clear + "text\n  one" + clear + "  longer th" + clear + "end\n"
	difftest.Equal(t, "output", want, out.String())
	c.color = true
	if got, want := c.Paint(Red, "x"), "\x1b[31mx\x1b[0m"; got != want {
		t.Errorf("painted %q, want %q", got, want)
	}
	if got := c.Paint(Red, ""); got != "" {
		t.Errorf("painted %q, want nothing", got)
	}
}

func TestConsoleWithoutATerminalHasNoChangingLine(t *testing.T) {
	var out bytes.Buffer
	c := New(&out)
	c.SetLive(Part{"bar", 0})
	c.Printf("line\n")
	if got, want := out.String(), "line\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

// The bar is drawn at most once an interval, but the full one always.
func TestProgressBarIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ui := &Terminal{w: &out, Width: 80}
		p := NewProgressBar(ui, 100)
		p.Started = time.Now().Add(-time.Hour) // the last drawing was an hour ago
		draws := func() int { return bytes.Count(out.Bytes(), []byte(eraseLine)) }
		for i, step := range []struct {
			after time.Duration
			done  int64
			want  int
		}{
			{0, 10, 1}, {0, 20, 1}, {redrawInterval - 1, 30, 1}, {1, 40, 2}, {redrawInterval - 1, 50, 2}, {0, 100, 3},
		} {
			time.Sleep(step.after) // virtual
			p.Update(step.done, step.done)
			if got := draws(); got != step.want {
				t.Errorf("step %d: %d bars drawn, want %d", i, got, step.want)
			}
		}
		if want := fmt.Sprintf("  %s  100 %%  0 B/s", Bar(1, 1, BarColumns)); ui.live != want {
			t.Errorf("last bar = %q, want %q", ui.live, want)
		}
	})
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
		if got := FormatTimeLeft(c.done, c.total, c.elapsed); got != c.want {
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
		if got := FormatPercent(c.done, c.total); got != c.want {
			t.Errorf("formatPercent(%d, %d) = %q, want %q", c.done, c.total, got, c.want)
		}
	}
}
