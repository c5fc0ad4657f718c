package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// terminal is where a command prints: lines and, if that is a terminal, one changing line below them. It is safe for
// concurrent use.
type terminal struct {
	mu sync.Mutex
	w  io.Writer
	// tty is w if it is a terminal; otherwise nil.
	tty *os.File
	// width is that of the terminal in columns; 0 if w is not a terminal, or one that cannot redraw a line.
	width int
	color bool
	// live is the changing line as it is shown.
	live string
}

// newTerminal returns the terminal that prints to w. It respects the variables NO_COLOR and TERM=dumb.
func newTerminal(w io.Writer) *terminal {
	c := &terminal{w: w}
	f := fileOf(w)
	if f == nil || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return c
	}
	c.tty = f
	c.color = os.Getenv("NO_COLOR") == ""
	c.measure()
	return c
}

// measure reads the width of the terminal, which may change at any time.
func (c *terminal) measure() {
	if c.tty == nil {
		return
	}
	c.width = 80
	if width, _, err := term.GetSize(int(c.tty.Fd())); err == nil && width > 0 {
		c.width = width
	}
}

// printf prints above the changing line.
func (c *terminal) printf(format string, args ...any) {
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

// setLive replaces the changing line by the parts that fit; none removes it. It does nothing if there is no changing
// line.
func (c *terminal) setLive(parts ...part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.measure()
	if c.width == 0 {
		return
	}
	text := truncate(fitParts(parts, c.width-1), c.width-1)
	if text != c.live {
		fmt.Fprint(c.w, eraseLine+text)
		c.live = text
	}
}

// part is a piece of the changing line.
type part struct {
	text string
	// rank is what is left out first if the line is too long: the parts of the highest rank.
	rank int
}

// fitParts joins parts by two blanks, and leaves out as many as must be for the line to fit into width columns. The
// first part is indented by two blanks, as the other lines of a course are.
func fitParts(parts []part, width int) string {
	for limit := math.MaxInt; ; {
		var kept []string
		highest := 0
		for _, p := range parts {
			if p.text != "" && p.rank < limit {
				kept = append(kept, p.text)
				highest = max(highest, p.rank)
			}
		}
		if len(kept) == 0 {
			return ""
		}
		line := "  " + strings.Join(kept, "  ")
		if columns(line) <= width || highest == 0 {
			return line
		}
		limit = highest
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

// paint returns text in a style, if it has styles.
func (c *terminal) paint(s style, text string) string {
	if !c.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// printStep prints a line of the course of a command: a name, the seconds since it began, and what it means.
func (c *terminal) printStep(s style, name string, elapsed time.Duration, meaning string) {
	c.printf("  %s %6.1f s  %s\n", c.paint(s, fmt.Sprintf("%-18s", name)), elapsed.Seconds(), c.paint(dim, meaning))
}

// printExcerpt prints the part of the file around the byte at offset, with a caret below the byte. What cannot be read
// is not printed.
func (c *terminal) printExcerpt(file io.ReaderAt, offset int64) {
	text, column := excerpt(file, offset, max(c.width-6, 72))
	if text != "" {
		c.printf("    %s\n    %s%s\n", c.paint(dim, text), strings.Repeat(" ", column), c.paint(red, "^"))
	}
}

// redrawInterval is how often a progress bar is redrawn at most.
const redrawInterval = 50 * time.Millisecond

// progressBar shows on the changing line how much of a whole is done, how fast, and how long the rest will take. It is
// safe for concurrent use.
type progressBar struct {
	ui      *terminal
	total   int64
	started time.Time
	// drawnAt is when the bar was last drawn, in nanoseconds since started.
	drawnAt atomic.Int64
}

func newProgressBar(ui *terminal, total int64) *progressBar {
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
	p.ui.setLive(
		part{bar(done, p.total, barColumns), rankOfBar}, part{formatPercent(done, p.total), 0},
		part{formatRate(bytes, elapsed), 1}, part{formatTimeLeft(done, p.total, elapsed), 0},
	)
}

// clear removes the bar.
func (p *progressBar) clear() { p.ui.setLive() }

const (
	barColumns = 30
	// rankOfBar is that of the bar among the parts of a line: the percentage says the same in less room.
	rankOfBar = 4
)

// bar draws how much of a whole is done in so many columns between brackets.
func bar(done, total int64, columns int) string {
	full := columns
	if total > 0 {
		full = int(min(max(done, 0), total) * int64(columns) / total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", columns-full) + "]"
}

// formatPercent writes how much of a whole is done, 100 % only for all of it.
func formatPercent(done, total int64) string {
	if total <= 0 || done >= total {
		return "100 %"
	}
	return fmt.Sprintf("%3d %%", int64(100*(float64(max(done, 0))/float64(total))))
}

// formatTimeLeft estimates how long the rest of a whole will take if it goes on as fast as before; "" if that cannot be
// told.
func formatTimeLeft(done, total int64, elapsed time.Duration) string {
	const enough = time.Second // before that, the estimate would jump
	if done <= 0 || done >= total || elapsed < enough {
		return ""
	}
	left := elapsed.Seconds() * float64(total-done) / float64(done)
	const longest = 100 * 3600
	if left > longest {
		return "more than 100 h left"
	}
	s := int64(math.Ceil(left))
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d left", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d left", s/60, s%60)
}
