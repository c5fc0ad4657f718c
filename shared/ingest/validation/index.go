package validation

import (
	"encoding/binary"
	"io"

	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/transaction"
)

// The index of a chunk is a sectioned file with one section for each partition of the digests. A section holds the
// modification IDs that occur once in the chunk, those that occur more often, and the references to entities:
//
//	4 bytes      number of IDs that occur once, little endian; each:
//	  16 bytes   digest (duplicate.Digest.AppendTo)
//	  4 bytes    line, little endian
//	uvarint      number of IDs that occur more often; each:
//	  16 bytes   digest
//	  uvarint    number of lines, at least 2
//	  uvarint    number of bytes of the lines
//	             the lines, each as a uvarint
//	uvarint      number of entities; each:
//	  text       ID
//	  uvarint    number of references
//	  uvarint    number of bytes of the references
//	             the references, each a line (uvarint), a role (1 byte) and an offset (uvarint)
//
// A text is the number of its bytes (uvarint) and the bytes. Lines are counted within the chunk from 0, and offsets
// from the start of the chunk. In each list, lines and offsets that are uvarints are differences to the one before, the
// first one to 0. So an ID that all lines of a file share costs a byte or two for each line instead of an entry, and no
// file can crowd one partition.
const indexMagic = "SLX1"

// uniqueIDBytes is the size of an ID that occurs once.
const uniqueIDBytes = duplicate.DigestBytes + 4

// indexWriter collects the modification IDs and entity references of one chunk, and keeps its memory for the next.
type indexWriter struct {
	key duplicate.Key

	// ids are the modification IDs of the chunk in the order of their lines.
	ids []indexedID

	// Of the partition that is being encoded, so that they stay in the processor's cache: the distinct digests, the
	// first line of each, and the further lines of those that occur more than once.
	digests    duplicate.Table
	firstLines []uint32
	repeats    []repeatedLine

	// entities are the IDs of the entities that the chunk refers to.
	entities uses

	sections sectionWriter
}

type indexedID struct {
	digest duplicate.Digest
	line   uint32
}

// repeatedLine is a further line of the digest with a number.
type repeatedLine struct{ number, line uint32 }

// reset starts the index of a chunk.
func (x *indexWriter) reset(digestKey [16]byte) {
	x.key = duplicate.NewKey(digestKey)
	x.entities.reset()
	x.ids = x.ids[:0]
}

// addID adds the modification ID of a line. Lines must be added in order.
func (x *indexWriter) addID(id []byte, line int64) {
	x.ids = append(x.ids, indexedID{x.key.Digest(id), uint32(line)})
}

// addReference adds a reference to an entity. References must be added in the order of their lines and offsets.
func (x *indexWriter) addReference(id []byte, line, offset int64, role transaction.Role) {
	x.entities.add(x.key.Digest(id), id, line, offset, role)
}

// writeTo writes the index and returns its length, which is 0 if nothing was added.
func (x *indexWriter) writeTo(w io.Writer) (int64, error) {
	ids := groupBy(Partitions, x.ids, func(id indexedID) uint32 { return uint32(id.digest.Partition(Partitions)) })
	entities := x.entities.group()
	return x.sections.write(w, indexMagic, Partitions, func(p int, b []byte) []byte {
		ids := ids.group(p)
		if len(ids)+len(entities.partitions.group(p)) == 0 {
			return b
		}
		return entities.appendPartition(x.appendIDs(b, ids), p)
	})
}

// appendIDs appends the modification IDs of a partition.
func (x *indexWriter) appendIDs(b []byte, ids []uint32) []byte {
	x.internIDs(ids)
	repeats := groupBy(len(x.firstLines), x.repeats, func(r repeatedLine) uint32 { return r.number })
	uniqueCount, repeatedCount := len(b), 0 // uniqueCount is written when it is known
	b = binary.LittleEndian.AppendUint32(b, 0)
	for i, digest := range x.digests.Digests() {
		if len(repeats.group(i)) > 0 {
			repeatedCount++
			continue
		}
		b = binary.LittleEndian.AppendUint32(digest.AppendTo(b), x.firstLines[i])
	}
	binary.LittleEndian.PutUint32(b[uniqueCount:], uint32(len(x.firstLines)-repeatedCount))
	b = binary.AppendUvarint(b, uint64(repeatedCount))
	var list []byte
	for i, digest := range x.digests.Digests() {
		if further := repeats.group(i); len(further) > 0 {
			list = appendLines(list[:0], x.firstLines[i], further, x.repeats)
			b = appendCountedList(digest.AppendTo(b), 1+len(further), list)
		}
	}
	return b
}

