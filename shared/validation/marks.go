package validation

import (
	"encoding/binary"
	"io"

	"sluice/shared/duplicate"
	"sluice/shared/transaction"
)

// maxOtherLines is how many of the other lines of a duplicate are named.
const maxOtherLines = 10

// The marks of a partition are a sectioned file (marksMagic), one section for each chunk:
//
//	uvarint    number of modification IDs of the chunk that are duplicates
//	  each     uvarint number of lines of the file that share it; uvarint number of the first of these, at most 11, which
//	           are absolute lines, each a uvarint difference; uvarint number of lines of the chunk, each a uvarint difference
//	uvarint    number of entities of the chunk that transactions may not name
//	  each     byte of the EntityState, uvarint number of uses, uvarint bytes of the uses, uses as in the index

// member is all lines of one chunk that share one duplicate ID.
type member struct {
	place uint64
	set   uint32
	next  int32 // the next member of the set, in the order of the file; -1 behind the last
}

// set is one ID that more than one line of the file has.
type set struct {
	total int64
	first int32 // member
}

// findDuplicates collects the members of all sets and returns the number of their lines.
func (r *reconciler) findDuplicates() (lines int64) {
	r.finder.FindSets(r.entries, func(entries []duplicate.Entry) {
		s := set{first: int32(len(r.members))}
		for i := range entries {
			m := member{place: entries[i].Location, set: uint32(len(r.sets)), next: int32(len(r.members) + 1)}
			if i == len(entries)-1 {
				m.next = -1
			}
			r.members = append(r.members, m)
			s.total += r.count(m)
		}
		r.sets = append(r.sets, s)
		lines += s.total
	})
	return lines
}

func chunkOf(place uint64) int { return int(place &^ duplicate.MultiFlag >> 32) }

func (r *reconciler) count(m member) int64 {
	if m.place&duplicate.MultiFlag == 0 {
		return 1
	}
	return int64(r.several[uint32(m.place)].count)
}

// lines calls f with the lines of m within its chunk, until f returns false.
func (r *reconciler) lines(m member, f func(line int64) bool) {
	if m.place&duplicate.MultiFlag == 0 {
		f(int64(uint32(m.place)))
		return
	}
	d := decoder{b: r.several[uint32(m.place)].lines}
	for line := int64(0); len(d.b) > 0; {
		line += int64(d.uvarint())
		if !f(line) {
			return
		}
	}
}

func (r *reconciler) writeMarks(w io.Writer, failed bool) (int64, error) {
	members := group(len(r.before), r.members, func(m member) uint32 { return uint32(chunkOf(m.place)) })
	firstRef := r.firstRefs()
	return r.sections.write(w, marksMagic, len(r.before), func(chunk int, b []byte) []byte {
		start := len(b)
		mine := members.of(chunk)
		b = binary.AppendUvarint(b, uint64(len(mine)))
		for _, i := range mine {
			b = r.appendDuplicate(b, r.members[i])
		}
		count := 0
		if failed {
			b, count = r.appendFailed(b, chunk, firstRef[chunk])
		} else {
			b = append(b, 0)
		}
		if len(mine)+count == 0 {
			return b[:start]
		}
		return b
	})
}

func (r *reconciler) appendDuplicate(b []byte, m member) []byte {
	s := r.sets[m.set]
	b = binary.AppendUvarint(b, uint64(s.total))
	left := min(s.total, maxOtherLines+1)
	b = binary.AppendUvarint(b, uint64(left))
	last := int64(0)
	for i := s.first; i >= 0 && left > 0; i = r.members[i].next {
		before := r.before[chunkOf(r.members[i].place)]
		r.lines(r.members[i], func(line int64) bool {
			absolute := before + line + 1
			b = binary.AppendUvarint(b, uint64(absolute-last))
			last = absolute
			left--
			return left > 0
		})
	}
	b = binary.AppendUvarint(b, uint64(r.count(m)))
	last = 0
	r.lines(m, func(line int64) bool {
		b = binary.AppendUvarint(b, uint64(line-last))
		last = line
		return true
	})
	return b
}

