package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

const (
	// errorBlockBytes is about how many bytes of a report one block of its index covers. A page of errors reads as
	// many, and the index of the largest report has some ten thousand blocks.
	errorBlockBytes = 64 << 10
	// maxIndexedFields is how many pairs of a code and a field an index counts apart. Fields may have names from the
	// lines.
	maxIndexedFields = 1000
	// maxIndexedCodes is how many codes an index counts apart. The service has some thirty.
	maxIndexedCodes = 200
	// maxEntryBytes is the longest entry of a report that is read: one of a hundred errors with long names.
	maxEntryBytes = 4 << 20
)

// ErrorIndex finds the errors of a validation report by code, field and line, page by page. It has the report in a file
// of its own and holds of it, in memory, only how many errors of which kind each part has: some megabytes for the
// largest report. Any number of goroutines may read it.
type ErrorIndex struct {
	file   *os.File
	kinds  []errorKind
	blocks []errorBlock
	// end is the size of the report.
	end   int64
	total int64
}

// errorKind is a code at a field, or at all fields that are not counted apart.
type errorKind struct {
	code, field string
	isOther     bool
}

// errorBlock is a part of the report: whole entries.
type errorBlock struct {
	// offset is where it begins, line the number of its first line, and entry the number of its first entry, from 0.
	offset, line, entry int64
	// counts are the numbers of its errors by kind, ordered by kind.
	counts []kindCount
}

type kindCount struct {
	kind  uint16
	count uint32
}

// ErrorIndexer makes the ErrorIndex of the report that is written to it.
type ErrorIndexer struct {
	index   ErrorIndex
	out     *bufio.Writer
	places  map[errorKind]uint16
	codes   int
	partial []byte
	entries int64
	// written is how many bytes of whole entries were written.
	written int64
	counts  map[uint16]uint32
}

// NewErrorIndexer returns an indexer that stores the report in file, which is empty. The index takes the file over; it
// is the caller's until Finish has returned one.
func NewErrorIndexer(file *os.File) *ErrorIndexer {
	return &ErrorIndexer{index: ErrorIndex{file: file}, out: bufio.NewWriterSize(file, 256<<10),
		places: map[errorKind]uint16{}, counts: map[uint16]uint32{}}
}

// Write implements io.Writer.
func (x *ErrorIndexer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			if len(x.partial)+len(p) > maxEntryBytes {
				return 0, fmt.Errorf("an entry of the report is longer than %d bytes", maxEntryBytes)
			}
			x.partial = append(x.partial, p...)
			break
		}
		entry := p[:end]
		if len(x.partial) > 0 {
			x.partial = append(x.partial, entry...)
			entry = x.partial
		}
		if err := x.add(entry); err != nil {
			return 0, err
		}
		x.partial, p = x.partial[:0], p[end+1:]
	}
	return n, nil
}

// Finish returns the index, once the whole report is written.
func (x *ErrorIndexer) Finish() (*ErrorIndex, error) {
	if len(bytes.TrimSpace(x.partial)) > 0 {
		return nil, fmt.Errorf("the report ends within an entry: %w", io.ErrUnexpectedEOF)
	}
	x.endBlock()
	if err := x.out.Flush(); err != nil {
		return nil, err
	}
	x.index.end = x.written
	return &x.index, nil
}

// add counts the errors of an entry and stores it.
func (x *ErrorIndexer) add(entry []byte) error {
	blocks := x.index.blocks
	isNewBlock := len(blocks) == 0 || x.written-blocks[len(blocks)-1].offset >= errorBlockBytes
	if isNewBlock {
		x.endBlock()
	}
	line, err := scanEntry(entry, x.count)
	if err != nil {
		return fmt.Errorf("entry %d of the report: %w", x.entries+1, err)
	}
	if isNewBlock {
		x.index.blocks = append(blocks, errorBlock{offset: x.written, line: line, entry: x.entries})
	}
	x.entries++
	x.written += int64(len(entry)) + 1
	if _, err := x.out.Write(entry); err != nil {
		return err
	}
	return x.out.WriteByte('\n')
}

// count counts an error of the current block.
func (x *ErrorIndexer) count(code, field []byte) {
	x.index.total++
	place, ok := x.places[errorKind{code: string(code), field: string(field)}] // allocates nothing
	if !ok {
		place = x.addKind(errorKind{code: string(code), field: string(field)})
	}
	x.counts[place]++
}

// addKind returns the place of a kind of error that is not known, or of the one that stands for it.
func (x *ErrorIndexer) addKind(kind errorKind) uint16 {
	other := errorKind{code: kind.code, isOther: true}
	if place, ok := x.places[other]; ok && len(x.index.kinds) >= maxIndexedFields {
		return place
	}
	if len(x.index.kinds) >= maxIndexedFields {
		if kind = other; x.codes >= maxIndexedCodes {
			kind = errorKind{isOther: true}
		}
		x.codes++
	}
	if place, ok := x.places[kind]; ok {
		return place
	}
	place := uint16(len(x.index.kinds))
	x.places[kind] = place
	_ = json.Unmarshal([]byte(`"`+kind.field+`"`), &kind.field)
	x.index.kinds = append(x.index.kinds, kind)
	return place
}

// endBlock completes the counts of the current block.
func (x *ErrorIndexer) endBlock() {
	if len(x.index.blocks) == 0 {
		return
	}
	b := &x.index.blocks[len(x.index.blocks)-1]
	b.counts = make([]kindCount, 0, len(x.counts))
	for kind, n := range x.counts {
		b.counts = append(b.counts, kindCount{kind, n})
	}
	slices.SortFunc(b.counts, func(a, b kindCount) int { return int(a.kind) - int(b.kind) })
	clear(x.counts)
}

// The members of an entry as package report writes them: without white space, so that none of these texts can be part
// of a string, where a quotation mark is escaped.
var (
	entryStart   = []byte(`{"line":`)
	errorCode    = []byte(`,"type":"`)
	errorPointer = []byte(`,"pointer":"`)
	entryCodes   = []byte(`,"codes":[`)
)

// scanEntry calls each with the code and the field of every error of an entry of the report, and returns the number of
// its line. A field is as JSON has it; a short entry has none.
func scanEntry(entry []byte, each func(code, field []byte)) (line int64, err error) {
	rest, ok := bytes.CutPrefix(entry, entryStart)
	end := bytes.IndexByte(rest, ',')
	if !ok || end < 0 {
		return 0, errors.New("it does not begin as one")
	}
	if line, err = strconv.ParseInt(string(rest[:end]), 10, 64); err != nil {
		return 0, err
	}
	rest = rest[end:]
	if _, codes, found := bytes.Cut(rest, entryCodes); found {
		for _, code := range bytes.Split(bytes.Trim(codes, `]}"`), []byte(`","`)) {
			each(code, nil)
		}
		return line, nil
	}
	for {
		_, after, found := bytes.Cut(rest, errorCode)
		if !found {
			return line, nil
		}
		code, after := cutString(after)
		field := []byte(nil)
		if bytes.HasPrefix(after, errorPointer) {
			field, after = cutString(after[len(errorPointer):])
		}
		each(code, field)
		rest = after
	}
}

// cutString returns a JSON string whose opening quotation mark has been read, still escaped, and what follows it.
func cutString(b []byte) (text, after []byte) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}
