package scanner

import (
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/transaction"
)

// goodLine is a line with most members of the schema; cases below are made from it by replacing one piece of text.
const goodLine = `{"request_uuid":"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11","payment_external_id":"pay-1",` +
	`"transaction_external_id":"tx-1","payment_source_country":"DE","payment_target_country":"XK",` +
	`"payment_method":"card","payment_type":"payin","additional_fields":{"payment_category":"goods"},` +
	`"sender":{"external_entity_type":"unknown","unknown":{"external_id":"u-1","full_name":"Zoë Ωmega",` +
	`"label":"sender","addresses":[{"id":7,"city":"Köln","country_code":"DE"}],"payment_options":[{"id":1,` +
	`"bank_account_bic":"ABCDDEFF","card_number":42}],"entity_groups_external":["a","b"],"additional_fields":{` +
	`"k":"v"}}},"receiver":{"by_external_id":"known-1"},"sending_partner":{"by_external_id":"known-2"},` +
	`"modification":{"external_id":"mod-1","type":"settlement","amount":12.50,"monitoring_amount":-1e3,` +
	`"currency":"EUR","created_at":"2026-01-31T10:00:00.123","settled_at":"2026-01-31T10:00:00+01:00"},` +
	`"description":"rent","transaction_fee":0,"geo_latitude":-12.5,"ip_address":"192.168.0.1",` +
	`"sender_ip_address":"2001:db8::1","response_3d_secure":"Y","response_cvc2":"M","sender_payment_info":{` +
	`"bank_account_number":"DE89","x":[1,{"y":null}]},"billing":{"postal_code":"50667"}}`

var receivedAt = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

func defaultRules() transaction.Rules {
	return transaction.Rules{ReceivedAt: receivedAt, MaxFuture: 720 * time.Hour}
}

// lineWith is goodLine with one piece replaced.
func lineWith(t testing.TB, old, new string) string {
	t.Helper()
	if strings.Count(goodLine, old) != 1 {
		t.Fatalf("%q is not once in the good line", old)
	}
	return strings.Replace(goodLine, old, new, 1)
}

// corpus are the lines from which damaged ones are made.
var corpus = []string{
	goodLine,
	`{"request_uuid":"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11","payment_external_id":"p","transaction_external_id":"t",` +
		`"sender":{"by_external_id":"a"},"receiver":{"by_external_id":"b"},` +
		`"modification":{"external_id":"m","type":"refund","amount":1,"currency":"USD",` +
		`"created_at":"2026-01-31T10:00:00Z"}}`,
	` { "modification" : { "created_at" : "2026-02-01T11:30:00Z" , "amount" : -0.5e+1 , "currency" : "XXX" , "type" ` +
		`: "capture" , "external_id" : "m\u006f\u0064" , "free" : [ 1 , { "k" : [ ] } , true , false , null ] } , ` +
		`"receiver" : { "external_entity_type" : "unknown" , "unknown" : { "external_id" : "u\/1" , "full_name" : ` +
		`"\ud83d\ude00 Ünal" } } , "sender" : { "by_external_id" : "k" } , "request_uuid" : ` +
		`"0C1F6AD2-6F35-4D1B-9D5E-0A4C2F3B7E11" , "payment_external_id" : "p" , "transaction_external_id" : "t" } ` +
		"\r",
	`{"sender":{},"receiver":null,"modification":{"external_id":"early"},"sender_payment_info":{"id":1.5,` +
		`"card_number":10000},"shipping":{"country_code":"ZZ","id":-1},"response_avs":"","response_cvc2":"ab",` +
		`"extra":{"a":1}}`,
	`{}`, `[]`, `"text"`, `12`, `null`, ` `, ``,
}
