package sampledata

import (
	"bytes"
	"slices"
	"strings"
)

// maxLineBytes is the service's default limit, which line_too_long exceeds.
const maxLineBytes = 256 << 10

// fault is one way in which a line can be bad. Its line has this error and no other.
type fault struct {
	// kind is the code of the error.
	kind string
	// edits change members of the line. makeEdits returns edits that differ from line to line; it takes precedence.
	edits     []edit
	makeEdits func(g *Generator, n uint64) []edit
	// damage changes the bytes of the finished line.
	damage func(line []byte, r *random) (bad []byte)
	// large means that the line is huge, so that a file has only a few of them.
	large bool
}

// kindDuplicate is the code of lines that share a modification ID.
const kindDuplicate = "duplicate_modification_id"

// Names of objects that edits change.
const (
	line         = ""
	modification = "modification"
)

// faults are all ways in which a line can be bad but duplicates. They leave the sender alone where the main entity
// would change with it.
var faults = []fault{
	{kind: "json_invalid", damage: truncate},
	{kind: "json_invalid", damage: replace(`}`, `,}`)},
	{kind: "json_invalid", damage: replace(`"amount":`, `amount:`)},
	{kind: "json_invalid", damage: replace(`"amount":`, `'amount':`)},
	{kind: "json_invalid", damage: replace(`"amount":`, `"amount"`)},
	{kind: "json_invalid", damage: replace(`"amount":`, `"amount":0`)},
	{kind: "json_invalid", damage: replace(`"amount":`, `"amount":+`)},
	{kind: "json_invalid", damage: replace(`"amount":`, `/* cents */"amount":`)},
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
	{kind: "json_invalid", damage: func(b []byte, _ *random) []byte { return append(b, " {}"...) }},
	{kind: "json_invalid", damage: func(b []byte, _ *random) []byte { return append(b, ',') }},
	{kind: "json_duplicate_key", damage: replace(`{`, `{"payment_method":"card","payment_method":"card",`)},
	{kind: "json_duplicate_key", damage: replace(`{`, `{"\u0073ender":null,`)},
	{kind: "json_duplicate_key", edits: []edit{{line, "additional_fields", `{"a":"1","b":"2","\u0061":"3"}`}}},
	{kind: "json_duplicate_key", edits: []edit{{modification, "note", `{"x":{"y":1,"y":1}}`}}},
	{kind: "json_too_deep", edits: []edit{{modification, "note", nested(63)}}},
	{kind: "json_too_deep", edits: []edit{{modification, "note", nested(2000)}}},
	{kind: "line_too_long", damage: padToLimit, large: true},
	{kind: "line_too_long", large: true,
		edits: []edit{{line, "description", `"` + strings.Repeat("long ", maxLineBytes/4) + `"`}}},

	{kind: "missing", edits: []edit{{line, "request_uuid", ""}}},
	{kind: "missing", edits: []edit{{line, "transaction_external_id", `null`}}},
	{kind: "missing", edits: []edit{{line, "receiver", ""}}},
	{kind: "missing", edits: []edit{{line, "modification", ""}}},
	{kind: "missing", edits: []edit{{modification, "currency", ""}}},
	{kind: "missing", edits: []edit{{modification, "created_at", `null`}}},
	{kind: "missing", edits: []edit{{line, "sending_partner", `{"external_entity_type":"unknown"}`}}},
	{kind: "missing", edits: []edit{{line, "receiver",
		`{"external_entity_type":"unknown","unknown":{"full_name":"Jan"}}`}}},
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
	{kind: "object_type", edits: []edit{{modification, "x", `1`}}, damage: wrapInList},
	{kind: "object_type", damage: func([]byte, *random) []byte { return []byte(`"transaction"`) }},
	{kind: "object_type", edits: []edit{{line, "modification", `"settlement"`}}},
	{kind: "object_type", edits: []edit{{line, "billing", `[]`}}},
	{kind: "array_type", edits: []edit{{line, "receiver",
		`{"external_entity_type":"unknown","unknown":{"external_id":"7","addresses":{"city":"Delft"}}}`}}},
	{kind: "string_too_short", edits: []edit{{line, "payment_external_id", `""`}}},
	{kind: "string_too_short", edits: []edit{{modification, "external_id", `""`}}},
	{kind: "string_too_short", edits: []edit{{line, "response_cvc2", `""`}}},
	{kind: "string_too_long", edits: []edit{{line, "transaction_external_id", `"` + strings.Repeat("t", 256) + `"`}}},
	{kind: "string_too_long", edits: []edit{{line, "business_settlement_account",
		`"` + strings.Repeat("9", 35) + `"`}}},
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
	{kind: "entity_not_found", makeEdits: referenceTo("receiver", domainUnknownEntity)},
	{kind: "entity_not_found", makeEdits: referenceTo("sending_partner", domainUnknownEntity)},
	{kind: "entity_not_onboarded", makeEdits: referenceTo("receiver", domainNotOnboarded)},
	{kind: "entity_not_onboarded", makeEdits: referenceTo("receiving_partner", domainNotOnboarded)},
}

