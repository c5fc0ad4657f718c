package frame

import "math/bits"

// sequence is a number of literals and the match that follows them (RFC 8878, section 3.1.1.3.2).
type sequence struct {
	// literals is the number of literals, and match the length of the match less minMatch.
	literals, match uint16
	// offset is what repeatOffsets.use returned.
	offset uint32
	// The codes of these three. Their lowest bits are written as they are.
	literalsCode, matchCode, offsetCode uint8
}

func newSequence(literals, match int, offset uint32) sequence {
	return sequence{
		literals:     uint16(literals),
		match:        uint16(match - minMatch),
		offset:       offset,
		literalsCode: literalLengths.codeOf(literals),
		matchCode:    matchLengths.codeOf(match - minMatch),
		offsetCode:   uint8(bits.Len32(offset) - 1),
	}
}

// repeatOffsets are the distances of the last matches, which are written in fewer bits than others.
type repeatOffsets [3]uint32

// use returns what is written for a distance, and makes it the last one. After no literals, the last distance cannot be
// repeated, and the number of the others is one less.
func (r *repeatOffsets) use(distance uint32, literals int) uint32 {
	first := uint32(1)
	if literals == 0 {
		first = 0
	}
	switch {
	case distance == r[0] && literals > 0:
		return 1
	case distance == r[1]:
		r[0], r[1] = r[1], r[0]
		return first + 1
	case distance == r[2]:
		r[0], r[1], r[2] = r[2], r[0], r[1]
		return first + 2
	}
	r[0], r[1], r[2] = distance, r[0], r[1]
	return distance + uint32(len(r))
}

// How many codes there are of each kind.
const (
	literalLengthCodes = 36
	matchLengthCodes   = 53
	offsetCodes        = 32
)

// lengthCodes are the codes of lengths.
type lengthCodes struct {
	// bits is how many of the lowest bits of a length are written beside each code.
	bits [64]uint8
	// small has the codes of small lengths. The code of any other one is large and the logarithm of the length.
	small [128]uint8
	large int
}

// newLengthCodes returns the codes with so many bits each.
func newLengthCodes(extra ...uint8) *lengthCodes {
	c := &lengthCodes{large: len(extra) - 1 - int(extra[len(extra)-1])}
	length := 0
	for code, count := range extra {
		c.bits[code] = count
		for end := length + 1<<count; length < end; length++ {
			if length < len(c.small) {
				c.small[length] = uint8(code)
			}
		}
	}
	return c
}

func (c *lengthCodes) codeOf(length int) uint8 {
	if length < len(c.small) {
		return c.small[length]
	}
	return uint8(c.large + bits.Len(uint(length)) - 1)
}

var (
	literalLengths = newLengthCodes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3,
		4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	matchLengths = newLengthCodes(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
)

// The tables of the format, for codes that a dictionary's table does not have. They have all codes of short texts.
var (
	defaultLiteralLengths = mustNewFSETable(6, 4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2,
		2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1)
	defaultMatchLengths = mustNewFSETable(6, 1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1)
	defaultMatchOffsets = mustNewFSETable(5, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, -1, -1, -1, -1, -1)
)

func mustNewFSETable(log uint, shares ...int) *fseTable {
	t, err := newFSETable(shares, log)
	if err != nil {
		panic(err)
	}
	return t
}

// tables are those with which the sequences of a text are coded.
type tables struct {
	literals, matches, offsets *fseTable
	// modes is the byte that names them.
	modes byte
}

// choose returns the tables of the dictionary, or those of the format for codes that the dictionary's do not have.
func (d *dictionary) choose(sequences []sequence) tables {
	var literals, matches, offsets uint64
	for i := range sequences {
		s := &sequences[i]
		literals |= 1 << (s.literalsCode & 63)
		matches |= 1 << (s.matchCode & 63)
		offsets |= 1 << (s.offsetCode & 63)
	}
	const literalsRepeat, offsetsRepeat, matchesRepeat = 3 << 6, 3 << 4, 3 << 2
	t := tables{d.literalLengths, d.matchLengths, d.matchOffsets, literalsRepeat | matchesRepeat | offsetsRepeat}
	if literals&^t.literals.known != 0 {
		t.literals, t.modes = defaultLiteralLengths, t.modes&^literalsRepeat
	}
	if matches&^t.matches.known != 0 {
		t.matches, t.modes = defaultMatchLengths, t.modes&^matchesRepeat
	}
	if offsets&^t.offsets.known != 0 {
		t.offsets, t.modes = defaultMatchOffsets, t.modes&^offsetsRepeat
	}
	return t
}

// writeSequences writes the section of sequences, and returns where it ends.
func (e *Encoder) writeSequences(out []byte, at int, sequences []sequence) int {
	last := len(sequences) - 1
	if last < 127 {
		out[at] = byte(last + 1)
		at++
	} else {
		out[at], out[at+1] = byte(128+(last+1)>>8), byte(last+1)
		at += 2
	}
	if last < 0 {
		return at
	}
	t := e.dictionary.choose(sequences)
	out[at] = t.modes
	w := bitWriter{at: at + 1}
	s := &sequences[last]
	literals, matches := t.literals.start(s.literalsCode), t.matches.start(s.matchCode)
	offsets := t.offsets.start(s.offsetCode)
	w = w.addLengths(out, s)
	for i := last - 1; i >= 0; i-- {
		s := &sequences[i]
		w, offsets = t.offsets.code(w, offsets, s.offsetCode)
		w, matches = t.matches.code(w, matches, s.matchCode)
		w, literals = t.literals.code(w, literals, s.literalsCode)
		w = w.flush(out).addLengths(out, s)
	}
	w = t.literals.finish(t.offsets.finish(t.matches.finish(w, matches), offsets), literals)
	return w.end(out)
}

// addLengths adds what the codes of a sequence do not say: at most 10 bits of each length and 16 of the offset.
func (w bitWriter) addLengths(out []byte, s *sequence) bitWriter {
	return w.addLowest(uint64(s.literals), uint(literalLengths.bits[s.literalsCode&63])).
		addLowest(uint64(s.match), uint(matchLengths.bits[s.matchCode&63])).
		addLowest(uint64(s.offset), uint(s.offsetCode)).flush(out)
}
