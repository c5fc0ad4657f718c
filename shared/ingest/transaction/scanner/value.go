package scanner

import (
	"slices"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// readValue reads the value of a field, which is not null, and adds a finding for each rule that it breaks. Strings are
// judged without their escapes.
func (s *Scanner) readValue(b []byte, i int, f *field) int {
	switch f.Kind {
	case schema.KindNumber, schema.KindInteger:
		return s.readNumberValue(b, i, f)
	case schema.KindObject:
		i, _ = s.readObjectField(b, i, f)
		return i
	case schema.KindEntity:
		return s.readEntityField(b, i, f)
	case schema.KindObjects, schema.KindStrings:
		return s.readArray(b, i, f)
	case schema.KindStringMap:
		return s.readStringMap(b, i, f)
	case schema.KindForbidden:
		s.addFieldFinding(transaction.CodeEntityAmbiguous, f, i)
		return s.skipValueOf(b, i, f.key)
	}
	if b[i] != '"' {
		s.addFieldFinding(transaction.CodeStringType, f, i)
		return s.skipValueOf(b, i, f.key)
	}
	text, end := s.readString(b, i)
	if end < 0 || f.isFree && f.Capture == schema.CaptureNone {
		return end
	}
	if code := s.checkString(text, f); code != "" {
		s.addFieldFinding(code, f, i)
	}
	s.capture(text, i, f)
	return end
}

// checkString returns the code of the rule that a string breaks, or "".
func (s *Scanner) checkString(text []byte, f *field) transaction.Code {
	switch f.Kind {
	case schema.KindString:
		return checkLength(text, f)
	case schema.KindID:
		if len(text) == 0 {
			return transaction.CodeStringTooShort
		}
		if len(text) > transaction.MaxIDBytes {
			return transaction.CodeStringTooLong
		}
	case schema.KindUUID:
		if !isUUID(text) {
			return transaction.CodeUUID
		}
	case schema.KindEnum:
		if !slices.Contains(f.Enum, string(text)) {
			return transaction.CodeEnum
		}
	case schema.KindCountry:
		if !isCountry(text) {
			return transaction.CodeCountry
		}
	case schema.KindCurrency:
		if !isCurrency(text) {
			return transaction.CodeCurrency
		}
	case schema.KindDateTime, schema.KindCreatedAt:
		return s.checkDateTime(text, f)
	case schema.KindIP:
		if code := checkLength(text, f); code != "" {
			return code
		}
		if !isIP(text) {
			return transaction.CodeIPAddress
		}
	case schema.KindBIC:
		if code := checkLength(text, f); code != "" {
			return code
		}
		if !isBIC(text) {
			return transaction.CodeBIC
		}
	case schema.KindEntityType:
		if string(text) != "unknown" {
			return transaction.CodeEntityTypeInvalid
		}
	}
	return ""
}

// checkLength returns the code of the length rule that a string breaks, or "". Lengths are counted in code points.
func checkLength(text []byte, f *field) transaction.Code {
	if len(text) >= f.Min && len(text) <= f.Max && f.Min <= 1 {
		return ""
	}
	n := 0
	for _, c := range text {
		if c&0xc0 != 0x80 { // the text is valid UTF-8: every other byte begins a code point
			n++
		}
	}
	switch {
	case n < f.Min:
		return transaction.CodeStringTooShort
	case n > f.Max:
		return transaction.CodeStringTooLong
	default:
		return ""
	}
}

// capture keeps the string at offset if the field's value is needed later.
func (s *Scanner) capture(text []byte, offset int, f *field) {
	switch f.Capture {
	case schema.CaptureNone:
	case schema.CapturePaymentType:
		s.paymentType = text
	case schema.CaptureEntityType:
		if string(text) == "unknown" {
			s.entity.isUnknown = true
		}
	case schema.CaptureByExternalID:
		if len(text) > 0 && len(text) <= transaction.MaxIDBytes {
			s.entity.id, s.entity.idOffset = text, offset
		}
	case schema.CaptureUnknownID, schema.CaptureFullName:
		if s.rules.CollectNames {
			s.captureUnknown(text, offset, f)
		}
	default:
		if len(text) > 0 {
			s.captureID(text, offset, f)
		}
	}
}

// captureUnknown keeps the ID or the name of an unknown entity.
func (s *Scanner) captureUnknown(text []byte, offset int, f *field) {
	if f.Capture == schema.CaptureUnknownID {
		s.entity.unknownID = text
		return
	}
	s.entity.fullName, s.entity.fullNameOffset = text, offset
}

// captureID keeps an identifier of the line.
func (s *Scanner) captureID(id []byte, offset int, f *field) {
	switch f.Capture {
	case schema.CaptureRequestUUID:
		s.result.RequestUUID = id
	case schema.CapturePaymentID:
		s.result.PaymentExternalID = id
	case schema.CaptureTransactionID:
		s.result.TransactionExternalID = id
	case schema.CaptureModificationID:
		s.result.ModificationID, s.result.ModificationOffset = id, offset
	}
}
