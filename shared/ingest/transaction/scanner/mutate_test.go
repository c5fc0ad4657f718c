package scanner

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
)

// mutatedLine returns a damaged line: a line of the corpus with one to four changes. In half of the cases these are
// changes that leave JSON.
func mutatedLine(rng *rand.Rand) []byte {
	line := []byte(corpus[rng.IntN(4)])
	if rng.IntN(20) == 0 {
		line = []byte(corpus[rng.IntN(len(corpus))])
	}
	from := changes
	if rng.IntN(2) == 0 {
		from = changes[:changesToJSON]
	}
	for range 1 + rng.IntN(4) {
		line = from[rng.IntN(len(from))](rng, line)
	}
	return bytes.ReplaceAll(line, []byte("\n"), []byte("\v")) // no line has a line feed
}

// randomPosition returns a position in the line, in half of the cases the beginning of a token.
func randomPosition(rng *rand.Rand, line []byte) int {
	i := rng.IntN(len(line) + 1)
	if rng.IntN(2) == 0 {
		if k := strings.IndexAny(string(line[i:]), `"{[,:}]`); k >= 0 {
			i += k
		}
	}
	return i
}

// valueAt finds a value after position i: the bytes from a colon to the next comma or closing bracket that is not
// inside the value.
func valueAt(line []byte, i int) (from, to int) {
	k := strings.IndexByte(string(line[i:]), ':')
	if k < 0 {
		return i, i
	}
	from = i + k + 1
	depth, inString := 0, false
	for to = from; to < len(line); to++ {
		switch c := line[to]; {
		case inString && c == '\\':
			to++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 0:
			return from, to
		case c == '}' || c == ']':
			depth--
		}
	}
	return from, min(to, len(line))
}

func splice(line []byte, from, to int, with string) []byte {
	out := append([]byte(nil), line[:from]...)
	return append(append(out, with...), line[to:]...)
}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

// changesToJSON is how many changes, from the first, turn JSON into JSON as far as the names and values do.
const changesToJSON = 5

// changes are the ways in which a line is damaged.
var changes = []func(*rand.Rand, []byte) []byte{
	// Another value.
	func(rng *rand.Rand, line []byte) []byte {
		from, to := valueAt(line, rng.IntN(len(line)+1))
		return splice(line, from, to, pick(rng, values))
	},
	// Another value of the kind that belongs to the name.
	func(rng *rand.Rand, line []byte) []byte {
		from, to := valueAt(line, rng.IntN(len(line)+1))
		name := line[:from]
		name = name[strings.LastIndexByte(strings.TrimRight(string(name), "\": "), '"')+1:]
		for _, kind := range valuesFor {
			if strings.Contains(string(name), kind.name) {
				return splice(line, from, to, pick(rng, kind.values))
			}
		}
		return line
	},
	// Another member.
	func(rng *rand.Rand, line []byte) []byte {
		i := rng.IntN(len(line) + 1)
		k := strings.IndexAny(string(line[i:]), "{,")
		if k < 0 {
			return line
		}
		return splice(line, i+k+1, i+k+1, pick(rng, names)+":"+pick(rng, values)+",")
	},
	// Another name.
	func(rng *rand.Rand, line []byte) []byte {
		i := rng.IntN(len(line) + 1)
		k := strings.Index(string(line[i:]), `":`)
		if k < 0 {
			return line
		}
		from := strings.LastIndexByte(string(line[:i+k]), '"')
		if from < 0 {
			return line
		}
		return splice(line, from, i+k+1, pick(rng, names))
	},
	// Two values exchanged.
	func(rng *rand.Rand, line []byte) []byte {
		a, b := valueAt(line, rng.IntN(len(line)+1))
		c, d := valueAt(line, b)
		if c < b {
			return line
		}
		return []byte(string(line[:a]) + string(line[c:d]) + string(line[b:c]) + string(line[a:b]) + string(line[d:]))
	},
	// A piece inserted.
	func(rng *rand.Rand, line []byte) []byte {
		i := randomPosition(rng, line)
		return splice(line, i, i, pick(rng, pieces))
	},
	// Bytes replaced by a piece.
	func(rng *rand.Rand, line []byte) []byte {
		i := randomPosition(rng, line)
		return splice(line, i, min(len(line), i+1+rng.IntN(6)), pick(rng, pieces))
	},
	// A byte inserted or replaced.
	func(rng *rand.Rand, line []byte) []byte {
		i := randomPosition(rng, line)
		return splice(line, i, min(len(line), i+rng.IntN(2)), string([]byte{byte(rng.IntN(256))}))
	},
	// A flipped bit.
	func(rng *rand.Rand, line []byte) []byte {
		if len(line) == 0 {
			return line
		}
		out := append([]byte(nil), line...)
		out[rng.IntN(len(out))] ^= 1 << rng.IntN(8)
		return out
	},
	// Bytes removed.
	func(rng *rand.Rand, line []byte) []byte {
		i := randomPosition(rng, line)
		return splice(line, i, min(len(line), i+1+rng.IntN(1+rng.IntN(40))), "")
	},
	// Bytes repeated.
	func(rng *rand.Rand, line []byte) []byte {
		i := randomPosition(rng, line)
		j := min(len(line), i+1+rng.IntN(60))
		return splice(line, j, j, string(line[i:j]))
	},
	// The rest cut off, in a quarter of the cases.
	func(rng *rand.Rand, line []byte) []byte {
		if rng.IntN(4) > 0 {
			return line
		}
		return line[:randomPosition(rng, line)]
	},
	// One character written as an escape.
	func(rng *rand.Rand, line []byte) []byte {
		i := randomPosition(rng, line)
		if i >= len(line) || line[i] < 0x20 || line[i] >= 0x80 {
			return line
		}
		const hex = "0123456789abcdefABCDEF"
		return splice(line, i, i+1, `\u00`+string(hex[line[i]>>4])+string(hex[line[i]&15]))
	},
}

