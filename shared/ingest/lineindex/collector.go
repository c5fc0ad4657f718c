package lineindex

import (
	"cmp"
	"encoding/binary"
	"io"
	"math/bits"
	"slices"

	"github.com/dchest/siphash"

	"sluice/shared/ingest/transaction"
)

// Key is the secret key of the digests of one tenant. Without it nobody can tell whether an identifier is in an index,
// or choose identifiers whose digests are equal.
type Key [16]byte

// digest returns the SipHash-2-4 of an identifier with 64 bits. Of 10 billion digests another identifier has one by
// chance once in 10^9 searches; the record then shows that it is not meant.
func (k Key) digest(kind Kind, id []byte) uint64 {
	return siphash.Hash(binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:]), normalize(kind, id))
}

// entry is one identifier of a line, by its digest. Its place has the kind in the two lowest bits, the offset of the
// record in the records of the batch in the 34 bits above, and in the highest 28 bits the number of the batch in the
// segment.
type entry struct{ digest, place uint64 }

const (
	entryBytes = 16
	kindBits   = 2
	batchShift = 36
	// maxRecordsBytes is the largest size of the records of one batch, and maxBatches the largest number of batches of
	// one segment.
	maxRecordsBytes = 1 << (batchShift - kindBits)
	maxBatches      = 1 << (64 - batchShift)
)

func (e entry) kind() Kind    { return Kind(e.place & (1<<kindBits - 1)) }
func (e entry) offset() int64 { return int64(e.place & (1<<batchShift - 1) >> kindBits) }
func (e entry) batch() int    { return int(e.place >> batchShift) }

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.digest, b.digest), cmp.Compare(a.place, b.place))
}

func appendEntry(b []byte, e entry) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, e.digest), e.place)
}

func decodeEntry(b []byte) entry {
	return entry{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// Collector collects the identifiers of the lines of one chunk at a time, and keeps its memory for the next one. The
// zero Collector, and one that is reset without a key, collects nothing.
type Collector struct {
	key     *Key
	records []byte
	entries []entry
	sorted  []entry
	// ends are where the buckets of sort end.
	ends    []int
	encoded []byte
}

// Reset begins a chunk of a size in bytes. With a nil key nothing is collected.
func (c *Collector) Reset(key *Key, size int64) {
	c.key, c.records, c.entries = key, c.records[:0], c.entries[:0]
	if key != nil { // room for lines of 1,000 bytes with identifiers that are UUIDs
		c.records = slices.Grow(c.records, int(size/1000)*(recordHeaderBytes+Kinds*16))
		c.entries = slices.Grow(c.entries, int(size/1000)*Kinds)
	}
}

// Add adds the identifiers of a line, which is counted within the chunk from 0. Lines must be added in order.
func (c *Collector) Add(line int64, r *transaction.Result) {
	if c.key == nil {
		return
	}
	ids := [Kinds][]byte{Payment: r.PaymentExternalID, Transaction: r.TransactionExternalID,
		Modification: r.ModificationID, Request: r.RequestUUID}
	offset, found := uint64(len(c.records)), len(c.entries)
	for k, id := range ids {
		if isIndexed(id) {
			c.entries = append(c.entries, entry{c.key.digest(Kind(k), id), offset<<kindBits | uint64(k)})
		}
	}
	if len(c.entries) > found {
		c.records = appendRecord(c.records, uint32(line), &ids)
	}
}

// A work file of a chunk has the entries in order and then the records, whose lines are counted within the chunk.
//
//	bytes  content
//	4      magic; the last byte is the version of the format
//	4      number n of entries, little endian
//	8      number of bytes of the records, little endian
//	16*n   the entries, as two numbers of 8 bytes, little endian: digest and place
//	       the records
const (
	chunkMagic       = "SLI1"
	chunkHeaderBytes = 16
)

// WriteTo writes the work file of the chunk; nothing if no line has identifiers.
func (c *Collector) WriteTo(w io.Writer) (int64, error) {
	if len(c.entries) == 0 {
		return 0, nil
	}
	c.sort()
	size := chunkHeaderBytes + len(c.sorted)*entryBytes + len(c.records)
	if g, ok := w.(interface{ Grow(n int) }); ok {
		g.Grow(size)
	}
	b := slices.Grow(c.encoded[:0], chunkHeaderBytes+blockEntries*entryBytes)
	b = binary.LittleEndian.AppendUint32(append(b, chunkMagic...), uint32(len(c.sorted)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(c.records)))
	for entries := range slices.Chunk(c.sorted, blockEntries) {
		for _, e := range entries {
			b = appendEntry(b, e)
		}
		if _, err := w.Write(b); err != nil {
			return 0, err
		}
		b = b[:0]
	}
	c.encoded = b
	_, err := w.Write(c.records)
	return int64(size), err
}

// sort sorts the entries: by the highest bits of their digests into buckets of a few, and then within these.
func (c *Collector) sort() {
	shift := 64 - min(bits.Len(uint(len(c.entries)/bucketEntries)), maxBucketBits)
	c.ends = slices.Grow(c.ends[:0], 1<<(64-shift))[:1<<(64-shift)]
	clear(c.ends)
	for _, e := range c.entries {
		c.ends[e.digest>>shift]++
	}
	sum := 0
	for i, n := range c.ends {
		c.ends[i], sum = sum, sum+n
	}
	c.sorted = slices.Grow(c.sorted[:0], len(c.entries))[:len(c.entries)]
	for _, e := range c.entries {
		c.sorted[c.ends[e.digest>>shift]] = e
		c.ends[e.digest>>shift]++
	}
	start := 0
	for _, end := range c.ends {
		sortBucket(c.sorted[start:end])
		start = end
	}
}

// sortBucket sorts entries whose places are in order. Few are sorted by insertion, which a call for each comparison
// would make several times as slow.
func sortBucket(entries []entry) {
	if len(entries) > 4*bucketEntries {
		slices.SortFunc(entries, compareEntries)
		return
	}
	for i := 1; i < len(entries); i++ {
		e, j := entries[i], i
		for ; j > 0 && e.digest < entries[j-1].digest; j-- {
			entries[j] = entries[j-1]
		}
		entries[j] = e
	}
}

const (
	// bucketEntries is about how many entries are in a bucket.
	bucketEntries = 4
	// maxBucketBits bounds the memory of sort.
	maxBucketBits = 16
)
