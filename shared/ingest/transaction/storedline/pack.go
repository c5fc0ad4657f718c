package storedline

import (
	"bytes"
	"errors"

	"sluice/shared/ingest/transaction"
)

// Bytes that stand for something else in a packed text. A line that was accepted is strict JSON, in which none of them
// can occur; a text that has one is stored unpacked.
const (
	// markUUID stands for the next of the UUIDs that are stored beside the packed text.
	markUUID = 0x01
	// markTransaction and markModification stand for the ID of the transaction or modification, in quotes. Both are in
	// the key of the item.
	markTransaction  = 0x02
	markModification = 0x03
)

// packed is a line in which marks stand for values that the key has or that are stored in fewer bytes.
type packed struct {
	text []byte
	// uuids are the values of the UUIDs, one after the other.
	uuids []byte
	// quoted is where the IDs are, in quotes, and stored where the stored form is made.
	quoted, stored []byte
}

// pack makes the packed text of a line: the first occurrence of each ID and every UUID become marks. It reports false,
// and has no result, if the text has bytes that are marks.
func (p *packed) pack(l Line) bool {
	p.text, p.uuids = p.text[:0], p.uuids[:0]
	for _, mark := range []byte{markUUID, markTransaction, markModification} {
		if bytes.IndexByte(l.Text, mark) >= 0 {
			return false
		}
	}
	p.quoted = appendQuoted(appendQuoted(p.quoted[:0], l.TransactionID), l.ModificationID)
	length := len(l.TransactionID) + len(quotes)
	ids := [...]quotedID{
		{mark: markTransaction, text: p.quoted[:length]}, {mark: markModification, text: p.quoted[length:]},
	}
	done := 0
	for i := range ids {
		ids[i].find(l.Text, done)
	}
	for range ids {
		next := &ids[0]
		if other := &ids[1]; next.at < 0 || other.at >= 0 && other.at < next.at {
			next = other
		}
		if next.at < 0 {
			break
		}
		p.packUUIDs(l.Text[done:next.at])
		p.text = append(p.text, next.mark)
		done, next.at = next.at+len(next.text), -1
		for i := range ids {
			if ids[i].at >= 0 && ids[i].at < done { // the IDs are equal, or share a quote
				ids[i].find(l.Text, done)
			}
		}
	}
	p.packUUIDs(l.Text[done:])
	return true
}

const quotes = `""`

func appendQuoted(b []byte, id string) []byte { return append(append(append(b, '"'), id...), '"') }

// quotedID is an ID in quotes, and where it begins in a text; at is -1 if it is not there.
type quotedID struct {
	mark byte
	text []byte
	at   int
}

// find finds the ID in a text, from a place on. An empty ID is not found. The search is for the ID without its quotes,
// of which a line has too many to begin with.
func (q *quotedID) find(text []byte, from int) {
	q.at = -1
	id := q.text[1 : len(q.text)-1]
	for from++; len(id) > 0 && from < len(text); from++ {
		i := bytes.Index(text[from:], id)
		if i < 0 {
			return
		}
		from += i
		if bytes.HasPrefix(text[from-1:], q.text) {
			q.at = from - 1
			return
		}
	}
}

// packUUIDs appends a part of a text in which each UUID in the usual form, with lower-case digits, is a mark.
func (p *packed) packUUIDs(text []byte) {
	done := 0
	for from := 8; ; {
		i := bytes.IndexByte(text[min(from, len(text)):], '-')
		if i < 0 {
			break
		}
		dash := from + i
		from = dash + 1
		start := dash - 8
		if start < done || start+transaction.UUIDText > len(text) {
			continue
		}
		value, ok := transaction.ParseUUID(text[start : start+transaction.UUIDText])
		if !ok {
			continue
		}
		p.text = append(append(p.text, text[done:start]...), markUUID)
		p.uuids = append(p.uuids, value[:]...)
		done = start + transaction.UUIDText
		from = done + 8
	}
	p.text = append(p.text, text[done:]...)
}

var errPackedText = errors.New("the marks do not agree with the UUIDs")

// unpack is the inverse of pack. It fails if there are more or fewer UUIDs than marks, or if the line would have more
// than MaxTextBytes.
func (p *packed) unpack(transactionID, modificationID string) ([]byte, error) {
	marks := [...]int{
		bytes.Count(p.text, []byte{markUUID}), bytes.Count(p.text, []byte{markTransaction}),
		bytes.Count(p.text, []byte{markModification}),
	}
	if marks[0]*transaction.UUIDBytes != len(p.uuids) {
		return nil, errPackedText
	}
	size := len(p.text) + marks[0]*(transaction.UUIDText-1) + marks[1]*(len(transactionID)+1) +
		marks[2]*(len(modificationID)+1)
	if size > MaxTextBytes {
		return nil, errTooLong
	}
	text, uuids := make([]byte, 0, size), p.uuids
	for _, c := range p.text {
		switch c {
		case markUUID:
			text, uuids = transaction.AppendUUID(text, uuids), uuids[transaction.UUIDBytes:]
		case markTransaction:
			text = append(append(append(text, '"'), transactionID...), '"')
		case markModification:
			text = append(append(append(text, '"'), modificationID...), '"')
		default:
			text = append(text, c)
		}
	}
	return text, nil
}
