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
		difftest.Equal(t, fmt.Sprintf("bar(%d, %d, 4)", c.done, c.total), c.want, Bar(c.done, c.total, 4))
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
	difftest.Equal(t, "painted", "\x1b[31mx\x1b[0m", c.Paint(Red, "x"))
	difftest.Equal(t, "painted", "", c.Paint(Red, ""))
}

func TestConsoleWithoutATerminalHasNoChangingLine(t *testing.T) {
	var out bytes.Buffer
	c := New(&out)
	c.SetLive(Part{"bar", 0})
	c.Printf("line\n")
	difftest.Equal(t, "output", "line\n", out.String())
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
			difftest.Equal(t, fmt.Sprintf("step %d: bars drawn", i), step.want, draws())
		}
		difftest.Equal(t, "last bar", fmt.Sprintf("  %s  100 %%  0 B/s", Bar(1, 1, BarColumns)), ui.live)
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
		difftest.Equal(t, fmt.Sprintf("formatTimeLeft(%d, %d, %v)", c.done, c.total, c.elapsed), c.want,
			FormatTimeLeft(c.done, c.total, c.elapsed))
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
		difftest.Equal(t, fmt.Sprintf("formatPercent(%d, %d)", c.done, c.total), c.want, FormatPercent(c.done, c.total))
	}
}
