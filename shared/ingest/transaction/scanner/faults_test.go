package scanner

import (
	"strings"

	"sluice/shared/ingest/transaction"
)

// fault is one change to the good line, which breaks at most one rule.
type fault struct {
	// old is the text of goodLine that new replaces.
	old, new string

	// code and pointer describe the only finding. The code is "" if the changed line has no finding.
	code    transaction.Code
	pointer string

	// at is how the text at the offset of the finding begins: in new, if it is there, otherwise in the whole line.
	at string
}

// offset returns the offset of the finding in the changed line.
func (f fault) offset(line string) int {
	if i := strings.Index(f.new, f.at); i >= 0 {
		return strings.Index(goodLine, f.old) + i
	}
	return strings.Index(line, f.at)
}

// faults are the rules of the schema, each broken alone.
var faults = []fault{
	// identifiers
	{`"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"`, `"0C1F6AD2-6F35-4D1B-9D5E-0A4C2F3B7E11"`, "", "", ""},
	{`"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"`, `"0c1f6ad26f35-4d1b-9d5e-0a4c2f3b7e11"`, transaction.CodeUUID,
		"/request_uuid", ""},
	{`"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"`, `7`, transaction.CodeStringType, "/request_uuid", ""},
	{`"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"`, `null`, transaction.CodeMissing, "/request_uuid", ""},
	{`"request_uuid":"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11",`, ``, transaction.CodeMissing, "/request_uuid", "{"},
	{`"pay-1"`, `""`, transaction.CodeStringTooShort, "/payment_external_id", ""},
	{`"pay-1"`, `"` + strings.Repeat("é", 127) + `a"`, "", "", ""},
	{`"pay-1"`, `"` + strings.Repeat("é", 128) + `"`, transaction.CodeStringTooLong, "/payment_external_id", ""},
	{`"pay-1"`, `["pay-1"]`, transaction.CodeStringType, "/payment_external_id", ""},

	// countries and currencies
	{`"payment_source_country":"DE"`, `"payment_source_country":"YU"`, "", "", ""},
	{`"payment_source_country":"DE"`, `"payment_source_country":"\u0044\u0045"`, "", "", ""},
	{`"XK"`, `"xk"`, transaction.CodeCountry, "/payment_target_country", ""},
	{`"XK"`, `"UK"`, transaction.CodeCountry, "/payment_target_country", ""},
	{`"XK"`, `"DD"`, transaction.CodeCountry, "/payment_target_country", ""},
	{`"EUR"`, `"DEM"`, "", "", ""},
	{`"EUR"`, `"XTS"`, "", "", ""},
	{`"EUR"`, `"EU"`, transaction.CodeCurrency, "/modification/currency", ""},
	{`"EUR"`, `"DDM"`, transaction.CodeCurrency, "/modification/currency", ""},

	// lists of words
	{`"payin"`, `"ledger"`, "", "", ""},
	{`"payin"`, `"Payin"`, transaction.CodeEnum, "/payment_type", ""},
	{`"settlement"`, `"settled"`, transaction.CodeEnum, "/modification/type", ""},
	{`"label":"sender"`, `"label":"payer"`, transaction.CodeEnum, "/sender/unknown/label", `"payer"`},

	// numbers
	{`12.50`, `-0`, "", "", ""},
	{`12.50`, `1e308`, "", "", ""},
	{`12.50`, `1e309`, transaction.CodeNumberRange, "/modification/amount", ""},
	{`12.50`, `0.0e999`, "", "", ""},
	{`12.50`, strings.Repeat("9", 308), "", "", ""},
	{`12.50`, strings.Repeat("9", 309), transaction.CodeNumberRange, "/modification/amount", ""},
	{`12.50`, `"12.50"`, transaction.CodeNumberType, "/modification/amount", ""},
	{`"card_number":42`, `"card_number":9999`, "", "", ""},
	{`"card_number":42`, `"card_number":10000`, transaction.CodeNumberRange,
		"/sender/unknown/payment_options/0/card_number", "10000"},
	{`"card_number":42`, `"card_number":-1`, transaction.CodeNumberRange,
		"/sender/unknown/payment_options/0/card_number", "-1"},
	{`"id":7`, `"id":2147483647`, "", "", ""},
	{`"id":7`, `"id":2147483648`, transaction.CodeNumberRange, "/sender/unknown/addresses/0/id", "2147483648"},
	{`"id":7`, `"id":7.0`, transaction.CodeIntegerType, "/sender/unknown/addresses/0/id", "7.0"},
	{`"id":7`, `"id":7e0`, transaction.CodeIntegerType, "/sender/unknown/addresses/0/id", "7e0"},
	{`"id":7`, `"id":true`, transaction.CodeIntegerType, "/sender/unknown/addresses/0/id", "true,"},

	// dates
	{`"2026-01-31T10:00:00.123"`, `"2026-03-03T12:00:00Z"`, "", "", ""},
	{`"2026-01-31T10:00:00.123"`, `"2026-03-03T12:00:00.000000001Z"`, transaction.CodeCreatedAtOutOfRange,
		"/modification/created_at", ""},
	{`"2026-01-31T10:00:00.123"`, `"2026-03-03T13:00:00+01:00"`, "", "", ""},
	{`"2026-01-31T10:00:00.123"`, `"1999-12-31T23:59:59"`, "", "", ""},
	{`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00:60"`, transaction.CodeDateTime, "/modification/created_at", ""},
	{`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00"`, transaction.CodeDateTime, "/modification/created_at", ""},
	{`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00:00."`, transaction.CodeDateTime, "/modification/created_at", ""},
	{`"2026-01-31T10:00:00.123"`, `"2026-01-31T10:00:00.1234567890"`, transaction.CodeDateTime,
		"/modification/created_at", ""},
	{`"2026-01-31T10:00:00+01:00"`, `"2026-02-29T10:00:00"`, transaction.CodeDateTime, "/modification/settled_at", ""},
	{`"2026-01-31T10:00:00+01:00"`, `"2099-01-01T00:00:00z"`, transaction.CodeDateTime, "/modification/settled_at", ""},
	{`"2026-01-31T10:00:00+01:00"`, `"2099-01-01T00:00:00-23:59"`, "", "", ""},

	// lengths, addresses of the internet and of banks
	{`"response_cvc2":"M"`, `"response_cvc2":"é"`, "", "", ""},
	{`"response_cvc2":"M"`, `"response_cvc2":""`, transaction.CodeStringTooShort, "/response_cvc2", `""`},
	{`"response_cvc2":"M"`, `"response_cvc2":"MM"`, transaction.CodeStringTooLong, "/response_cvc2", `"MM"`},
	{`"DE89"`, `"` + strings.Repeat("é", 34) + `"`, "", "", ""},
	{`"DE89"`, `"` + strings.Repeat("é", 35) + `"`, transaction.CodeStringTooLong,
		"/sender_payment_info/bank_account_number", ""},
	{`"192.168.0.1"`, `"::1"`, transaction.CodeStringTooShort, "/ip_address", ""},
	{`"192.168.0.1"`, `"192.168.0.256"`, transaction.CodeIPAddress, "/ip_address", ""},
	{`"192.168.0.1"`, `"fe80::1%eth0"`, transaction.CodeIPAddress, "/ip_address", ""},
	{`"192.168.0.1"`, `"` + strings.Repeat("1", 51) + `"`, transaction.CodeStringTooLong, "/ip_address", ""},
	{`"ABCDDEFF"`, `"abcddeff123"`, "", "", ""},
	{`"ABCDDEFF"`, `"ABCDDEFF12"`, transaction.CodeBIC, "/sender/unknown/payment_options/0/bank_account_bic", ""},
	{`"ABCDDEFF"`, `"ABCDDEF"`, transaction.CodeStringTooShort, "/sender/unknown/payment_options/0/bank_account_bic",
		""},

	// objects, arrays and their items
	{`{"postal_code":"50667"}`, `[]`, transaction.CodeObjectType, "/billing", ""},
	{`["a","b"]`, `"a"`, transaction.CodeArrayType, "/sender/unknown/entity_groups_external", ""},
	{`["a","b"]`, `["a","",1]`, transaction.CodeStringType, "/sender/unknown/entity_groups_external/2", "1]"},
	{`["a","b"]`, `["a",null]`, transaction.CodeStringType, "/sender/unknown/entity_groups_external/1", "null]"},
	{`[{"id":7,`, `[{},[],{"id":7,`, transaction.CodeObjectType, "/sender/unknown/addresses/1", "[],"},
	{`[{"id":7,`, `[null,{"id":7,`, transaction.CodeObjectType, "/sender/unknown/addresses/0", "null,"},
	{`[{"id":7,"city":"Köln","country_code":"DE"}]`, `[{},{"country_code":"ZZ"}]`, transaction.CodeCountry,
		"/sender/unknown/addresses/1/country_code", `"ZZ"`},
	{`{"payment_category":"goods"}`, `{"a":null,"b":""}`, "", "", ""},
	{`{"payment_category":"goods"}`, `{"a/b~c":{"x":1}}`, transaction.CodeStringType, "/additional_fields/a~1b~0c",
		`{"x"`},
	{`{"k":"v"}`, `{"k":["v"]}`, transaction.CodeStringType, "/sender/unknown/additional_fields/k", `["v"]`},
	{`{"k":"v"}`, `7`, transaction.CodeObjectType, "/sender/unknown/additional_fields", "7}"},
	{`"description":"rent"`, `"description":"rent","by_uuid":"x"`, transaction.CodeExtraForbidden, "/by_uuid",
		`"by_uuid"`},
	{`"description":"rent"`, `"Description":"rent"`, transaction.CodeExtraForbidden, "/Description", ""},
	{`"city":"Köln"`, `"town":{"deep":[1,2]}`, "", "", ""},

	// keys written with escapes are the keys they mean
	{`"payment_type":"payin"`, `"payment\u005ftype":"payback"`, transaction.CodeEnum, "/payment_type", `"payback"`},
	{`"by_external_id":"known-1"`, `"by_external_i\u0064":"known-1"`, "", "", ""},

	// entities
	{`{"by_external_id":"known-1"}`, `{}`, transaction.CodeEntityMissing, "/receiver", ""},
	{`{"by_external_id":"known-2"}`, `{"unknown":{"external_id":"u"}}`, transaction.CodeEntityMissing,
		"/sending_partner", ""},
	{`{"by_external_id":"known-2"}`, `{"by_external_id":"k","unknown":null,"external_entity_type":null}`, "", "", ""},
	{`{"by_external_id":"known-2"}`, `{"by_external_id":"k","external_entity_type":"unknown"}`,
		transaction.CodeEntityAmbiguous, "/sending_partner", ""},
	{`{"by_external_id":"known-2"}`, `{"by_external_id":"k","unknown":{"external_id":"u"}}`,
		transaction.CodeEntityAmbiguous, "/sending_partner", ""},
	{`"external_id":"u-1"`, `"external_id":"u-1","by_external_id":"k"`, transaction.CodeEntityAmbiguous,
		"/sender/unknown/by_external_id", `"k"`},
	{`{"by_external_id":"known-2"}`, `{"external_entity_type":"business","unknown":{"external_id":"u"}}`,
		transaction.CodeEntityTypeInvalid, "/sending_partner/external_entity_type", `"business"`},
	{`{"by_external_id":"known-2"}`, `{"external_entity_type":"unknown"}`, transaction.CodeMissing,
		"/sending_partner/unknown", ""},
	{`"external_id":"u-1",`, ``, transaction.CodeMissing, "/sender/unknown/external_id", `{"full_name"`},
	{`{"by_external_id":"known-2"}`, `{"by_external_id":"k","individual":{}}`, transaction.CodeExtraForbidden,
		"/sending_partner/individual", `"individual"`},
	{`{"by_external_id":"known-1"}`, `{"external_entity_type":"unknown","unknown":{"external_id":"u"}}`,
		transaction.CodeMainEntityUnknown, "/sender",
		`{"external_entity_type":"unknown","unknown":{"external_id":"u-1"`},
	{`"receiver":{"by_external_id":"known-1"},`, ``, transaction.CodeMissing, "/receiver", "{"},
}