// names are the names that are put into lines, with their quotation marks.
var names = []string{
	`"sender"`, `"receiver"`, `"modification"`, `"unknown"`, `"external_id"`, `"by_external_id"`,
	`"external_entity_type"`, `"id"`,
	`"additional_fields"`, `"by_uuid"`, `"individual"`, `"x"`, `""`, `"a/b~c"`, `"ä"`, `"\u0073ender"`, `"send\u0065r"`,
	`"by_external_i\u0064"`, `"x\ud83d\ude00"`, `"request_uuid "`, `"amount"`, `"currency"`, `"created_at"`,
	`"addresses"`,
	`"payment_type"`, `"card_number"`, `"bank_account_bic"`, `"country_code"`, `"ip_address"`, `"response_avs"`,
	`"label"`,
	`"entity_groups_external"`, `"payment_options"`, `"transaction_external_id"`, `"request_uuid"`,
}

// valuesFor are values at the edges of a rule, for names that contain the given word.
var valuesFor = []struct {
	name   string
	values []string
}{
	{"_at", dateTimes}, {"currency", codes}, {"country", codes}, {"ip_address", addresses}, {"bic", bics}, {"amount",
		numbers},
	{"card_number", numbers}, {"\"id", numbers}, {"account", texts}, {"response", texts}, {"type", enums}, {"label",
		enums},
	{"sender", entities}, {"receiver", entities}, {"partner", entities}, {"external_id", texts}, {"uuid", uuids},
}

