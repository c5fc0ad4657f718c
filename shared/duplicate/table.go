package duplicate

import "math/bits"

// Table numbers distinct digests in the order of their first occurrence, from 0. The zero Table is empty. It holds up to
// 2^32-1 digests, each in 16 bytes and 16 to 32 bytes of table.
type Table struct {
	keys  []Digest
	slots []uint64 // upper half: upper half of Lo, so that most misses are seen here; lower half: number+1; 0: empty
}

// Len returns the number of distinct digests.
func (t *Table) Len() int { return len(t.keys) }

// Reset empties the table and makes room for n digests, keeping its memory where it can.
func (t *Table) Reset(n int) {
	t.keys = t.keys[:0]
	size := slotsFor(n)
	if size > cap(t.slots) {
		t.slots = make([]uint64, size)
		return
	}
	t.slots = t.slots[:size]
	clear(t.slots)
}

// slotsFor keeps a table of n digests at most half full.
func slotsFor(n int) int { return 1 << bits.Len(uint(max(2*n, 16)-1)) }

// Number returns the number of d, and whether it is new.
func (t *Table) Number(d Digest) (number uint32, fresh bool) {
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	tag := d.Lo >> 32 << 32
	mask := uint64(len(t.slots) - 1)
	for i := d.Lo & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.keys = append(t.keys, d)
			t.slots[i] = tag | uint64(len(t.keys))
			return uint32(len(t.keys) - 1), true
		}
		if number := uint32(slot) - 1; slot>>32<<32 == tag && t.keys[number] == d {
			return number, false
		}
	}
}

func (t *Table) grow() {
	t.slots = make([]uint64, slotsFor(max(len(t.keys)*2, 8)))
	mask := uint64(len(t.slots) - 1)
	for number, d := range t.keys {
		i := d.Lo & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = d.Lo>>32<<32 | uint64(number+1)
	}
}

// Digests returns the digests by number. The slice is the table's own.
func (t *Table) Digests() []Digest { return t.keys }
