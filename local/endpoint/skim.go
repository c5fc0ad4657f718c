package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
)

// members visits the members of a JSON object, elements the elements of a list, without a look into their values: a decoder
// would spend more on a large request than the database itself. What is no JSON gets any answer; the services refuse it.
func members(object []byte, visit func(name string, value []byte)) {
	i, ok := enter(object, '{')
	for ok {
		start := i
		i = skip(object, i)
		name, quoted := object[start:i], i > start && object[start] == '"'
		i = space(object, i)
		if !quoted || i >= len(object) || object[i] != ':' {
			return
		}
		from := space(object, i+1)
		i = skip(object, from)
		visit(unquote(name), object[from:i])
		i, ok = next(object, i)
	}
}

func elements(list []byte, visit func(value []byte)) {
	i, ok := enter(list, '[')
	for ok {
		from := i
		if i = skip(list, from); i == from {
			return
		}
		visit(list[from:i])
		i, ok = next(list, i)
	}
}

// enter finds the first thing inside a value that begins with the bracket.
func enter(b []byte, bracket byte) (i int, ok bool) {
	if i = space(b, 0); i >= len(b) || b[i] != bracket {
		return i, false
	}
	return space(b, i+1), true
}

// next finds what follows after a comma.
func next(b []byte, i int) (int, bool) {
	if i = space(b, i); i >= len(b) || b[i] != ',' {
		return i, false
	}
	return space(b, i+1), true
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = closing(b, i+1)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i // there was no value
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

// closing returns the place after the quote that ends a text.
func closing(b []byte, i int) int {
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

func unquote(name []byte) string {
	plain := func(b byte) bool { return b >= ' ' && b < 0x80 && b != '\\' }
	if len(name) >= 2 && !slices.ContainsFunc(name, func(b byte) bool { return !plain(b) }) {
		return string(name[1 : len(name)-1])
	}
	var s string
	_ = json.Unmarshal(name, &s)
	return s
}