// brokenLines are lines that break the grammar of JSON or a rule about its keys, and where they do.
var brokenLines = []struct {
	name    string
	line    string
	code    transaction.Code
	offset  int
	pointer string
}{
	{"raw control character", "{\"a\":\"\x01\"}", transaction.CodeJSONInvalid, 6, ""},
	{"raw tab", "{\"a\":\"\t\"}", transaction.CodeJSONInvalid, 6, ""},
	{"NUL byte", "{\"a\":\x00}", transaction.CodeJSONInvalid, 5, ""},
	{"typographic quotation marks", "{“a”:1}", transaction.CodeJSONInvalid, 1, ""},
	{"NUL at the end", "{}\x00", transaction.CodeJSONInvalid, 2, ""},
	{"NUL in a string", "{\"a\":\"\x00\"}", transaction.CodeJSONInvalid, 6, ""},
	{"unknown escape", `{"a":"\x41"}`, transaction.CodeJSONInvalid, 6, ""},
	{"short \\u escape", `{"a":"\u12"}`, transaction.CodeJSONInvalid, 6, ""},
	{"lone high surrogate", `{"a":"\ud83d"}`, transaction.CodeJSONInvalid, 6, ""},
	{"lone low surrogate", `{"a":"\ude00"}`, transaction.CodeJSONInvalid, 6, ""},
	{"high surrogate before a letter", `{"a":"\ud83d\u0041"}`, transaction.CodeJSONInvalid, 6, ""},
	{"surrogates the wrong way round", `{"a":"\ude00\ud83d"}`, transaction.CodeJSONInvalid, 6, ""},
	{"escape at the end", `{"a":"\`, transaction.CodeJSONInvalid, 6, ""},
	{"invalid UTF-8", "{\"a\":\"x\xff\"}", transaction.CodeJSONInvalid, 7, ""},
	{"overlong UTF-8", "{\"a\":\"\xc0\x80\"}", transaction.CodeJSONInvalid, 6, ""},
	{"surrogate in UTF-8", "{\"a\":\"\xed\xa0\x80\"}", transaction.CodeJSONInvalid, 6, ""},
	{"UTF-8 cut off by the quote", "{\"a\":\"\xc3\"}", transaction.CodeJSONInvalid, 6, ""},
	{"invalid UTF-8 before a bad escape", "{\"a\":\"\xff\\x\"}", transaction.CodeJSONInvalid, 6, ""},
	{"invalid UTF-8 before a control character", "{\"a\":\"aaaaaaaaa\xff\x01\"}", transaction.CodeJSONInvalid, 15, ""},
	{"invalid UTF-8 far before a good escape", "{\"a\":\"\xffaaaaaaaa\\naaaaaaaa\"}", transaction.CodeJSONInvalid, 6,
		""},
	{"invalid UTF-8 far after a good escape", "{\"a\":\"aaaaaaaa\\naaaaaaaa\xff\"}", transaction.CodeJSONInvalid, 24,
		""},
	{"invalid UTF-8 in a key", "{\"\xff\":1}", transaction.CodeJSONInvalid, 2, ""},
	{"byte-order mark", "\ufeff{}", transaction.CodeJSONInvalid, 0, ""},
	{"leading zero", `{"a":01}`, transaction.CodeJSONInvalid, 6, ""},
	{"leading plus", `{"a":+1}`, transaction.CodeJSONInvalid, 5, ""},
	{"leading dot", `{"a":.5}`, transaction.CodeJSONInvalid, 5, ""},
	{"nothing after the dot", `{"a":1.}`, transaction.CodeJSONInvalid, 7, ""},
	{"nothing after e", `{"a":1e}`, transaction.CodeJSONInvalid, 7, ""},
	{"sign alone", `{"a":-}`, transaction.CodeJSONInvalid, 6, ""},
	{"NaN", `{"a":NaN}`, transaction.CodeJSONInvalid, 5, ""},
	{"capital literal", `{"a":True}`, transaction.CodeJSONInvalid, 5, ""},
	{"half a literal", `{"a":nul}`, transaction.CodeJSONInvalid, 8, ""},
	{"comma before a brace", `{"a":1,}`, transaction.CodeJSONInvalid, 7, ""},
	{"comma before a bracket", `{"a":[1,]}`, transaction.CodeJSONInvalid, 8, ""},
	{"two commas", `{"a":1,,"b":2}`, transaction.CodeJSONInvalid, 7, ""},
	{"no comma", `{"a":1 "b":2}`, transaction.CodeJSONInvalid, 7, ""},
	{"no colon", `{"a" 1}`, transaction.CodeJSONInvalid, 5, ""},
	{"single quotes", `{'a':1}`, transaction.CodeJSONInvalid, 1, ""},
	{"comment", `{"a":1}//`, transaction.CodeJSONInvalid, 7, ""},
	{"wrong bracket", `{"a":[1}}`, transaction.CodeJSONInvalid, 7, ""},
	{"trailing object", `{} {}`, transaction.CodeJSONInvalid, 3, ""},
	{"cut off", `{"a":{"b":"c`, transaction.CodeJSONInvalid, 12, ""},
	{"line feed inside", "{\"a\":\n1}", transaction.CodeJSONInvalid, 5, ""},
	{"form feed as white space", "{\f}", transaction.CodeJSONInvalid, 1, ""},
	{"no-break space as white space", "{\u00a0}", transaction.CodeJSONInvalid, 1, ""},
	{"duplicate key", `{"sender":null,"sender":null}`, transaction.CodeJSONDuplicateKey, 15, "/sender"},
	{"duplicate key, one escaped", `{"sender":null,"s\u0065nder":null}`, transaction.CodeJSONDuplicateKey, 15,
		"/sender"},
	{"duplicate unknown key", `{"x":1,"x":1}`, transaction.CodeJSONDuplicateKey, 7, "/x"},
	{"duplicate unknown key, one escaped", `{"x~":1,"\u0078~":1}`, transaction.CodeJSONDuplicateKey, 8, "/x~0"},
	{"duplicate key in an unknown object", `{"x":{"a/b":[0,{"k":1,"k":1}]}}`, transaction.CodeJSONDuplicateKey, 22,
		"/x/a~1b/1/k"},
	{"duplicate key in additional_fields", `{"additional_fields":{"k":"1","l":"","k":"2"}}`,
		transaction.CodeJSONDuplicateKey, 37, "/additional_fields/k"},
	{"duplicate key inside a value of the wrong type", `{"sender":[{"k":1,"k":1}]}`, transaction.CodeJSONDuplicateKey,
		18, "/sender/0/k"},
	{"duplicate key in a nested entity", `{"sender":{"unknown":{"label":null,"label":null}}}`,
		transaction.CodeJSONDuplicateKey, 35, "/sender/unknown/label"},
	{"duplicate empty key", `{"":1,"":2}`, transaction.CodeJSONDuplicateKey, 6, "/"},
}
