package transaction

import (
	"math"
	"strconv"
	"strings"
)

// kind is the rule that a value follows.
type kind uint8

const (
	kindText       kind = iota // string of min to max code points
	kindID                     // string of 1 to MaxIDBytes bytes
	kindUUID                   // string, 8-4-4-4-12 hexadecimal
	kindEnum                   // string, one of enum
	kindCountry                // string, ISO 3166 alpha-2
	kindCurrency               // string, ISO 4217
	kindDateTime               // string, RFC 3339, offset optional
	kindCreatedAt              // kindDateTime inside the window of Rules
	kindIP                     // string of min to max code points, an IP address
	kindBIC                    // string of min to max code points, 8 or 11 letters and digits
	kindEntityType             // string, the literal unknown
	kindNumber                 // finite number
	kindInteger                // whole number from min to max
	kindObject                 // object of the schema
	kindEntity                 // object of the schema with the entity rules
	kindObjects                // array of objects of the schema
	kindTexts                  // array of strings
	kindTextMap                // object of any keys with string values
	kindNotHere                // a key that its object names only to refuse it
)

// unlimited is the max of a string without a length rule.
const unlimited = math.MaxInt

// slot says which part of the Result a value is kept in.
type slot uint8

const (
	slotNone slot = iota
	slotRequestUUID
	slotTransactionID
	slotModificationID
	slotPaymentType
	slotByExternalID
	slotEntityType
)

// field is one row of the schema: one member of an object.
type field struct {
	name     string
	kind     kind
	required bool
	min, max int // length of a string in code points, or range of an integer
	enum     []string
	object   *object // of kindObject, kindEntity, kindObjects
	role     Role    // of kindEntity
	slot     slot

	words    *wordTable      // of enum
	index    int             // in object.fields
	bit      uint64          // 1<<index
	plain    bool            // a string without any rule
	key      []byte          // the name
	messages map[Code]string // one for each code that the field can have
}

// object is one object of the schema.
type object struct {
	name     string
	closed   bool // a key that is not listed is an error
	fields   []field
	byName   map[string]*field
	required uint64 // bit i: fields[i]
}

// schemaObjects are all objects of the schema, the line itself first.
var schemaObjects = []*object{lineObject, entityObject, unknownObject, modificationObject, paymentOptionObject, addressObject}

var lineObject = newObject("Transaction", closed,
	field{name: "request_uuid", kind: kindUUID, required: true, slot: slotRequestUUID},
	field{name: "payment_external_id", kind: kindID, required: true},
	field{name: "transaction_external_id", kind: kindID, required: true, slot: slotTransactionID},
	field{name: "payment_source_country", kind: kindCountry},
	field{name: "payment_target_country", kind: kindCountry},
	field{name: "payment_method", kind: kindText},
	field{name: "payment_type", kind: kindEnum, enum: []string{"payin", "payout", "ledger"}, slot: slotPaymentType},
	field{name: "additional_fields", kind: kindTextMap},
	field{name: "sender", kind: kindEntity, required: true, object: entityObject, role: Sender},
	field{name: "sending_partner", kind: kindEntity, object: entityObject, role: SendingPartner},
	field{name: "receiver", kind: kindEntity, required: true, object: entityObject, role: Receiver},
	field{name: "receiving_partner", kind: kindEntity, object: entityObject, role: ReceivingPartner},
	field{name: "modification", kind: kindObject, required: true, object: modificationObject},
	field{name: "business_settlement_account", kind: kindText, max: 34},
	field{name: "payment_method_variant", kind: kindText},
	field{name: "description", kind: kindText},
	field{name: "transaction_fee", kind: kindNumber},
	field{name: "individual_interaction_type", kind: kindText},
	field{name: "geo_latitude", kind: kindNumber},
	field{name: "geo_longitude", kind: kindNumber},
	field{name: "user_agent", kind: kindText},
	field{name: "ip_address", kind: kindIP, min: 7, max: 50},
	field{name: "ip_country_code", kind: kindCountry},
	field{name: "sender_ip_address", kind: kindIP, min: 7, max: 50},
	field{name: "receiver_ip_address", kind: kindIP, min: 7, max: 50},
	field{name: "device_finger_print", kind: kindText},
	field{name: "url_redirect_success", kind: kindText},
	field{name: "url_redirect_failure", kind: kindText},
	field{name: "url_redirect_error", kind: kindText},
	field{name: "issuer_authorisation_code", kind: kindText},
	field{name: "issuer_raw_response", kind: kindText},
	field{name: "response_3d_secure", kind: kindEnum, enum: []string{"Y", "N", "U", "A", "E"}},
	field{name: "response_cvc2", kind: kindText, min: 1, max: 1},
	field{name: "response_avs", kind: kindText, min: 1, max: 1},
	field{name: "sender_payment_info", kind: kindObject, object: paymentOptionObject},
	field{name: "receiver_payment_info", kind: kindObject, object: paymentOptionObject},
	field{name: "billing", kind: kindObject, object: addressObject},
	field{name: "shipping", kind: kindObject, object: addressObject},
)

