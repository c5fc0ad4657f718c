package transaction

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// segment is one step of the way to the object that is being read: a member, or an item of an array where key is nil.
type segment struct {
	key   []byte
	index int
}

func (s *Scanner) push(key []byte) {
	s.path[s.steps] = segment{key: key}
	s.steps++
}

// pop undoes push. After a failure the path may be longer than it was: it is not needed any more.
func (s *Scanner) pop() { s.steps-- }

// find notes a fault of the field f of the object that is being read.
func (s *Scanner) find(code Code, f *field, offset int) {
	s.note(code, f.messages[code], offset, true, f.key)
}

// findAtKey is find for a member that is named by the line.
func (s *Scanner) findAtKey(code Code, message string, offset int, key []byte) {
	s.note(code, message, offset, true, key)
}

// findHere notes a fault of the value to which the path leads.
func (s *Scanner) findHere(code Code, message string, offset int) {
	s.note(code, message, offset, false, nil)
}

func (s *Scanner) note(code Code, message string, offset int, member bool, key []byte) {
	if len(s.result.Findings) == s.maxFindings {
		s.result.Dropped++
		return
	}
	s.result.Findings = append(s.result.Findings, Finding{Code: code, Pointer: s.pointerTo(member, key), Message: message, Offset: offset})
}

// fail ends the line: its one finding is what broke it. It returns -1, so that callers can return it.
func (s *Scanner) fail(code Code, message string, offset int) int {
	return s.failWith(Finding{Code: code, Message: message, Offset: offset})
}

// tooDeep fails at a bracket inside too many others.
func (s *Scanner) tooDeep(i int) int { return s.fail(CodeJSONTooDeep, msgTooDeep, i) }

// beyond fails where the line is over the limit already, before more of it has to be remembered.
func (s *Scanner) beyond(i int) int { return s.fail(CodeLineTooLong, msgTooLong, i) }

// duplicate fails at a key that its object has already.
func (s *Scanner) duplicate(offset int, key []byte) int {
	return s.failWith(Finding{Code: CodeJSONDuplicateKey, Pointer: s.pointerTo(true, key), Message: msgDuplicateKey, Offset: offset})
}

func (s *Scanner) failWith(f Finding) int {
	r := &s.result
	r.Findings, r.Dropped = append(r.Findings[:0], f), 0
	r.References = r.References[:0]
	r.MainEntity = NoRole
	return -1
}

// unexpected fails at a character that the grammar does not allow, or at the end of the line.
func (s *Scanner) unexpected(i int) int {
	if s.ends(i) {
		return s.fail(CodeJSONInvalid, msgEndsEarly, s.n)
	}
	return s.fail(CodeJSONInvalid, msgUnexpected, i)
}

// maxInterns bounds the pointers that are kept from line to line.
const maxInterns = 4096

// pointerTo writes the JSON pointer of the object that is being read, or of one of its members.
func (s *Scanner) pointerTo(member bool, key []byte) string {
	p := s.pointer[:0]
	for _, seg := range s.path[:s.steps] {
		if seg.key == nil {
			p = strconv.AppendInt(append(p, '/'), int64(seg.index), 10)
		} else {
			p = appendToken(p, seg.key)
		}
	}
	if member {
		p = appendToken(p, key)
	}
	s.pointer = p
	if known, ok := s.interns[string(p)]; ok {
		return known
	}
	text := string(p)
	if len(s.interns) < maxInterns {
		s.interns[text] = text
	}
	return text
}

// appendToken writes one member of a JSON pointer, escaped by RFC 6901.
func appendToken(p, key []byte) []byte {
	p = append(p, '/')
	for _, c := range key {
		switch c {
		case '~':
			p = append(p, "~0"...)
		case '/':
			p = append(p, "~1"...)
		default:
			p = append(p, c)
		}
	}
	return p
}

// sortFindings puts findings in order of offset; those at the same offset in order of pointer and code.
func sortFindings(findings []Finding) {
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Pointer, b.Pointer), strings.Compare(string(a.Code), string(b.Code)))
	})
}
