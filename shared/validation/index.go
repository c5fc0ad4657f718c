package validation

import (
	"encoding/binary"
	"io"

	"sluice/shared/duplicate"
	"sluice/shared/transaction"
)

// The index of a chunk is a sectioned file (indexMagic), one section for each partition of the digests:
//
//	4 bytes    number of IDs that occur once in the chunk
//	  each     digest (16 bytes), line (4 bytes)
//	uvarint    number of IDs that occur several times
//	  each     digest, uvarint number of lines, uvarint bytes of the lines, lines: each a uvarint difference
//	uvarint    number of entities
//	  each     uvarint bytes of the ID, ID, uvarint number of uses, uvarint bytes of the uses, uses: each a uvarint
//	           difference of lines, a byte of the role, a uvarint difference of offsets
//
// Lines are numbered within the chunk, offsets count from its start; both begin from 0 in each list. An ID that a whole
// file shares so costs a byte or two a line and not an entry for each: no file can crowd one partition.
const singleBytes = duplicate.DigestBytes + 4

// index collects what is to be compared over the whole batch.
type index struct {
	key duplicate.Key

	all []indexedID // all IDs of the chunk, in the order of their lines

	// Of one partition at a time, so that all this stays in the processor's cache.
	ids     duplicate.Table
	first   []uint32 // line of each ID
	repeats []repeat // further lines of an ID

	entities duplicate.Table
	names    []byte // the entities' IDs, one after the other
	ends     []uint32
	uses     []use

	sections sectionWriter
}

type indexedID struct {
	digest duplicate.Digest
	line   uint32
}

type repeat struct{ id, line uint32 }

type use struct {
	entity, line, offset uint32
	role                 transaction.Role
}

// reset empties the index and keeps its memory.
func (x *index) reset(secret [16]byte) {
	x.key = duplicate.NewKey(secret)
	x.entities.Reset(x.entities.Len())
	x.all, x.names, x.ends, x.uses = x.all[:0], x.names[:0], x.ends[:0], x.uses[:0]
}

func (x *index) addID(id []byte, line int64) {
	x.all = append(x.all, indexedID{x.key.Digest(id), uint32(line)})
}

func (x *index) addUse(id []byte, line, offset int64, role transaction.Role) {
	number, fresh := x.entities.Intern(x.key.Digest(id))
	if fresh {
		x.names = append(x.names, id...)
		x.ends = append(x.ends, uint32(len(x.names)))
	}
	x.uses = append(x.uses, use{number, uint32(line), uint32(offset), role})
}

// writeTo writes the file and returns its length.
func (x *index) writeTo(w io.Writer) (int64, error) {
	ids := group(Partitions, x.all, func(id indexedID) uint32 { return uint32(id.digest.Partition(Partitions)) })
	entities := group(Partitions, x.entities.Digests(), func(d duplicate.Digest) uint32 { return uint32(d.Partition(Partitions)) })
	uses := group(len(x.ends), x.uses, func(u use) uint32 { return u.entity })
	var list []byte
	return x.sections.write(w, indexMagic, Partitions, func(p int, b []byte) []byte {
		ids, entities := ids.of(p), entities.of(p)
		if len(ids)+len(entities) == 0 {
			return b
		}
		b = x.appendIDs(b, ids)
		b = binary.AppendUvarint(b, uint64(len(entities)))
		for _, e := range entities {
			b = appendText(b, x.name(e))
			uses := uses.of(int(e))
			list = appendUses(list[:0], uses, x.uses)
			b = appendList(b, len(uses), list)
		}
		return b
	})
}

// appendIDs appends the IDs of a partition.
func (x *index) appendIDs(b []byte, ids []uint32) []byte {
	x.number(ids)
	repeats := group(len(x.first), x.repeats, func(r repeat) uint32 { return r.id })
	count, several := len(b), 0
	b = binary.LittleEndian.AppendUint32(b, 0)
	for i, digest := range x.ids.Digests() {
		if len(repeats.of(i)) > 0 {
			several++
			continue
		}
		b = binary.LittleEndian.AppendUint32(digest.AppendTo(b), x.first[i])
	}
	binary.LittleEndian.PutUint32(b[count:], uint32(len(x.first)-several))
	b = binary.AppendUvarint(b, uint64(several))
	var list []byte
	for i, digest := range x.ids.Digests() {
		if more := repeats.of(i); len(more) > 0 {
			list = appendLines(list[:0], x.first[i], more, x.repeats)
			b = appendList(digest.AppendTo(b), 1+len(more), list)
		}
	}
	return b
}

// number numbers the distinct ones of some IDs in the order of their lines.
func (x *index) number(ids []uint32) {
	x.ids.Reset(len(ids))
	x.first, x.repeats = x.first[:0], x.repeats[:0]
	for _, i := range ids {
		id := &x.all[i]
		if number, fresh := x.ids.Intern(id.digest); fresh {
			x.first = append(x.first, id.line)
		} else {
			x.repeats = append(x.repeats, repeat{number, id.line})
		}
	}
}

func (x *index) name(entity uint32) []byte {
	start := uint32(0)
	if entity > 0 {
		start = x.ends[entity-1]
	}
	return x.names[start:x.ends[entity]]
}

func appendLines(b []byte, first uint32, more []uint32, repeats []repeat) []byte {
	b = binary.AppendUvarint(b, uint64(first))
	for _, i := range more {
		line := repeats[i].line
		b = binary.AppendUvarint(b, uint64(line-first))
		first = line
	}
	return b
}

func appendUses(b []byte, order []uint32, uses []use) []byte {
	var line, offset uint32
	for _, i := range order {
		u := uses[i]
		b = append(binary.AppendUvarint(b, uint64(u.line-line)), byte(u.role))
		b = binary.AppendUvarint(b, uint64(u.offset-offset))
		line, offset = u.line, u.offset
	}
	return b
}

func appendList(b []byte, count int, list []byte) []byte {
	b = binary.AppendUvarint(b, uint64(count))
	return append(binary.AppendUvarint(b, uint64(len(list))), list...)
}

// groups are the numbers of items in order of their group.
type groups struct{ order, ends []uint32 }

func (g groups) of(i int) []uint32 {
	switch {
	case len(g.order) == 0:
		return nil
	case i == 0:
		return g.order[:g.ends[0]]
	}
	return g.order[g.ends[i-1]:g.ends[i]]
}

// group sorts items by the group they are of, keeping their order within it.
func group[T any](count int, items []T, of func(T) uint32) groups {
	if len(items) == 0 {
		return groups{}
	}
	g := groups{make([]uint32, len(items)), make([]uint32, count)}
	for _, item := range items {
		g.ends[of(item)]++
	}
	sum := uint32(0)
	for i, n := range g.ends {
		g.ends[i] = sum
		sum += n
	}
	for i, item := range items {
		n := of(item)
		g.order[g.ends[n]] = uint32(i)
		g.ends[n]++
	}
	return g
}
