package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"sluice/internal/linefile"
)

// formatBytes writes a number of bytes for people.
func formatBytes(n int64) string {
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

// formatRate writes bytes a second for people.
func formatRate(bytes int64, elapsed time.Duration) string {
	return formatBytes(int64(float64(bytes)/max(elapsed.Seconds(), 0.001))) + "/s"
}

// formatNumber groups digits by threes.
func formatNumber(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// countOf writes a number and what it counts, whose plural ends with s.
func countOf(n int64, what string) string { return countNoun(n, what, what+"s") }

// countNoun writes a number and what it counts.
func countNoun(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatNumber(n) + " " + many
}

// formatTimes writes how often something occurred.
func formatTimes(n int64) string {
	if n == 1 {
		return "once"
	}
	return formatNumber(n) + " times"
}

// printable makes text that comes from a file harmless for a terminal.
func printable(s string) string { return linefile.Printable(s) }

// widths counts the columns of text on a terminal. Characters of ambiguous width count as narrow, whatever the locale,
// as terminals show them unless told otherwise.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

// columns returns the width of printable text.
func columns(s string) int { return widths.StringWidth(s) }

// truncate shortens text to at most width columns at its end.
func truncate(s string, width int) string { return widths.Truncate(s, width, "") }

// truncateStart shortens text to at most width columns at its beginning.
func truncateStart(s string, width int) string { return widths.TruncatePrefix(s, width, "") }

// excerpt returns the part of a line around a byte of the file, at most width columns of it, and the column of the
// byte. It returns "" if the file has no such byte or cannot be read.
func excerpt(file io.ReaderAt, offset int64, width int) (text string, column int) {
	left, right := linefile.Excerpt(file, offset)
	left = truncateStart(left, max(width/2, width-columns(right)))
	column = columns(left)
	return left + truncate(right, width-column), column
}

// wrapList writes a title and items separated by commas, as many on a line as fit into width columns.
func wrapList(title string, items []string, width int) string {
	var out strings.Builder
	out.WriteString(title)
	used := columns(title)
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if used+columns(item) > width && i > 0 {
			out.WriteString("\n  ")
			used = 2
		}
		out.WriteString(item)
		used += columns(item) + 1
		if i < len(items)-1 {
			out.WriteString(" ")
		}
	}
	return strings.ReplaceAll(out.String(), " \n", "\n")
}

// wrapWords breaks a text between words into lines of at most width columns, and begins each but the first with indent.
func wrapWords(text, indent string, width int) string {
	var out strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case used+1+columns(word) > width:
			out.WriteString("\n" + indent)
			used = 0
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += columns(word)
	}
	return out.String()
}
