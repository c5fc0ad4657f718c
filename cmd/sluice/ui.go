package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// console prints lines and, on a terminal, one changing line below them. It is safe for concurrent use.
type console struct {
	mu sync.Mutex
	w  io.Writer
	// width is that of the terminal in columns; 0 if w is not a terminal.
	width int
	color bool
	// live is the changing line as it is shown.
	live string
}

func newConsole(w io.Writer) *console {
	c := &console{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		c.width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 20 {
			c.width = width
		}
		c.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return c
}

// printf prints above the changing line.
func (c *console) printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if c.live != "" {
		text = eraseLine + text + c.live
	}
	fmt.Fprint(c.w, text)
}

// eraseLine returns the cursor to the beginning of its line and clears the line.
const eraseLine = "\r\x1b[2K"

// setLive replaces the changing line; "" removes it. It does nothing if the console is not a terminal.
func (c *console) setLive(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.width == 0 {
		return
	}
	text := truncate(fmt.Sprintf(format, args...), c.width-1)
	if text != c.live {
		fmt.Fprint(c.w, eraseLine+text)
		c.live = text
	}
}

// style is a parameter of the terminal's SGR sequence.
type style string

const (
	bold  style = "1"
	dim   style = "2"
	red   style = "31"
	green style = "32"
)

// paint returns text in a style, if the console has styles.
func (c *console) paint(s style, text string) string {
	if !c.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// printStep prints a line of the course of a command: a name, the seconds since it began, and what it means.
func (c *console) printStep(s style, name string, elapsed time.Duration, meaning string) {
	c.printf("  %s %6.1f s  %s\n", c.paint(s, fmt.Sprintf("%-18s", name)), elapsed.Seconds(), c.paint(dim, meaning))
}

// printExcerpt prints the part of the file around the byte at offset, with a caret below the byte. What cannot be read
// is not printed.
func (c *console) printExcerpt(file io.ReaderAt, offset int64) {
	text, column := excerpt(file, offset, max(c.width-6, 72))
	if text != "" {
		c.printf("    %s\n    %s%s\n", c.paint(dim, text), strings.Repeat(" ", column), c.paint(red, "^"))
	}
}

// redrawInterval is how often a progress bar is redrawn at most.
const redrawInterval = 50 * time.Millisecond

// progressBar shows on the changing line how much of a whole is done and how fast. It is safe for concurrent use.
type progressBar struct {
	ui      *console
	total   int64
	started time.Time
	// drawnAt is when the bar was last drawn, in nanoseconds since started.
	drawnAt atomic.Int64
}

func newProgressBar(ui *console, total int64) *progressBar {
	return &progressBar{ui: ui, total: total, started: time.Now()}
}

// update draws the bar with done of the whole and the rate at which the given bytes were handled since the start. It
// draws at most one bar an interval, and always the full one.
func (p *progressBar) update(done, bytes int64) {
	elapsed := time.Since(p.started)
	last := p.drawnAt.Load()
	tooSoon := elapsed-time.Duration(last) < redrawInterval && done != p.total
	if tooSoon || !p.drawnAt.CompareAndSwap(last, int64(elapsed)) {
		return
	}
	percent := 100 * done / max(p.total, 1)
	p.ui.setLive("  %s %3d %%  %s", bar(done, p.total, 40), percent, formatRate(bytes, elapsed))
}

// clear removes the bar.
func (p *progressBar) clear() { p.ui.setLive("") }

// bar draws how much of a whole is done in so many columns between brackets.
func bar(done, total int64, columns int) string {
	full := columns
	if total > 0 {
		full = int(min(max(done, 0), total) * int64(columns) / total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", columns-full) + "]"
}
