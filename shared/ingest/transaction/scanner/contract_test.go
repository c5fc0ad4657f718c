package scanner

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
)

// contract is the schema of a line (docs/contract/transaction-lines.md) written down a second time: the oracle judges
// by it, and the schema table must agree with it. A row is: name, rule, "required" or nothing.
const contract = `
Transaction closed
request_uuid uuid required
payment_external_id id required
transaction_external_id id required
modification object:Modification required
sender entity:Entity required
receiver entity:Entity required
sending_partner entity:Entity
receiving_partner entity:Entity
payment_source_country country
payment_target_country country
payment_method text
payment_type enum:payin,payout,ledger
additional_fields texts-by-key
business_settlement_account text:0..34
payment_method_variant text
description text
transaction_fee number
individual_interaction_type text
geo_latitude number
geo_longitude number
user_agent text
ip_address ip
ip_country_code country
sender_ip_address ip
receiver_ip_address ip
device_finger_print text
url_redirect_success text
url_redirect_failure text
url_redirect_error text
issuer_authorisation_code text
issuer_raw_response text
response_3d_secure enum:Y,N,U,A,E
response_cvc2 text:1..1
response_avs text:1..1
sender_payment_info object:PaymentOption
receiver_payment_info object:PaymentOption
billing object:Address
shipping object:Address

Entity closed
by_external_id id
external_entity_type entity-type
unknown object:Unknown

Unknown open
external_id id required
full_name text
risk_assessment text
label enum:sender,receiver,merchant,consumer,merchant_profile
email text
phone_number text
additional_fields texts-by-key
peer_group_external_id id
addresses objects:Address
payment_options objects:PaymentOption
entity_groups_external texts
by_external_id not-here

Modification open
external_id id required
type enum:authorised,capture,settlement,cancel,failure,refund,chargeback required
amount number required
currency currency required
created_at created-at required
monitoring_amount number
original_amount number
monitoring_currency currency
original_currency currency
reason text
settled_at date-time

PaymentOption open
account_number text
sort_code text
card_token text
card_bin text
bank_name text
id integer:-2147483648..2147483647
bank_account_number text:0..34
bank_account_bic bic
bank_country_code country
card_number integer:0..9999

Address open
label text
first_name text
last_name text
name_prefix text
address text
postal_code text
city text
state text
company_name text
company_tax_id text
id integer:-2147483648..2147483647
country_code country
`

// allCodes are the codes that the scanner can give.
var allCodes = []transaction.Code{
	transaction.CodeJSONInvalid, transaction.CodeJSONDuplicateKey, transaction.CodeJSONTooDeep,
	transaction.CodeLineTooLong, transaction.CodeMissing, transaction.CodeExtraForbidden, transaction.CodeStringType,
	transaction.CodeNumberType, transaction.CodeIntegerType, transaction.CodeObjectType, transaction.CodeArrayType,
	transaction.CodeStringTooShort, transaction.CodeStringTooLong, transaction.CodeEnum, transaction.CodeUUID,
	transaction.CodeCountry, transaction.CodeCurrency, transaction.CodeDateTime, transaction.CodeCreatedAtOutOfRange,
	transaction.CodeIPAddress, transaction.CodeBIC, transaction.CodeNumberRange,
	transaction.CodeEntityMissing, transaction.CodeEntityAmbiguous, transaction.CodeEntityTypeInvalid,
	transaction.CodeMainEntityUnknown,
}

type contractObject struct {
	closed bool
	rules  map[string]contractRule
}

type contractRule struct {
	kind     string
	argument string
	required bool
}

func readContract() map[string]contractObject {
	objects := make(map[string]contractObject)
	for block := range strings.SplitSeq(strings.TrimSpace(contract), "\n\n") {
		rows := strings.Split(block, "\n")
		head := strings.Fields(rows[0])
		o := contractObject{closed: head[1] == "closed", rules: make(map[string]contractRule)}
		for _, row := range rows[1:] {
			words := strings.Fields(row)
			kind, argument, _ := strings.Cut(words[1], ":")
			o.rules[words[0]] = contractRule{kind: kind, argument: argument, required: len(words) == 3}
		}
		objects[head[0]] = o
	}
	return objects
}

// limits reads the argument min..max; ok is false if there is no such argument.
func (r contractRule) limits() (min, max int, ok bool) {
	low, high, ok := strings.Cut(r.argument, "..")
	if !ok {
		return 0, 0, false
	}
	min, _ = strconv.Atoi(low)
	max, _ = strconv.Atoi(high)
	return min, max, true
}

func TestSchemaTableIsTheContract(t *testing.T) {
	want, got := make(map[string]string), make(map[string]string)
	for name, o := range readContract() {
		want[name] = fmt.Sprint("closed ", o.closed)
		for field, rule := range o.rules {
			want[name+"."+field] = fmt.Sprint(rule)
		}
	}
	for _, o := range schema.Objects {
		got[o.Name] = fmt.Sprint("closed ", o.Closed)
		for i := range o.Fields {
			f := &o.Fields[i]
			got[o.Name+"."+f.Name] = fmt.Sprint(contractRule{kind: contractKinds[f.Kind], argument: argumentOf(f),
				required: f.Required})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal("contract (-), schema table (+):\n" + diff)
	}
}

var contractKinds = map[schema.Kind]string{
	schema.KindString: "text", schema.KindID: "id", schema.KindUUID: "uuid", schema.KindEnum: "enum",
	schema.KindCountry: "country", schema.KindCurrency: "currency",
	schema.KindDateTime: "date-time", schema.KindCreatedAt: "created-at", schema.KindIP: "ip", schema.KindBIC: "bic",
	schema.KindEntityType: "entity-type",
	schema.KindNumber:     "number", schema.KindInteger: "integer", schema.KindObject: "object",
	schema.KindEntity: "entity", schema.KindObjects: "objects",
	schema.KindStrings: "texts", schema.KindStringMap: "texts-by-key", schema.KindForbidden: "not-here",
}

func argumentOf(f *schema.Field) string {
	switch {
	case f.Object != nil:
		return f.Object.Name
	case f.Enum != nil:
		return strings.Join(f.Enum, ",")
	case f.Kind == schema.KindInteger, f.Kind == schema.KindString && f.Max != schema.Unlimited:
		return fmt.Sprintf("%d..%d", f.Min, f.Max)
	default:
		return ""
	}
}
