package frame

import (
	"encoding/binary"
	"math/bits"
)

// minMatch is the length of the shortest match of the format, and minUseful that of the shortest one that is used: a
// shorter one takes more bits than its literals.
const (
	minMatch  = 3
	minUseful = 4
)

// The lengths of the strings by which matches are found, and the sizes of the tables of their hashes. Three tables find
// nearly what a search through all equal strings finds, in a fraction of its time.
const (
	longString   = 20
	middleString = 12
	shortString  = 6
	indexBits    = 14
	recentBits   = 10
)

// lookahead is how many bytes after the last place of a text are read.
const lookahead = longString

// index has places in the content of a dictionary by the strings that begin there: for each hash the last one. The
// place of a string that the content does not have is any.
type index struct {
	long, middle, short [1 << indexBits]uint16
}

func newIndex(content []byte) *index {
	x := new(index)
	for at := 0; at+longString <= len(content); at++ {
		h := hash(content, at)
		x.long[h.long], x.middle[h.middle], x.short[h.short] = uint16(at), uint16(at), uint16(at)
	}
	return x
}

// hashes are those of the strings that begin at a place.
type hashes struct {
	long, middle, short uint32
	// recent is a part of short.
	recent uint32
}

// hash returns the hashes at a place of a window.
func hash(window []byte, at int) hashes {
	const prime1, prime2, prime3 = 0xcf1bbcdcb7a56463, 0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f
	s := window[at : at+longString]
	first := binary.LittleEndian.Uint64(s)
	second := uint64(binary.LittleEndian.Uint32(s[8:]))
	third := binary.LittleEndian.Uint64(s[middleString:])
	short := first << (64 - 8*shortString) * prime1
	middle := (first*prime2 ^ second) * prime1
	long := (first*prime2 ^ bits.RotateLeft64(third*prime3, 31) ^ second) * prime1
	return hashes{
		long: uint32(long >> (64 - indexBits)), middle: uint32(middle >> (64 - indexBits)),
		short: uint32(short >> (64 - indexBits)), recent: uint32(short >> (64 - recentBits)),
	}
}

// split splits a text into sequences, and literals of which the last ones follow the last sequence.
func (e *Encoder) split(b *buffers, text []byte) {
	start := len(e.dictionary.content)
	end := start + copy(b.window[start:], text)
	clear(b.window[end : end+lookahead])
	clear(b.recent[:])
	b.sequences, b.literals = b.sequences[:0], b.literals[:0]
	offsets := e.dictionary.offsets
	done := start
	for at := start; at+shortString <= end; {
		m := e.find(b, at, end, int(offsets[0]))
		if m.length < minUseful {
			at += 1 + (at-done)>>6 // faster where nothing is found
			continue
		}
		m = e.improve(b, m, end, int(offsets[0]))
		for m.at > done && m.source > 0 && b.window[m.at-1] == b.window[m.source-1] {
			m = match{m.at - 1, m.source - 1, m.length + 1}
		}
		literals := b.window[done:m.at]
		b.literals = append(b.literals, literals...)
		offset := offsets.use(uint32(m.at-m.source), len(literals))
		b.sequences = append(b.sequences, newSequence(len(literals), m.length, offset))
		done = m.at + m.length
		at = done
	}
	b.literals = append(b.literals, b.window[done:end]...)
}

// match says that so many bytes at a place of a window are the same as those at an earlier place, the source.
type match struct{ at, source, length int }

// find returns the longest match at a place of a window that the tables have, or the one at a distance that costs less.
// It notes the place for those that follow.
func (e *Encoder) find(b *buffers, at, end, distance int) match {
	w, h, m := b.window, hash(b.window, at), match{at: at}
	first := binary.LittleEndian.Uint32(w[at:])
	if source := int(e.index.long[h.long]); binary.LittleEndian.Uint32(w[source:]) == first {
		m = m.longer(w, source, end)
	}
	if m.length < longString {
		if source := int(e.index.middle[h.middle]); binary.LittleEndian.Uint32(w[source:]) == first {
			m = m.longer(w, source, end)
		}
	}
	if m.length < middleString {
		if source := int(e.index.short[h.short]); binary.LittleEndian.Uint32(w[source:]) == first {
			m = m.longer(w, source, end)
		}
	}
	if source := int(b.recent[h.recent]); binary.LittleEndian.Uint32(w[source:]) == first {
		m = m.longer(w, source, end)
	}
	b.recent[h.recent] = uint16(at)
	if source := at - distance; binary.LittleEndian.Uint32(w[source:]) == first {
		// The codes of another distance take about as many bits as three literals.
		const otherDistance = 3
		if repeated := (match{at: at}).longer(w, source, end); repeated.length+otherDistance > m.length {
			return repeated
		}
	}
	return m
}

// longer returns the match with another source if it is longer.
func (m match) longer(w []byte, source, end int) match {
	if length := matchLength(w, source, m.at, end); length > m.length {
		return match{m.at, source, length}
	}
	return m
}

// longMatch is a length above which no better match is searched for.
const longMatch = 24

// improve returns a longer match that begins shortly after a match, as long as there is one.
func (e *Encoder) improve(b *buffers, m match, end, distance int) match {
	for m.length < longMatch && m.at+1+shortString <= end {
		next := e.find(b, m.at+1, end, distance)
		if next.length <= m.length {
			break
		}
		m = next
	}
	return m
}

// matchLength returns how many bytes at two places of a window are equal. The second one is in the text, which ends at
// end.
func matchLength(w []byte, source, at, end int) int {
	for n := 0; at+n < end; n += 8 {
		different := binary.LittleEndian.Uint64(w[source+n:]) ^ binary.LittleEndian.Uint64(w[at+n:])
		if different != 0 {
			return min(n+bits.TrailingZeros64(different)/8, end-at)
		}
	}
	return end - at
}
