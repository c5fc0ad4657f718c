package storedline

import (
	"bytes"
	"errors"
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

// uuidText is the length of a UUID in its usual form, and uuidBytes that of its value.
const (
	uuidText  = 36
	uuidBytes = 16
)

// packed is a line in which marks stand for what is known from the key or stored in fewer bytes.
type packed struct {
	text []byte
	// uuids are the values of the UUIDs, one after the other.
	uuids []byte
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
	rest := l.Text
	for {
		at, mark, length := nextID(rest, l)
		if mark == 0 {
			break
		}
		p.packUUIDs(rest[:at])
		p.text = append(p.text, mark)
		rest = rest[at+length:]
		if mark == markTransaction {
			l.TransactionID = ""
		} else {
			l.ModificationID = ""
		}
	}
	p.packUUIDs(rest)
	return true
}

// nextID finds the first of the IDs of a line, in quotes, in a text. The mark is 0 if there is none.
func nextID(text []byte, l Line) (at int, mark byte, length int) {
	at = -1
	for _, id := range []struct {
		mark byte
		text string
	}{{markTransaction, l.TransactionID}, {markModification, l.ModificationID}} {
		if i := indexQuoted(text, id.text); i >= 0 && (at < 0 || i < at) {
			at, mark, length = i, id.mark, len(id.text)+2
		}
	}
	return at, mark, length
}

// indexQuoted returns where an ID in quotes begins in a text, or -1. An empty ID is not found.
func indexQuoted(text []byte, id string) int {
	for from := 0; id != ""; {
		i := bytes.Index(text[from:], []byte(id))
		if i < 0 {
			break
		}
		start, end := from+i-1, from+i+len(id)
		if start >= 0 && text[start] == '"' && end < len(text) && text[end] == '"' {
			return start
		}
		from += i + 1
	}
	return -1
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
		if start < done || start+uuidText > len(text) {
			continue
		}
		value, ok := parseUUID(text[start : start+uuidText])
		if !ok {
			continue
		}
		p.text = append(append(p.text, text[done:start]...), markUUID)
		p.uuids = append(p.uuids, value[:]...)
		done = start + uuidText
		from = done + 8
	}
	p.text = append(p.text, text[done:]...)
}

// hexValues has the value of each lower-case hexadecimal digit, and 0xff for every other byte.
var hexValues = func() (v [256]byte) {
	for i := range v {
		v[i] = 0xff
	}
	for i, c := range []byte(hexDigits) {
		v[c] = byte(i)
	}
	return v
}()

const hexDigits = "0123456789abcdef"

// uuidPairs are the places of the pairs of digits in the text of a UUID.
var uuidPairs = [uuidBytes]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// parseUUID returns the value of a UUID with lower-case digits and dashes. The text has 36 bytes.
func parseUUID(text []byte) (value [uuidBytes]byte, ok bool) {
	if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return value, false
	}
	for i, at := range uuidPairs {
		high, low := hexValues[text[at]], hexValues[text[at+1]]
		if high|low > 15 {
			return value, false
		}
		value[i] = high<<4 | low
	}
	return value, true
}

// appendUUID is the inverse of parseUUID.
func appendUUID(b, value []byte) []byte {
	text := [uuidText]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	for i, at := range uuidPairs {
		text[at], text[at+1] = hexDigits[value[i]>>4], hexDigits[value[i]&15]
	}
	return append(b, text[:]...)
}

var errPackedText = errors.New("the marks do not agree with the UUIDs")

// unpack is the inverse of pack. It fails if there are more or fewer UUIDs than marks, or if the line would have more
// than MaxTextBytes.
func (p *packed) unpack(transactionID, modificationID string) ([]byte, error) {
	marks := [...]int{
		bytes.Count(p.text, []byte{markUUID}), bytes.Count(p.text, []byte{markTransaction}),
		bytes.Count(p.text, []byte{markModification}),
	}
	if marks[0]*uuidBytes != len(p.uuids) {
		return nil, errPackedText
	}
	size := len(p.text) + marks[0]*(uuidText-1) + marks[1]*(len(transactionID)+1) + marks[2]*(len(modificationID)+1)
	if size > MaxTextBytes {
		return nil, errTooLong
	}
	text, uuids := make([]byte, 0, size), p.uuids
	for _, c := range p.text {
		switch c {
		case markUUID:
			text, uuids = appendUUID(text, uuids), uuids[uuidBytes:]
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
