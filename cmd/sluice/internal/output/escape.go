package output

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/linefile"
)

// escaper writes JSON to a terminal: characters that would change how it looks, such as the right-to-left override, are
// escaped, which leaves the value as it is.
type escaper struct {
	w io.Writer
	// part is the beginning of a character whose rest the next Write has.
	part []byte
}

// Write writes p, apart from an incomplete character at its end.
func (e *escaper) Write(p []byte) (int, error) {
	text := append(e.part, p...)
	out := make([]byte, 0, len(text))
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n' || r == '\t' || size == 1 && r == utf8.RuneError || !linefile.IsHidden(r):
			out = append(out, text[:size]...)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	e.part = append([]byte{}, text...)
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
