package sampledata

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// writer writes one line as one of many programs would: with or without spaces, members in the usual order or not,
// other scripts as they are or as escapes.
type writer struct {
	buf     []byte
	r       *random
	spaces  bool
	shuffle bool
	escape  bool
	edits   []edit
	frames  []frame
	spans   []span // members of the objects that are open
	spare   []byte
}

type frame struct {
	name  string
	first int // in spans
}

type span struct{ start, end int }

// edit makes a member of a named object another one, which makes the line bad.
type edit struct {
	object string // "" for the line
	key    string
	value  string // raw JSON, "" to leave the member out
}

func (w *writer) begin(edits []edit) {
	w.buf, w.frames, w.spans = w.buf[:0], w.frames[:0], w.spans[:0]
	w.spaces, w.shuffle, w.escape = w.r.chance(10), w.r.chance(10), w.r.chance(10)
	w.edits = edits
}

func (w *writer) open(name string) {
	w.buf = append(w.buf, '{')
	w.frames = append(w.frames, frame{name, len(w.spans)})
}

func (w *writer) close() {
	f := w.frames[len(w.frames)-1]
	w.endMember(f)
	for _, e := range w.edits {
		if e.object == f.name {
			w.apply(f, e)
		}
	}
	if w.shuffle {
		w.reorder(f)
	}
	w.spans = w.spans[:f.first]
	w.frames = w.frames[:len(w.frames)-1]
	w.buf = append(w.buf, '}')
}

func (w *writer) endMember(f frame) {
	if n := len(w.spans); n > f.first {
		w.spans[n-1].end = len(w.buf)
	}
}

func (w *writer) comma() {
	w.buf = append(w.buf, ',')
	if w.spaces {
		w.buf = append(w.buf, ' ')
	}
}

// key begins a member of the object that was opened last.
func (w *writer) key(name string) {
	f := w.frames[len(w.frames)-1]
	w.endMember(f)
	if len(w.spans) > f.first {
		w.comma()
	}
	w.spans = append(w.spans, span{start: len(w.buf)})
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
	if w.spaces {
		w.buf = append(w.buf, ' ')
	}
}

// apply puts an edit into the object whose members are complete.
func (w *writer) apply(f frame, e edit) {
	name := strconv.AppendQuote(nil, e.key)
	at := -1
	for i, s := range w.spans[f.first:] {
		if bytes.HasPrefix(w.buf[s.start:s.end], name) {
			at = i
		}
	}
	if at >= 0 {
		w.rebuild(f, func(members []span) []span { return append(members[:at], members[at+1:]...) })
	}
	if e.value != "" {
		w.key(e.key)
		w.buf = append(w.buf, e.value...)
		w.endMember(f)
	}
}

func (w *writer) reorder(f frame) {
	w.rebuild(f, func(members []span) []span {
		for i := len(members) - 1; i > 0; i-- {
			j := w.r.below(uint64(i + 1))
			members[i], members[j] = members[j], members[i]
		}
		return members
	})
}

// rebuild writes the members of the innermost object again, in the order that change gives them.
func (w *writer) rebuild(f frame, change func([]span) []span) {
	members := w.spans[f.first:]
	if len(members) == 0 {
		return
	}
	base := members[0].start
	w.spare = append(w.spare[:0], w.buf[base:]...)
	members = change(members)
	w.buf = w.buf[:base]
	for i, s := range members {
		if i > 0 {
			w.comma()
		}
		start := len(w.buf)
		w.buf = append(w.buf, w.spare[s.start-base:s.end-base]...)
		members[i] = span{start, len(w.buf)}
	}
	w.spans = w.spans[:f.first+len(members)]
}

func (w *writer) raw(value string) { w.buf = append(w.buf, value...) }

// word writes a string that needs no escaping.
func (w *writer) word(s string) { w.buf = append(append(append(w.buf, '"'), s...), '"') }

func (w *writer) member(name, value string) {
	w.key(name)
	w.word(value)
}

// text writes free text.
func (w *writer) text(name, s string) {
	w.key(name)
	w.buf = append(w.buf, '"')
	for len(s) > 0 {
		c := s[0]
		switch {
		case c == '"' || c == '\\':
			w.buf = append(w.buf, '\\', c)
		case c == '\n':
			w.buf = append(w.buf, '\\', 'n')
		case c < utf8.RuneSelf || !w.escape:
			w.buf = append(w.buf, c)
		default:
			r, size := utf8.DecodeRuneInString(s)
			w.escaped(r)
			s = s[size:]
			continue
		}
		s = s[1:]
	}
	w.buf = append(w.buf, '"')
}

func (w *writer) escaped(r rune) {
	if r > 0xFFFF {
		r -= 0x10000
		w.unit(0xD800 + r>>10)
		r = 0xDC00 + r&0x3FF
	}
	w.unit(r)
}

func (w *writer) unit(r rune) {
	w.buf = append(w.buf, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// uuid writes the first UUID of a stream.
func (w *writer) uuid(name string, from random) {
	w.key(name)
	w.buf = append(w.buf, '"')
	w.buf = append(from.uuid(w.buf), '"')
}

func (w *writer) integer(name string, n uint64) {
	w.key(name)
	w.buf = strconv.AppendUint(w.buf, n, 10)
}

// amount writes hundredths as a number.
func (w *writer) amount(name string, cents uint64) {
	w.key(name)
	w.buf = strconv.AppendUint(w.buf, cents/100, 10)
	if rest := cents % 100; rest != 0 {
		w.buf = append(w.buf, '.', '0'+byte(rest/10))
		if rest%10 != 0 {
			w.buf = append(w.buf, '0'+byte(rest%10))
		}
	}
}
