// Package schema is the table of the fields of a line: their kinds and limits, the codes and messages of what can be
// wrong with them, the code lists of ISO 3166 and ISO 4217, and the JSON Schema that is made from all of this.
//
// The scanner and its generated code, the published JSON Schema and docs/line-fields.md follow this table.
// docs/scanner.md says how to add a field. The table is package-level data that nobody may change.
package schema

import (
	"math"

	"sluice/shared/ingest/transaction"
)

// Kind is the rule that a value follows.
type Kind uint8

// The kinds of values.
const (
	// KindString is a string of Min to Max code points.
	KindString Kind = iota

	// KindID is a string of 1 to transaction.MaxIDBytes bytes.
	KindID

	// KindUUID is a string of 8-4-4-4-12 hexadecimal digits.
	KindUUID

	// KindEnum is a string that is one of Enum.
	KindEnum

	// KindCountry is a string that is one of Countries.
	KindCountry

	// KindCurrency is a string that is one of Currencies.
	KindCurrency

	// KindDateTime is a string that is an RFC 3339 date-time, whose offset may be left out for UTC.
	KindDateTime

	// KindCreatedAt is a KindDateTime inside the window of transaction.Rules.
	KindCreatedAt

	// KindIP is a string of Min to Max code points that is an IPv4 or IPv6 address.
	KindIP

	// KindBIC is a string of Min to Max code points that is 8 or 11 letters and digits.
	KindBIC

	// KindEntityType is the string "unknown".
	KindEntityType

	// KindNumber is a number that fits a 64-bit floating-point number.
	KindNumber

	// KindInteger is a number from Min to Max without a fraction or an exponent.
	KindInteger

	// KindObject is an object as described by Object.
	KindObject

	// KindEntity is the object Entity, to which the rules for entities apply.
	KindEntity

	// KindObjects is an array of objects as described by Object.
	KindObjects

	// KindStrings is an array of strings.
	KindStrings

	// KindStringMap is an object of any keys with strings as values.
	KindStringMap

	// KindForbidden is a key that an open object names only to refuse it.
	KindForbidden
)

// Unlimited is the Max of a string of any length.
const Unlimited = math.MaxInt

// Capture says which part of a transaction.Result a scanner fills from the value of a field.
type Capture uint8

// The values that a scanner captures.
const (
	CaptureNone Capture = iota
	CaptureRequestUUID
	CapturePaymentID
	CaptureTransactionID
	CaptureModificationID
	CapturePaymentType
	CaptureByExternalID
	CaptureEntityType
	CaptureUnknownID
	CaptureFullName
)

// Field is one row of the table: one member of an object.
type Field struct {
	// Name is the field's key.
	Name string

	// Kind is the rule that the value follows.
	Kind Kind

	// Required is set if the field must be present and not null.
	Required bool

	// Min and Max limit the length of a string in code points (of a KindID in bytes) or the value of an integer. In the
	// table below, a Max that is left out means Unlimited.
	Min, Max int

	// Enum lists the values of a KindEnum.
	Enum []string

	// Object describes the value of a KindObject or KindEntity, or the items of a KindObjects.
	Object *Object

	// Role is the part in the transaction that a KindEntity plays.
	Role transaction.Role

	// Capture is the purpose for which the value is kept.
	Capture Capture
}

// Object is one object of the schema.
type Object struct {
	// Name is the name of the object in documents and, as a variable, in this package.
	Name string

	// Closed is set if a key that is not in Fields is an error; otherwise such a key is ignored.
	Closed bool

	// Fields are the members of the object.
	Fields []Field
}

// MaxFields is how many fields an object may have: the scanner keeps sets of fields in 64 bits.
const MaxFields = 64

// Objects are all objects of the schema, that of the line itself first.
var Objects = []*Object{Transaction, Entity, Unknown, Modification, PaymentOption, Address}

