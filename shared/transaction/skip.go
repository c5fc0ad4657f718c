package transaction

// The strict reading of what the schema does not name.

// skip reads any JSON value.
func (s *Scanner) skip(b []byte, i int) int {
	switch c := b[i]; c {
	case '"':
		return s.skipText(b, i)
	case '{':
		return s.skipObject(b, i)
	case '[':
		return s.skipArray(b, i)
	case 't':
		return s.literal(b, i, "true")
	case 'f':
		return s.literal(b, i, "false")
	case 'n':
		return s.literal(b, i, "null")
	default:
		if c == '-' || c-'0' <= 9 {
			i, _ = s.number(b, i)
			return i
		}
		return s.unexpected(i)
	}
}

// skipUnder is skip for the value of a member, which is part of the way to everything inside the value.
func (s *Scanner) skipUnder(b []byte, i int, key []byte) int {
	if b[i] != '{' && b[i] != '[' {
		return s.skip(b, i)
	}
	s.push(key)
	i = s.skip(b, i)
	s.pop()
	return i
}

func (s *Scanner) skipObject(b []byte, i int) int {
	if s.depth++; s.depth > MaxDepth {
		return s.tooDeep(i)
	}
	few, id := len(s.keys.few), s.keys.newObject()
	i = space(b, i+1)
	for more := b[i] != '}'; more; {
		var name []byte
		if name, i = s.key(b, i, few, id); i < 0 {
			return -1
		}
		if i = s.skipUnder(b, i, name); i < 0 {
			return -1
		}
		if b[i] == ',' && b[i+1] == '"' {
			i++
		} else if i, more = s.more(b, i, '}'); i < 0 {
			return -1
		}
	}
	s.keys.few = s.keys.few[:few]
	s.depth--
	return i + 1
}

func (s *Scanner) skipArray(b []byte, i int) int {
	if s.depth++; s.depth > MaxDepth {
		return s.tooDeep(i)
	}
	s.push(nil)
	item := &s.path[s.steps-1]
	i = space(b, i+1)
	for more := b[i] != ']'; more; item.index++ {
		if i = s.skip(b, i); i < 0 {
			return -1
		}
		if i, more = s.more(b, i, ']'); i < 0 {
			return -1
		}
	}
	s.pop()
	s.depth--
	return i + 1
}

// key reads the name of a member that no schema names, its colon and the white space before the value.
func (s *Scanner) key(b []byte, i, few int, id uint32) ([]byte, int) {
	at := i
	if b[i] != '"' {
		return nil, s.unexpected(i)
	}
	name, i := s.text(b, i)
	if i < 0 {
		return nil, -1
	}
	if i > s.maxLine {
		return nil, s.beyond(i)
	}
	if !s.keys.addFew(few, id, name) {
		return nil, s.duplicate(at, name)
	}
	if b[i] == ':' {
		i++
	} else if i = s.colon(b, i); i < 0 {
		return nil, -1
	}
	return name, space(b, i)
}

// literal reads true, false or null.
func (s *Scanner) literal(b []byte, i int, word string) int {
	if string(b[i:i+len(word)]) == word {
		return i + len(word)
	}
	for k := range word {
		if b[i+k] != word[k] {
			if s.ends(i + k) {
				return s.unexpected(i + k)
			}
			return s.fail(CodeJSONInvalid, msgLiteral, i+k)
		}
	}
	return i + len(word)
}
