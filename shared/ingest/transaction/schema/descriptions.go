package schema

import _ "embed"

// ExampleLine is a line as it may be sent, written with one member a line for readers. Its sender must be an entity
// that has been onboarded.
//
//go:embed example.json
var ExampleLine []byte

// descriptions explain the fields, by the name of the object and of the field, for authors of lines.
var descriptions = map[string]string{
	"Transaction.request_uuid": "Identifies this line in your own records; the report of a rejected " +
		"line gives it back",
	"Transaction.payment_external_id": "Your ID of the payment, which may consist of several transactions",
	"Transaction.transaction_external_id": "Your ID of the transaction, by which it is read back. Lines with the " +
		"same ID report one transaction",
	"Transaction.payment_source_country": "Country from which the money comes",
	"Transaction.payment_target_country": "Country to which the money goes",
	"Transaction.payment_method":         "How the money moves, such as card or bank_transfer",
	"Transaction.payment_type": "Whether money comes in (payin), goes out (payout) or moves between " +
		"your accounts (ledger)",
	"Transaction.additional_fields":           "Whatever else you want to keep with the transaction",
	"Transaction.sender":                      "Who pays",
	"Transaction.sending_partner":             "The bank or provider of the sender",
	"Transaction.receiver":                    "Who is paid. The sender or the receiver must be onboarded",
	"Transaction.receiving_partner":           "The bank or provider of the receiver",
	"Transaction.modification":                "What has happened to the transaction: each line reports one event",
	"Transaction.business_settlement_account": "Account on which you settle the transaction",
	"Transaction.payment_method_variant":      "The kind of the payment method, such as the brand of a card",
	"Transaction.description":                 "Text of the transaction, such as the reference on a statement",
	"Transaction.transaction_fee":             "Fee of the transaction, in the currency of its modification",
	"Transaction.individual_interaction_type": "How the customer acted, such as online or in_person",
	"Transaction.geo_latitude":                "Latitude of the customer, in degrees",
	"Transaction.geo_longitude":               "Longitude of the customer, in degrees",
	"Transaction.user_agent":                  "User agent of the customer's browser or app",
	"Transaction.ip_address":                  "Address from which the transaction was ordered",
	"Transaction.ip_country_code":             "Country of ip_address",
	"Transaction.sender_ip_address":           "Address of the sender's device",
	"Transaction.receiver_ip_address":         "Address of the receiver's device",
	"Transaction.device_finger_print":         "Fingerprint of the customer's device",
	"Transaction.url_redirect_success":        "Where the customer was sent after success",
	"Transaction.url_redirect_failure":        "Where the customer was sent after a failure",
	"Transaction.url_redirect_error":          "Where the customer was sent after an error",
	"Transaction.issuer_authorisation_code":   "Authorisation code of the card's issuer",
	"Transaction.issuer_raw_response":         "Answer of the card's issuer, as it came",
	"Transaction.response_3d_secure": "Result of 3-D Secure: Y authenticated, N not, U unavailable, A " +
		"attempted, E error",
	"Transaction.response_cvc2":         "Result of the check of the card's security code, as the issuer codes it",
	"Transaction.response_avs":          "Result of the check of the card holder's address, as the issuer codes it",
	"Transaction.sender_payment_info":   "Account or card that was debited",
	"Transaction.receiver_payment_info": "Account or card that was credited",
	"Transaction.billing":               "Billing address",
	"Transaction.shipping":              "Address to which goods are sent",

	"Entity.by_external_id": "ID of an entity that has been onboarded; either this or external_entity_type " +
		"with unknown",
	"Entity.external_entity_type": "Says that the party is not onboarded and that unknown describes it",
	"Entity.unknown":              "The party, if it is not onboarded",

	"Unknown.external_id":            "Your ID of the party",
	"Unknown.full_name":              "Name of the person or company",
	"Unknown.risk_assessment":        "Your own view of the party's risk",
	"Unknown.label":                  "What kind of party it is",
	"Unknown.email":                  "Email address of the party",
	"Unknown.phone_number":           "Telephone number of the party",
	"Unknown.additional_fields":      "Whatever else you want to keep with the party",
	"Unknown.peer_group_external_id": "Your ID of the group of parties with which this one is compared",
	"Unknown.addresses":              "Addresses of the party",
	"Unknown.payment_options":        "Accounts and cards of the party",
	"Unknown.entity_groups_external": "Your IDs of the groups to which the party belongs",
	"Unknown.by_external_id":         "Must be absent: a party is either onboarded or described here",

	"Modification.external_id": "Your ID of this event. No other line of the batch may have it; the line " +
		"received last replaces earlier ones",
	"Modification.type":                "What happened",
	"Modification.amount":              "Amount in currency",
	"Modification.monitoring_amount":   "The amount in monitoring_currency",
	"Modification.original_amount":     "The amount in original_currency, as the customer ordered it",
	"Modification.currency":            "Currency of amount",
	"Modification.monitoring_currency": "Currency in which you monitor",
	"Modification.original_currency":   "Currency in which the customer ordered",
	"Modification.created_at":          "When it happened; at most 30 days after the upload",
	"Modification.reason":              "Why it happened, such as the reason of a chargeback",
	"Modification.settled_at":          "When it was settled",

	"PaymentOption.id":                  "Your number of the account or card",
	"PaymentOption.account_number":      "Account number in its national form",
	"PaymentOption.sort_code":           "Sort code or routing number of the bank",
	"PaymentOption.bank_account_number": "IBAN, or another account number",
	"PaymentOption.bank_account_bic":    "BIC of the bank",
	"PaymentOption.bank_name":           "Name of the bank",
	"PaymentOption.bank_country_code":   "Country of the bank",
	"PaymentOption.card_token":          "Token that stands for the card",
	"PaymentOption.card_bin":            "First digits of the card, which name its issuer",
	"PaymentOption.card_number":         "Last four digits of the card, as a number",

	"Address.id":             "Your number of the address",
	"Address.label":          "What the address is, such as home or office",
	"Address.first_name":     "First name of the addressee",
	"Address.last_name":      "Last name of the addressee",
	"Address.name_prefix":    "Title of the addressee",
	"Address.address":        "Street and number",
	"Address.postal_code":    "Postal code",
	"Address.city":           "City",
	"Address.state":          "State or region",
	"Address.country_code":   "Country",
	"Address.company_name":   "Name of the company",
	"Address.company_tax_id": "Tax ID of the company",
}

// Description explains a field of the object.
func (o *Object) Description(f *Field) string { return descriptions[o.Name+"."+f.Name] }
