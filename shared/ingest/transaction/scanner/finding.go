package scanner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// segment is one step of the path to the object that is being read: a member, or an item of an array if key is nil.
type segment struct {
	key   []byte
	index int
}

func (s *Scanner) pushPath(key []byte) {
	s.path[s.pathLen] = segment{key: key}
	s.pathLen++
}

// popPath undoes pushPath. It is not called after a failure, when the path is not needed any more.
func (s *Scanner) popPath() { s.pathLen-- }

// addFieldFinding adds a finding at the field f of the object that is being read.
func (s *Scanner) addFieldFinding(code transaction.Code, f *field, offset int) {
	s.appendFinding(code, f.messages[code], offset, true, f.key)
}

// addKeyFinding adds a finding at a member of the object that is being read, by the key in the line.
func (s *Scanner) addKeyFinding(code transaction.Code, message string, offset int, key []byte) {
	s.appendFinding(code, message, offset, true, key)
}

// addFinding adds a finding at the value to which the path leads.
func (s *Scanner) addFinding(code transaction.Code, message string, offset int) {
	s.appendFinding(code, message, offset, false, nil)
}

func (s *Scanner) appendFinding(code transaction.Code, message string, offset int, isMember bool, key []byte) {
	if len(s.result.Findings) == s.maxFindings {
		s.result.Dropped++
		return
	}
	s.result.Findings = append(s.result.Findings,
		transaction.Finding{Code: code, Pointer: s.pointerTo(isMember, key), Message: message, Offset: offset})
}

// fail ends the line with one finding: what broke it. It returns failed, for its callers to return.
func (s *Scanner) fail(code transaction.Code, message string, offset int) int {
	return s.failWith(transaction.Finding{Code: code, Message: message, Offset: offset})
}

// failTooDeep fails at a bracket that is nested too deeply.
func (s *Scanner) failTooDeep(i int) int {
	return s.fail(transaction.CodeJSONTooDeep, schema.MessageTooDeep, i)
}

// failTooLong fails where the line exceeds its limit, before the scanner has to remember more of it.
func (s *Scanner) failTooLong(i int) int {
	return s.fail(transaction.CodeLineTooLong, s.tooLong, i)
}

// failDuplicateKey fails at a key that its object already has.
func (s *Scanner) failDuplicateKey(offset int, key []byte) int {
	return s.failWith(transaction.Finding{
		Code:    transaction.CodeJSONDuplicateKey,
		Pointer: s.pointerTo(true, key),
		Message: schema.MessageDuplicateKey,
		Offset:  offset,
	})
}

// failUnexpected fails at a character that the grammar does not allow, or at the end of the line.
func (s *Scanner) failUnexpected(i int) int {
	if s.isEnd(i) {
		return s.fail(transaction.CodeJSONInvalid, schema.MessageEndsEarly, s.length)
	}
	c, size := utf8.DecodeRune(s.buf[i:])
	if c == utf8.RuneError && size == 1 {
		return s.fail(transaction.CodeJSONInvalid, schema.MessageUTF8, i)
	}
	if s.unexpectedMessage == "" || s.unexpected != c {
		s.unexpected, s.unexpectedMessage = c, schema.MessageUnexpected(c)
	}
	return s.fail(transaction.CodeJSONInvalid, s.unexpectedMessage, i)
}

func (s *Scanner) failWith(f transaction.Finding) int {
	r := &s.result
	r.Findings, r.Dropped = append(r.Findings[:0], f), 0
	r.References, r.Names = r.References[:0], r.Names[:0]
	r.MainEntity = transaction.NoRole
	return failed
}

// maxPointers is how many JSON pointers are kept for reuse from line to line.
const maxPointers = 4096

// pointerTo returns the JSON pointer of the object that is being read, or of its member with the given key.
func (s *Scanner) pointerTo(isMember bool, key []byte) string {
	p := s.pointer[:0]
	for _, seg := range s.path[:s.pathLen] {
		if seg.key == nil {
			p = strconv.AppendInt(append(p, '/'), int64(seg.index), 10)
		} else {
			p = appendToken(p, seg.key)
		}
	}
	if isMember {
		p = appendToken(p, key)
	}
	s.pointer = p
	if known, ok := s.pointers[string(p)]; ok {
		return known
	}
	text := string(p)
	if len(s.pointers) < maxPointers {
		s.pointers[text] = text
	}
	return text
}

// appendToken appends one reference token of a JSON pointer, escaped by RFC 6901.
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

// sortFindings orders findings by offset; those at the same offset by pointer and code.
func sortFindings(findings []transaction.Finding) {
	slices.SortFunc(findings, func(a, b transaction.Finding) int {
		return cmp.Or(
			cmp.Compare(a.Offset, b.Offset),
			strings.Compare(a.Pointer, b.Pointer),
			strings.Compare(string(a.Code), string(b.Code)),
		)
	})
}
