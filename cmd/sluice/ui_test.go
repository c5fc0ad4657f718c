package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
	c := &console{w: &out, width: 10}
	c.setLive("one")
	c.setLive("one")
	c.printf("text\n")
	c.setLive("longer than the terminal")
	c.setLive("")
	c.printf("%s\n", c.paint(red, "end"))
	const clear = "\r\x1b[2K"
	want := clear + "one" + clear + "text\none" + clear + "longer th" + clear + "end\n"
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
	c := newConsole(&out)
	c.setLive("bar")
	c.printf("line\n")
	if got, want := out.String(), "line\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

// The bar is drawn at most once an interval, but the full one always.
func TestProgressBarIsThrottled(t *testing.T) {
	var out bytes.Buffer
	ui := &console{w: &out, width: 80}
	p := newProgressBar(ui, 100)
	p.started = time.Now().Add(-time.Hour) // the last drawing was an hour ago
	draws := func() int { return bytes.Count(out.Bytes(), []byte(eraseLine)) }
	for i, step := range []struct {
		done int64
		want int
	}{{10, 1}, {20, 1}, {30, 1}, {100, 2}} {
		p.update(step.done, step.done)
		if got := draws(); got != step.want {
			t.Errorf("step %d: %d bars drawn, want %d", i, got, step.want)
		}
	}
	if want := fmt.Sprintf("  %s 100 %%  0 B/s", bar(1, 1, 40)); ui.live != want {
		t.Errorf("last bar = %q, want %q", ui.live, want)
	}
}
