// Package remedy has the cause and the remedy of each code of an error of a line, in the words of docs/errors.md, for
// programs that show errors to people.
package remedy

import (
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/validation"
)

// Remedy explains a code, in sentences.
type Remedy struct {
	// Reason is the cause of the error.
	Reason string
	// Hint is what to do about it.
	Hint string
}

// Of returns the remedy for errors with a code; the zero value for a code that is not known.
func Of(code transaction.Code) Remedy { return remedies[code] }

var (
	wrongType = Remedy{
		Reason: "The value has the wrong JSON type.",
		Hint: "\"12.50\" is a string, 12.50 a number; an integer has no fraction and no exponent; a line is one " +
			"object. null counts as absent as the value of a key, and has the wrong type inside an array.",
	}
	wrongLength = Remedy{
		Reason: "The length is out of range: fields are measured in characters, IDs have 1 to 255 bytes.",
		Hint:   "Correct the length; an ID must not be empty.",
	}
)

var remedies = map[transaction.Code]Remedy{
	transaction.CodeJSONInvalid: {
		Reason: "The line violates the grammar of JSON (RFC 8259) or is not UTF-8.",
		Hint:   "Write lines with a JSON library, as UTF-8; offset is where reading stopped.",
	},
	transaction.CodeJSONDuplicateKey: {
		Reason: "An object has the same key twice, even if it is escaped differently.",
		Hint:   "Keep one of the two.",
	},
	transaction.CodeJSONTooDeep: {
		Reason: "More than 64 objects and arrays are nested.",
		Hint:   "Flatten the line; no field of the schema needs more than five levels.",
	},
	transaction.CodeLineTooLong: {
		Reason: "The line is longer than 256 KiB (a setting), even if it is blank.",
		Hint:   "Put one transaction on each line; look for missing line feeds and for padding.",
	},
	transaction.CodeMissing: {
		Reason: "A required field is absent or null.",
		Hint:   "Add it.",
	},
	transaction.CodeExtraForbidden: {
		Reason: "A transaction or an entity has no such key.",
		Hint:   "Remove it or correct its spelling; put data of your own into additional_fields.",
	},
	transaction.CodeStringType:     wrongType,
	transaction.CodeNumberType:     wrongType,
	transaction.CodeIntegerType:    wrongType,
	transaction.CodeObjectType:     wrongType,
	transaction.CodeArrayType:      wrongType,
	transaction.CodeStringTooShort: wrongLength,
	transaction.CodeStringTooLong:  wrongLength,
	transaction.CodeEnum: {
		Reason: "The value is not one of the allowed words.",
		Hint:   "Check spelling and case; the message lists the words.",
	},
	transaction.CodeUUID: {
		Reason: "request_uuid does not have the form of 8-4-4-4-12 hexadecimal digits.",
		Hint:   "Keep the hyphens.",
	},
	transaction.CodeCountry: {
		Reason: "The value is neither XK nor an ISO 3166 alpha-2 code in upper case that is in force or was " +
			"withdrawn since 1999.",
		Hint: "Write GB, not UK, gb or GBR.",
	},
	transaction.CodeCurrency: {
		Reason: "The value is not an ISO 4217 code in upper case that is current or was withdrawn since 1999.",
		Hint:   "Write EUR, not eur or €.",
	},
	transaction.CodeDateTime: {
		Reason: "The value does not follow RFC 3339; only the offset may be left out, for UTC.",
		Hint: "Write 2026-01-31T23:59:59.123Z: with T and Z in upper case, seconds from 00 to 59, and at most nine " +
			"decimals.",
	},
	transaction.CodeCreatedAtOutOfRange: {
		Reason: "The time is more than 720 hours after the file was received; tenants may have another limit, and " +
			"one for the past.",
		Hint: "Correct the date; check the year, and that day and month are not swapped.",
	},
	transaction.CodeIPAddress: {
		Reason: "The value is neither an IPv4 nor an IPv6 address.",
		Hint:   "Send an address, without a port and not a host name.",
	},
	transaction.CodeBIC: {
		Reason: "The value does not consist of 8 or 11 letters and digits.",
		Hint:   "Remove spaces and hyphens.",
	},
	transaction.CodeNumberRange: {
		Reason: "The number is outside the declared range or too large for a 64-bit floating-point number.",
		Hint:   "card_number holds the last four digits only.",
	},
	transaction.CodeEntityMissing: {
		Reason: "Neither by_external_id nor external_entity_type is given.",
		Hint:   "Give one of the two.",
	},
	transaction.CodeEntityAmbiguous: {
		Reason: "Both are given, or by_external_id appears inside or beside unknown.",
		Hint:   "Keep one of them.",
	},
	transaction.CodeEntityTypeInvalid: {
		Reason: "external_entity_type is not unknown.",
		Hint:   "Write unknown in lower case, or name an onboarded entity by by_external_id.",
	},
	transaction.CodeEntityNotFound: {
		Reason: "The onboarding system has no entity with this ID.",
		Hint:   "Onboard it first, or send it as unknown.",
	},
	transaction.CodeEntityNotOnboarded: {
		Reason: "The entity exists but is not fully onboarded.",
		Hint:   "Wait until it is.",
	},
	validation.CodeScreeningHit: {
		Reason: "The name is like that of an entry of a watchlist, and the screening was asked to reject such lines " +
			"(on_hit).",
		Hint: "See the alert, which names and explains the entry; send the line again without rejecting if it means " +
			"somebody else.",
	},
	transaction.CodeMainEntityUnknown: {
		Reason: "Neither sender nor receiver is a known entity (or, by tenant setting, the one that payment_type " +
			"selects is not).",
		Hint: "Give the entity that the transaction is about by by_external_id.",
	},
	validation.CodeDuplicateModificationID: {
		Reason: "Other lines of the batch have the same modification.external_id; all of them are rejected. " +
			"other_lines names the first of them, other_lines_total counts them.",
		Hint: "Give each modification an ID of its own; send the right one in a new batch.",
	},
}
