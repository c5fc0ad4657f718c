package receipt

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// maxBlankBytes is the length of the longest line that can be blank: the longest line that a setting can allow. A
// longer line is too long, even if it is all white space.
const maxBlankBytes = 256 << 10

var byteOrderMark = []byte("\xEF\xBB\xBF")

// Digest computes two digests of a file that is written to it from its start to its end, in pieces of any length: the
// SHA-256 of its bytes, and the SHA-256 of its lines as they were sent (docs/contract/batch.md, Receipt): of each line
// that is not blank and that is accepted, in order, the text followed by a line feed. The text of a line is what is
// stored and read back: all bytes before its line feed, a carriage return and white space included. A byte-order mark
// at the start of the file belongs to no line.
//
// It holds no more than a blank line in memory, and nothing of other lines. It is not safe for concurrent use.
type Digest struct {
	// accepts reports whether a line, by its number from 1, is accepted; nil for all.
	accepts func(line int64) bool

	// file is the hash of the file; nil if it is not wanted. While the hashed lines are the whole file so far, it is
	// that of the lines, too, and lines is nil: most files consist of nothing but their lines, and are hashed
	// once.
	file  hash.Hash
	lines hash.Hash

	// pending is the beginning of a line, or of the file, that cannot be classified yet.
	pending []byte
	started bool
	// line is the number of lines that began, blank ones included; inLine means that the latest one goes on, and
	// isHashed that its bytes are part of the digest of the lines.
	line     int64
	inLine   bool
	isHashed bool

	bytes, hashedLines int64
}

// NewDigest returns a digest of a file and of those of its lines that accepts reports by their numbers from 1; nil for
// all lines. It is called once for each line, in order; its result for a blank line does not count.
func NewDigest(accepts func(line int64) bool) *Digest {
	return &Digest{accepts: accepts, file: sha256.New()}
}

// NewLineDigest is NewDigest without the digest of the file.
func NewLineDigest(accepts func(line int64) bool) *Digest {
	return &Digest{accepts: accepts, lines: sha256.New()}
}

// Write adds the next bytes of the file. It never fails.
func (d *Digest) Write(p []byte) (int, error) {
	d.bytes += int64(len(p))
	text := p
	if len(d.pending) > 0 {
		text = append(d.pending, p...)
		d.pending = nil
	}
	d.add(text)
	return len(p), nil
}

// add adds those of the next bytes of the file that belong to the digest of the lines.
func (d *Digest) add(p []byte) {
	from := 0 // where the bytes begin that are to be included and are not hashed yet
	leaveOut := func(start, end int) {
		d.include(p[from:start])
		d.exclude(p[start:end])
		from = end
	}
	i := 0
	if !d.started {
		if len(p) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, p) {
			d.pending = bytes.Clone(p)
			return
		}
		d.started = true
		if bytes.HasPrefix(p, byteOrderMark) {
			leaveOut(0, len(byteOrderMark))
			i = from
		}
	}
	for i < len(p) {
		if !d.inLine {
			text := i + countBlank(p[i:])
			isLong := text-i > maxBlankBytes
			if text == len(p) && !isLong {
				d.include(p[from:i])
				d.pending = bytes.Clone(p[i:])
				return
			}
			if !isLong && p[text] == '\n' {
				d.line++
				leaveOut(i, text+1)
				i = text + 1
				continue
			}
			d.beginLine()
		}
		end := len(p)
		if n := bytes.IndexByte(p[i:], '\n'); n >= 0 {
			end, d.inLine = i+n+1, false
		}
		if !d.isHashed {
			leaveOut(i, end)
		}
		i = end
	}
	d.include(p[from:])
}

// beginLine begins a line that is not blank.
func (d *Digest) beginLine() {
	d.line++
	d.inLine, d.isHashed = true, d.accepts == nil || d.accepts(d.line)
	if d.isHashed {
		d.hashedLines++
	}
}

// countBlank returns how many bytes at the beginning are white space of JSON within a line.
func countBlank(p []byte) int {
	for i, c := range p {
		if c != ' ' && c != '\t' && c != '\r' {
			return i
		}
	}
	return len(p)
}

// include adds bytes to the digests of the file and of the lines.
func (d *Digest) include(p []byte) {
	if d.file != nil {
		d.file.Write(p)
	}
	if d.lines != nil {
		d.lines.Write(p)
	}
}

// exclude adds bytes to the digest of the file alone.
func (d *Digest) exclude(p []byte) {
	d.separate()
	if d.file != nil {
		d.file.Write(p)
	}
}

// separate gives the lines a hash of their own, which has the same bytes so far.
func (d *Digest) separate() {
	if d.lines == nil {
		clone, err := d.file.(hash.Cloner).Clone()
		if err != nil {
			panic(err) // that of SHA-256 never fails
		}
		d.lines = clone.(hash.Hash)
	}
}

// Sums are the digests of a file.
type Sums struct {
	// File is the SHA-256 of the file; nil if it was not wanted.
	File []byte
	// Bytes is the size of the file.
	Bytes int64
	// Lines is the SHA-256 of the hashed lines, and LineCount is their number.
	Lines     []byte
	LineCount int64
}

// Sum ends the file and returns its digests. Nothing can be written afterwards.
func (d *Digest) Sum() Sums {
	pending := d.pending
	d.pending = nil
	if !d.started && len(pending) > 0 { // the beginning of a byte-order mark without its end
		d.beginLine()
	}
	switch {
	case !d.inLine && len(pending) > 0:
		d.exclude(pending)
	case d.inLine && d.isHashed:
		d.include(pending)
		d.separate() // the file has no line feed at its end
		d.lines.Write([]byte{'\n'})
	case d.inLine:
		d.exclude(pending)
	}
	s := Sums{Bytes: d.bytes, LineCount: d.hashedLines}
	if d.file != nil {
		s.File = d.file.Sum(nil)
	}
	lines := d.lines
	if lines == nil {
		lines = d.file
	}
	s.Lines = lines.Sum(nil)
	return s
}
