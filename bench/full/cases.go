package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"sluice/sampledata"
)

// testCase is a kind of file that is put through the service.
type testCase struct {
	name string
	// lines is the number of lines of the full size.
	lines int64
	// diskBytes is about how many bytes the full size takes on disk at most: the file, its upload, the work files and
	// the items of the batch and of the bare loop.
	diskBytes int64
	// open returns the lines of a file of a number of them.
	open func(lines int64) (source, error)
}

// source makes the lines of a file, one after the other.
type source interface {
	// next appends the next line, without its line feed.
	next(b []byte) []byte
	// WriteEntities writes the entities to onboard before the upload, as JSON Lines.
	WriteEntities(w io.Writer) error
}

var cases = []testCase{
	{"realistic", 1_800_000, 11e9, openRealistic(0)},
	{"shortest", 7_000_000, 13e9, openTemplate(shortestLine)},
	{"invalid-20m", 20_000_000, 14e9, openTemplate(shortInvalidLine)},
	{"long-lines", 1_500_000, 11e9, openWithLongLines},
	{"all-invalid", 1_800_000, 9e9, openRealistic(1)},
}

func caseNames() (names []string) {
	for _, c := range cases {
		names = append(names, c.name)
	}
	return names
}

// realistic are generated lines.
type realistic struct{ *sampledata.Generator }

func (r realistic) next(b []byte) []byte {
	line, _, _ := r.Next()
	return append(b, line...)
}

// openRealistic returns generated lines, of which a share is bad.
func openRealistic(bad float64) func(int64) (source, error) {
	return func(lines int64) (source, error) {
		g, err := sampledata.New(sampledata.Options{Lines: lines, Seed: 1, Bad: bad,
			Entities: int(min(lines/10+20, 20_000))})
		return realistic{g}, err
	}
}

// template makes lines that differ in a number alone.
type template struct {
	made int64
	line func(b []byte, n int64) []byte
}

func openTemplate(line func([]byte, int64) []byte) func(int64) (source, error) {
	return func(int64) (source, error) { return &template{line: line}, nil }
}

func (t *template) next(b []byte) []byte {
	t.made++
	return t.line(b, t.made)
}

// WriteEntities writes the only entity of the lines.
func (t *template) WriteEntities(w io.Writer) error {
	_, err := fmt.Fprintln(w, `{"id":"e","status":"Compliant"}`)
	return err
}

// shortestLine appends the shortest line that is valid: each field that must be there, with the shortest value, and IDs
// that no other line has.
func shortestLine(b []byte, n int64) []byte {
	b = append(b, `{"request_uuid":"`...)
	b = fmt.Appendf(b, "%08x-0000-0000-0000-000000000000", n)
	b = append(b, `","payment_external_id":"p","transaction_external_id":"`...)
	b = strconv.AppendInt(b, n, 36)
	b = append(b, `","sender":{"by_external_id":"e"},"receiver":{"by_external_id":"e"},"modification":{`+
		`"external_id":"`...)
	b = strconv.AppendInt(b, n, 36)
	return append(b, `","type":"refund","amount":1,"currency":"EUR","created_at":"2025-01-01T00:00:00"}}`...)
}

// shortInvalidLine appends a line of about a hundred bytes with several errors and an ID that no other line has, so
// that it takes part in the search for duplicates.
func shortInvalidLine(b []byte, n int64) []byte {
	b = append(b, `{"transaction_external_id":"t","modification":{"external_id":"`...)
	b = strconv.AppendInt(b, n, 36)
	return append(b, `","amount":"1","currency":"EUR"}}`...)
}

const (
	longLineEvery = 1000
	longLineBytes = 200 << 10
)

// longLines are realistic lines, of which one in a thousand is long.
type longLines struct {
	realistic
	made int64
}

func openWithLongLines(lines int64) (source, error) {
	s, err := openRealistic(0)(lines)
	if err != nil {
		return nil, err
	}
	return &longLines{realistic: s.(realistic)}, nil
}

// next appends a realistic line; every thousandth one is a short one with a note in its modification that fills it.
func (l *longLines) next(b []byte) []byte {
	if l.made++; l.made%longLineEvery != 0 {
		return l.realistic.next(b)
	}
	start := len(b)
	b = shortestLine(b, l.made)
	b = append(b[:len(b)-len("}}")], `,"note":"`...)
	for i := l.made; len(b)-start < longLineBytes; i++ {
		b = strconv.AppendInt(append(b, ' '), i*7919%1_000_003, 36)
	}
	return append(b[:start+longLineBytes-len(`"}}`)], `"}}`...)
}

// WriteEntities writes the entities of the realistic lines, and that of the long ones.
func (l *longLines) WriteEntities(w io.Writer) error {
	return errors.Join(l.realistic.WriteEntities(w), new(template).WriteEntities(w))
}

// writeLines writes the lines of a source, each with a line feed, and returns the number of bytes.
func writeLines(w io.Writer, s source, lines int64) (int64, error) {
	out := bufio.NewWriterSize(w, 1<<20)
	var line []byte
	var written int64
	for range lines {
		line = append(s.next(line[:0]), '\n')
		if _, err := out.Write(line); err != nil {
			return written, err
		}
		written += int64(len(line))
	}
	return written, out.Flush()
}
