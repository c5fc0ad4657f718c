package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/client"
)

// Bounds of what is shown of a report.
const (
	shownKinds = 6        // errors shown with their line
	readReport = 64 << 20 // bytes of a report that are read when it is not kept
)

// showReport fetches the report of rejected lines, shows the first of each kind of error and counts them, and keeps the report
// in a file if one is named. File is what was uploaded, nil where it is not at hand.
func showReport(ctx context.Context, c *client.Client, con *console, result client.ValidationResult, file io.ReaderAt, keep string) error {
	body, err := c.OpenReport(ctx, result.ErrorsFileURL)
	if err != nil {
		return err
	}
	defer body.Close()
	seen, err := keepErrors(body, keep)
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	seen.print(con, file)
	if keep != "" {
		con.printf("The report is in %s.\n", keep)
	}
	return nil
}

// keepErrors reads a report and writes it to the named file; without one, only its beginning is read.
func keepErrors(report io.Reader, name string) (seen errorsSeen, err error) {
	if name == "" {
		return readErrors(report, readReport)
	}
	out, err := os.Create(name)
	if err != nil {
		return seen, err
	}
	seen, err = readErrors(io.TeeReader(report, out), math.MaxInt64)
	return seen, errors.Join(err, out.Close())
}

// errorsSeen is what a report says, in short.
type errorsSeen struct {
	counts map[string]int64
	first  []firstError // of each kind, in order of lines
	cut    bool         // the report goes on beyond what was read
}

type firstError struct {
	line client.ReportLine
	at   client.ReportError
}

// readErrors reads rows until so many bytes are behind.
func readErrors(r io.Reader, limit int64) (errorsSeen, error) {
	seen := errorsSeen{counts: make(map[string]int64)}
	for rows := json.NewDecoder(r); ; {
		var l client.ReportLine
		if err := rows.Decode(&l); err == io.EOF {
			return seen, nil
		} else if err != nil {
			return seen, err
		}
		if rows.InputOffset() > limit {
			seen.cut = true
			return seen, nil
		}
		for _, e := range l.Errors {
			if seen.counts[e.Type]++; seen.counts[e.Type] == 1 {
				seen.first = append(seen.first, firstError{l, e})
			}
		}
	}
}

func (s errorsSeen) print(con *console, file io.ReaderAt) {
	for _, f := range s.first[:min(len(s.first), shownKinds)] {
		f.print(con, file)
	}
	kinds := make([]string, 0, len(s.counts))
	for k := range s.counts {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.counts[b], s.counts[a]), cmp.Compare(a, b))
	})
	for i, k := range kinds {
		kinds[i] = number(s.counts[k]) + " " + printable(k)
	}
	title := "Errors"
	if s.cut {
		title += " (in the first " + size(readReport) + " of the report)"
	}
	con.printf("\n%s\n", wrap(title+": ", kinds, max(con.width-1, 79)))
}

func (f firstError) print(con *console, file io.ReaderAt) {
	con.printf("\n%s\n  %s\n", strings.TrimRight(con.paint(bold, "line "+number(f.line.Line))+"  "+
		con.paint(red, printable(f.at.Type))+" "+printable(f.at.Pointer), " "), printable(f.at.Msg))
	if f.at.OtherLinesTotal > 0 {
		con.printf("  It shares its ID with line %s.\n", others(f.at))
	}
	if file == nil {
		return
	}
	if text, mark := excerpt(file, f.at.Offset, max(con.width-6, 72)); text != "" {
		con.printf("    %s\n    %s%s\n", con.paint(dim, text), strings.Repeat(" ", mark), con.paint(red, "^"))
	}
}

// others lists the other lines of a duplicate, a few of them.
func others(e client.ReportError) string {
	const few = 5
	var numbers []string
	for _, n := range e.OtherLines[:min(len(e.OtherLines), few)] {
		numbers = append(numbers, number(n))
	}
	text := strings.Join(numbers, ", ")
	if more := e.OtherLinesTotal - int64(len(numbers)); more > 0 {
		text += fmt.Sprintf(" and %s more", number(more))
	}
	return text
}

// excerpt cuts the part of a line around a byte of the file, fit for a terminal of so many columns. Mark is the column of the
// byte.
func excerpt(file io.ReaderAt, offset int64, width int) (text string, mark int) {
	const around = 512
	start := max(offset-around, 0)
	window := make([]byte, 2*around)
	n, _ := file.ReadAt(window, start) // what cannot be read is not shown
	window = window[:n]
	at := int(offset - start)
	if at > n {
		return "", 0
	}
	before, after := window[:at], window[at:]
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	} else if start > 0 {
		before = wholeRunes(before)
	}
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	left, right := printable(string(before)), printable(strings.TrimRight(string(after), "\r"))
	used, room := columns(left), max(width/2, width-columns(right))
	for used > room {
		r, size := utf8.DecodeRuneInString(left)
		left, used = left[size:], used-columnsOf(r)
	}
	return left + cut(right, width-used), used
}

// wholeRunes drops the rest of a character at the beginning.
func wholeRunes(b []byte) []byte {
	for len(b) > 0 && !utf8.RuneStart(b[0]) {
		b = b[1:]
	}
	return b
}

// wrap lists items behind a title, as many on a line as fit.
func wrap(title string, items []string, width int) string {
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
