package scanner

import (
	"bytes"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/swar"
)

// Identify returns the values that are stored beside the text of an accepted line: its identifiers and the role of its
// main entity. They are those that Line returns, provided that Line makes no finding for this line under the rules of
// the scanner. For any other line the result means nothing.
//
// Identify checks nothing, skips the values that it does not need, and stops as soon as it has what it does need:
// usually in the middle of the line. It compares names as they are written; if it misses something, and a name may be
// written with escapes, it has the whole line scanned. As Line does, it reads a line in place if its line feed and
// transaction.Lookahead more bytes follow it.
func (s *Scanner) Identify(line []byte) transaction.Identity {
	s.load(line)
	s.unescaped = s.unescaped[:0]
	b := s.buf
	i := skipSpace(b, 0)
	if s.isEnd(i) {
		return transaction.Identity{Blank: true}
	}
	id := identification{byPaymentType: s.rules.MainEntity == tenancy.ByPaymentType}
	if b[i] == '{' {
		s.identifyTransaction(b, i, &id)
	}
	if id.isComplete() || bytes.IndexByte(line, '\\') < 0 {
		return id.identity()
	}
	r := s.Line(line)
	return transaction.Identity{
		TransactionExternalID: r.TransactionExternalID, ModificationID: r.ModificationID, MainEntity: r.MainEntity,
	}
}

// identification is what Identify has found so far.
type identification struct {
	transactionID  []byte
	modificationID []byte

	// byPaymentType is set if the payment type decides about the main entity; otherwise the form of the sender does.
	byPaymentType bool
	paymentType   []byte
	sender        entityForm
}

// isComplete reports whether everything has been found. A payment type may be absent.
func (id *identification) isComplete() bool {
	if id.transactionID == nil || id.modificationID == nil {
		return false
	}
	if id.byPaymentType {
		return id.paymentType != nil
	}
	return id.sender != formNone
}

func (id *identification) identity() transaction.Identity {
	out := transaction.Identity{TransactionExternalID: id.transactionID, ModificationID: id.modificationID}
	switch {
	case id.byPaymentType && string(id.paymentType) == "payin":
		out.MainEntity = transaction.Receiver
	case id.byPaymentType, id.sender == formKnown:
		out.MainEntity = transaction.Sender
	default: // the sender is unknown, and a line without findings has one known party
		out.MainEntity = transaction.Receiver
	}
	return out
}

// identifyTransaction reads the line's object at b[i], as far as it is needed.
func (s *Scanner) identifyTransaction(b []byte, i int, id *identification) {
	var name []byte
	for i = skipSpace(b, i+1); b[i] == '"' && !id.isComplete(); i = skipSeparator(b, i) {
		if name, i = skipName(b, i); i < 0 {
			return
		}
		switch string(name) {
		case "transaction_external_id":
			id.transactionID, i = s.identifyString(b, i)
		case "payment_type":
			id.paymentType, i = s.identifyString(b, i)
		case "modification":
			if i = s.identifyModification(b, i, id); id.isComplete() {
				return
			}
		case "sender":
			i = s.identifySender(b, i, id)
		default:
			i = skipUnchecked(b, i)
		}
		if i < 0 {
			return
		}
	}
}

// identifyModification reads the modification at b[i]. It returns early if the rest of the line is not needed.
func (s *Scanner) identifyModification(b []byte, i int, id *identification) int {
	if b[i] != '{' {
		return skipUnchecked(b, i)
	}
	var name []byte
	for i = skipSpace(b, i+1); b[i] == '"'; i = skipSeparator(b, i) {
		if name, i = skipName(b, i); i < 0 {
			return failed
		}
		if string(name) != "external_id" {
			if i = skipUnchecked(b, i); i < 0 {
				return failed
			}
			continue
		}
		if id.modificationID, i = s.identifyString(b, i); i < 0 || id.isComplete() {
			return i
		}
		break
	}
	return skipToClosing(b, i)
}

// identifySender reads the sender at b[i].
func (s *Scanner) identifySender(b []byte, i int, id *identification) int {
	if b[i] != '{' || id.byPaymentType {
		return skipUnchecked(b, i)
	}
	var name []byte
	for i = skipSpace(b, i+1); b[i] == '"' && id.sender == formNone; i = skipSeparator(b, i) {
		if name, i = skipName(b, i); i < 0 {
			return failed
		}
		switch {
		case b[i] == 'n': // null counts as absent
		case string(name) == "by_external_id":
			id.sender = formKnown
		case string(name) == "external_entity_type":
			id.sender = formUnknown
		}
		if i = skipUnchecked(b, i); i < 0 {
			return failed
		}
	}
	return skipToClosing(b, i)
}

// identifyString reads a string, or skips a value that is not a string and returns nil for it.
func (s *Scanner) identifyString(b []byte, i int) (text []byte, end int) {
	if b[i] != '"' {
		return nil, skipUnchecked(b, i)
	}
	return s.readString(b, i)
}

// The functions below skip valid text. On any other input they end at the latest at the line feed.

// skipName returns the name at b[i], as it is written, and the position of its value.
func skipName(b []byte, i int) (name []byte, value int) {
	end := skipUncheckedString(b, i)
	if end < 0 {
		return nil, failed
	}
	name = b[i+1 : end-1]
	if b[end] == ':' && b[end+1] > ' ' {
		return name, end + 1
	}
	if i = skipSpace(b, end); b[i] != ':' {
		return nil, failed
	}
	return name, skipSpace(b, i+1)
}

// skipUnchecked returns the position after the value at b[i].
func skipUnchecked(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipUncheckedString(b, i)
	case '{', '[':
		return skipToClosing(b, i+1)
	}
	for c := b[i]; c > ' ' && c != ',' && c != ']' && c != '}'; c = b[i] {
		i++
	}
	return i
}

// skipUncheckedString returns the position after the string at b[i].
func skipUncheckedString(b []byte, i int) int {
	start := i + 1
	for i = start; ; i++ {
		if i = swar.SkipToQuote(b, i); b[i] != '"' {
			return failed
		}
		if b[i-1] != '\\' || !isEscaped(b[start:i]) {
			return i + 1
		}
	}
}

// isEscaped reports whether the character that follows this part of a string is escaped.
func isEscaped(text []byte) bool {
	backslashes := len(text) - len(bytes.TrimRight(text, `\`))
	return backslashes%2 == 1
}

// skipToClosing returns the position after the bracket that closes the object or array inside which b[i] is.
func skipToClosing(b []byte, i int) int {
	for depth := 1; ; {
		switch b[i] {
		case '"':
			if i = skipUncheckedString(b, i); i < 0 {
				return failed
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\n':
			return failed
		}
		i++
	}
}

// skipSeparator returns the position of the next member after the value that ends at b[i], or of the text in its place.
func skipSeparator(b []byte, i int) int {
	if i = skipSpace(b, i); b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}
