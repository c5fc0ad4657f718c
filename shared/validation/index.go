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

	pending []pendingID
	ids     duplicate.Table
	first   []uint32 // line of each ID
	repeats []repeat // further lines of an ID

	entities duplicate.Table
	names    []byte // the entities' IDs, one after the other
	ends     []uint32
	uses     []use

	sections sectionWriter
}

// pendingID is an ID that is not yet in the table. Many at a time find the table in the processor's cache; each by itself, in
// between lines, would not.
type pendingID struct {
	digest duplicate.Digest
	line   uint32
}

const maxPending = 8 << 10

type repeat struct{ id, line uint32 }

type use struct {
	entity, line, offset uint32
	role                 transaction.Role
}

// reset empties the index and keeps its memory.
func (x *index) reset(secret [16]byte) {
	x.key = duplicate.NewKey(secret)
	x.ids.Reset(x.ids.Len())
	x.entities.Reset(x.entities.Len())
	x.pending, x.first, x.repeats = x.pending[:0], x.first[:0], x.repeats[:0]
	x.names, x.ends, x.uses = x.names[:0], x.ends[:0], x.uses[:0]
}

func (x *index) addID(id []byte, line int64) {
	if x.pending = append(x.pending, pendingID{x.key.Digest(id), uint32(line)}); len(x.pending) == maxPending {
		x.addPending()
	}
}

func (x *index) addPending() {
	for i := range x.pending {
		id := &x.pending[i]
		number, fresh := x.ids.Number(id.digest)
		if fresh {
			x.first = append(x.first, id.line)
			continue
		}
		x.repeats = append(x.repeats, repeat{number, id.line})
	}
	x.pending = x.pending[:0]
}

func (x *index) addUse(id []byte, line, offset int64, role transaction.Role) {
	number, fresh := x.entities.Number(x.key.Digest(id))
	if fresh {
		x.names = append(x.names, id...)
		x.ends = append(x.ends, uint32(len(x.names)))
	}
	x.uses = append(x.uses, use{number, uint32(line), uint32(offset), role})
}

// writeTo writes the file and returns its length.
func (x *index) writeTo(w io.Writer) (int64, error) {
	x.addPending()
	ids := partition(x.ids.Digests())
	entities := partition(x.entities.Digests())
	repeats := group(len(x.first), x.repeats, func(r repeat) uint32 { return r.id })
	uses := group(len(x.ends), x.uses, func(u use) uint32 { return u.entity })
	var list []byte
	return x.sections.write(w, indexMagic, Partitions, func(p int, b []byte) []byte {
		ids, entities := ids.of(p), entities.of(p)
		if len(ids)+len(entities) == 0 {
			return b
		}
		count := len(b)
		b = binary.LittleEndian.AppendUint32(b, 0)
		several := 0
		for _, id := range ids {
			if len(repeats.of(int(id))) > 0 {
				several++
				continue
			}
			b = binary.LittleEndian.AppendUint32(x.ids.Digests()[id].AppendTo(b), x.first[id])
		}
		binary.LittleEndian.PutUint32(b[count:], uint32(len(ids)-several))
		b = binary.AppendUvarint(b, uint64(several))
		for _, id := range ids {
			if more := repeats.of(int(id)); len(more) > 0 {
				b = x.ids.Digests()[id].AppendTo(b)
				list = appendLines(list[:0], x.first[id], more, x.repeats)
				b = appendList(b, 1+len(more), list)
			}
		}
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
	if i == 0 {
		return g.order[:g.ends[0]]
	}
	return g.order[g.ends[i-1]:g.ends[i]]
}

// group sorts items by the group they are of, keeping their order within it.
func group[T any](count int, items []T, of func(T) uint32) groups {
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

func partition(digests []duplicate.Digest) groups {
	return group(Partitions, digests, func(d duplicate.Digest) uint32 { return uint32(d.Part(Partitions)) })
}
