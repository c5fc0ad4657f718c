package transaction

// Code is the stable name of a kind of finding. docs/errors.md explains each of them.
type Code string

// Codes of a line that cannot be read as JSON. Such a line has one finding only.
const (
	// CodeJSONInvalid is the code of a line that breaks the grammar of RFC 8259 or is not UTF-8.
	CodeJSONInvalid Code = "json_invalid"

	// CodeJSONDuplicateKey is the code of a line in which an object has the same key twice.
	CodeJSONDuplicateKey Code = "json_duplicate_key"

	// CodeJSONTooDeep is the code of a line with more than MaxDepth objects and arrays nested in each other.
	CodeJSONTooDeep Code = "json_too_deep"

	// CodeLineTooLong is the code of a line of more than Rules.MaxLineBytes.
	CodeLineTooLong Code = "line_too_long"
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

// Codes of the entities of a line. The scanner does not give CodeEntityNotFound and CodeEntityNotOnboarded: these need
// the entities of the tenant.
const (
	CodeEntityMissing      Code = "entity_missing"
	CodeEntityAmbiguous    Code = "entity_ambiguous"
	CodeEntityTypeInvalid  Code = "entity_type_invalid"
	CodeEntityNotFound     Code = "entity_not_found"
	CodeEntityNotOnboarded Code = "entity_not_onboarded"
	CodeMainEntityUnknown  Code = "main_entity_unknown"
)

// Finding is one thing wrong with a line.
type Finding struct {
	// Code is the kind of finding.
	Code Code

	// Pointer is the place in the line by RFC 6901, "" for the line itself.
	Pointer string

	// Message has the error and the remedy. It repeats no value of the line.
	Message string

	// Offset is the place in the line in bytes, from 0.
	Offset int
}

// Reference is one use of an entity of the tenant by a line.
type Reference struct {
	// Role is the part that the entity plays.
	Role Role

	// ID is the value of by_external_id, without escapes.
	ID []byte

	// Offset is the place of that value in the line in bytes, from 0.
	Offset int
}

// Name is the name that a line gives an entity which it describes itself.
type Name struct {
	// Role is the part that the entity plays.
	Role Role

	// ExternalID is the value of unknown/external_id, without escapes; nil if it is absent or not a string.
	ExternalID []byte

	// FullName is the value of unknown/full_name, without escapes.
	FullName []byte

	// Offset is the place of that value in the line in bytes, from 0.
	Offset int
}

// Result is the result of scanning one line. It and everything in it is valid until the scanner reads its next line.
type Result struct {
	// Blank is set for a line that holds only JSON white space and thus no transaction.
	Blank bool

	// Findings are ordered by offset. They are empty for a line that is valid as far as the line alone can show.
	Findings []Finding

	// Dropped is the number of findings beyond Rules.MaxFindings. These are the findings made last; a missing field is
	// found at the end of its object.
	Dropped int

	// RequestUUID, PaymentExternalID, TransactionExternalID and ModificationID are the identifiers of the line without
	// escapes; nil if the field is absent, empty or not a string. Of a line with broken JSON, those are given that were
	// complete before the first error.
	RequestUUID           []byte
	PaymentExternalID     []byte
	TransactionExternalID []byte
	ModificationID        []byte

	// ModificationOffset is the place of the value of ModificationID in the line in bytes, from 0. A report of
	// duplicates shows it.
	ModificationOffset int

	// References are the well-formed uses of by_external_id, whose entities have yet to be looked up.
	References []Reference

	// Names are the names of unknown entities that can be read, in the order of the line, even if the line has errors
	// in these entities. They are empty unless Rules.CollectNames is set.
	Names []Name

	// MainEntity is the role of the entity for which the transaction is monitored; NoRole if the line names none.
	MainEntity Role
}

// Identity is the part of a line that is stored beside its text. It is valid until the scanner reads its next line.
type Identity struct {
	// Blank is set for a line that holds only JSON white space and thus no transaction.
	Blank bool

	// TransactionExternalID and ModificationID are the identifiers of the line without escapes.
	TransactionExternalID []byte
	ModificationID        []byte

	// MainEntity is the role of the entity for which the transaction is monitored.
	MainEntity Role
}
