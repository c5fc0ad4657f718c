package scanner

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/shared/ingest/transaction"
)

// node is one JSON value with its offset.
type node struct {
	// kind is one of n, t, f, ", 0, { and [.
	kind jsontext.Kind
	at   int

	// text is a string without escapes, or a number as it is written.
	text    string
	members []member
	items   []node
}

type member struct {
	name  string
	at    int
	value node
}

func (n node) present() bool { return n.kind != 'n' }

func (n node) member(name string) (node, bool) {
	for _, m := range n.members {
		if m.name == name && m.value.present() {
			return m.value, true
		}
	}
	return node{}, false
}

// broken is the first error that makes a line unreadable.
type broken struct {
	code transaction.Code
	at   int

	// pointer leads to a duplicate key.
	pointer string
}

// reader builds the tree and records identifiers as soon as their string is complete.
type reader struct {
	dec   *jsontext.Decoder
	line  []byte
	fault *broken
	ids   map[string]string // by pointer
	idAt  map[string]int
}

// token reads a token and returns its offset.
func (r *reader) token() (jsontext.Token, int, bool) {
	tok, err := r.dec.ReadToken()
	if err != nil {
		r.fault = &broken{code: transaction.CodeJSONInvalid, at: -1}
		var syntactic *jsontext.SyntacticError
		if errors.As(err, &syntactic) {
			r.fault.at = int(syntactic.ByteOffset)
		}
		if errors.Is(err, jsontext.ErrDuplicateName) {
			r.fault.code, r.fault.pointer = transaction.CodeJSONDuplicateKey, string(syntactic.JSONPointer)
		}
		return tok, 0, false
	}
	end := int(r.dec.InputOffset())
	at := end - 1
	switch tok.Kind() {
	case 'n', 't':
		at = end - 4
	case 'f':
		at = end - 5
	case '0':
		at = end - len(tok.String())
	case '"':
		// The opening quote is the nearest one before that is not written as an escape.
		for at--; r.line[at] != '"' || backslashes(r.line[:at])%2 == 1; at-- {
		}
	}
	return tok, at, true
}

func backslashes(b []byte) int { return len(b) - len(bytes.TrimRight(b, `\`)) }

func (r *reader) value(tok jsontext.Token, at int, pointer string) (node, bool) {
	n := node{kind: tok.Kind(), at: at}
	switch n.kind {
	case '"', '0':
		n.text = tok.String()
		if n.kind == '"' {
			r.ids[pointer], r.idAt[pointer] = n.text, at
		}
	case '{', '[':
		if r.dec.StackDepth() > transaction.MaxDepth {
			r.fault = &broken{code: transaction.CodeJSONTooDeep, at: at}
			return n, false
		}
		return n, r.children(&n, pointer)
	}
	return n, true
}

func (r *reader) children(n *node, pointer string) bool {
	for {
		tok, at, ok := r.token()
		if !ok {
			return false
		}
		if tok.Kind() == '}' || tok.Kind() == ']' {
			return true
		}
		var m member
		if n.kind == '{' {
			m.name, m.at = strings.Clone(tok.String()), at
			if tok, at, ok = r.token(); !ok {
				return false
			}
		}
		m.value, ok = r.value(tok, at, pointer+token(m.name))
		if n.kind == '{' {
			n.members = append(n.members, m)
		} else {
			n.items = append(n.items, m.value)
		}
		if !ok {
			return false
		}
	}
}
