package duplicate

import "math/bits"

// Entry is one occurrence of a digest, or several that are known to be the same. Place is the caller's name for where it
// is; its top bit, Several, is set when the entry stands for more than one occurrence.
type Entry struct {
	Digest
	Place uint64
}

// Several marks an Entry that is a set of its own.
const Several = 1 << 63

// bucketEntries is about how many entries are compared with each other at a time: so many that their table stays in the
// processor's cache.
const bucketEntries = 4096

// Finder finds the sets of equal digests. It keeps its memory between calls; the zero Finder is ready. It takes 24 bytes
// an entry beside the entries themselves.
type Finder struct {
	sorted []Entry
	ends   []int
	table  Table
	head   []int32 // of each number's set: the entry it begins with
	tail   []int32
	next   []int32 // of each entry: the next of its set, or -1
	set    []Entry
}

// Sets calls yield once for every digest that occurs more than once, with all its entries in the order in which they were
// given. The set is valid until yield returns.
func (f *Finder) Sets(entries []Entry, yield func(set []Entry)) {
	f.scatter(entries)
	start := 0
	for _, end := range f.ends {
		if end > start {
			f.bucket(f.sorted[start:end], yield)
		}
		start = end
	}
}

// scatter sorts the entries into buckets by bits of their digests that no partition of a batch is made by, keeping their
// order within a bucket.
func (f *Finder) scatter(entries []Entry) {
	shift := 64 - bits.Len(uint(len(entries)/bucketEntries))
	f.ends = resize(f.ends, 1<<(64-shift))
	clear(f.ends)
	for i := range entries {
		f.ends[bucketOf(entries[i].Hi, shift)]++
	}
	sum := 0
	for i, n := range f.ends {
		f.ends[i] = sum
		sum += n
	}
	f.sorted = resize(f.sorted, len(entries))
	for i := range entries {
		b := bucketOf(entries[i].Hi, shift)
		f.sorted[f.ends[b]] = entries[i]
		f.ends[b]++
	}
}

func bucketOf(hi uint64, shift int) uint64 { return hi << 32 >> shift }

func (f *Finder) bucket(entries []Entry, yield func(set []Entry)) {
	f.table.Reset(len(entries))
	f.head, f.tail = resize(f.head, len(entries)), resize(f.tail, len(entries))
	f.next = resize(f.next, len(entries))
	several := false
	for i := range entries {
		f.next[i] = -1
		number, fresh := f.table.Number(entries[i].Digest)
		if fresh {
			f.head[number], f.tail[number] = int32(i), int32(i)
			several = several || entries[i].Place&Several != 0
			continue
		}
		f.next[f.tail[number]] = int32(i)
		f.tail[number] = int32(i)
		several = true
	}
	if !several {
		return
	}
	for _, i := range f.head[:f.table.Len()] {
		if f.next[i] < 0 && entries[i].Place&Several == 0 {
			continue
		}
		f.set = f.set[:0]
		for ; i >= 0; i = f.next[i] {
			f.set = append(f.set, entries[i])
		}
		yield(f.set)
	}
}

// resize makes room for a little more than is wanted: the partitions of a batch are about as large as each other.
func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n, n+n/32)
}
