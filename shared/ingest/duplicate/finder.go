package duplicate

import "math/bits"

// Entry is one occurrence of a digest, or several occurrences that are known to be of the same digest.
type Entry struct {
	Digest
	// Location is where the digest occurs, in a form that the caller chooses. Its highest bit is MultiFlag.
	Location uint64
}

// MultiFlag is the bit of Entry.Location that is set if the entry represents more than one occurrence. Such an entry is
// a set by itself.
const MultiFlag = 1 << 63

// bucketEntries is about the number of entries that are compared with each other at a time: few enough that their table
// stays in the processor's cache.
const bucketEntries = 4096

// Finder finds the sets of equal digests. The zero Finder is ready for use. It keeps its memory between calls, which is
// 24 bytes for each entry in addition to the entries themselves, and is not safe for concurrent use.
type Finder struct {
	// sorted are the entries by bucket; bucket i ends at bucketEnds[i].
	sorted     []Entry
	bucketEnds []int

	// Of one bucket at a time: table numbers its digests. The entries of digest n are a linked list from first[n] to
	// last[n], in which next[i] is the entry after entry i, or -1 at the end.
	table Table
	first []int32
	last  []int32
	next  []int32

	set []Entry
}

// FindSets calls yield once for each digest that occurs more than once, with all its entries in the order in which they
// were given. The set is valid until yield returns. The order of the sets is arbitrary.
func (f *Finder) FindSets(entries []Entry, yield func(set []Entry)) {
	f.sortIntoBuckets(entries)
	start := 0
	for _, end := range f.bucketEnds {
		if end > start {
			f.findInBucket(f.sorted[start:end], yield)
		}
		start = end
	}
}

// sortIntoBuckets sorts the entries by bucket and keeps their order within a bucket. The bits that choose the bucket
// are below those that choose the partition of a batch, which are the same in all entries.
func (f *Finder) sortIntoBuckets(entries []Entry) {
	shift := 64 - bits.Len(uint(len(entries)/bucketEntries))
	f.bucketEnds = resize(f.bucketEnds, 1<<(64-shift))
	clear(f.bucketEnds)
	for i := range entries {
		f.bucketEnds[bucketOf(entries[i].Hi, shift)]++
	}
	sum := 0
	for i, n := range f.bucketEnds {
		f.bucketEnds[i] = sum
		sum += n
	}
	f.sorted = resize(f.sorted, len(entries))
	for i := range entries {
		b := bucketOf(entries[i].Hi, shift)
		f.sorted[f.bucketEnds[b]] = entries[i]
		f.bucketEnds[b]++
	}
}

func bucketOf(hi uint64, shift int) uint64 { return hi << 32 >> shift }

// findInBucket yields the sets among the entries of one bucket.
func (f *Finder) findInBucket(entries []Entry, yield func(set []Entry)) {
	f.table.Reset(len(entries))
	f.first, f.last = resize(f.first, len(entries)), resize(f.last, len(entries))
	f.next = resize(f.next, len(entries))
	hasSets := false
	for i := range entries {
		f.next[i] = -1
		number, isNew := f.table.Intern(entries[i].Digest)
		if isNew {
			f.first[number], f.last[number] = int32(i), int32(i)
			hasSets = hasSets || entries[i].Location&MultiFlag != 0
			continue
		}
		f.next[f.last[number]] = int32(i)
		f.last[number] = int32(i)
		hasSets = true
	}
	if !hasSets {
		return
	}
	for _, i := range f.first[:f.table.Len()] {
		if f.next[i] < 0 && entries[i].Location&MultiFlag == 0 {
			continue
		}
		f.set = f.set[:0]
		for ; i >= 0; i = f.next[i] {
			f.set = append(f.set, entries[i])
		}
		yield(f.set)
	}
}

// resize returns a slice of n elements, with the memory of s if that suffices. It allocates a little more than needed,
// because the partitions of a batch are of about the same size.
func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n, n+n/32)
}

// Table numbers distinct digests in the order of their first occurrence, from 0. The zero Table is empty. It holds up
// to 2^32-1 digests. Each takes 16 bytes and, as the hash table is between a quarter and half full, 16 to 32 bytes of
// that.
type Table struct {
	digests []Digest
	// slots is a hash table with linear probing. The upper 32 bits of a slot are the upper 32 bits of Digest.Lo, which
	// rule out most other digests; the lower 32 bits are the digest's number plus one. An empty slot is 0.
	slots []uint64
}

// Len returns the number of distinct digests.
func (t *Table) Len() int { return len(t.digests) }

// Digests returns the digests by number. The slice belongs to the table.
func (t *Table) Digests() []Digest { return t.digests }

// Reset empties the table and prepares it for n digests. It keeps the memory that it has if that suffices.
func (t *Table) Reset(n int) {
	t.digests = t.digests[:0]
	size := slotCount(n)
	if size > cap(t.slots) {
		t.slots = make([]uint64, size)
		return
	}
	t.slots = t.slots[:size]
	clear(t.slots)
}

// slotCount returns the number of slots, a power of two, with which a table of n digests is at most half full.
func slotCount(n int) int { return 1 << bits.Len(uint(max(2*n, 16)-1)) }

// Intern returns the number of a digest, and adds the digest if it is new.
func (t *Table) Intern(d Digest) (number uint32, isNew bool) {
	if 2*len(t.digests) >= len(t.slots) {
		t.grow()
	}
	tag := d.Lo >> 32 << 32
	mask := uint64(len(t.slots) - 1)
	for i := d.Lo & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			t.digests = append(t.digests, d)
			t.slots[i] = tag | uint64(len(t.digests))
			return uint32(len(t.digests) - 1), true
		}
		if number := uint32(slot) - 1; slot>>32<<32 == tag && t.digests[number] == d {
			return number, false
		}
	}
}

// grow doubles the hash table.
func (t *Table) grow() {
	t.slots = make([]uint64, slotCount(max(len(t.digests)*2, 8)))
	mask := uint64(len(t.slots) - 1)
	for number, d := range t.digests {
		i := d.Lo & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = d.Lo>>32<<32 | uint64(number+1)
	}
}