var (
	dateTimes = []string{
		`"2026-02-01T12:00:00"`, `"2026-03-03T12:00:00Z"`, `"2026-03-03T12:00:00.000000001Z"`,
		`"2026-03-03T11:59:59.999999999Z"`, `"2026-01-30T12:00:00Z"`,
		`"2026-01-30T11:59:59.999999999"`, `"2026-02-29T00:00:00"`, `"2024-02-29T00:00:00+14:00"`,
		`"2026-02-01T13:00:00.000000001+00:00"`,
		`"2026-02-01T13:00:00"`, `"2026-02-01T14:00:00+01:00"`, `"2026-02-01T12:00:00.000000001-01:00"`,
		`"2026-03-03T13:00:00+00:59"`,
		`"2026-01-01T24:00:00"`, `"2026-01-01T23:59:60Z"`, `"2026-01-01t00:00:00Z"`, `"2026-01-01T00:00:00z"`,
		`"2026-01-01T00:00:00."`,
		`"2026-01-01T00:00:00.123456789Z"`, `"2026-01-01T00:00:00.1234567890Z"`, `"0000-01-01T00:00:00Z"`,
		`"9999-12-31T23:59:59-23:59"`,
		`"2026-01-01 00:00:00"`, `"2026-13-01T00:00:00Z"`, `"2026-04-31T00:00:00Z"`, `"1900-02-29T00:00:00"`,
		`"2000-02-29T00:00:00"`, `"2026-01-00T00:00:00"`,
		`"2026-01-01T00:00:00+24:00"`, `"2026-01-01T00:00:00+00:60"`, `"2026-01-01T00:00:00-00:00"`,
		`"2026-01-01T00:00:00+0100"`, `"2026-01-01T00:00"`, `"2026-1-01T00:00:00Z"`,
	}
	uuids = []string{
		`"0C1F6AD2-6F35-4D1B-9D5E-0A4C2F3B7E11"`, `"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e1"`,
		`"0c1f6ad26f35-4d1b-9d5e-0a4c2f3b7e111-"`, `"00000000-0000-0000-0000-000000000000"`,
		`"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e1g"`, `"0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7é1"`,
		`"{0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11}"`, `"0c1f6ad2_6f35-4d1b-9d5e-0a4c2f3b7e11"`,
	}
	codes = []string{`"DE"`, `"de"`, `"XK"`, `"UK"`, `"AN"`, `"DD"`, `"USA"`, `"\u0044E"`, `"EUR"`, `"eur"`,
		`"DEM"`, `"XXX"`, `"DDM"`, `"EU"`, `"XTS"`, `"BGN"`, `"D"`, `"[["`, `"@@@"`}
	addresses = []string{
		`"1.2.3.4"`, `"01.2.3.4"`, `"::1"`, `"::ffff:1.2.3.4"`, `"fe80::1%eth0"`, `"1.2.3.256"`,
		`"2001:db8::1:2:3:4:5:6:7"`, `"2001:DB8::1"`, `"1.2.3"`, `"1.2.3.4.5"`,
		`"0000:0000:0000:0000:0000:ffff:192.168.100.228"`, `"` + strings.Repeat("1", 50) + `"`, `"` +
			strings.Repeat("1", 51) + `"`,
	}
	bics = []string{`"ABCDDEFF"`, `"abcddeff123"`, `"ABCDDEFF12"`, `"ABCDDEFF1"`, `"ABCDDEF"`, `"ABCDDEFF1234"`,
		`"ABCDDEFÄ"`, `"ABCDDE-F"`, `"ABCD\u0044EFF"`}
	enums = []string{`"payin"`, `"payout"`, `"ledger"`, `"refund"`, `"Y"`, `"unknown"`, `"individual"`, `"unknown "`,
		`"p\u0061yin"`, `"merchant_profile"`, `"Payin"`, `""`, `null`, `1`}
	numbers = []string{
		`0`, `-0`, `1`, `-1`, `1.0`, `1e2`, `1E400`, `-1e999`, `1e-999`, `0e999`, `0.0e+400`, `1.7976931348623157e308`,
		`1.7976931348623159e308`, `9999`, `10000`, `2147483647`, `2147483648`, `-2147483648`,
		`-2147483649`, `12345678901234567890`, `9999999999`, `99999999999`, strings.Repeat("9", 308),
		strings.Repeat("9", 309), strings.Repeat("9", 309) + `.5e-3`, `0.` + strings.Repeat("0", 320) + `1`,
		`0.` + strings.Repeat("0", 320) + `1e330`, `1e308`, `10e308`, `1e0000000000000000000001`, `0.00001e313`,
		`0.00001e314`, `123456e303`, `123456e304`, `1e99999999999999999999`, `-1E-99999999999999999999`,
		`17976931348623158` + strings.Repeat("0", 292), `17976931348623159` + strings.Repeat("0", 292), `"1"`, `null`,
	}
	texts = []string{
		`""`, `"x"`, `"é"`, `"éé"`, `"\u00e9"`, `"\ud83d\ude00"`, `"😀"`, `"` + strings.Repeat("a", 34) + `"`, `"` +
			strings.Repeat("a", 35) + `"`, `"` + strings.Repeat("é", 34) + `"`,
		`"` + strings.Repeat("é", 35) + `"`, `"` + strings.Repeat("a", 255) + `"`, `"` + strings.Repeat("a", 256) + `"`,
		`"` + strings.Repeat("é", 127) + `a"`, `"` + strings.Repeat("é", 128) + `"`,
		`"` + strings.Repeat(`\n`, 34) + `"`, `"` + strings.Repeat(`\n`, 35) + `"`, `null`, `1`,
	}
	entities = []string{
		`{"external_id":"m"}`, `{"by_external_id":"k"}`, `{"by_external_id":null}`, `{"by_external_id":""}`,
		`{"by_external_id":7}`, `{"external_entity_type":"unknown"}`,
		`{"external_entity_type":"unknown","unknown":{"external_id":"u"}}`,
		`{"external_entity_type":"business","business":{}}`, `{"by_external_id":"k","by_uuid":"k"}`,
		`{"by_external_id":"k","unknown":null}`, `{"by_external_id":"k","unknown":{}}`,
		`{"unknown":{"external_id":"u"}}`, `{"external_entity_type":"unknown","unknown":null}`,
		`{"external_entity_type":"unknown","unknown":{"external_id":"u","by_external_id":"k"}}`,
		`{"external_entity_type":1,"unknown":{"external_id":"u"}}`,
		`{"by_external_id":"k","external_entity_type":"unknown"}`,
	}
	values = slices.Concat(dateTimes, uuids, codes, addresses, bics, enums, numbers, texts, entities, []string{
		`true`, `false`, `{}`, `[]`, `[{}]`, `[null]`, `["a",1,null,{"k":[]}]`,
		`[{"id":1},{"id":"x"},null,7,{"country_code":"ZZ"}]`,
		`{"a":1,"b":{"a":2},"c":[{"a":3}]}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2}}`,
		`[{"a":1,"a":1}]`, `[0,[1,{"x/y":{"~":1,"~":2}}]]`,
		`{"` + strings.Repeat("k", 70) + `":"v"}`, strings.Repeat("[", 61) + strings.Repeat("]", 61),
		strings.Repeat("[", 62) + strings.Repeat("]", 62),
		strings.Repeat("[", 63) + strings.Repeat("]", 63), strings.Repeat("[", 64) + strings.Repeat("]", 64),
		strings.Repeat(`{"a":`, 63) + "1" + strings.Repeat("}", 63), strings.Repeat(`{"a":`, 62) + "1" +
			strings.Repeat("}", 62),
	})
)

// pieces are the texts that are put into lines anywhere.
var pieces = []string{
	"{", "}", "[", "]", ",", ":", `"`, `\`, "\x00", "\x1f", "\x7f", "\t", "\r", "\n", " ", "  ", "\ufeff", "\u2028",
	"\x80", "\xc0\x80", "\xc3", "\xc3\xa9", "\xed\xa0\x80",
	"\xf0\x9f\x98\x80", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xff", `\u`, `\u12`, `\u0000`, `\u0022`, `\u005c`,
	`\ud800`, `\udc00`, `\ud83d\ude00`, `\ud83d\u0041`, `\ud83dx`, `\uD83D\uDE00`,
	`\"`, `\\`, `\/`, `\b\f\n\r\t`, `\x`, `\'`, `\U0041`, "0", "00", "01", "-", "-0", "+1", ".5", "1.", "1.e1", "1e",
	"1e+", "1E-2", "0x1", "NaN", "Infinity", "nul", "nulll", "True", "tru",
	"//", "/**/", "'", "null", "true", `"a":1`, `,"a":1`, `"x":{},`, strings.Repeat("é", 20), strings.Repeat("a", 9),
	`,,`, `}}`, `]]`, `{}`, `[]`, `null,`,
}
