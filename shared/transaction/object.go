package transaction

import "math/bits"

// What the straight way through an object leaves: other writings of members, and members that the schema does not name.

// member reads a member that the straight way has left: any writing of a name, any name, any value. Where bit is a field's, its
// name is known already. The fields that it has seen, and those whose value was null, are returned with it; id is the object's
// number in keys, 0 as long as it has none.
func (s *Scanner) member(b []byte, i int, o *object, bit, seen, nulls uint64, id uint32) (next int, nowSeen, nowNulls uint64, nowID uint32, more bool) {
	var f *field
	var name []byte
	if bit != 0 {
		f = &o.fields[bits.TrailingZeros64(bit)]
		i += len(f.key) + len(`"":`)
	} else if f, name, i = s.name(b, i, o, seen, &id); i < 0 {
		return -1, seen, nulls, id, false
	}
	i = space(b, i)
	switch {
	case f == nil:
		i = s.skipUnder(b, i, name)
	case b[i] == 'n':
		seen |= f.bit
		nulls |= f.bit
		i = s.null(b, i, f)
	default:
		seen |= f.bit
		i = s.value(b, i, f)
	}
	if i < 0 {
		return -1, seen, nulls, id, false
	}
	i, more = s.more(b, i, '}')
	return i, seen, nulls, id, more
}

// name reads a name and its colon. The field is nil when the schema does not name it.
func (s *Scanner) name(b []byte, i int, o *object, seen uint64, id *uint32) (*field, []byte, int) {
	at := i
	if b[i] != '"' {
		return nil, nil, s.unexpected(i)
	}
	name, i := s.text(b, i)
	if i < 0 {
		return nil, nil, -1
	}
	if i > s.maxLine {
		return nil, nil, s.beyond(i)
	}
	f := o.byName[string(name)]
	if f == nil && *id == 0 {
		*id = s.keys.newObject()
	}
	if f != nil && seen&f.bit != 0 || f == nil && !s.keys.add(*id, name) {
		return nil, nil, s.duplicate(at, name)
	}
	if f == nil && o.closed {
		s.findAtKey(CodeExtraForbidden, msgExtra, at, name)
	}
	return f, name, s.colon(b, i)
}

func (s *Scanner) findMissing(o *object, missing uint64, at int) {
	for ; missing != 0; missing &= missing - 1 {
		s.find(CodeMissing, &o.fields[bits.TrailingZeros64(missing)], at)
	}
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
		return s.tooDeep(i)
	}
	s.push(f.key)
	s.push(nil)
	item := &s.path[s.steps-1]
	i = space(b, i+1)
	for more := b[i] != ']'; more; item.index++ {
		switch {
		case b[i] == 'n':
			i = s.literal(b, i, "null")
		case f.kind == kindTexts && b[i] == '"':
			i = s.skipText(b, i)
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
	s.steps -= 2
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
		return s.tooDeep(i)
	}
	s.push(f.key)
	few, id := len(s.keys.few), s.keys.newObject()
	i = space(b, i+1)
	for more := b[i] != '}'; more; {
		var name []byte
		if name, i = s.key(b, i, few, id); i < 0 {
			return -1
		}
		switch b[i] {
		case '"':
			i = s.skipText(b, i)
		case 'n':
			i = s.literal(b, i, "null")
		default:
			s.findAtKey(CodeStringType, f.messages[CodeStringType], i, name)
			i = s.skipUnder(b, i, name)
		}
		if i < 0 {
			return -1
		}
		if b[i] == ',' && b[i+1] == '"' {
			i++
		} else if i, more = s.more(b, i, '}'); i < 0 {
			return -1
		}
	}
	s.keys.few = s.keys.few[:few]
	s.pop()
	s.depth--
	return i + 1
}
