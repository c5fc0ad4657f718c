package transaction

import "math/bits"

// The walk over the objects of the schema.

// object reads the object of the schema whose brace is at b[i], and says which of its fields are there and not null.
//
// Nearly all members are read by members; the walk reads those that it leaves, one at a time.
func (s *Scanner) object(b []byte, i int, o *object) (end int, present uint64) {
	if s.depth++; s.depth > MaxDepth {
		return s.fail(CodeJSONTooDeep, msgTooDeep, i), 0
	}
	at, id := i, s.keys.newObject()
	var seen uint64
	i = space(b, i+1)
	for more := b[i] != '}'; more; {
		before := seen
		if i, seen, more = s.members(o, b, i, seen); i < 0 {
			return -1, 0
		}
		present |= seen &^ before
		if !more {
			break
		}
		f, name, value := s.member(b, i, o, id, seen)
		if value < 0 {
			return -1, 0
		}
		i = space(b, value)
		switch {
		case f == nil:
			i = s.skipUnder(b, i, name)
		case b[i] == 'n':
			seen |= f.bit
			i = s.null(b, i, f)
		default:
			seen |= f.bit
			present |= f.bit
			i = s.value(b, i, f)
		}
		if i < 0 {
			return -1, 0
		}
		if i, more = s.more(b, i, '}'); i < 0 {
			return -1, 0
		}
	}
	for missing := o.required &^ seen; missing != 0; missing &= missing - 1 {
		s.find(CodeMissing, &o.fields[bits.TrailingZeros64(missing)], at)
	}
	s.depth--
	return i + 1, present
}

// member reads a name and its colon. The field is nil when the schema does not name it.
func (s *Scanner) member(b []byte, i int, o *object, id uint32, seen uint64) (*field, []byte, int) {
	at := i
	if b[i] != '"' {
		return nil, nil, s.unexpected(i)
	}
	name, i := s.text(b, i)
	if i < 0 {
		return nil, nil, -1
	}
	f := o.byName[string(name)]
	if f != nil && seen&f.bit != 0 || f == nil && !s.keys.add(id, name) {
		return nil, nil, s.duplicate(at, name)
	}
	if f == nil && o.closed {
		s.findAtKey(CodeExtraForbidden, msgExtra, at, name)
	}
	return f, name, s.colon(b, i)
}

// colon reads the colon between a name and its value.
func (s *Scanner) colon(b []byte, i int) int {
	if i = space(b, i); b[i] != ':' {
		return s.unexpected(i)
	}
	return i + 1
}

// more reads what follows a value inside an object or an array: it stops at the next member or item, or at the closing
// bracket.
func (s *Scanner) more(b []byte, i int, closing byte) (next int, more bool) {
	i = space(b, i)
	if b[i] == ',' {
		if i = space(b, i+1); b[i] == closing {
			return s.unexpected(i), false
		}
		return i, true
	}
	if b[i] != closing {
		return s.unexpected(i), false
	}
	return i, false
}

// null reads the null that stands for a field: the field is absent.
func (s *Scanner) null(b []byte, i int, f *field) int {
	if f.required {
		s.find(CodeMissing, f, i)
	}
	return s.literal(b, i, "null")
}

// nested reads an object of the schema as the value of f, or finds that it is none.
func (s *Scanner) nested(b []byte, i int, f *field) (end int, present uint64) {
	if b[i] != '{' {
		s.find(CodeObjectType, f, i)
		return s.skipUnder(b, i, f.key), 0
	}
	s.push(f.key)
	end, present = s.object(b, i, f.object)
	s.pop()
	return end, present
}

// list reads an array whose items are objects of the schema or strings.
func (s *Scanner) list(b []byte, i int, f *field) int {
	if b[i] != '[' {
		s.find(CodeArrayType, f, i)
		return s.skipUnder(b, i, f.key)
	}
	if s.depth++; s.depth > MaxDepth {
		return s.fail(CodeJSONTooDeep, msgTooDeep, i)
	}
	s.push(f.key)
	s.path = append(s.path, segment{})
	top := len(s.path) - 1
	i = space(b, i+1)
	for more := b[i] != ']'; more; s.path[top].index++ {
		switch {
		case b[i] == 'n':
			i = s.literal(b, i, "null")
		case f.kind == kindTexts && b[i] == '"':
			_, i = s.text(b, i)
		case f.kind == kindTexts:
			s.findHere(CodeStringType, f.messages[CodeStringType], i)
			i = s.skip(b, i)
		case b[i] == '{':
			i, _ = s.object(b, i, f.object)
		default:
			s.findHere(CodeObjectType, f.messages[CodeObjectType], i)
			i = s.skip(b, i)
		}
		if i < 0 {
			return -1
		}
		if i, more = s.more(b, i, ']'); i < 0 {
			return -1
		}
	}
	s.path = s.path[:top-1]
	s.depth--
	return i + 1
}

// textMap reads an object of any keys whose values must be strings.
func (s *Scanner) textMap(b []byte, i int, f *field) int {
	if b[i] != '{' {
		s.find(CodeObjectType, f, i)
		return s.skipUnder(b, i, f.key)
	}
	if s.depth++; s.depth > MaxDepth {
		return s.fail(CodeJSONTooDeep, msgTooDeep, i)
	}
	s.push(f.key)
	id := s.keys.newObject()
	i = space(b, i+1)
	for more := b[i] != '}'; more; {
		var name []byte
		if name, i = s.key(b, i, id); i < 0 {
			return -1
		}
		switch b[i] {
		case '"':
			_, i = s.text(b, i)
		case 'n':
			i = s.literal(b, i, "null")
		default:
			s.findAtKey(CodeStringType, f.messages[CodeStringType], i, name)
			i = s.skipUnder(b, i, name)
		}
		if i < 0 {
			return -1
		}
		if i, more = s.more(b, i, '}'); i < 0 {
			return -1
		}
	}
	s.pop()
	s.depth--
	return i + 1
}