// firstRefs returns where the entities of each chunk begin in numberOf.
func (r *reconciler) firstRefs() []int {
	first := make([]int, len(r.refs))
	sum := 0
	for chunk, refs := range r.refs {
		first[chunk] = sum
		if refs != nil {
			d := decoder{b: refs}
			sum += int(d.uvarint())
		}
	}
	return first
}

func (r *reconciler) appendFailed(b []byte, chunk, ref int) ([]byte, int) {
	count := 0
	walk := func(f func(EntityState, entityUses)) {
		if r.refs[chunk] == nil {
			return
		}
		at := ref
		each(&decoder{b: r.refs[chunk]}, func(e entityUses) {
			if state := r.states[r.numberOf[at]]; state != Onboarded {
				f(state, e)
			}
			at++
		})
	}
	walk(func(EntityState, entityUses) { count++ })
	b = binary.AppendUvarint(b, uint64(count))
	walk(func(state EntityState, e entityUses) {
		b = binary.AppendUvarint(append(b, byte(state)), e.count)
		b = append(binary.AppendUvarint(b, uint64(len(e.uses))), e.uses...)
	})
	return b, count
}

// mark is one reason, beside its own findings, to reject a line.
type mark struct {
	line   uint32 // within the chunk
	offset uint32 // of a use, from the start of the chunk
	state  EntityState
	role   transaction.Role // NoRole for a duplicate
	set    uint32           // of a duplicate
}

// chunkMarks are the marks of one chunk.
type chunkMarks struct {
	marks []mark
	sets  []markedSet
	lines []int64 // first lines of the sets, one after the other
}

func (c *chunkMarks) reset() { c.marks, c.sets, c.lines = c.marks[:0], c.sets[:0], c.lines[:0] }

type markedSet struct {
	total    int64
	from, to int // in lines
}

// add takes in the section of one partition for a chunk of so many lines.
func (c *chunkMarks) add(section []byte, lines int64) error {
	if len(section) == 0 {
		return nil
	}
	d := &decoder{b: section}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		c.addSet(d, lines)
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		state, count := EntityState(d.byte()), d.uvarint()
		uses := &decoder{b: d.text()}
		if state >= Onboarded {
			d.fail()
		}
		c.addUses(uses, count, state, lines)
		if uses.bad || len(uses.b) > 0 {
			d.fail()
		}
	}
	return d.done("marks")
}

func (c *chunkMarks) addSet(d *decoder, lines int64) {
	s := markedSet{total: d.upTo(1 << 62), from: len(c.lines)}
	last := int64(0)
	for n := d.upTo(maxOtherLines + 1); n > 0 && !d.bad; n-- {
		last += d.upTo(1 << 48)
		c.lines = append(c.lines, last)
	}
	s.to = len(c.lines)
	line := int64(0)
	for n := d.upTo(lines); n > 0 && !d.bad; n-- {
		if line += d.upTo(lines); line >= lines {
			d.fail()
			break
		}
		c.marks = append(c.marks, mark{line: uint32(line), set: uint32(len(c.sets))})
	}
	c.sets = append(c.sets, s)
}

func (c *chunkMarks) addUses(d *decoder, count uint64, state EntityState, lines int64) {
	line, offset := int64(0), uint32(0)
	for ; count > 0 && !d.bad; count-- {
		line += d.upTo(lines)
		role := transaction.Role(d.byte())
		offset += uint32(d.upTo(1<<32 - 1))
		if d.bad || line >= lines || role == transaction.NoRole || role > transaction.ReceivingPartner {
			d.fail()
			return
		}
		c.marks = append(c.marks, mark{line: uint32(line), offset: offset, state: state, role: role})
	}
}
