package sampledata

import (
	"bytes"
	"strings"
)

// maxLineBytes is the line limit that line_too_long breaks (the default of the service).
const maxLineBytes = 256 << 10

// fault is one way in which a line can be bad. Its line has this error and no other.
type fault struct {
	kind  string
	edits []edit
	fill  func(g *Generator, n uint64) []edit       // edits that differ from line to line
	bytes func(line []byte, r *random) (bad []byte) // a change of the finished line
	large bool                                      // makes a huge line: only a few in a file
}

// kindDuplicate is the kind of the lines that share a modification ID.
const kindDuplicate = "duplicate_modification_id"

const (
	line         = ""
	modification = "modification"
)

// faults are all ways but the duplicates. Edits of the sender are avoided where the main entity would change with it.
var faults = []fault{
	{kind: "json_invalid", bytes: truncated},
	{kind: "json_invalid", bytes: replaced(`}`, `,}`)},
	{kind: "json_invalid", bytes: replaced(`"amount":`, `amount:`)},
	{kind: "json_invalid", bytes: replaced(`"amount":`, `'amount':`)},
	{kind: "json_invalid", bytes: replaced(`"amount":`, `"amount"`)},
	{kind: "json_invalid", bytes: replaced(`"amount":`, `"amount":0`)},
	{kind: "json_invalid", bytes: replaced(`"amount":`, `"amount":+`)},
	{kind: "json_invalid", bytes: replaced(`"amount":`, `/* cents */"amount":`)},
	{kind: "json_invalid", edits: []edit{{modification, "amount", `NaN`}}},
	{kind: "json_invalid", edits: []edit{{modification, "amount", `.5`}}},
	{kind: "json_invalid", edits: []edit{{modification, "amount", `5.`}}},
	{kind: "json_invalid", edits: []edit{{line, "user_agent", `None`}}},
	{kind: "json_invalid", edits: []edit{{line, "description", "\"a tab\tinside\""}}},
	{kind: "json_invalid", edits: []edit{{line, "description", "\"a NUL \x00 inside\""}}},
	{kind: "json_invalid", edits: []edit{{line, "description", `"half a pair \ud83d"`}}},
	{kind: "json_invalid", edits: []edit{{line, "description", `"no such escape \x41"`}}},
	{kind: "json_invalid", edits: []edit{{line, "description", "\"Latin-1 caf\xe9\""}}},
	{kind: "json_invalid", edits: []edit{{line, "description", "\"overlong \xc0\xaf\""}}},
	{kind: "json_invalid", edits: []edit{{line, "description", `"quote " inside"`}}},
	{kind: "json_invalid", bytes: func(b []byte, _ *random) []byte { return append(b, " {}"...) }},
	{kind: "json_invalid", bytes: func(b []byte, _ *random) []byte { return append(b, ',') }},
	{kind: "json_duplicate_key", bytes: replaced(`{`, `{"payment_method":"card","payment_method":"card",`)},
	{kind: "json_duplicate_key", bytes: replaced(`{`, `{"\u0073ender":null,`)},
	{kind: "json_duplicate_key", edits: []edit{{line, "additional_fields", `{"a":"1","b":"2","\u0061":"3"}`}}},
	{kind: "json_duplicate_key", edits: []edit{{modification, "note", `{"x":{"y":1,"y":1}}`}}},
	{kind: "json_too_deep", edits: []edit{{modification, "note", nested(63)}}},
	{kind: "json_too_deep", edits: []edit{{modification, "note", nested(2000)}}},
	{kind: "line_too_long", bytes: padded, large: true},
	{kind: "line_too_long", edits: []edit{{line, "description", `"` + strings.Repeat("long ", maxLineBytes/4) + `"`}}, large: true},

	{kind: "missing", edits: []edit{{line, "request_uuid", ""}}},
	{kind: "missing", edits: []edit{{line, "transaction_external_id", `null`}}},
	{kind: "missing", edits: []edit{{line, "receiver", ""}}},
	{kind: "missing", edits: []edit{{line, "modification", ""}}},
	{kind: "missing", edits: []edit{{modification, "currency", ""}}},
	{kind: "missing", edits: []edit{{modification, "created_at", `null`}}},
	{kind: "missing", edits: []edit{{line, "sending_partner", `{"external_entity_type":"unknown"}`}}},
	{kind: "missing", edits: []edit{{line, "receiver", `{"external_entity_type":"unknown","unknown":{"full_name":"Jan"}}`}}},
	{kind: "extra_forbidden", edits: []edit{{line, "amount", `12.5`}}},
	{kind: "extra_forbidden", edits: []edit{{line, "Sender", `{}`}}},
	{kind: "extra_forbidden", edits: []edit{{"receiver", "name", `"Jan"`}}},
	{kind: "string_type", edits: []edit{{line, "payment_external_id", `1234567`}}},
	{kind: "string_type", edits: []edit{{line, "description", `["a","list"]`}}},
	{kind: "string_type", edits: []edit{{line, "additional_fields", `{"payment_category":"goods","priority":1}`}}},
	{kind: "string_type", edits: []edit{{line, "receiver",
		`{"external_entity_type":"unknown","unknown":{"external_id":"7","entity_groups_external":["a",2]}}`}}},
	{kind: "number_type", edits: []edit{{modification, "amount", `"12.50"`}}},
	{kind: "number_type", edits: []edit{{line, "transaction_fee", `true`}}},
	{kind: "integer_type", edits: []edit{{line, "sender_payment_info", `{"card_number":12.5}`}}},
	{kind: "integer_type", edits: []edit{{line, "sender_payment_info", `{"id":1e3}`}}},
	{kind: "object_type", edits: []edit{{modification, "x", `1`}}, bytes: listed},
	{kind: "object_type", bytes: func([]byte, *random) []byte { return []byte(`"transaction"`) }},
	{kind: "object_type", edits: []edit{{line, "modification", `"settlement"`}}},
	{kind: "object_type", edits: []edit{{line, "billing", `[]`}}},
	{kind: "array_type", edits: []edit{{line, "receiver",
		`{"external_entity_type":"unknown","unknown":{"external_id":"7","addresses":{"city":"Delft"}}}`}}},
	{kind: "string_too_short", edits: []edit{{line, "payment_external_id", `""`}}},
	{kind: "string_too_short", edits: []edit{{modification, "external_id", `""`}}},
	{kind: "string_too_short", edits: []edit{{line, "response_cvc2", `""`}}},
	{kind: "string_too_long", edits: []edit{{line, "transaction_external_id", `"` + strings.Repeat("t", 256) + `"`}}},
	{kind: "string_too_long", edits: []edit{{line, "business_settlement_account", `"` + strings.Repeat("9", 35) + `"`}}},
	{kind: "enum", edits: []edit{{line, "payment_type", `"transfer"`}}},
	{kind: "enum", edits: []edit{{modification, "type", `"SETTLEMENT"`}}},
	{kind: "enum", edits: []edit{{line, "response_3d_secure", `"X"`}}},
	{kind: "uuid", edits: []edit{{line, "request_uuid", `"b7f2d3a0c41e4f5a9d6e0a1b2c3d4e5f"`}}},
	{kind: "uuid", edits: []edit{{line, "request_uuid", `"request 17"`}}},
	{kind: "country_code", edits: []edit{{line, "payment_source_country", `"UK"`}}},
	{kind: "country_code", edits: []edit{{line, "payment_target_country", `"nl"`}}},
	{kind: "country_code", edits: []edit{{line, "billing", `{"country_code":"NLD"}`}}},
	{kind: "currency_code", edits: []edit{{modification, "currency", `"eur"`}}},
	{kind: "currency_code", edits: []edit{{modification, "original_currency", `"ZZZ"`}}},
	{kind: "datetime", edits: []edit{{modification, "created_at", `"2026-01-31 10:15:30"`}}},
	{kind: "datetime", edits: []edit{{modification, "created_at", `"2026-02-30T10:15:30Z"`}}},
	{kind: "datetime", edits: []edit{{modification, "settled_at", `"31-01-2026"`}}},
	{kind: "created_at_out_of_range", edits: []edit{{modification, "created_at", `"2199-01-01T00:00:00Z"`}}},
	{kind: "ip_address", edits: []edit{{line, "ip_address", `"203.0.113.256"`}}},
	{kind: "ip_address", edits: []edit{{line, "sender_ip_address", `"localhost"`}}},
	{kind: "bic", edits: []edit{{line, "receiver_payment_info", `{"bank_account_bic":"ABNA-NL2A"}`}}},
	{kind: "number_range", edits: []edit{{line, "sender_payment_info", `{"card_number":10000}`}}},
	{kind: "number_range", edits: []edit{{modification, "amount", `1e400`}}},

	{kind: "entity_missing", edits: []edit{{line, "receiver", `{}`}}},
	{kind: "entity_missing", edits: []edit{{line, "sending_partner", `{"by_external_id":null}`}}},
	{kind: "entity_ambiguous", edits: []edit{{line, "receiver",
		`{"by_external_id":"e-1","external_entity_type":"unknown","unknown":{"external_id":"7"}}`}}},
	{kind: "entity_ambiguous", edits: []edit{{line, "receiver",
		`{"external_entity_type":"unknown","unknown":{"external_id":"7","by_external_id":"e-1"}}`}}},
	{kind: "entity_type_invalid", edits: []edit{{line, "receiver",
		`{"external_entity_type":"individual","unknown":{"external_id":"7"}}`}}},
	{kind: "main_entity_unknown", edits: []edit{
		{line, "sender", `{"external_entity_type":"unknown","unknown":{"external_id":"cust-1"}}`},
		{line, "receiver", `{"external_entity_type":"unknown","unknown":{"external_id":"cust-2"}}`}}},
	{kind: "entity_not_found", fill: entityAs("receiver", domainNobody)},
	{kind: "entity_not_found", fill: entityAs("sending_partner", domainNobody)},
	{kind: "entity_not_onboarded", fill: entityAs("receiver", domainPending)},
	{kind: "entity_not_onboarded", fill: entityAs("receiving_partner", domainPending)},
}

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func replaced(old, new string) func([]byte, *random) []byte {
	return func(b []byte, _ *random) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

func truncated(b []byte, r *random) []byte { return b[:1+r.below(uint64(len(b)-1))] }

// padded is one byte over the limit.
func padded(b []byte, _ *random) []byte {
	out := append(make([]byte, 0, maxLineBytes+1), '{')
	out = append(out, bytes.Repeat([]byte{' '}, maxLineBytes+1-len(b))...)
	return append(out, b[1:]...)
}

func listed(b []byte, _ *random) []byte { return append(append([]byte{'['}, b...), ']') }

// entityAs gives a role to an entity of the pool of that domain.
func entityAs(role string, d domain) func(*Generator, uint64) []edit {
	return func(g *Generator, n uint64) []edit {
		return []edit{{line, role, `{"by_external_id":"` + g.id(d, n%g.pool(d)) + `"}`}}
	}
}
