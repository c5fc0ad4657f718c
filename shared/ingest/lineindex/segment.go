package lineindex

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/transaction"
)

// Segment describes a part of the index of a tenant: the entries of some batches in one or more files. File i of 2^n
// has the entries whose digests have the highest n bits i.
//
//	bytes   content of a file
//	16*n    the n entries of the file in order
//	512*p   a page for each of the 2^PageBits equal ranges of digests in the file:
//	  8     number of entries before the range, little endian
//	  504   filter of the digests of the range (see filter)
//	8       the number n
//
// So a digest that the segment does not have takes one read, of its page, and one that it has two.
type Segment struct {
	// ID names the segment, and sorts after those of the segments that were merged into it.
	ID string
	// Entries is the number of entries of each file. The number of files is a power of two.
	Entries []int64
	// PageBits is the number of bits of a digest that choose the page in a file.
	PageBits int
	// Batches is how many batches the segment has: the number of rows of the table of batches.
	Batches int64
	// Only is the batch of a segment that has a single one, and no table.
	Only Batch
	// FirstExpiry is the earliest end of the lines of a batch; zero if they are kept for ever.
	FirstExpiry time.Time
}

// Batch is a batch in a segment.
type Batch struct {
	ID         batch.ID
	ReceivedAt time.Time
	// Expires is when the lines of the batch are gone; zero if they are kept for ever. It has whole seconds.
	Expires time.Time
}

// compare orders batches, the one received last first.
func (b Batch) compare(other Batch) int {
	return cmp.Or(other.ReceivedAt.Compare(b.ReceivedAt), cmp.Compare(other.ID, b.ID))
}

// isExpired reports whether the lines of the batch are gone.
func (b Batch) isExpired(now time.Time) bool { return !b.Expires.IsZero() && !now.Before(b.Expires) }

// total returns the number of entries.
func (s Segment) total() (n int64) {
	for _, entries := range s.Entries {
		n += entries
	}
	return n
}

const (
	pageBytes = 512
	// pageEntries is about how many entries have a page.
	pageEntries = 384
	// fileEntries is the default of Indexer.FileEntries: files of 256 MB. A segment has at most maxFiles files.
	fileEntries = 16 << 20
	maxFiles    = 512
)

// layoutOf returns the number of bits of a digest that choose the file, and those that choose its page, for a number of
// entries.
func (x *Indexer) layoutOf(entries int64) (fileBits, pageBits int) {
	for entries>>fileBits > cmp.Or(x.FileEntries, fileEntries) && 1<<fileBits < maxFiles {
		fileBits++
	}
	for entries>>fileBits>>pageBits > pageEntries {
		pageBits++
	}
	return fileBits, pageBits
}

// fileBits returns the binary logarithm of the number of files.
func (s Segment) fileBits() (bits int) {
	for 1<<bits < len(s.Entries) {
		bits++
	}
	return bits
}

// fileOf returns the file of a digest, and pageOf its page there.
func (s Segment) fileOf(digest uint64) int { return int(digest >> 1 >> (63 - s.fileBits())) }

func (s Segment) pageOf(digest uint64) int64 {
	return int64(digest << s.fileBits() >> 1 >> (63 - s.PageBits))
}

// Keys of the files of an index. A hash of what follows is not needed before them: files of segments are few.
func recordsKey(tenant string, id batch.ID) string {
	return fmt.Sprintf("index/%s/records/%s", tenant, id)
}

func (s Segment) fileKey(tenant string, file int) string {
	return fmt.Sprintf("index/%s/segments/%s/%d", tenant, s.ID, file)
}

func (s Segment) tableKey(tenant string) string {
	return fmt.Sprintf("index/%s/segments/%s/batches", tenant, s.ID)
}

// A filter says whether a digest may be among some: each sets filterProbes bits.
type filter [pageBytes - 8]byte

const (
	filterBits   = (pageBytes - 8) * 8
	filterProbes = 5
)

// probe returns the number of bit i of a digest. The digests of one page have the same highest bits.
func probe(digest uint64, i int) uint64 {
	return digest * 0x9e3779b97f4a7c15 >> (4 + 12*i) & 0xfff * filterBits >> 12
}

