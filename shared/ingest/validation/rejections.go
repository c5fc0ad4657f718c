package validation

import (
	"encoding/binary"
	"io"

	"sluice/shared/ingest/transaction"
)

// The rejections of a partition are a sectioned file with one section for each chunk. A section holds what the
// partition rejects of the chunk: lines whose modification ID is a duplicate, and lines with references to entities
// that transactions may not name.
//
//	uvarint    number of modification IDs of the chunk that are duplicates; each:
//	  uvarint  number of lines of the file that have the ID
//	  uvarint  number of lines that follow: the first of these lines, at most maxOtherLines+1
//	           the lines, counted in the file from 1, each as a uvarint
//	  uvarint  number of lines of the chunk that have the ID
//	           the lines, counted in the chunk from 0, each as a uvarint
//	uvarint    number of entities of the chunk that transactions may not name; each:
//	  byte     state: 0 if the entity is missing, 1 if it is not onboarded
//	  uvarint  number of references
//	  uvarint  number of bytes of the references
//	           the references, as in the index
//
// In each list, lines are differences to the one before, the first one to 0.
const rejectionsMagic = "SLM1"

// maxOtherLines is the largest number of other lines that the report names for a duplicate.
const maxOtherLines = 10

// writeRejections writes the rejections of the partition and returns their length.
func (r *reconciler) writeRejections(w io.Writer) (int64, error) {
	members := groupBy(len(r.linesBefore), r.members,
		func(m duplicateMember) uint32 { return uint32(chunkOf(m.location)) })
	firstEntities := r.firstEntities()
	return r.sections.write(w, rejectionsMagic, len(r.linesBefore), func(chunk int, b []byte) []byte {
		start := len(b)
		duplicates := members.group(chunk)
		b = binary.AppendUvarint(b, uint64(len(duplicates)))
		for _, i := range duplicates {
			b = r.appendDuplicate(b, r.members[i])
		}
		entityCount := 0
		if r.result.ForbiddenEntities > 0 {
			b, entityCount = r.appendForbiddenEntities(b, chunk, firstEntities[chunk])
		} else {
			b = append(b, 0)
		}
		if len(duplicates)+entityCount == 0 {
			return b[:start]
		}
		return b
	})
}

// appendDuplicate appends a duplicate ID with the lines that a chunk has of it.
func (r *reconciler) appendDuplicate(b []byte, m duplicateMember) []byte {
	s := r.sets[m.set]
	b = binary.AppendUvarint(b, uint64(s.lineCount))
	remaining := min(s.lineCount, maxOtherLines+1)
	b = binary.AppendUvarint(b, uint64(remaining))
	previous := int64(0)
	for i := s.firstMember; i != noMember && remaining > 0; i = r.members[i].next {
		firstLine := r.linesBefore[chunkOf(r.members[i].location)] + 1
		r.eachLine(r.members[i], func(line int64) bool {
			b = binary.AppendUvarint(b, uint64(firstLine+line-previous))
			previous = firstLine + line
			remaining--
			return remaining > 0
		})
	}
	b = binary.AppendUvarint(b, uint64(r.lineCount(m)))
	previous = 0
	r.eachLine(m, func(line int64) bool {
		b = binary.AppendUvarint(b, uint64(line-previous))
		previous = line
		return true
	})
	return b
}

// firstEntities returns the index in entityNumbers of the first entity of each chunk.
func (r *reconciler) firstEntities() []int {
	first := make([]int, len(r.entitySections))
	sum := 0
	for chunk, section := range r.entitySections {
		first[chunk] = sum
		if section != nil {
			d := decoder{b: section}
			sum += int(d.uvarint())
		}
	}
	return first
}