// Transaction is the object of a line.
var Transaction = newClosedObject("Transaction",
	Field{Name: "request_uuid", Kind: KindUUID, Required: true, Capture: CaptureRequestUUID},
	Field{Name: "payment_external_id", Kind: KindID, Required: true, Capture: CapturePaymentID},
	Field{Name: "transaction_external_id", Kind: KindID, Required: true, Capture: CaptureTransactionID},
	Field{Name: "payment_source_country", Kind: KindCountry},
	Field{Name: "payment_target_country", Kind: KindCountry},
	Field{Name: "payment_method", Kind: KindString},
	Field{Name: "payment_type", Kind: KindEnum, Capture: CapturePaymentType,
		Enum: []string{"payin", "payout", "ledger"}},
	Field{Name: "additional_fields", Kind: KindStringMap},
	Field{Name: "sender", Kind: KindEntity, Required: true, Object: Entity, Role: transaction.Sender},
	Field{Name: "sending_partner", Kind: KindEntity, Object: Entity, Role: transaction.SendingPartner},
	Field{Name: "receiver", Kind: KindEntity, Required: true, Object: Entity, Role: transaction.Receiver},
	Field{Name: "receiving_partner", Kind: KindEntity, Object: Entity, Role: transaction.ReceivingPartner},
	Field{Name: "modification", Kind: KindObject, Required: true, Object: Modification},
	Field{Name: "business_settlement_account", Kind: KindString, Max: 34},
	Field{Name: "payment_method_variant", Kind: KindString},
	Field{Name: "description", Kind: KindString},
	Field{Name: "transaction_fee", Kind: KindNumber},
	Field{Name: "individual_interaction_type", Kind: KindString},
	Field{Name: "geo_latitude", Kind: KindNumber},
	Field{Name: "geo_longitude", Kind: KindNumber},
	Field{Name: "user_agent", Kind: KindString},
	Field{Name: "ip_address", Kind: KindIP, Min: 7, Max: 50},
	Field{Name: "ip_country_code", Kind: KindCountry},
	Field{Name: "sender_ip_address", Kind: KindIP, Min: 7, Max: 50},
	Field{Name: "receiver_ip_address", Kind: KindIP, Min: 7, Max: 50},
	Field{Name: "device_finger_print", Kind: KindString},
	Field{Name: "url_redirect_success", Kind: KindString},
	Field{Name: "url_redirect_failure", Kind: KindString},
	Field{Name: "url_redirect_error", Kind: KindString},
	Field{Name: "issuer_authorisation_code", Kind: KindString},
	Field{Name: "issuer_raw_response", Kind: KindString},
	Field{Name: "response_3d_secure", Kind: KindEnum, Enum: []string{"Y", "N", "U", "A", "E"}},
	Field{Name: "response_cvc2", Kind: KindString, Min: 1, Max: 1},
	Field{Name: "response_avs", Kind: KindString, Min: 1, Max: 1},
	Field{Name: "sender_payment_info", Kind: KindObject, Object: PaymentOption},
	Field{Name: "receiver_payment_info", Kind: KindObject, Object: PaymentOption},
	Field{Name: "billing", Kind: KindObject, Object: Address},
	Field{Name: "shipping", Kind: KindObject, Object: Address},
)

// Entity is a sender, a receiver or one of their partners: either an entity of the tenant, by by_external_id, or an
// unknown one.
var Entity = newClosedObject("Entity",
	Field{Name: "by_external_id", Kind: KindID, Capture: CaptureByExternalID},
	Field{Name: "external_entity_type", Kind: KindEntityType, Capture: CaptureEntityType},
	Field{Name: "unknown", Kind: KindObject, Object: Unknown},
)