func (f *filter) add(digest uint64) {
	for i := range filterProbes {
		bit := probe(digest, i)
		f[bit/8] |= 1 << (bit % 8)
	}
}

func (f *filter) mayHave(digest uint64) bool {
	for i := range filterProbes {
		if bit := probe(digest, i); f[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

// page is a page of a file: the entries [from, to) of the file are those of its range.
type page struct {
	from, to int64
	filter   filter
}

// readPage reads a page of a file.
func readPage(ctx context.Context, files Files, tenant string, s Segment, file int, number int64) (page, error) {
	offset := s.Entries[file]*entryBytes + number*pageBytes
	b, err := readRange(ctx, files, s.fileKey(tenant, file), offset, offset+pageBytes+8)
	if err != nil {
		return page{}, err
	}
	p := page{from: int64(binary.LittleEndian.Uint64(b)), to: int64(binary.LittleEndian.Uint64(b[pageBytes:]))}
	if p.from < 0 || p.from > p.to || p.to > s.Entries[file] {
		return page{}, fmt.Errorf("%w: page %d of %s", ErrCorrupt, number, s.fileKey(tenant, file))
	}
	copy(p.filter[:], b[8:])
	return p, nil
}

// Files are the objects of an index. They are safe for concurrent use.
type Files interface {
	// Open returns the bytes [from, to) of an object, or those from from on if to is negative.
	Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error)
	// WriteObject stores what write writes as an object, in the place of one that exists.
	WriteObject(ctx context.Context, key string, write func(io.Writer) error) error
	// Remove removes an object. Removing one that does not exist is success.
	Remove(ctx context.Context, key string) error
}

// readRange reads the bytes [from, to) of an object, all of which must exist.
func readRange(ctx context.Context, files Files, key string, from, to int64) ([]byte, error) {
	if from < 0 || from > to {
		return nil, fmt.Errorf("%w: no bytes %d to %d of %s", ErrCorrupt, from, to, key)
	}
	b := make([]byte, to-from)
	body, err := files.Open(ctx, key, "", from, to)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if _, err := io.ReadFull(body, b); err != nil {
		return nil, fmt.Errorf("%w: %s ends early: %w", ErrCorrupt, key, err)
	}
	return b, nil
}

// A row of the table of batches has the 16 bytes of the ID, the receipt time in nanoseconds and the time of expiry in
// seconds since 1970, 0 for none, both with 8 bytes, little endian. The rows are in the order of Batch.compare.
const rowBytes = 32

func appendRow(b []byte, r Batch) []byte {
	uuid, _ := transaction.ParseUUID([]byte(r.ID))
	b = binary.LittleEndian.AppendUint64(append(b, uuid[:]...), uint64(r.ReceivedAt.UnixNano()))
	if r.Expires.IsZero() {
		return binary.LittleEndian.AppendUint64(b, 0)
	}
	return binary.LittleEndian.AppendUint64(b, uint64(r.Expires.Unix()))
}

func decodeRow(b []byte) Batch {
	r := Batch{ID: batch.ID(transaction.AppendUUID(nil, b)),
		ReceivedAt: time.Unix(0, int64(binary.LittleEndian.Uint64(b[16:]))).UTC()}
	if expires := int64(binary.LittleEndian.Uint64(b[24:])); expires != 0 {
		r.Expires = time.Unix(expires, 0).UTC()
	}
	return r
}

// readBatches returns the batches of a segment from number first to number last.
func readBatches(ctx context.Context, files Files, tenant string, s Segment, first, last int) ([]Batch, error) {
	if int64(last) >= s.Batches {
		return nil, fmt.Errorf("%w: segment %s has %d batches, not %d", ErrCorrupt, s.ID, s.Batches, last+1)
	}
	if s.Batches == 1 {
		return []Batch{s.Only}, nil
	}
	b, err := readRange(ctx, files, s.tableKey(tenant), int64(first)*rowBytes, int64(last+1)*rowBytes)
	if err != nil {
		return nil, err
	}
	batches := make([]Batch, 0, last-first+1)
	for ; len(b) > 0; b = b[rowBytes:] {
		batches = append(batches, decodeRow(b))
	}
	return batches, nil
}