// appendForbiddenEntities appends the entities of a chunk that transactions may not name, and their number before them.
// The entities of the chunk begin at firstEntity in entityNumbers.
func (r *reconciler) appendForbiddenEntities(b []byte, chunk, firstEntity int) (_ []byte, count int) {
	eachForbidden := func(f func(EntityState, usedText)) {
		if r.entitySections[chunk] == nil {
			return
		}
		i := firstEntity
		eachUse(&decoder{b: r.entitySections[chunk]}, func(e usedText) {
			if state := r.entityStates[r.entityNumbers[i]]; state != Onboarded {
				f(state, e)
			}
			i++
		})
	}
	eachForbidden(func(EntityState, usedText) { count++ })
	b = binary.AppendUvarint(b, uint64(count))
	eachForbidden(func(state EntityState, e usedText) {
		b = appendForbiddenEntity(b, state, int(e.count), e.references)
	})
	return b, count
}

// appendForbiddenEntity appends an entity that transactions may not name, with its encoded references.
func appendForbiddenEntity(b []byte, state EntityState, referenceCount int, references []byte) []byte {
	return appendCountedList(append(b, byte(state)), referenceCount, references)
}

// rejectionReason is why a line is rejected.
type rejectionReason uint8

const (
	duplicateID rejectionReason = iota
	entityMissing
	entityNotOnboarded
	screeningHit
)

// rejection is one reason, besides its own findings, to reject a line.
type rejection struct {
	// line is counted within the chunk from 0.
	line uint32
	// set is, for a duplicate ID, the index in chunkRejections.sets, and for a hit, that in alerter.found.
	set uint32
	// offset is, for a reference to an entity or a name, the offset of the ID or name in the chunk.
	offset uint32
	// role is, for a reference to an entity or a name, the role of the entity.
	role   transaction.Role
	reason rejectionReason
}

// rejectedSet is a duplicate ID: the number of lines of the file that have it, and the first of them, counted from 1.
type rejectedSet struct {
	lineCount  int64
	firstLines []int64
}

// chunkRejections are the rejections of one chunk from all partitions.
type chunkRejections struct {
	rejections []rejection
	sets       []rejectedSet
	// lines is the memory of rejectedSet.firstLines.
	lines []int64
}

// reset removes all rejections and keeps the memory.
func (c *chunkRejections) reset() {
	c.rejections, c.sets, c.lines = c.rejections[:0], c.sets[:0], c.lines[:0]
}

// addSection decodes and adds the section of one partition for a chunk of lineCount lines.
func (c *chunkRejections) addSection(section []byte, lineCount int64) error {
	if len(section) == 0 {
		return nil
	}
	d := &decoder{b: section}
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		c.addDuplicate(d, lineCount)
	}
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		state, count := EntityState(d.byte()), d.uvarint()
		references := d.text()
		reason := entityMissing
		switch state {
		case Missing:
		case NotOnboarded:
			reason = entityNotOnboarded
		default:
			d.fail()
		}
		if !c.addReferences(references, count, reason, lineCount) {
			d.fail()
		}
	}
	return d.finish("rejections")
}

// addDuplicate decodes a duplicate ID and adds a rejection for each of its lines in the chunk.
func (c *chunkRejections) addDuplicate(d *decoder, lineCount int64) {
	set := rejectedSet{lineCount: d.uvarintUpTo(1 << 62)}
	start, previous := len(c.lines), int64(0)
	for n := d.uvarintUpTo(maxOtherLines + 1); n > 0 && !d.failed; n-- {
		previous += d.uvarintUpTo(1 << 48)
		c.lines = append(c.lines, previous)
	}
	set.firstLines = c.lines[start:]
	line := int64(0)
	for n := d.uvarintUpTo(lineCount); n > 0 && !d.failed; n-- {
		if line += d.uvarintUpTo(lineCount); line >= lineCount {
			d.fail()
			break
		}
		c.rejections = append(c.rejections, rejection{
			line: uint32(line), reason: duplicateID, set: uint32(len(c.sets)),
		})
	}
	c.sets = append(c.sets, set)
}

// addReferences decodes count references to an entity or a name and adds a rejection for each.
func (c *chunkRejections) addReferences(list []byte, count uint64, reason rejectionReason, lineCount int64) bool {
	return decodeReferences(list, count, lineCount, func(r reference) {
		c.rejections = append(c.rejections, rejection{line: r.line, reason: reason, offset: r.offset, role: r.role})
	})
}