// Unknown is an entity that a line describes itself.
var Unknown = newOpenObject("Unknown",
	Field{Name: "external_id", Kind: KindID, Required: true, Capture: CaptureUnknownID},
	Field{Name: "full_name", Kind: KindString, Capture: CaptureFullName},
	Field{Name: "risk_assessment", Kind: KindString},
	Field{Name: "label", Kind: KindEnum,
		Enum: []string{"sender", "receiver", "merchant", "consumer", "merchant_profile"}},
	Field{Name: "email", Kind: KindString},
	Field{Name: "phone_number", Kind: KindString},
	Field{Name: "additional_fields", Kind: KindStringMap},
	Field{Name: "peer_group_external_id", Kind: KindID},
	Field{Name: "addresses", Kind: KindObjects, Object: Address},
	Field{Name: "payment_options", Kind: KindObjects, Object: PaymentOption},
	Field{Name: "entity_groups_external", Kind: KindStrings},
	Field{Name: "by_external_id", Kind: KindForbidden},
)

// Modification is the event in the life of a transaction that a line reports.
var Modification = newOpenObject("Modification",
	Field{Name: "external_id", Kind: KindID, Required: true, Capture: CaptureModificationID},
	Field{Name: "type", Kind: KindEnum, Required: true,
		Enum: []string{"authorised", "capture", "settlement", "cancel", "failure", "refund", "chargeback"}},
	Field{Name: "amount", Kind: KindNumber, Required: true},
	Field{Name: "monitoring_amount", Kind: KindNumber},
	Field{Name: "original_amount", Kind: KindNumber},
	Field{Name: "currency", Kind: KindCurrency, Required: true},
	Field{Name: "monitoring_currency", Kind: KindCurrency},
	Field{Name: "original_currency", Kind: KindCurrency},
	Field{Name: "created_at", Kind: KindCreatedAt, Required: true},
	Field{Name: "reason", Kind: KindString},
	Field{Name: "settled_at", Kind: KindDateTime},
)

// PaymentOption is an account or a card.
var PaymentOption = newOpenObject("PaymentOption",
	Field{Name: "id", Kind: KindInteger, Min: -1 << 31, Max: 1<<31 - 1},
	Field{Name: "account_number", Kind: KindString},
	Field{Name: "sort_code", Kind: KindString},
	Field{Name: "bank_account_number", Kind: KindString, Max: 34},
	Field{Name: "bank_account_bic", Kind: KindBIC, Min: 8, Max: 11},
	Field{Name: "bank_name", Kind: KindString},
	Field{Name: "bank_country_code", Kind: KindCountry},
	Field{Name: "card_token", Kind: KindString},
	Field{Name: "card_bin", Kind: KindString},
	Field{Name: "card_number", Kind: KindInteger, Min: 0, Max: 9999},
)

// Address is a postal address.
var Address = newOpenObject("Address",
	Field{Name: "id", Kind: KindInteger, Min: -1 << 31, Max: 1<<31 - 1},
	Field{Name: "label", Kind: KindString},
	Field{Name: "first_name", Kind: KindString},
	Field{Name: "last_name", Kind: KindString},
	Field{Name: "name_prefix", Kind: KindString},
	Field{Name: "address", Kind: KindString},
	Field{Name: "postal_code", Kind: KindString},
	Field{Name: "city", Kind: KindString},
	Field{Name: "state", Kind: KindString},
	Field{Name: "country_code", Kind: KindCountry},
	Field{Name: "company_name", Kind: KindString},
	Field{Name: "company_tax_id", Kind: KindString},
)

func newClosedObject(name string, fields ...Field) *Object { return newObject(name, true, fields) }

func newOpenObject(name string, fields ...Field) *Object { return newObject(name, false, fields) }

func newObject(name string, closed bool, fields []Field) *Object {
	if len(fields) > MaxFields {
		panic("too many fields in " + name)
	}
	for i := range fields {
		f := &fields[i]
		if f.Kind == KindID {
			f.Min, f.Max = 1, transaction.MaxIDBytes
		} else if f.Max == 0 {
			f.Max = Unlimited
		}
	}
	return &Object{Name: name, Closed: closed, Fields: fields}
}
