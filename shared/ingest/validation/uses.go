package validation

import (
	"encoding/binary"

	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/transaction"
)

// reference is a use of a text, the ID of an entity or a name, by a line. The offset is the offset of the text in the
// chunk.
type reference struct {
	// text is the number of the text.
	text, line, offset uint32
	role               transaction.Role
}

// uses are the texts that the lines of one chunk use, each once, with all their references. They keep their memory for
// the next chunk.
type uses struct {
	// digests are the digests of the texts, which are concatenated in texts. Text i ends at ends[i].
	digests    duplicate.Table
	texts      []byte
	ends       []uint32
	references []reference
}

// reset forgets all texts.
func (u *uses) reset() {
	u.digests.Reset(u.digests.Len())
	u.texts, u.ends, u.references = u.texts[:0], u.ends[:0], u.references[:0]
}

// add adds a reference to a text of a digest. References must be added in the order of their lines and offsets.
func (u *uses) add(digest duplicate.Digest, text []byte, line, offset int64, role transaction.Role) {
	number, isNew := u.digests.Intern(digest)
	if isNew {
		u.texts = append(u.texts, text...)
		u.ends = append(u.ends, uint32(len(u.texts)))
	}
	u.references = append(u.references, reference{number, uint32(line), uint32(offset), role})
}

func (u *uses) text(number uint32) []byte {
	start := uint32(0)
	if number > 0 {
		start = u.ends[number-1]
	}
	return u.texts[start:u.ends[number]]
}

// groupedUses are uses by partition, and their references by text.
type groupedUses struct {
	*uses
	partitions, byText grouping
	list               []byte
}

func (u *uses) group() *groupedUses {
	return &groupedUses{
		uses: u,
		partitions: groupBy(Partitions, u.digests.Digests(),
			func(d duplicate.Digest) uint32 { return uint32(d.Partition(Partitions)) }),
		byText: groupBy(len(u.ends), u.references, func(r reference) uint32 { return r.text }),
	}
}

// appendPartition appends the number of the texts of a partition, and each text with its references.
func (g *groupedUses) appendPartition(b []byte, partition int) []byte {
	texts := g.partitions.group(partition)
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, number := range texts {
		b = appendText(b, g.text(number))
		references := g.byText.group(int(number))
		g.list = appendReferences(g.list[:0], references, g.references)
		b = appendCountedList(b, len(references), g.list)
	}
	return b
}

// appendReferences appends those references that the indexes name.
func appendReferences(b []byte, indexes []uint32, references []reference) []byte {
	var line, offset uint32
	for _, i := range indexes {
		r := references[i]
		b = append(binary.AppendUvarint(b, uint64(r.line-line)), byte(r.role))
		b = binary.AppendUvarint(b, uint64(r.offset-offset))
		line, offset = r.line, r.offset
	}
	return b
}

// usedText is a text of a section, with the number of its references and the references as they are encoded.
type usedText struct {
	text       []byte
	count      uint64
	references []byte
}

// eachUse decodes what appendPartition has encoded and calls f with each text. The references themselves are not
// checked.
func eachUse(d *decoder, f func(usedText)) {
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		u := usedText{d.text(), d.uvarint(), d.text()}
		if !d.failed {
			f(u)
		}
	}
}

// decodeReferences decodes count references of a chunk of lineCount lines and calls f with each. The text of the
// references is not set.
func decodeReferences(list []byte, count uint64, lineCount int64, f func(reference)) (valid bool) {
	d := &decoder{b: list}
	line, offset := int64(0), uint32(0)
	for ; count > 0 && !d.failed; count-- {
		line += d.uvarintUpTo(lineCount)
		role := transaction.Role(d.byte())
		offset += uint32(d.uvarintUpTo(1<<32 - 1))
		if d.failed || line >= lineCount || role == transaction.NoRole || role > transaction.ReceivingPartner {
			return false
		}
		f(reference{line: uint32(line), offset: offset, role: role})
	}
	return !d.failed && len(d.b) == 0
}
