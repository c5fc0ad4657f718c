package transaction

// Codes of a line that is not readable as JSON. Such a line has this one finding and no other.
const (
	CodeJSONInvalid      Code = "json_invalid"       // breaks the grammar of RFC 8259 or is not UTF-8
	CodeJSONDuplicateKey Code = "json_duplicate_key" // an object has the same key twice
	CodeJSONTooDeep      Code = "json_too_deep"      // more than MaxDepth objects and arrays inside each other
	CodeLineTooLong      Code = "line_too_long"      // longer than Rules.MaxLineBytes
)

// Codes of a value that the schema does not allow.
const (
	CodeMissing             Code = "missing"
	CodeExtraForbidden      Code = "extra_forbidden"
	CodeStringType          Code = "string_type"
	CodeNumberType          Code = "number_type"
	CodeIntegerType         Code = "integer_type"
	CodeObjectType          Code = "object_type"
	CodeArrayType           Code = "array_type"
	CodeStringTooShort      Code = "string_too_short"
	CodeStringTooLong       Code = "string_too_long"
	CodeEnum                Code = "enum"
	CodeUUID                Code = "uuid"
	CodeCountry             Code = "country_code"
	CodeCurrency            Code = "currency_code"
	CodeDateTime            Code = "datetime"
	CodeCreatedAtOutOfRange Code = "created_at_out_of_range"
	CodeIPAddress           Code = "ip_address"
	CodeBIC                 Code = "bic"
	CodeNumberRange         Code = "number_range"
)

// Codes of the entities of a line. CodeEntityNotFound and CodeEntityNotOnboarded are not the scanner's: they need the
// Entities table.
const (
	CodeEntityMissing      Code = "entity_missing"
	CodeEntityAmbiguous    Code = "entity_ambiguous"
	CodeEntityTypeInvalid  Code = "entity_type_invalid"
	CodeEntityNotFound     Code = "entity_not_found"
	CodeEntityNotOnboarded Code = "entity_not_onboarded"
	CodeMainEntityUnknown  Code = "main_entity_unknown"
)

// Sentences of the unreadable lines, by cause.
const (
	msgEndsEarly    = "The line ends before its JSON object is complete."
	msgUnexpected   = "The line is not valid JSON: this character cannot stand here."
	msgTrailing     = "The line is not valid JSON: only one object may stand on a line, and nothing after it."
	msgControl      = "The line is not valid JSON: control characters in a string must be written as escapes."
	msgEscape       = "The line is not valid JSON: this escape does not exist or is not complete."
	msgSurrogate    = "The line is not valid JSON: this \\u escape is half of a surrogate pair."
	msgUTF8         = "The line is not valid UTF-8; save the file as UTF-8."
	msgNumber       = "The line is not valid JSON: this number is not written as JSON writes numbers."
	msgLiteral      = "The line is not valid JSON: the only bare words are true, false and null."
	msgDuplicateKey = "This key stands twice in its object; remove one of them."
	msgTooDeep      = "Objects and arrays are nested too deeply; at most 64 levels are allowed."
	msgTooLong      = "The line is too long; split the file so that each transaction has a line of its own."
	msgExtra        = "This key is not part of the schema; remove it or correct its name."
	msgNoMainEntity = "The main entity must be onboarded: give sender or receiver by by_external_id."
	msgNotObject    = "A line must be one JSON object: one transaction."
)

// sentence is what a finding says about the field called name. Every sentence is made once, when the schema is built.
func sentence(code Code, f *field) string {
	if of, ok := itemsOf[f.kind]; ok && (code == CodeStringType || code == CodeObjectType && f.kind == kindObjects) {
		return of + f.name + " must be " + map[Code]string{CodeStringType: "a string.", CodeObjectType: "an object."}[code]
	}
	switch code {
	case CodeMissing:
		return f.name + " is required and must not be null."
	case CodeStringType:
		return f.name + " must be a string."
	case CodeNumberType:
		return f.name + " must be a number."
	case CodeIntegerType:
		return f.name + " must be a whole number, without fraction and exponent."
	case CodeObjectType:
		return f.name + " must be an object."
	case CodeArrayType:
		return f.name + " must be an array."
	case CodeStringTooShort:
		return f.name + " is too short; " + f.lengthRule() + "."
	case CodeStringTooLong:
		return f.name + " is too long; " + f.lengthRule() + "."
	case CodeEnum:
		return f.name + " must be one of " + listed(f.enum) + "."
	case CodeUUID:
		return f.name + " must be a UUID: 8-4-4-4-12 hexadecimal digits."
	case CodeCountry:
		return f.name + " must be an ISO 3166 alpha-2 country code in upper case."
	case CodeCurrency:
		return f.name + " must be an ISO 4217 currency code in upper case."
	case CodeDateTime:
		return f.name + " must be a date-time such as 2026-01-31T23:59:59.123Z; the offset may be left out for UTC."
	case CodeCreatedAtOutOfRange:
		return f.name + " lies too far from the time at which the file was received."
	case CodeIPAddress:
		return f.name + " must be an IPv4 or IPv6 address."
	case CodeBIC:
		return f.name + " must be a BIC: 8 or 11 letters and digits."
	case CodeNumberRange:
		return f.name + " is out of range; " + f.rangeRule() + "."
	case CodeEntityMissing:
		return f.name + " must name its entity: by by_external_id, or by external_entity_type and unknown."
	case CodeEntityAmbiguous:
		if f.kind == kindNotHere {
			return "An unknown entity must not carry by_external_id; keep external_id only."
		}
		return f.name + " must name its entity in one way: either by_external_id, or external_entity_type and unknown."
	case CodeEntityTypeInvalid:
		return f.name + " must be unknown; for onboarded entities use by_external_id instead."
	case CodeMainEntityUnknown:
		return "The main entity must be onboarded and given by by_external_id; " + f.name + " is not."
	default:
		return f.name + " is not valid."
	}
}

// itemsOf begins the sentence about something inside a collection.
var itemsOf = map[kind]string{
	kindObjects: "Each item of ",
	kindTexts:   "Each item of ",
	kindTextMap: "Each value of ",
}
