// Package terminal prints for people: lines, a changing line with the progress, and numbers in words.
package terminal

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

	"sluice/internal/command"
)

// fileOf returns the file that a writer writes to; nil if it is something else.
func fileOf(w io.Writer) *os.File {
	if o, isChecked := w.(*command.Output); isChecked {
		w = o.Unwrap()
	}
	file, _ := w.(*os.File)
	return file
}

// Terminal is where a command prints: lines and, if that is a terminal, one changing line below them. It is safe for
// concurrent use.
type Terminal struct {
	mu sync.Mutex
	w  io.Writer
	// Tty is w if it is a terminal; otherwise nil.
	Tty *os.File
	// Width is that of the terminal in columns; 0 if w is not a terminal, or one that cannot redraw a line.
	Width int
	color bool
	// live is the changing line as it is shown.
	live string
}

// New returns the terminal that prints to w. It respects the variables NO_COLOR and TERM=dumb.
func New(w io.Writer) *Terminal {
	c := &Terminal{w: w}
	f := fileOf(w)
	if f == nil || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return c
	}
	c.Tty = f
	c.color = os.Getenv("NO_COLOR") == ""
	c.Measure()
	return c
}

// Measure reads the width of the terminal, which may change at any time.
func (c *Terminal) Measure() {
	if c.Tty == nil {
		return
	}
	c.Width = 80
	if width, _, err := term.GetSize(int(c.Tty.Fd())); err == nil && width > 0 {
		c.Width = width
	}
}

// Printf prints above the changing line.
func (c *Terminal) Printf(format string, args ...any) {
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

// SetLive replaces the changing line by the parts that fit; none removes it. It does nothing if there is no changing
// line.
func (c *Terminal) SetLive(parts ...Part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Measure()
	if c.Width == 0 {
		return
	}
	text := Truncate(FitParts(parts, c.Width-1), c.Width-1)
	if text != c.live {
		fmt.Fprint(c.w, eraseLine+text)
		c.live = text
	}
}

// Part is a piece of the changing line.
type Part struct {
	Text string
	// Rank is what is left out first if the line is too long: the parts of the highest rank.
	Rank int
}

// FitParts joins parts by two blanks, and leaves out as many as must be for the line to fit into width columns. The
// first part is indented by two blanks, as the other lines of a course are.
func FitParts(parts []Part, width int) string {
	for limit := math.MaxInt; ; {
		var kept []string
		highest := 0
		for _, p := range parts {
			if p.Text != "" && p.Rank < limit {
				kept = append(kept, p.Text)
				highest = max(highest, p.Rank)
			}
		}
		if len(kept) == 0 {
			return ""
		}
		line := "  " + strings.Join(kept, "  ")
		if Columns(line) <= width || highest == 0 {
			return line
		}
		limit = highest
	}
}

// style is a parameter of the terminal's SGR sequence.
type style string

const (
	Bold  style = "1"
	Dim   style = "2"
	Red   style = "31"
	Green style = "32"
)

// Paint returns text in a style, if it has styles.
func (c *Terminal) Paint(s style, text string) string {
	if !c.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// PrintStep prints a line of the course of a command: a name, the seconds since it began, and what it means.
func (c *Terminal) PrintStep(s style, name string, elapsed time.Duration, meaning string) {
	c.Printf("  %s %6.1f s  %s\n", c.Paint(s, fmt.Sprintf("%-18s", name)), elapsed.Seconds(), c.Paint(Dim, meaning))
}

// PrintExcerpt prints the part of the file around the byte at offset, with a caret below the byte. What cannot be read
// is not printed.
func (c *Terminal) PrintExcerpt(file io.ReaderAt, offset int64) {
	text, column := excerpt(file, offset, max(c.Width-6, 72))
	if text != "" {
		c.Printf("    %s\n    %s%s\n", c.Paint(Dim, text), strings.Repeat(" ", column), c.Paint(Red, "^"))
	}
}

// redrawInterval is how often a progress bar is redrawn at most.
const redrawInterval = 50 * time.Millisecond

// progressBar shows on the changing line how much of a whole is done, how fast, and how long the rest will take. It is
// safe for concurrent use.
type progressBar struct {
	ui      *Terminal
	total   int64
	Started time.Time
	// drawnAt is when the bar was last drawn, in nanoseconds since started.
	drawnAt atomic.Int64
}

func NewProgressBar(ui *Terminal, total int64) *progressBar {
	return &progressBar{ui: ui, total: total, Started: time.Now()}
}

// Update draws the bar with done of the whole and the rate at which the given bytes were handled since the start. It
// draws at most one bar an interval, and always the full one.
func (p *progressBar) Update(done, bytes int64) {
	elapsed := time.Since(p.Started)
	last := p.drawnAt.Load()
	tooSoon := elapsed-time.Duration(last) < redrawInterval && done != p.total
	if tooSoon || !p.drawnAt.CompareAndSwap(last, int64(elapsed)) {
		return
	}
	p.ui.SetLive(
		Part{Bar(done, p.total, BarColumns), RankOfBar}, Part{FormatPercent(done, p.total), 0},
		Part{FormatRate(bytes, elapsed), 1}, Part{FormatTimeLeft(done, p.total, elapsed), 0},
	)
}

// Clear removes the bar.
func (p *progressBar) Clear() { p.ui.SetLive() }

const (
	BarColumns = 30
	// RankOfBar is that of the bar among the parts of a line: the percentage says the same in less room.
	RankOfBar = 4
)

// Bar draws how much of a whole is done in so many columns between brackets.
func Bar(done, total int64, columns int) string {
	full := columns
	if total > 0 {
		full = int(min(max(done, 0), total) * int64(columns) / total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", columns-full) + "]"
}

// FormatPercent writes how much of a whole is done, 100 % only for all of it.
func FormatPercent(done, total int64) string {
	if total <= 0 || done >= total {
		return "100 %"
	}
	return fmt.Sprintf("%3d %%", int64(100*(float64(max(done, 0))/float64(total))))
}

// FormatTimeLeft estimates how long the rest of a whole will take if it goes on as fast as before; "" if that cannot be
// told.
func FormatTimeLeft(done, total int64, elapsed time.Duration) string {
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
