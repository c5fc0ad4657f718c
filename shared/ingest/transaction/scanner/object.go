package scanner

import (
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// The slow path through objects: the members that the generated code leaves, and collections.

// slowMember reads a member of o that the fast path has left: any way of writing a name, any name, any value. If bit is
// not zero, it is the bit of the member's field, whose name has been recognised at b[i]. seen and nulls are the sets of
// fields that the object has so far and that were null; id is the object's number in keys, or 0 while it has none. They
// are returned with the member added. more is set if another member follows, at b[next].
func (s *Scanner) slowMember(b []byte, i int, o *object, bit, seen, nulls uint64, id uint32) (
	next int, nowSeen, nowNulls uint64, nowID uint32, more bool) {
	var f *field
	var name []byte
	if bit != 0 {
		f = o.fieldOf(bit)
		i += len(f.key) + len(`"":`)
	} else if f, name, i = s.readName(b, i, o, seen, &id); i < 0 {
		return failed, seen, nulls, id, false
	}
	i = skipSpace(b, i)
	switch {
	case f == nil:
		i = s.skipValueOf(b, i, name)
	case b[i] == 'n':
		seen |= f.bit
		nulls |= f.bit
		i = s.readNull(b, i, f)
	default:
		seen |= f.bit
		i = s.readValue(b, i, f)
	}
	if i < 0 {
		return failed, seen, nulls, id, false
	}
	i, more = s.readSeparator(b, i, '}')
	return i, seen, nulls, id, more
}

// readName reads a name in o and its colon. The field is nil if the schema does not list the name.
func (s *Scanner) readName(b []byte, i int, o *object, seen uint64, id *uint32) (*field, []byte, int) {
	start := i
	if b[i] != '"' {
		return nil, nil, s.failUnexpected(i)
	}
	name, i := s.readString(b, i)
	if i < 0 {
		return nil, nil, failed
	}
	if i > s.maxLine {
		return nil, nil, s.failTooLong(i)
	}
	f := o.byName[string(name)]
	if f == nil && *id == 0 {
		*id = s.keys.newObject()
	}
	if f != nil && seen&f.bit != 0 || f == nil && !s.keys.add(*id, name) {
		return nil, nil, s.failDuplicateKey(start, name)
	}
	if f == nil && o.closed {
		s.addKeyFinding(transaction.CodeExtraForbidden, schema.MessageExtraKey, start, name)
	}
	return f, name, s.readColon(b, i)
}

// addMissing adds a finding for each field in a set of fields that o does not have. offset is the offset of the object.
func (s *Scanner) addMissing(o *object, missing uint64, offset int) {
	for ; missing != 0; missing &= missing - 1 {
		s.addFieldFinding(transaction.CodeMissing, o.fieldOf(missing), offset)
	}
}

// readColon reads the colon between a name and its value.
func (s *Scanner) readColon(b []byte, i int) int {
	if i = skipSpace(b, i); b[i] != ':' {
		return s.failUnexpected(i)
	}
	return i + 1
}

// readSeparator reads the separator after a value inside an object or an array. It returns the position of the next
// member or item if there is more, otherwise that of the closing bracket.
func (s *Scanner) readSeparator(b []byte, i int, closing byte) (next int, more bool) {
	i = skipSpace(b, i)
	if b[i] == ',' {
		if i = skipSpace(b, i+1); b[i] == closing {
			return s.failUnexpected(i), false
		}
		return i, true
	}
	if b[i] != closing {
		return s.failUnexpected(i), false
	}
	return i, false
}

// readNull reads null as the value of f: the field counts as absent.
func (s *Scanner) readNull(b []byte, i int, f *field) int {
	if f.Required {
		s.addFieldFinding(transaction.CodeMissing, f, i)
	}
	return s.readLiteral(b, i, "null")
}

// readObjectField reads an object of the schema as the value of f, or adds a finding if the value is something else.
// present is the set of the object's fields that are present and not null.
func (s *Scanner) readObjectField(b []byte, i int, f *field) (end int, present uint64) {
	if b[i] != '{' {
		s.addFieldFinding(transaction.CodeObjectType, f, i)
		return s.skipValueOf(b, i, f.key), 0
	}
	s.pushPath(f.key)
	end, present = s.readObject(b, i, f.object)
	s.popPath()
	return end, present
}

// readArray reads an array whose items are objects of the schema or strings. An item that is null has the wrong type:
// it is only as the value of a key that null counts as absent.
func (s *Scanner) readArray(b []byte, i int, f *field) int {
	if b[i] != '[' {
		s.addFieldFinding(transaction.CodeArrayType, f, i)
		return s.skipValueOf(b, i, f.key)
	}
	if s.depth++; s.depth > transaction.MaxDepth {
		return s.failTooDeep(i)
	}
	s.pushPath(f.key)
	s.pushPath(nil)
	item := &s.path[s.pathLen-1]
	i = skipSpace(b, i+1)
	for more := b[i] != ']'; more; item.index++ {
		switch {
		case f.Kind == schema.KindStrings && b[i] == '"':
			i = s.skipString(b, i)
		case f.Kind == schema.KindStrings:
			s.addFinding(transaction.CodeStringType, f.messages[transaction.CodeStringType], i)
			i = s.skipValue(b, i)
		case b[i] == '{':
			i, _ = s.readObject(b, i, f.object)
		default:
			s.addFinding(transaction.CodeObjectType, f.messages[transaction.CodeObjectType], i)
			i = s.skipValue(b, i)
		}
		if i < 0 {
			return failed
		}
		if i, more = s.readSeparator(b, i, ']'); i < 0 {
			return failed
		}
	}
	s.pathLen -= 2
	s.depth--
	return i + 1
}

// readStringMap reads an object of any keys whose values must be strings.
func (s *Scanner) readStringMap(b []byte, i int, f *field) int {
	if b[i] != '{' {
		s.addFieldFinding(transaction.CodeObjectType, f, i)
		return s.skipValueOf(b, i, f.key)
	}
	if s.depth++; s.depth > transaction.MaxDepth {
		return s.failTooDeep(i)
	}
	s.pushPath(f.key)
	firstKey, id := len(s.keys.linear), s.keys.newObject()
	i = skipSpace(b, i+1)
	for more := b[i] != '}'; more; {
		var name []byte
		if name, i = s.readKey(b, i, firstKey, id); i < 0 {
			return failed
		}
		switch b[i] {
		case '"':
			i = s.skipString(b, i)
		case 'n':
			i = s.readLiteral(b, i, "null")
		default:
			s.addKeyFinding(transaction.CodeStringType, f.messages[transaction.CodeStringType], i, name)
			i = s.skipValueOf(b, i, name)
		}
		if i < 0 {
			return failed
		}
		if b[i] == ',' && b[i+1] == '"' {
			i++
		} else if i, more = s.readSeparator(b, i, '}'); i < 0 {
			return failed
		}
	}
	s.keys.linear = s.keys.linear[:firstKey]
	s.popPath()
	s.depth--
	return i + 1
}
