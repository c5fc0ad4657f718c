package scanner

import (
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// The reading of values that the schema does not list. It is as strict as the reading of all others.

// skipValue reads any JSON value.
func (s *Scanner) skipValue(b []byte, i int) int {
	switch c := b[i]; c {
	case '"':
		return s.skipString(b, i)
	case '{':
		return s.skipObject(b, i)
	case '[':
		return s.skipArray(b, i)
	case 't':
		return s.readLiteral(b, i, "true")
	case 'f':
		return s.readLiteral(b, i, "false")
	case 'n':
		return s.readLiteral(b, i, "null")
	default:
		if c == '-' || c-'0' <= 9 {
			i, _ = s.readNumber(b, i)
			return i
		}
		return s.failUnexpected(i)
	}
}

// skipValueOf reads any JSON value of a member. The key is a part of the path to everything inside the value.
func (s *Scanner) skipValueOf(b []byte, i int, key []byte) int {
	if b[i] != '{' && b[i] != '[' {
		return s.skipValue(b, i)
	}
	s.pushPath(key)
	i = s.skipValue(b, i)
	s.popPath()
	return i
}

func (s *Scanner) skipObject(b []byte, i int) int {
	if s.depth++; s.depth > transaction.MaxDepth {
		return s.failTooDeep(i)
	}
	firstKey, id := len(s.keys.linear), s.keys.newObject()
	i = skipSpace(b, i+1)
	for more := b[i] != '}'; more; {
		var name []byte
		if name, i = s.readKey(b, i, firstKey, id); i < 0 {
			return failed
		}
		if i = s.skipValueOf(b, i, name); i < 0 {
			return failed
		}
		if b[i] == ',' && b[i+1] == '"' {
			i++
		} else if i, more = s.readSeparator(b, i, '}'); i < 0 {
			return failed
		}
	}
	s.keys.linear = s.keys.linear[:firstKey]
	s.depth--
	return i + 1
}

func (s *Scanner) skipArray(b []byte, i int) int {
	if s.depth++; s.depth > transaction.MaxDepth {
		return s.failTooDeep(i)
	}
	s.pushPath(nil)
	item := &s.path[s.pathLen-1]
	i = skipSpace(b, i+1)
	for more := b[i] != ']'; more; item.index++ {
		if i = s.skipValue(b, i); i < 0 {
			return failed
		}
		if i, more = s.readSeparator(b, i, ']'); i < 0 {
			return failed
		}
	}
	s.popPath()
	s.depth--
	return i + 1
}

// readKey reads the name of a member of an object that is not in the schema, its colon and the white space before its
// value. firstKey and id identify the object in keys.
func (s *Scanner) readKey(b []byte, i, firstKey int, id uint32) ([]byte, int) {
	start := i
	if b[i] != '"' {
		return nil, s.failUnexpected(i)
	}
	name, i := s.readString(b, i)
	if i < 0 {
		return nil, failed
	}
	if i > s.maxLine {
		return nil, s.failTooLong(i)
	}
	if !s.keys.addLinear(firstKey, id, name) {
		return nil, s.failDuplicateKey(start, name)
	}
	if b[i] == ':' {
		i++
	} else if i = s.readColon(b, i); i < 0 {
		return nil, failed
	}
	return name, skipSpace(b, i)
}

// readLiteral reads true, false or null.
func (s *Scanner) readLiteral(b []byte, i int, literal string) int {
	if string(b[i:i+len(literal)]) == literal {
		return i + len(literal)
	}
	for k := range literal {
		if b[i+k] != literal[k] {
			if s.isEnd(i + k) {
				return s.failUnexpected(i + k)
			}
			return s.fail(transaction.CodeJSONInvalid, schema.MessageLiteral, i+k)
		}
	}
	return i + len(literal)
}