var entityObject = newObject("Entity", closed,
	field{name: "by_external_id", kind: kindID, slot: slotByExternalID},
	field{name: "external_entity_type", kind: kindEntityType, slot: slotEntityType},
	field{name: "unknown", kind: kindObject, object: unknownObject},
)

// The places of an entity's members in entityObject, for the entity rules.
const (
	memberByExternalID = 1 << iota
	memberEntityType
	memberUnknown
)

var unknownObject = newObject("Unknown", open,
	field{name: "external_id", kind: kindID, required: true},
	field{name: "full_name", kind: kindText},
	field{name: "risk_assessment", kind: kindText},
	field{name: "label", kind: kindEnum, enum: []string{"sender", "receiver", "merchant", "consumer", "merchant_profile"}},
	field{name: "email", kind: kindText},
	field{name: "phone_number", kind: kindText},
	field{name: "additional_fields", kind: kindTextMap},
	field{name: "peer_group_external_id", kind: kindID},
	field{name: "addresses", kind: kindObjects, object: addressObject},
	field{name: "payment_options", kind: kindObjects, object: paymentOptionObject},
	field{name: "entity_groups_external", kind: kindTexts},
	field{name: "by_external_id", kind: kindNotHere},
)

var modificationObject = newObject("Modification", open,
	field{name: "external_id", kind: kindID, required: true, slot: slotModificationID},
	field{name: "type", kind: kindEnum, required: true,
		enum: []string{"authorised", "capture", "settlement", "cancel", "failure", "refund", "chargeback"}},
	field{name: "amount", kind: kindNumber, required: true},
	field{name: "monitoring_amount", kind: kindNumber},
	field{name: "original_amount", kind: kindNumber},
	field{name: "currency", kind: kindCurrency, required: true},
	field{name: "monitoring_currency", kind: kindCurrency},
	field{name: "original_currency", kind: kindCurrency},
	field{name: "created_at", kind: kindCreatedAt, required: true},
	field{name: "reason", kind: kindText},
	field{name: "settled_at", kind: kindDateTime},
)

var paymentOptionObject = newObject("PaymentOption", open,
	field{name: "id", kind: kindInteger, min: -1 << 31, max: 1<<31 - 1},
	field{name: "account_number", kind: kindText},
	field{name: "sort_code", kind: kindText},
	field{name: "bank_account_number", kind: kindText, max: 34},
	field{name: "bank_account_bic", kind: kindBIC, min: 8, max: 11},
	field{name: "bank_name", kind: kindText},
	field{name: "bank_country_code", kind: kindCountry},
	field{name: "card_token", kind: kindText},
	field{name: "card_bin", kind: kindText},
	field{name: "card_number", kind: kindInteger, min: 0, max: 9999},
)

