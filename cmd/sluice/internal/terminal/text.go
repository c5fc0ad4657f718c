package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"sluice/internal/linefile"
)

// PrintableLines is printable for a text of several lines.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = linefile.Printable(line)
	}
	return strings.Join(lines, "\n")
}

// FormatBytes writes a number of bytes for people.
func FormatBytes(n int64) string {
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

// FormatRate writes bytes a second for people.
func FormatRate(bytes int64, elapsed time.Duration) string {
	return FormatBytes(int64(float64(bytes)/max(elapsed.Seconds(), 0.001))) + "/s"
}

// FormatSeconds writes a duration in the unit that suits it.
func FormatSeconds(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 2*3600:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.0f h", seconds/3600)
}

// FormatNumber groups digits by threes.
func FormatNumber(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// CountOf writes a number and what it counts, whose plural ends with s.
func CountOf(n int64, what string) string { return CountNoun(n, what, what+"s") }

// CountNoun writes a number and what it counts.
func CountNoun(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatNumber(n) + " " + many
}

// FormatTimes writes how often something occurred.
func FormatTimes(n int64) string {
	if n == 1 {
		return "once"
	}
	return FormatNumber(n) + " times"
}

// widths counts the columns of text on a terminal. Characters of ambiguous width count as narrow, whatever the locale,
// as terminals show them unless told otherwise.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// Columns returns the width of printable text.
func Columns(s string) int { return widths.StringWidth(s) }

// Truncate shortens text to at most width columns at its end.
func Truncate(s string, width int) string { return widths.Truncate(s, width, "") }

// truncateStart shortens text to at most width columns at its beginning.
func truncateStart(s string, width int) string { return widths.TruncatePrefix(s, width, "") }

// excerpt returns the part of a line around a byte of the file, at most width columns of it, and the column of the
// byte. It returns "" if the file has no such byte or cannot be read.
func excerpt(file io.ReaderAt, offset int64, width int) (text string, column int) {
	left, right := linefile.Excerpt(file, offset)
	left = truncateStart(left, max(width/2, width-Columns(right)))
	column = Columns(left)
	return left + Truncate(right, width-column), column
}

// WrapList writes a title and items separated by commas, as many on a line as fit into width columns.
func WrapList(title string, items []string, width int) string {
	var out strings.Builder
	out.WriteString(title)
	used := Columns(title)
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if used+Columns(item) > width && i > 0 {
			out.WriteString("\n  ")
			used = 2
		}
		out.WriteString(item)
		used += Columns(item) + 1
		if i < len(items)-1 {
			out.WriteString(" ")
		}
	}
	return strings.ReplaceAll(out.String(), " \n", "\n")
}

// WrapWords breaks a text between words into lines of at most width columns, and begins each but the first with indent.
func WrapWords(text, indent string, width int) string {
	var out strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case used+1+Columns(word) > width:
			out.WriteString("\n" + indent)
			used = 0
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += Columns(word)
	}
	return out.String()
}
