package console

// lineHelp says of each code of an error of a line what causes it and what to do, as docs/errors.md does, which a test
// compares with it.
var lineHelp = map[string]struct{ reason, hint string }{
	"json_invalid": {
		reason: "The line violates the grammar of JSON (RFC 8259) or is not UTF-8.",
		hint:   "Write lines with a JSON library, as UTF-8; offset is where reading stopped.",
	},
	"json_duplicate_key": {
		reason: "An object has the same key twice, even if it is escaped differently.",
		hint:   "Keep one of the two.",
	},
	"json_too_deep": {
		reason: "More than 64 objects and arrays are nested.",
		hint:   "Flatten the line; no field of the schema needs more than five levels.",
	},
	"line_too_long": {
		reason: "The line is longer than 256 KiB (a setting), even if it is blank.",
		hint:   "Put one transaction on each line; look for missing line feeds and for padding.",
	},
	"missing": {
		reason: "A required field is absent or null.",
		hint:   "Add it.",
	},
	"extra_forbidden": {
		reason: "A transaction or an entity has no such key.",
		hint:   "Remove it or correct its spelling; put data of your own into additional_fields.",
	},
	"string_type": {
		reason: "The value has the wrong JSON type.",
		hint: "\"12.50\" is a string, 12.50 a number; an integer has no fraction and no exponent; a line is one " +
			"object. null counts as absent as the value of a key, and has the wrong type inside an array.",
	},
	"number_type": {
		reason: "The value has the wrong JSON type.",
		hint: "\"12.50\" is a string, 12.50 a number; an integer has no fraction and no exponent; a line is one " +
			"object. null counts as absent as the value of a key, and has the wrong type inside an array.",
	},
	"integer_type": {
		reason: "The value has the wrong JSON type.",
		hint: "\"12.50\" is a string, 12.50 a number; an integer has no fraction and no exponent; a line is one " +
			"object. null counts as absent as the value of a key, and has the wrong type inside an array.",
	},
	"object_type": {
		reason: "The value has the wrong JSON type.",
		hint: "\"12.50\" is a string, 12.50 a number; an integer has no fraction and no exponent; a line is one " +
			"object. null counts as absent as the value of a key, and has the wrong type inside an array.",
	},
	"array_type": {
		reason: "The value has the wrong JSON type.",
		hint: "\"12.50\" is a string, 12.50 a number; an integer has no fraction and no exponent; a line is one " +
			"object. null counts as absent as the value of a key, and has the wrong type inside an array.",
	},
	"string_too_short": {
		reason: "The length is out of range: fields are measured in characters, IDs have 1 to 255 bytes.",
		hint:   "Correct the length; an ID must not be empty.",
	},
	"string_too_long": {
		reason: "The length is out of range: fields are measured in characters, IDs have 1 to 255 bytes.",
		hint:   "Correct the length; an ID must not be empty.",
	},
	"enum": {
		reason: "The value is not one of the allowed words.",
		hint:   "Check spelling and case; the message lists the words.",
	},
	"uuid": {
		reason: "request_uuid does not have the form of 8-4-4-4-12 hexadecimal digits.",
		hint:   "Keep the hyphens.",
	},
	"country_code": {
		reason: "The value is not an ISO 3166 alpha-2 code in upper case that is in force or was withdrawn since 1999.",
		hint:   "Write GB, not UK, gb or GBR.",
	},
	"currency_code": {
		reason: "The value is not an ISO 4217 code in upper case that is current or was withdrawn since 1999.",
		hint:   "Write EUR, not eur or €.",
	},
	"datetime": {
		reason: "The value does not follow RFC 3339; only the offset may be left out, for UTC.",
		hint:   "Write 2026-01-31T23:59:59.123Z, with T and seconds.",
	},
	"created_at_out_of_range": {
		reason: "By default, more than 720 hours after the file was received; tenants may have other limits.",
		hint:   "Correct the date; check that seconds were not written as milliseconds.",
	},
	"ip_address": {
		reason: "The value is neither an IPv4 nor an IPv6 address.",
		hint:   "Send an address, without a port and not a host name.",
	},
	"bic": {
		reason: "The value does not consist of 8 or 11 letters and digits.",
		hint:   "Remove spaces and hyphens.",
	},
	"number_range": {
		reason: "The number is outside the declared range or too large for a 64-bit floating-point number.",
		hint:   "card_number holds the last four digits only.",
	},
	"entity_missing": {
		reason: "Neither by_external_id nor external_entity_type is given.",
		hint:   "Give one of the two.",
	},
	"entity_ambiguous": {
		reason: "Both are given, or by_external_id appears inside or beside unknown.",
		hint:   "Keep one of them.",
	},
	"entity_type_invalid": {
		reason: "external_entity_type is not unknown.",
		hint:   "Name onboarded entities by by_external_id.",
	},
	"entity_not_found": {
		reason: "The onboarding system has no entity with this ID.",
		hint:   "Onboard it first, or send it as unknown.",
	},
	"entity_not_onboarded": {
		reason: "The entity exists but is not fully onboarded.",
		hint:   "Wait until it is.",
	},
	"screening_hit": {
		reason: "The name is like that of an entry of a watchlist, and the screening was asked to reject such lines " +
			"(on_hit).",
		hint: "See the alert, which names and explains the entry; send the line again without rejecting if it means " +
			"somebody else.",
	},
	"main_entity_unknown": {
		reason: "Neither sender nor receiver is a known entity (or, by tenant setting, the one that payment_type " +
			"selects is not).",
		hint: "Give the entity that the transaction is about by by_external_id.",
	},
	"duplicate_modification_id": {
		reason: "Other lines of the batch have the same modification.external_id; all of them are rejected. " +
			"other_lines names the first of them, other_lines_total counts them.",
		hint: "Give each modification an ID of its own; send the right one in a new batch.",
	},
}