var addressObject = newObject("Address", open,
	field{name: "id", kind: kindInteger, min: -1 << 31, max: 1<<31 - 1},
	field{name: "label", kind: kindText},
	field{name: "first_name", kind: kindText},
	field{name: "last_name", kind: kindText},
	field{name: "name_prefix", kind: kindText},
	field{name: "address", kind: kindText},
	field{name: "postal_code", kind: kindText},
	field{name: "city", kind: kindText},
	field{name: "state", kind: kindText},
	field{name: "country_code", kind: kindCountry},
	field{name: "company_name", kind: kindText},
	field{name: "company_tax_id", kind: kindText},
)

const (
	closed = true
	open   = false
)

func newObject(name string, closed bool, fields ...field) *object {
	o := &object{name: name, closed: closed, fields: fields, byName: make(map[string]*field, len(fields))}
	for i := range fields {
		f := &fields[i]
		f.index, f.bit = i, 1<<i
		f.key = []byte(f.name)
		if f.kind == kindID {
			f.min, f.max = 1, MaxIDBytes
		} else if f.max == 0 {
			f.max = unlimited
		}
		if f.enum != nil {
			f.words = newWordTable(f.enum)
		}
		f.plain = f.kind == kindText && f.max == unlimited
		f.messages = make(map[Code]string)
		for _, code := range f.codes() {
			f.messages[code] = sentence(code, f)
		}
		if f.required {
			o.required |= f.bit
		}
		o.byName[f.name] = f
	}
	return o
}

// codes lists the codes that a finding at the field itself can have.
func (f *field) codes() []Code {
	codes := kindCodes[f.kind]
	if f.required {
		codes = append([]Code{CodeMissing}, codes...)
	}
	if f.kind == kindText && f.max != unlimited {
		codes = append([]Code{CodeStringTooLong}, codes...)
		if f.min > 0 {
			codes = append([]Code{CodeStringTooShort}, codes...)
		}
	}
	return codes
}

// kindCodes is, for each kind, the codes of values that break its rule.
var kindCodes = [...][]Code{
	kindText:       {CodeStringType},
	kindID:         {CodeStringType, CodeStringTooShort, CodeStringTooLong},
	kindUUID:       {CodeStringType, CodeUUID},
	kindEnum:       {CodeStringType, CodeEnum},
	kindCountry:    {CodeStringType, CodeCountry},
	kindCurrency:   {CodeStringType, CodeCurrency},
	kindDateTime:   {CodeStringType, CodeDateTime},
	kindCreatedAt:  {CodeStringType, CodeDateTime, CodeCreatedAtOutOfRange},
	kindIP:         {CodeStringType, CodeStringTooShort, CodeStringTooLong, CodeIPAddress},
	kindBIC:        {CodeStringType, CodeStringTooShort, CodeStringTooLong, CodeBIC},
	kindEntityType: {CodeStringType, CodeEntityTypeInvalid},
	kindNumber:     {CodeNumberType, CodeNumberRange},
	kindInteger:    {CodeIntegerType, CodeNumberRange},
	kindObject:     {CodeObjectType, CodeMissing},
	kindEntity:     {CodeObjectType, CodeEntityMissing, CodeEntityAmbiguous, CodeMainEntityUnknown},
	kindObjects:    {CodeArrayType, CodeObjectType},
	kindTexts:      {CodeArrayType, CodeStringType},
	kindTextMap:    {CodeObjectType, CodeStringType},
	kindNotHere:    {CodeEntityAmbiguous},
}

func (f *field) lengthRule() string {
	unit := " characters"
	if f.kind == kindID {
		unit = " bytes"
	}
	switch {
	case f.min == f.max && f.max == 1:
		return "exactly one character is expected"
	case f.min == 0:
		return "at most " + strconv.Itoa(f.max) + unit + " are allowed"
	default:
		return strconv.Itoa(f.min) + " to " + strconv.Itoa(f.max) + unit + " are allowed"
	}
}

func (f *field) rangeRule() string {
	if f.kind == kindInteger {
		return strconv.Itoa(f.min) + " to " + strconv.Itoa(f.max) + " is allowed"
	}
	return "it must fit a 64-bit floating-point number"
}

func listed(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
