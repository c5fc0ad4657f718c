package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"
)

// console prints lines and, on a terminal, keeps one line below them that changes. It is safe for concurrent use.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	width int // of the terminal; 0 when it is none
	color bool
	live  string
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

func (c *console) terminal() bool { return c.width > 0 }

// printf prints above the changing line.
func (c *console) printf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if c.live != "" {
		text = "\r\x1b[2K" + text + c.live
	}
	fmt.Fprint(c.w, text)
}

// show changes the line that changes; "" takes it away. Where there is no terminal there is none.
func (c *console) show(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.terminal() {
		return
	}
	text := cut(fmt.Sprintf(format, args...), c.width-1)
	if text != c.live {
		fmt.Fprint(c.w, "\r\x1b[2K"+text)
		c.live = text
	}
}

type style string

const (
	bold  style = "1"
	dim   style = "2"
	red   style = "31"
	green style = "32"
)

func (c *console) paint(s style, text string) string {
	if !c.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// bar draws how much of a whole is done.
func bar(done, whole int64, cells int) string {
	full := cells
	if whole > 0 {
		full = int(min(max(done, 0), whole) * int64(cells) / whole)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", cells-full) + "]"
}

// size says a number of bytes as people do.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	for _, unit := range []string{"kB", "MB", "GB"} {
		if f /= 1000; f < 999.95 || unit == "GB" {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
	}
	return ""
}

// rate says how many bytes go by in a second.
func rate(bytes int64, took time.Duration) string {
	return size(int64(float64(bytes)/max(took.Seconds(), 0.001))) + "/s"
}

// number groups digits by threes.
func number(n int64) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// printable makes text that comes from a file harmless for a terminal: one column or two for each character, no controls.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ':
			return '␀' + r
		case r == 0x7F:
			return '␡'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// columns is the width of printable text on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r):
		return 0
	case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60, r >= 0x1F300 && r <= 0x1FAFF, r >= 0x20000 && r <= 0x3FFFD:
		return 2
	}
	return 1
}

// cut shortens text to so many columns.
func cut(s string, width int) string {
	used := 0
	for i, r := range s {
		if used += columnsOf(r); used > width {
			return s[:i]
		}
	}
	return s
}
