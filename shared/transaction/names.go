package transaction

import "encoding/binary"

// Names of members: how the walk knows a member of the schema by its bytes.

// literal is a member's name as nearly every writer writes it, with quotes and colon, for comparison in words of eight bytes.
type literal struct {
	words [4]uint64
	masks [4]uint64 // zero beyond the literal
	size  int
}

func newLiteral(name string) literal {
	text := `"` + name + `":`
	if len(text) > 32 {
		panic("a name of the schema is longer than a literal can be: " + name)
	}
	l := literal{size: len(text)}
	var bytes, mask [32]byte
	copy(bytes[:], text)
	for i := range text {
		mask[i] = 0xff
	}
	for i := range l.words {
		l.words[i] = binary.LittleEndian.Uint64(bytes[8*i:])
		l.masks[i] = binary.LittleEndian.Uint64(mask[8*i:])
	}
	return l
}

// at reports whether the literal stands at b[i].
func (l *literal) at(b []byte, i int) bool {
	k := b[i : i+32]
	return (binary.LittleEndian.Uint64(k)^l.words[0])&l.masks[0]|
		(binary.LittleEndian.Uint64(k[8:])^l.words[1])&l.masks[1]|
		(binary.LittleEndian.Uint64(k[16:])^l.words[2])&l.masks[2]|
		(binary.LittleEndian.Uint64(k[24:])^l.words[3])&l.masks[3] == 0
}

// nameTable finds a field by its name without collisions: its length and four of its bytes, multiplied by a factor that is
// tried out for the names of the object.
type nameTable struct {
	factor uint64
	fields [128]*field
}

func newNameTable(fields []field) *nameTable {
	factor := uint64(0x9e3779b97f4a7c15)
	for range 1 << 20 {
		if t, ok := tryNameTable(fields, factor); ok {
			return t
		}
		factor = factor*6364136223846793005 + 1442695040888963407
	}
	panic("two names of the schema look alike: nameSlot must look at more of their bytes")
}

func tryNameTable(fields []field, factor uint64) (*nameTable, bool) {
	t := &nameTable{factor: factor}
	for i := range fields {
		f := &fields[i]
		slot := &t.fields[nameSlot(f.key, factor)]
		if *slot != nil {
			return nil, false
		}
		*slot = f
	}
	return t, true
}

func nameSlot(name []byte, factor uint64) uint64 {
	n := len(name)
	return (uint64(n) | uint64(name[0])<<8 | uint64(name[n/3])<<16 | uint64(name[n/2])<<24 | uint64(name[n-1])<<32) * factor >> 57
}

// find returns the field of that name, nil when there is none.
func (t *nameTable) find(name []byte) *field {
	if len(name) == 0 {
		return nil
	}
	f := t.fields[nameSlot(name, t.factor)]
	if f == nil || f.name != string(name) {
		return nil
	}
	return f
}

// follower is the two members that followed a member the last times, the latest first. Most writers give all lines the same
// members in the same order, with some left out.
type follower struct{ first, second *field }

// expectedOrder is the first guess of the member that follows each member: the order of the table. The last element is the
// guess for the first member.
func expectedOrder(o *object) []follower {
	next := make([]follower, len(o.fields)+1)
	for i := range next {
		next[i] = follower{&o.fields[(i+1)%len(o.fields)], &o.fields[(i+2)%len(o.fields)]}
	}
	next[len(o.fields)].first = &o.fields[0]
	return next
}
