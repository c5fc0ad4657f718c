package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/shared/ingest/transaction"
)

// Messages of a line that cannot be read, by cause, and of findings that belong to no field of the table. Each says the
// error and, where that does not follow from it, the remedy.
const (
	MessageEndsEarly = "The line ends before its JSON object is complete; write each transaction on one line."

	MessageTrailingData = "The line is not valid JSON: a line holds one object and nothing after it; " +
		"write each transaction on a line of its own."

	MessageControlCharacter = "The line is not valid JSON: " +
		"write this control character as an escape sequence, such as \\u0009."

	MessageEscape = "The line is not valid JSON: " +
		"this escape sequence does not exist or is incomplete; write a backslash as \\\\."

	MessageSurrogate = "The line is not valid JSON: this \\u escape is half of a surrogate pair; write both halves."

	MessageUTF8 = "The line is not valid UTF-8; save the file as UTF-8."

	MessageNumber = "The line is not valid JSON: this is not how JSON writes a number; write it like -12.5 or 1e3."

	MessageLiteral = "The line is not valid JSON: only true, false and null are written without quotation marks."

	MessageDuplicateKey = "This key appears twice in its object; remove one of the two."

	MessageTooDeep = "Objects and arrays are nested too deeply; at most 64 levels are allowed."

	MessageExtraKey = "This key is not part of the schema; remove it or correct its spelling."

	MessageNoMainEntity = "Neither the sender nor the receiver is an onboarded entity; " +
		"identify at least one of them by by_external_id."

	MessageNotObject = "A line must be one JSON object that holds one transaction."

	MessageEntityNotFound = "The onboarding system has no entity of this ID."

	MessageEntityNotOnboarded = "The entity is not fully onboarded."
)

// MessageTooLong is the message of a line that is longer than a number of bytes.
func MessageTooLong(limit int) string {
	return "The line is longer than " + strconv.Itoa(limit) + " bytes; write each transaction on a line of its own."
}

// MessageUnexpected returns the message of a line that has a character where JSON does not allow it. One that is not
// ASCII is named by its number, and shown if it is printable. For ASCII it allocates nothing.
func MessageUnexpected(c rune) string {
	if c < utf8.RuneSelf {
		return unexpectedASCII[c]
	}
	return messageUnexpected(fmt.Sprintf("%#U", c))
}

func messageUnexpected(name string) string {
	return "The line is not valid JSON: the character " + name + " is not allowed here."
}

var unexpectedASCII = func() (messages [utf8.RuneSelf]string) {
	for c := range messages {
		name := string(rune(c))
		if c <= ' ' || c == 0x7f {
			name = fmt.Sprintf("%U", c)
		}
		messages[c] = messageUnexpected(name)
	}
	return messages
}()

// Codes lists the codes of the findings that a scanner can make at the field itself. The items of a collection count as
// the field.
func (f *Field) Codes() []transaction.Code {
	codes := kindCodes[f.Kind]
	if f.Required {
		codes = append([]transaction.Code{transaction.CodeMissing}, codes...)
	}
	if f.Kind == KindString && f.Max != Unlimited {
		codes = append([]transaction.Code{transaction.CodeStringTooLong}, codes...)
		if f.Min > 0 {
			codes = append([]transaction.Code{transaction.CodeStringTooShort}, codes...)
		}
	}
	return codes
}

// kindCodes lists, for each kind, the codes of values that break its rule.
var kindCodes = [...][]transaction.Code{
	KindString:    {transaction.CodeStringType},
	KindID:        {transaction.CodeStringType, transaction.CodeStringTooShort, transaction.CodeStringTooLong},
	KindUUID:      {transaction.CodeStringType, transaction.CodeUUID},
	KindEnum:      {transaction.CodeStringType, transaction.CodeEnum},
	KindCountry:   {transaction.CodeStringType, transaction.CodeCountry},
	KindCurrency:  {transaction.CodeStringType, transaction.CodeCurrency},
	KindDateTime:  {transaction.CodeStringType, transaction.CodeDateTime},
	KindCreatedAt: {transaction.CodeStringType, transaction.CodeDateTime, transaction.CodeCreatedAtOutOfRange},
	KindIP: {
		transaction.CodeStringType, transaction.CodeStringTooShort, transaction.CodeStringTooLong,
		transaction.CodeIPAddress,
	},
	KindBIC: {
		transaction.CodeStringType, transaction.CodeStringTooShort, transaction.CodeStringTooLong, transaction.CodeBIC,
	},
	KindEntityType: {transaction.CodeStringType, transaction.CodeEntityTypeInvalid},
	KindNumber:     {transaction.CodeNumberType, transaction.CodeNumberRange},
	KindInteger:    {transaction.CodeIntegerType, transaction.CodeNumberRange},
	KindObject:     {transaction.CodeObjectType, transaction.CodeMissing},
	KindEntity: {
		transaction.CodeObjectType, transaction.CodeEntityMissing, transaction.CodeEntityAmbiguous,
		transaction.CodeMainEntityUnknown,
	},
	KindObjects:   {transaction.CodeArrayType, transaction.CodeObjectType},
	KindStrings:   {transaction.CodeArrayType, transaction.CodeStringType},
	KindStringMap: {transaction.CodeObjectType, transaction.CodeStringType},
	KindForbidden: {transaction.CodeEntityAmbiguous},
}