// internIDs assigns dense numbers to the distinct IDs in first-seen order, and collects their lines.
func (x *indexWriter) internIDs(ids []uint32) {
	x.digests.Reset(len(ids))
	x.firstLines, x.repeats = x.firstLines[:0], x.repeats[:0]
	for _, i := range ids {
		id := &x.ids[i]
		if number, isNew := x.digests.Intern(id.digest); isNew {
			x.firstLines = append(x.firstLines, id.line)
		} else {
			x.repeats = append(x.repeats, repeatedLine{number, id.line})
		}
	}
}

// appendLines appends the lines of an ID: the first one, and the further ones, which are indexes into repeats.
func appendLines(b []byte, line uint32, further []uint32, repeats []repeatedLine) []byte {
	b = binary.AppendUvarint(b, uint64(line))
	for _, i := range further {
		next := repeats[i].line
		b = binary.AppendUvarint(b, uint64(next-line))
		line = next
	}
	return b
}

// appendCountedList appends the number of the elements of a list, the number of its bytes, and the list.
func appendCountedList(b []byte, count int, list []byte) []byte {
	return appendText(binary.AppendUvarint(b, uint64(count)), list)
}

// entryLocation returns the Location of an entry: the chunk in the bits from 32 on, and in the lower 32 bits the line
// within the chunk or, if duplicate.MultiFlag is set, an index into the list of repeated IDs.
func entryLocation(chunk int, low uint32) uint64 { return uint64(chunk)<<32 | uint64(low) }

func chunkOf(location uint64) int { return int(location &^ duplicate.MultiFlag >> 32) }

// repeatedID is an ID that occurs more than once in a chunk: the number of its lines, and the lines as they are
// encoded.
type repeatedID struct {
	count uint32
	lines []byte
}

// appendUniqueIDs decodes the IDs that occur once in a chunk of lineCount lines, and appends an entry for each.
func appendUniqueIDs(entries []duplicate.Entry, d *decoder, chunk int, lineCount int64) []duplicate.Entry {
	var b []byte
	if count := d.bytes(4); count != nil {
		b = d.bytes(int(binary.LittleEndian.Uint32(count)) * uniqueIDBytes)
	}
	for ; len(b) > 0; b = b[uniqueIDBytes:] {
		line := binary.LittleEndian.Uint32(b[duplicate.DigestBytes:])
		if int64(line) >= lineCount {
			d.fail()
			break
		}
		entries = append(entries, duplicate.Entry{
			Digest:   duplicate.DecodeDigest(b),
			Location: entryLocation(chunk, line),
		})
	}
	return entries
}

// decodeRepeatedID decodes an ID that occurs more than once in a chunk of lineCount lines, and checks its lines.
func decodeRepeatedID(d *decoder, lineCount int64) (duplicate.Digest, repeatedID) {
	digest, count := d.bytes(duplicate.DigestBytes), d.uvarintUpTo(lineCount)
	list := d.text()
	if d.failed || !validLines(list, count, lineCount) {
		d.fail()
		return duplicate.Digest{}, repeatedID{}
	}
	return duplicate.DecodeDigest(digest), repeatedID{uint32(count), list}
}

// validLines reports whether a list holds count lines, at least two, of a chunk of lineCount lines.
func validLines(list []byte, count, lineCount int64) bool {
	d := decoder{b: list}
	line := int64(0)
	for range count {
		line += d.uvarintUpTo(lineCount)
		if d.failed || line >= lineCount {
			return false
		}
	}
	return count >= 2 && len(d.b) == 0
}
