// Package lineindex finds the lines of the batches of a tenant by their identifiers, however many batches there are.
//
//	ValidateChunk --Collector--> work file of each chunk: records, entries
//	end of a batch --Indexer.Add--> records of the batch, a segment of one batch
//	many segments --Indexer.Maintain--> few segments
//	identifier --Searcher.Search--> entries of all segments --> records
//
// A record holds the identifiers of a line; an entry is the keyed digest of one identifier and the place of the record.
// Entries are sorted by digest in segments (see segment.go), so that a segment answers with one read, or with two if it
// has the identifier. Segments are merged as they come, four of about one size into one, so that their number grows
// with the logarithm of the number of lines. The catalog (package lineindexdb) lists the segments of a tenant.
package lineindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode"
	"unicode/utf8"

	"sluice/shared/ingest/transaction"
)

// Kind says which identifier of a line an entry is about. Its numbers are stored and must not change.
type Kind uint8

// The identifiers of a line.
const (
	Payment Kind = iota
	Transaction
	Modification
	Request
	Kinds int = iota
)

// IDs are the identifiers of a line by Kind; "" for one that cannot be read.
type IDs [Kinds]string

// Record is what the index knows of a line.
type Record struct {
	// Line is the number of the line in the file, from 1.
	Line int64
	// Rejected means that the line itself is invalid, or was rejected together with others; a valid line of a batch
	// that was rejected as a whole is not.
	Rejected bool
	IDs      IDs
}

// A record has four bytes for the number of the line, little endian, whose highest bit is set if the line is rejected,
// and a byte whose bit k is set if there is an identifier of kind k, and bit 4+k if that is the lower-case form of a
// UUID. Then follow the identifiers: 16 bytes for a UUID, otherwise a byte with the length and the bytes.
const (
	recordHeaderBytes = 5
	rejectedBit       = 1 << 31
	// maxLine is the largest number of a line that a record holds.
	maxLine = rejectedBit - 1
	// maxRecordBytes is the length of the longest record.
	maxRecordBytes = recordHeaderBytes + Kinds*(1+transaction.MaxIDBytes)
)

// ErrCorrupt means that a file of the index is damaged.
var ErrCorrupt = errors.New("lineindex: corrupt file")

// appendRecord appends a record. Identifiers that are empty or too long are left out.
func appendRecord(b []byte, line uint32, ids *[Kinds][]byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, line)
	flags := len(b)
	b = append(b, 0)
	for k, id := range ids {
		if !isIndexed(id) {
			continue
		}
		b[flags] |= 1 << k
		if uuid, isUUID := transaction.ParseUUID(id); isUUID {
			b[flags] |= 1 << (4 + k)
			b = append(b, uuid[:]...)
		} else {
			b = append(append(b, byte(len(id))), id...)
		}
	}
	return b
}

// isIndexed reports whether lines are found by an identifier.
func isIndexed(id []byte) bool { return len(id) > 0 && len(id) <= transaction.MaxIDBytes }

// readRecord reads the record at the beginning of b and returns its length; ErrCorrupt if there is none.
func readRecord(b []byte) (Record, int, error) {
	n, err := recordBytes(b)
	if err != nil {
		return Record{}, 0, err
	}
	line := binary.LittleEndian.Uint32(b)
	r := Record{Line: int64(line &^ rejectedBit), Rejected: line&rejectedBit != 0}
	flags, rest := b[4], b[recordHeaderBytes:n]
	for k := range r.IDs {
		switch {
		case flags&(1<<k) == 0:
		case flags&(1<<(4+k)) != 0:
			r.IDs[k] = string(transaction.AppendUUID(nil, rest))
			rest = rest[transaction.UUIDBytes:]
		default:
			r.IDs[k], rest = string(rest[1:1+int(rest[0])]), rest[1+int(rest[0]):]
		}
	}
	return r, n, nil
}

// recordBytes returns the length of the record at the beginning of b.
func recordBytes(b []byte) (int, error) {
	n := recordHeaderBytes
	if len(b) < n {
		return 0, ErrCorrupt
	}
	for k := range Kinds {
		switch {
		case b[4]&(1<<k) == 0:
		case b[4]&(1<<(4+k)) != 0:
			n += transaction.UUIDBytes
		case n < len(b):
			n += 1 + int(b[n])
		default:
			return 0, ErrCorrupt
		}
	}
	if n > len(b) {
		return 0, ErrCorrupt
	}
	return n, nil
}

// normalize returns the form of an identifier that is indexed: the UUIDs of requests are equal in any case of letters.
func normalize(k Kind, id []byte) []byte {
	if k == Request && mayHaveUpperCase(id) && bytes.ContainsFunc(id, unicode.IsUpper) {
		return bytes.ToLower(id)
	}
	return id
}

// mayHaveUpperCase reports whether a byte of a text lacks the bit 0x20, which digits, hyphens and lower-case letters
// have, or is not ASCII. It is several times as fast as to look at letters.
func mayHaveUpperCase(id []byte) bool {
	all, any := byte(0xff), byte(0)
	for _, c := range id {
		all &= c
		any |= c
	}
	return all&0x20 == 0 || any >= utf8.RuneSelf
}
