package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
)

// eachMember calls visit for each member of a JSON object without decoding the values. A decoder would need more time
// for a large request than the database does. For text that is not valid JSON the calls are unspecified; the service
// rejects such a request.
func eachMember(object []byte, visit func(name string, value []byte)) {
	i, ok := openBracket(object, '{')
	for ok {
		nameStart := i
		i = skipValue(object, i)
		name, quoted := object[nameStart:i], i > nameStart && object[nameStart] == '"'
		i = skipSpace(object, i)
		if !quoted || i >= len(object) || object[i] != ':' {
			return
		}
		start := skipSpace(object, i+1)
		i = skipValue(object, start)
		visit(unquote(name), object[start:i])
		i, ok = afterComma(object, i)
	}
}

// eachElement calls visit for each element of a JSON list; it is to lists what eachMember is to objects.
func eachElement(list []byte, visit func(value []byte)) {
	i, ok := openBracket(list, '[')
	for ok {
		start := i
		if i = skipValue(list, start); i == start {
			return
		}
		visit(list[start:i])
		i, ok = afterComma(list, i)
	}
}

// openBracket returns the position of the first element in a value that begins with the bracket.
func openBracket(b []byte, bracket byte) (i int, ok bool) {
	if i = skipSpace(b, 0); i >= len(b) || b[i] != bracket {
		return i, false
	}
	return skipSpace(b, i+1), true
}

// afterComma returns the position of the next element if a comma follows.
func afterComma(b []byte, i int) (int, bool) {
	if i = skipSpace(b, i); i >= len(b) || b[i] != ',' {
		return i, false
	}
	return skipSpace(b, i+1), true
}

// skipSpace returns the position of the next byte that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i+1)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i // no value begins here
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			if depth == 0 && i < len(b) && !bytes.ContainsRune([]byte(",:}] \n\t\r"), rune(b[i])) {
				continue
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipString returns the position after the quote that ends the string.
func skipString(b []byte, i int) int {
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		end, escapes := i+n, 0
		for end-escapes > i && b[end-escapes-1] == '\\' {
			escapes++
		}
		if i = end + 1; escapes%2 == 0 {
			return i
		}
	}
}

// unquote decodes a JSON string.
func unquote(name []byte) string {
	isPlain := func(b byte) bool { return b >= ' ' && b < 0x80 && b != '\\' }
	if len(name) >= 2 && !slices.ContainsFunc(name, func(b byte) bool { return !isPlain(b) }) {
		return string(name[1 : len(name)-1])
	}
	var s string
	_ = json.Unmarshal(name, &s)
	return s
}
