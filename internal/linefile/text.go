package linefile

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes text that comes from a file harmless for whoever reads it: every character is visible, controls are
// replaced.
func Printable(s string) string {
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

// ShellQuote writes an argument for a POSIX shell.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_./:=@%+,-", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// excerptBytes is how much of a line, on each side of a byte, an excerpt has at most.
const excerptBytes = 512

// Excerpt returns the part of a line around a byte of the file: what precedes the byte, and what begins with it. The
// text is printable. Both are "" if the file has no such byte or cannot be read.
func Excerpt(file io.ReaderAt, offset int64) (before, after string) {
	start := max(offset-excerptBytes, 0)
	window := make([]byte, 2*excerptBytes)
	n, _ := file.ReadAt(window, start)
	middle := int(offset - start)
	if middle > n {
		return "", ""
	}
	left, right := window[:middle], window[middle:n]
	if i := bytes.LastIndexByte(left, '\n'); i >= 0 {
		left = left[i+1:]
	} else if start > 0 {
		left = dropPartialRune(left)
	}
	if i := bytes.IndexByte(right, '\n'); i >= 0 {
		right = right[:i]
	}
	return Printable(string(left)), Printable(strings.TrimRight(string(right), "\r"))
}

// dropPartialRune drops the rest of a character at the beginning of a text.
func dropPartialRune(b []byte) []byte {
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}