// Message returns the message of a finding at the field: one sentence that says what is wrong and what to do, and
// repeats no value of a line.
func (f *Field) Message(code transaction.Code) string {
	if f.Kind == KindForbidden {
		return "An unknown entity must not have by_external_id; keep only external_id."
	}
	if items, ok := f.itemsMessage(code); ok {
		return items
	}
	switch code {
	case transaction.CodeMissing:
		return f.Name + " is required and must not be null."
	case transaction.CodeStringType:
		return f.Name + " must be a string."
	case transaction.CodeNumberType:
		return f.Name + " must be a number."
	case transaction.CodeIntegerType:
		return f.Name + " must be a whole number, without a fraction or an exponent."
	case transaction.CodeObjectType:
		return f.Name + " must be an object."
	case transaction.CodeArrayType:
		return f.Name + " must be an array."
	case transaction.CodeStringTooShort:
		return f.Name + " is too short; " + f.LengthRule() + "."
	case transaction.CodeStringTooLong:
		return f.Name + " is too long; " + f.LengthRule() + "."
	case transaction.CodeEnum:
		return f.Name + " must be one of " + f.EnumList() + "."
	case transaction.CodeUUID:
		return f.Name + " must be a UUID: 8-4-4-4-12 hexadecimal digits."
	case transaction.CodeCountry:
		return f.Name + " must be an ISO 3166 alpha-2 country code in upper case, such as DE."
	case transaction.CodeCurrency:
		return f.Name + " must be an ISO 4217 currency code in upper case, such as EUR."
	case transaction.CodeDateTime:
		return f.Name + " must be a date-time such as 2026-01-31T23:59:59.123Z; the offset may be left out for UTC."
	case transaction.CodeCreatedAtOutOfRange:
		return f.Name + " is too far from the time at which the file was received; correct the date."
	case transaction.CodeIPAddress:
		return f.Name + " must be an IPv4 or IPv6 address, without a port."
	case transaction.CodeBIC:
		return f.Name + " must be a BIC: 8 or 11 letters and digits."
	case transaction.CodeNumberRange:
		return f.Name + " is out of range; " + f.RangeRule() + "."
	case transaction.CodeEntityMissing:
		return f.Name + " must identify its entity: give by_external_id, or external_entity_type with unknown."
	case transaction.CodeEntityAmbiguous:
		return f.Name + " must identify its entity in one way only: " +
			"by by_external_id, or by external_entity_type with unknown."
	case transaction.CodeEntityTypeInvalid:
		return f.Name + " must be unknown; identify an onboarded entity by by_external_id instead."
	case transaction.CodeMainEntityUnknown:
		return "The main entity must be onboarded and identified by by_external_id; " + f.Name + " is not."
	default:
		return f.Name + " is not valid."
	}
}

// itemsMessage returns the message of a finding at something inside a collection.
func (f *Field) itemsMessage(code transaction.Code) (message string, ok bool) {
	switch {
	case f.Kind == KindObjects && code == transaction.CodeObjectType:
		return "Each item of " + f.Name + " must be an object.", true
	case f.Kind == KindStrings && code == transaction.CodeStringType:
		return "Each item of " + f.Name + " must be a string.", true
	case f.Kind == KindStringMap && code == transaction.CodeStringType:
		return "Each value of " + f.Name + " must be a string.", true
	}
	return "", false
}

// LengthRule says how long the string may be, as a clause of a sentence.
func (f *Field) LengthRule() string {
	unit := " characters"
	if f.Kind == KindID {
		unit = " bytes"
	}
	switch {
	case f.Min == f.Max && f.Max == 1:
		return "exactly one character is expected"
	case f.Min == 0:
		return "at most " + strconv.Itoa(f.Max) + unit + " are allowed"
	default:
		return strconv.Itoa(f.Min) + " to " + strconv.Itoa(f.Max) + unit + " are allowed"
	}
}

// RangeRule says which numbers are allowed, as a clause of a sentence.
func (f *Field) RangeRule() string {
	if f.Kind == KindInteger {
		return strconv.Itoa(f.Min) + " to " + strconv.Itoa(f.Max) + " is allowed"
	}
	return "it must fit a 64-bit floating-point number"
}

// EnumList lists the allowed values: "a, b or c".
func (f *Field) EnumList() string {
	last := len(f.Enum) - 1
	if last == 0 {
		return f.Enum[0]
	}
	return strings.Join(f.Enum[:last], ", ") + " or " + f.Enum[last]
}
