package transaction

import (
	"bytes"
	"time"
)

// padding is how many bytes behind a line the scanner may look at. The first of them is the line feed, which no line can
// contain, so no loop needs to ask where the line ends; and the longest look ahead (a member's literal, eight bytes of a
// string) stays inside the padding.
const padding = 1 + BytesBehind

// BytesBehind is how many bytes must lie behind the line feed of a line that Scanner.First reads.
const BytesBehind = 63

// Scanner reads lines one after the other and finds every error of each. It reuses its memory: in steady state a line costs
// no allocation. It is not safe for concurrent use; give each worker its own.
//
// How it works: each value is read once, checking the grammar of JSON and the rule of its field in the same pass. The objects of
// the schema are read by code made from its table (members_*.go), which leads to a function of members.go for each member in its
// commonest writing; all others are read by object.go, which follows the table itself. What the schema does not name is read by
// skip.go, just as strictly.
//
// A position is an index into the scanner's copy of the line; every reading function returns the position after what it has
// read, or -1 after it has called fail. The first failure ends the line: no finding of the schema is given beside it, because
// in broken JSON the members that follow cannot be told apart.
type Scanner struct {
	rules       Rules
	earliest    moment // of created_at
	latest      moment
	maxLine     int
	maxFindings int

	buf     []byte // the line and its padding, where it lies or in own
	own     []byte
	n       int    // bytes of the line in buf, or unknown
	decoded []byte // strings of this line that are written with escapes
	depth   int
	keys    keySet
	path    [2*MaxDepth + 2]segment // from the line to the object that is being read: so many steps
	steps   int
	pointer []byte
	interns map[string]string
	sides   [ReceivingPartner + 1]side
	entity  entityID // of the entity that is being read
	payment []byte
	result  Result
}

// side is what one role of the line says of its entity.
type side struct {
	form form
	at   int // of its object
}

// entityID is what an entity says of itself.
type entityID struct {
	unknown bool // external_entity_type is unknown
	id      []byte
	at      int
}

// form is the way in which an entity is given.
type form uint8

const (
	formNone    form = iota // absent or wrong
	formKnown               // by_external_id
	formUnknown             // external_entity_type unknown
)

// NewScanner returns a scanner that judges lines by the given rules.
func NewScanner(rules Rules) *Scanner {
	s := &Scanner{
		rules:       rules,
		maxLine:     rules.MaxLineBytes,
		maxFindings: rules.MaxFindings,
		earliest:    moment{sec: -1 << 62},
		latest:      moment{sec: 1 << 62},
		keys:        newKeySet(),
		interns:     make(map[string]string),
	}
	if s.maxLine <= 0 {
		s.maxLine = MaxLineBytes
	}
	if s.maxFindings <= 0 {
		s.maxFindings = 100
	}
	if rules.MaxPast > 0 {
		s.earliest = momentOf(rules.ReceivedAt.Add(-rules.MaxPast))
	}
	if rules.MaxFuture > 0 {
		s.latest = momentOf(rules.ReceivedAt.Add(rules.MaxFuture))
	}
	return s
}

func momentOf(t time.Time) moment { return moment{sec: t.Unix(), nano: t.Nanosecond()} }

// Line judges one line, given without its line feed. The result is valid until the next call, and as long as the line is not
// changed.
//
// A line that is a part of a larger buffer is read where it lies: when line[:len(line)+1] ends with its line feed and
// BytesBehind more bytes of capacity follow, the scanner looks at these, and nobody may write to them meanwhile. Every other
// line is copied.
func (s *Scanner) Line(line []byte) *Result {
	if len(line) > s.maxLine {
		return s.TooLong(line[:s.maxLine])
	}
	s.take(line)
	return s.line()
}

// First judges the first line of text, and finds where it ends: its length without the line feed. Somewhere in text there must
// be a line feed with BytesBehind more bytes behind it, which nobody may write to meanwhile. So the end of a line need not be
// known before it is read; to look for it costs about a twentieth of reading it. What a line over the limit makes the scanner
// remember is bounded by the limit all the same.
func (s *Scanner) First(text []byte) (r *Result, length int) {
	s.buf, s.n = text, unknown
	r = s.line()
	if s.n == unknown {
		s.n = bytes.IndexByte(text, '\n')
	}
	if length = s.n; length > s.maxLine {
		return s.TooLong(text[:s.maxLine]), length
	}
	return r, length
}

// unknown is the length of a line as long as its end has not been seen.
const unknown = -1

// ends reports whether the line ends at i. Nothing is read beyond its line feed.
func (s *Scanner) ends(i int) bool {
	if s.n == unknown && s.buf[i] == '\n' {
		s.n = i
	}
	return s.n != unknown && i >= s.n
}

func (s *Scanner) line() *Result {
	s.begin()
	r := &s.result
	start := space(s.buf, 0)
	if s.ends(start) {
		r.Blank = true
		return r
	}
	s.root(start)
	if len(r.Findings) > 1 {
		sortFindings(r.Findings)
	}
	return r
}

// TooLong judges a line over the limit by the part of it that was read, of any length. Its only finding is line_too_long, at
// the end of that part; identifiers that are complete before it are given.
func (s *Scanner) TooLong(prefix []byte) *Result {
	s.take(prefix)
	s.begin()
	s.root(space(s.buf, 0))
	s.fail(CodeLineTooLong, msgTooLong, s.n)
	return &s.result
}

// take makes a line the one to read.
func (s *Scanner) take(line []byte) {
	n := len(line)
	if cap(line) >= n+padding && line[:n+1][n] == '\n' {
		s.buf = line[: n+padding : n+padding]
	} else {
		s.own = append(append(s.own[:0], line...), behind[:]...)
		s.buf = s.own
	}
	s.n = n
}

// begin forgets the line before.
func (s *Scanner) begin() {
	s.decoded = s.decoded[:0]
	s.depth = 0
	s.steps = 0
	s.sides = [ReceivingPartner + 1]side{}
	s.payment = nil
	s.keys.clear()
	r := &s.result // member by member: a new Result copied over it costs more
	r.Blank, r.Findings, r.Dropped = false, r.Findings[:0], 0
	r.RequestUUID, r.TransactionExternalID, r.ModificationID, r.ModificationOffset = nil, nil, nil, 0
	r.References, r.MainEntity = r.References[:0], NoRole
}

var behind = [padding]byte{'\n'}

// root reads the whole line, whose first character that is no white space is at b[i].
func (s *Scanner) root(i int) {
	b := s.buf
	at := i
	if b[i] == '{' {
		i, _ = s.objectTransaction(b, i)
	} else {
		s.findHere(CodeObjectType, msgNotObject, i)
		i = s.skip(b, i)
	}
	if i < 0 {
		return
	}
	if i = space(b, i); !s.ends(i) {
		s.fail(CodeJSONInvalid, msgTrailing, i)
		return
	}
	if b[at] == '{' {
		s.judgeMainEntity()
	}
}

// space returns the position of the first character at or after i that is no white space, or of the line feed.
func space(b []byte, i int) int {
	if b[i] > ' ' {
		return i
	}
	return spaces(b, i)
}

// spaces is apart from space so that no more than one comparison stands where there is none.
func spaces(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' {
		i++
	}
	return i
}
