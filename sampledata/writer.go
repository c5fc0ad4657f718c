package sampledata

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// writer writes one line in the manner of one of many programs: with or without spaces, members in the usual order or
// not, other scripts as they are or as escapes.
type writer struct {
	buf []byte
	r   *random
	// spaces, shuffle and escape are the manner of the line.
	spaces, shuffle, escape bool
	// edits are applied to the objects that they name.
	edits []edit
	// objects are those that are open, the innermost last, and members all of theirs.
	objects []openObject
	members []span
	spare   []byte
}

// openObject is an object that is being written. Its members begin at firstMember.
type openObject struct {
	name        string
	firstMember int
}

// span is a part of writer.buf.
type span struct{ start, end int }

// edit replaces, adds or removes a member of a named object, which makes the line bad.
type edit struct {
	// object is "" for the line itself.
	object string
	key    string
	// value is raw JSON; "" removes the member.
	value string
}

// start begins a line.
func (w *writer) start(edits []edit) {
	w.buf, w.objects, w.members = w.buf[:0], w.objects[:0], w.members[:0]
	w.spaces, w.shuffle, w.escape = w.r.chance(10), w.r.chance(10), w.r.chance(10)
	w.edits = edits
}

// openObject begins an object. Edits find it by its name.
func (w *writer) openObject(name string) {
	w.buf = append(w.buf, '{')
	w.objects = append(w.objects, openObject{name, len(w.members)})
}

// closeObject applies the edits of the innermost object, shuffles its members if that is the manner of the line, and
// ends it.
func (w *writer) closeObject() {
	o := w.objects[len(w.objects)-1]
	w.endMember(o)
	for _, e := range w.edits {
		if e.object == o.name {
			w.applyEdit(o, e)
		}
	}
	if w.shuffle {
		w.shuffleMembers(o)
	}
	w.members = w.members[:o.firstMember]
	w.objects = w.objects[:len(w.objects)-1]
	w.buf = append(w.buf, '}')
}

// endMember ends the last member of an object, if it has one.
func (w *writer) endMember(o openObject) {
	if n := len(w.members); n > o.firstMember {
		w.members[n-1].end = len(w.buf)
	}
}

// writeComma separates two members.
func (w *writer) writeComma() {
	w.buf = append(w.buf, ',')
	if w.spaces {
		w.buf = append(w.buf, ' ')
	}
}

// startMember begins a member of the innermost object; the caller writes its value.
func (w *writer) startMember(name string) {
	o := w.objects[len(w.objects)-1]
	w.endMember(o)
	if len(w.members) > o.firstMember {
		w.writeComma()
	}
	w.members = append(w.members, span{start: len(w.buf)})
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
	if w.spaces {
		w.buf = append(w.buf, ' ')
	}
}

// applyEdit applies an edit to the innermost object, whose members are complete.
func (w *writer) applyEdit(o openObject, e edit) {
	name := strconv.AppendQuote(nil, e.key)
	existing := -1
	for i, s := range w.members[o.firstMember:] {
		if bytes.HasPrefix(w.buf[s.start:s.end], name) {
			existing = i
		}
	}
	if existing >= 0 {
		w.rewriteMembers(o, func(members []span) []span { return append(members[:existing], members[existing+1:]...) })
	}
	if e.value != "" {
		w.startMember(e.key)
		w.buf = append(w.buf, e.value...)
		w.endMember(o)
	}
}

// shuffleMembers puts the members of the innermost object into a random order.
func (w *writer) shuffleMembers(o openObject) {
	w.rewriteMembers(o, func(members []span) []span {
		for i := len(members) - 1; i > 0; i-- {
			j := w.r.below(uint64(i + 1))
			members[i], members[j] = members[j], members[i]
		}
		return members
	})
}

// rewriteMembers writes the members of the innermost object again: those that change returns, in their order.
func (w *writer) rewriteMembers(o openObject, change func([]span) []span) {
	members := w.members[o.firstMember:]
	if len(members) == 0 {
		return
	}
	base := members[0].start
	w.spare = append(w.spare[:0], w.buf[base:]...)
	members = change(members)
	w.buf = w.buf[:base]
	for i, s := range members {
		if i > 0 {
			w.writeComma()
		}
		start := len(w.buf)
		w.buf = append(w.buf, w.spare[s.start-base:s.end-base]...)
		members[i] = span{start, len(w.buf)}
	}
	w.members = w.members[:o.firstMember+len(members)]
}

// writeRaw writes a value as it is.
func (w *writer) writeRaw(value string) { w.buf = append(w.buf, value...) }

// plainString writes a string that needs no escaping.
func (w *writer) plainString(s string) { w.buf = append(append(append(w.buf, '"'), s...), '"') }

// plainMember writes a member whose value is a string that needs no escaping.
func (w *writer) plainMember(name, value string) {
	w.startMember(name)
	w.plainString(value)
}

// textMember writes a member with free text, escaped in the manner of the line.
func (w *writer) textMember(name, s string) {
	w.startMember(name)
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
			w.writeEscaped(r)
			s = s[size:]
			continue
		}
		s = s[1:]
	}
	w.buf = append(w.buf, '"')
}

// writeEscaped writes a character as one or two escapes.
func (w *writer) writeEscaped(r rune) {
	if r > 0xFFFF {
		r -= 0x10000
		w.writeUnit(0xD800 + r>>10)
		r = 0xDC00 + r&0x3FF
	}
	w.writeUnit(r)
}

// writeUnit writes a UTF-16 code unit as an escape.
func (w *writer) writeUnit(r rune) {
	w.buf = append(w.buf, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// uuidMember writes a member with the first UUID of a stream.
func (w *writer) uuidMember(name string, from random) {
	w.startMember(name)
	w.buf = append(w.buf, '"')
	w.buf = append(from.uuid(w.buf), '"')
}

// integerMember writes a member with a whole number.
func (w *writer) integerMember(name string, n uint64) {
	w.startMember(name)
	w.buf = strconv.AppendUint(w.buf, n, 10)
}

// amountMember writes a member with a number of hundredths.
func (w *writer) amountMember(name string, cents uint64) {
	w.startMember(name)
	w.buf = strconv.AppendUint(w.buf, cents/100, 10)
	if rest := cents % 100; rest != 0 {
		w.buf = append(w.buf, '.', '0'+byte(rest/10))
		if rest%10 != 0 {
			w.buf = append(w.buf, '0'+byte(rest%10))
		}
	}
}