// nested returns arrays within arrays, so many levels deep.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// replace replaces the first occurrence of a text.
func replace(old, new string) func([]byte, *random) []byte {
	return func(b []byte, _ *random) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

// truncate cuts the line at a random place.
func truncate(b []byte, r *random) []byte { return b[:1+r.below(uint64(len(b)-1))] }

// padToLimit makes the line one byte longer than the limit.
func padToLimit(b []byte, _ *random) []byte {
	out := append(make([]byte, 0, maxLineBytes+1), '{')
	out = append(out, bytes.Repeat([]byte{' '}, maxLineBytes+1-len(b))...)
	return append(out, b[1:]...)
}

// wrapInList makes the line an array with the object as its element.
func wrapInList(b []byte, _ *random) []byte { return append(append([]byte{'['}, b...), ']') }

// referenceTo makes the party in a role a reference to some entity of a domain.
func referenceTo(role string, d domain) func(*Generator, uint64) []edit {
	return func(g *Generator, n uint64) []edit {
		return []edit{{line, role, `{"by_external_id":"` + g.id(d, n%g.poolSize(d)) + `"}`}}
	}
}

const (
	// duplicatesPerCycle is how many slots of a cycle are duplicates.
	duplicatesPerCycle = 8
	// cyclesWithLargeLines is in how many cycles the faults that make huge lines are used.
	cyclesWithLargeLines = 2
)

// slot is what a bad line is: a fault, or one of a set of duplicates. The bad lines of a file go through all slots in
// cycles.
type slot struct {
	// fault is nil for a duplicate.
	fault *fault
	// rank is how many slots before this one are duplicates.
	rank int
}

// slots returns the slots of a cycle, each fault once and the duplicates, in an order that depends on the seed.
func slots(seed uint64) []slot {
	out := make([]slot, 0, len(faults)+duplicatesPerCycle)
	for i := range faults {
		out = append(out, slot{fault: &faults[i]})
	}
	out = append(out, make([]slot, duplicatesPerCycle)...)
	r := stream(seed, domainSlots, 0)
	for i := len(out) - 1; i > 0; i-- {
		j := r.below(uint64(i + 1))
		out[i], out[j] = out[j], out[i]
	}
	rank := 0
	for i := range out {
		out[i].rank = rank
		if out[i].fault == nil {
			rank++
		}
	}
	return out
}

// Kinds returns the code of every error that bad lines have, sorted.
func Kinds() []string {
	kinds := []string{kindDuplicate}
	for _, f := range faults {
		kinds = append(kinds, f.kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// EveryKind returns how many bad lines a batch must have so that every way of being bad is among them.
func EveryKind() int64 { return int64(len(faults) + duplicatesPerCycle) }

// duplicatesBefore counts the duplicates among the first j bad lines.
func (g *Generator) duplicatesBefore(j int64) int64 {
	n := int64(len(g.slots))
	return j/n*duplicatesPerCycle + int64(g.slots[j%n].rank)
}

// makeBadLine writes line n, which is bad line j, and returns it with the code of its error.
func (g *Generator) makeBadLine(n, j int64) (text []byte, kind string) {
	s := g.slots[j%int64(len(g.slots))]
	f := s.fault
	switch {
	case f == nil && g.duplicates > 1:
		g.writeLine(n, []edit{{modification, "external_id", `"` + g.sharedModificationID(g.duplicatesBefore(j)) + `"`}})
		return g.w.buf, kindDuplicate
	case f == nil, f.large && j/int64(len(g.slots)) >= cyclesWithLargeLines:
		f = &faults[0]
	}
	edits := f.edits
	if f.makeEdits != nil {
		edits = f.makeEdits(g, g.r.next())
	}
	if edits == nil {
		edits = []edit{} // not nil: the line is bad
	}
	g.writeLine(n, edits)
	if f.damage != nil {
		g.w.buf = f.damage(g.w.buf, &g.r)
	}
	return g.w.buf, f.kind
}

// sharedModificationID returns the ID of duplicate d. The sets have two or three lines, two fifths of the file apart;
// if there are too few duplicates for that, all of them are one set.
func (g *Generator) sharedModificationID(d int64) string {
	sets := max(g.duplicates*2/5, 1)
	return g.id(domainSharedID, uint64(d%sets))
}
