// Package scanner reads lines and finds everything that is wrong with each of them, as far as the line alone can show.
//
// Each value is read once: the grammar of JSON and the rule of the field are checked in the same pass. A value in its
// usual form is read by the fast path, generated code and the functions of fastpath.go; every other form is read again,
// from the beginning of the member, by the slow path, which follows the schema table and makes all findings.
// docs/scanner.md describes both and says how to add a field.
package scanner

import (
	"bytes"
	"time"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// padding is how many bytes after a line the scanner may read. The first of them is the line feed, which cannot occur
// in a line, so that no loop has to check where the line ends. The longest read beyond it (the name of a member with
// its quotation marks, sixteen bytes of a string) stays inside the padding.
const padding = 1 + transaction.Lookahead

// linePadding is put after a line that is copied.
var linePadding = [padding]byte{'\n'}

// Reading functions return the position after the text that they have read, or one of these.
const (
	// failed is returned after fail was called: the line is broken, and its reading ends. Functions check for it by i <
	// 0.
	failed = -1

	// declined is returned by functions of the fast path for a value that the slow path has to read.
	declined = 0
)

// unknownLength is the length of a line whose end has not been seen yet.
const unknownLength = -1

// Scanner reads lines one after the other. It reuses its memory: in steady state a line costs no allocation. A Scanner
// must not be used by several goroutines at once; give each worker its own.
//
// A position is an index into buf. The first failure ends a line, and replaces all findings about its fields: in broken
// JSON the members that follow cannot be told apart.
type Scanner struct {
	rules   transaction.Rules
	maxLine int
	// tooLong is the message of a line over that limit.
	tooLong     string
	maxFindings int

	// earliest and latest are the first and the last instant that created_at may have.
	earliest instant
	latest   instant

	// buf holds the line and its padding: the caller's bytes, or copied.
	buf    []byte
	copied []byte

	// length is the number of bytes of the line in buf, or unknownLength.
	length int

	// unescaped holds the strings of this line that are written with escape sequences, after each other.
	unescaped []byte

	// depth counts the objects and arrays that are being read.
	depth int

	// keys holds the keys of the line that the schema does not list.
	keys keySet

	// path leads from the line to the object that is being read, in pathLen segments.
	path    [2*transaction.MaxDepth + 2]segment
	pathLen int

	// pointers holds the JSON pointers of earlier findings for reuse; pointer is where the next one is built.
	pointers map[string]string
	pointer  []byte

	// entities holds the state of the entity in each role, entity the members of the one that is being read.
	entities [transaction.ReceivingPartner + 1]entityState
	entity   entityCapture

	// paymentType is the value of payment_type, on which the main entity may depend.
	paymentType []byte

	// result is the result for the line.
	result transaction.Result

	// unexpectedMessage is the message of unexpected, the character that was not allowed last, kept for reuse.
	unexpected        rune
	unexpectedMessage string
}

// New returns a scanner that judges lines by the given rules.
func New(rules transaction.Rules) *Scanner {
	s := &Scanner{
		rules:       rules,
		maxLine:     rules.MaxLineBytes,
		maxFindings: rules.MaxFindings,
		earliest:    instant{sec: -1 << 62},
		latest:      instant{sec: 1 << 62},
		keys:        newKeySet(),
		pointers:    make(map[string]string),
	}
	if s.maxLine <= 0 {
		s.maxLine = transaction.MaxLineBytes
	}
	s.tooLong = schema.MessageTooLong(s.maxLine)
	if s.maxFindings <= 0 {
		s.maxFindings = transaction.MaxFindings
	}
	if rules.MaxPast > 0 {
		s.earliest = instantOf(rules.ReceivedAt.Add(-rules.MaxPast))
	}
	if rules.MaxFuture > 0 {
		s.latest = instantOf(rules.ReceivedAt.Add(rules.MaxFuture))
	}
	return s
}

func instantOf(t time.Time) instant { return instant{sec: t.Unix(), nano: t.Nanosecond()} }

// Line judges one line, given without its line feed. The result is valid until the scanner's next call, as long as
// nobody changes the line.
//
// A line inside a larger buffer is read in place if line[:len(line)+1] ends with its line feed and the capacity holds
// transaction.Lookahead more bytes, which nobody may write to during the call. Every other line is copied.
func (s *Scanner) Line(line []byte) *transaction.Result {
	if len(line) > s.maxLine {
		return s.TooLong(line[:s.maxLine])
	}
	s.load(line)
	return s.scanLine()
}

// First judges the first line of text and returns it with the line's length, without the line feed. The text must hold
// a line feed with transaction.Lookahead more bytes after it, which nobody may write to during the call. The end of the
// line need not be known in advance; looking for it would cost about a twentieth of reading the line. The memory that a
// line over the limit uses is bounded by the limit all the same.
func (s *Scanner) First(text []byte) (r *transaction.Result, length int) {
	s.buf, s.length = text, unknownLength
	r = s.scanLine()
	if s.length == unknownLength {
		s.length = bytes.IndexByte(text, '\n')
	}
	if length = s.length; length > s.maxLine {
		return s.TooLong(text[:s.maxLine]), length
	}
	return r, length
}

// TooLong judges a line over the limit by the part of it that was read, which may have any length. Its only finding is
// line_too_long, at the end of that part. Identifiers that are complete before it are returned.
func (s *Scanner) TooLong(prefix []byte) *transaction.Result {
	s.load(prefix)
	s.reset()
	s.scanRoot(skipSpace(s.buf, 0))
	s.fail(transaction.CodeLineTooLong, s.tooLong, s.length)
	return &s.result
}

// load makes line the line in buf.
func (s *Scanner) load(line []byte) {
	n := len(line)
	if cap(line) >= n+padding && line[:n+1][n] == '\n' {
		s.buf = line[: n+padding : n+padding]
	} else {
		s.copied = append(append(s.copied[:0], line...), linePadding[:]...)
		s.buf = s.copied
	}
	s.length = n
}

// reset forgets the preceding line.
func (s *Scanner) reset() {
	s.unescaped = s.unescaped[:0]
	s.depth = 0
	s.pathLen = 0
	s.entities = [transaction.ReceivingPartner + 1]entityState{}
	s.paymentType = nil
	s.keys.clear()
	r := &s.result // field by field: copying a new Result over it costs more
	r.Blank, r.Findings, r.Dropped = false, r.Findings[:0], 0
	r.RequestUUID, r.PaymentExternalID, r.TransactionExternalID = nil, nil, nil
	r.ModificationID, r.ModificationOffset = nil, 0
	r.References, r.Names, r.MainEntity = r.References[:0], r.Names[:0], transaction.NoRole
}

// scanLine judges the line in buf.
func (s *Scanner) scanLine() *transaction.Result {
	s.reset()
	r := &s.result
	start := skipSpace(s.buf, 0)
	if s.isEnd(start) {
		r.Blank = true
		return r
	}
	s.scanRoot(start)
	if len(r.Findings) > 1 {
		sortFindings(r.Findings)
	}
	return r
}

// scanRoot reads the whole line, whose first character after white space is at b[i].
func (s *Scanner) scanRoot(i int) {
	b := s.buf
	start := i
	if b[i] == '{' {
		i, _ = s.readTransaction(b, i)
	} else {
		s.addFinding(transaction.CodeObjectType, schema.MessageNotObject, i)
		i = s.skipValue(b, i)
	}
	if i < 0 {
		return
	}
	if i = skipSpace(b, i); !s.isEnd(i) {
		s.fail(transaction.CodeJSONInvalid, schema.MessageTrailingData, i)
		return
	}
	if b[start] == '{' {
		s.chooseMainEntity()
	}
}

// isEnd reports whether the line ends at i. Nothing after the line feed is ever read as a part of the line.
func (s *Scanner) isEnd(i int) bool {
	if s.length == unknownLength && s.buf[i] == '\n' {
		s.length = i
	}
	return s.length != unknownLength && i >= s.length
}

// skipSpace returns the position of the first character at or after i that is not white space. The line feed at the end
// of the line is not white space.
func skipSpace(b []byte, i int) int {
	if b[i] > ' ' {
		return i
	}
	return skipSpaces(b, i)
}

// skipSpaces is separate from skipSpace so that one comparison is all that is made where there is no white space.
func skipSpaces(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' {
		i++
	}
	return i
}
