package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestLineAppendTo(t *testing.T) {
	t.Run("all members", func(t *testing.T) {
		line := Line{
			Number:         7,
			RequestUUID:    []byte("r"),
			ModificationID: []byte{},
			Errors: []Error{
				{Code: "json_invalid", Message: "Not JSON."},
				{Code: "enum", Pointer: "/modification/type", Message: "No.", Offset: 1 << 40},
				{Code: "duplicate_modification_id", Pointer: "/modification/external_id", Offset: 12,
					OtherLines: []int64{1, 9}, OtherLinesTotal: 15},
			},
			Dropped: 3,
		}
		want := `{"line":7,"request_uuid":"r","transaction_external_id":null,"modification_external_id":"","errors":[` +
			`{"loc":[],"msg":"Not JSON.","type":"json_invalid","pointer":"","offset":0},` +
			`{"loc":["modification","type"],"msg":"No.","type":"enum",` +
			`"pointer":"/modification/type","offset":1099511627776},` +
			`{"loc":["modification","external_id"],"msg":"","type":"duplicate_modification_id",` +
			`"pointer":"/modification/external_id","offset":12,"other_lines":[1,9],"other_lines_total":15}` +
			`],"errors_dropped":3}` + "\n"
		difftest.Equal(t, "line", want, string(line.AppendTo(nil)))
	})
	t.Run("zero values, after other bytes", func(t *testing.T) {
		want := `x{"line":1,"request_uuid":null,"transaction_external_id":null,"modification_external_id":null,` +
			`"errors":[]}` + "\n"
		difftest.Equal(t, "line", want, string((&Line{Number: 1}).AppendTo([]byte("x"))))
	})
}

func TestAppendLoc(t *testing.T) {
	for pointer, want := range map[string]string{
		"":                                `[]`,
		"/":                               `[""]`,
		"/sender":                         `["sender"]`,
		"/a~1b/c~0d/~01":                  `["a/b","c~d","~1"]`,
		"/sender/unknown/addresses/0/id":  `["sender","unknown","addresses",0,"id"]`,
		"/sender/unknown/addresses/12":    `["sender","unknown","addresses",12]`,
		"/12":                             `["12"]`,
		"/additional_fields/12":           `["additional_fields","12"]`,
		"/x/additional_fields/12/13":      `["x","additional_fields","12",13]`,
		"/a/01":                           `["a","01"]`,
		"/a/-1":                           `["a","-1"]`,
		"/a/1234567890":                   `["a","1234567890"]`,
		"/a//b":                           `["a","","b"]`,
		"/quo\"te":                        `["quo\"te"]`,
		"/sender/unknown/entity_groups_9": `["sender","unknown","entity_groups_9"]`,
	} {
		t.Run(pointer, func(t *testing.T) {
			difftest.Equal(t, fmt.Sprintf("loc of %q", pointer), want, string(appendLoc(nil, pointer)))
		})
	}
}

// FuzzString requires that any bytes become a JSON string on one line that means the same as what encoding/json makes
// of them.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", `quote " and \`, "\x00\x01\x1f\x7f\r\n\t\b\f", "ümläut 🙂",
		"\xff\xfe", "a\xc3",
		"\xed\xa0\x80", "\u2028\u2029", "\xf0\x9f\x99", "\uFFFD", "<>&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendString(nil, s)
		if again := appendString(nil, []byte(s)); !bytes.Equal(got, again) {
			t.Fatalf("the string %q became %s, the same bytes %s", s, got, again)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%q became %s: %v", s, got, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); len(back) < len(want) || bytes.ContainsAny(got, "\n\r") {
			t.Fatalf("%q was decoded as %q, want at least %q and no line break in %s", s, back, want, got)
		}
		var want string
		std, _ := json.Marshal(s)
		if json.Unmarshal(std, &want); back != want {
			t.Fatalf("%q was decoded as %q, want %q as from encoding/json", s, back, want)
		}
	})
}

func TestSummaryAdd(t *testing.T) {
	var firstTally, secondTally Tally
	for line := range int64(2) {
		firstTally.Add(line+1, &Error{Code: "enum", Pointer: "/payment_type", Message: "No.", Offset: 10 + line})
	}
	first := Summary{Counts: Counts{Total: 5, Accepted: 3, Invalid: 2}}
	firstTally.AddTo(&first)
	for line := range int64(4) {
		secondTally.Add(line+6, &Error{Code: "enum", Pointer: "/payment_type", Message: "No.", Offset: 60 + line})
	}
	secondTally.Add(8, &Error{Code: "uuid", Pointer: "/request_uuid", Message: "Bad.", Offset: 80})
	secondTally.Add(8, &Error{Code: "uuid", Pointer: "/request_uuid", Message: "Bad.", Offset: 90})
	second := Summary{Counts: Counts{Total: 10, Accepted: 6, Invalid: 4}, RejectedLeftOut: 2}
	secondTally.AddTo(&second)
	var sum Summary
	sum.Add(first)
	sum.Add(second)
	sum.Add(Summary{})

	want := Summary{Counts: Counts{Total: 15, Accepted: 9, Invalid: 6}, Codes: map[transaction.Code]CodeInfo{
		"enum": {Count: 6, Examples: []Example{
			{1, "/payment_type", "No.", 10}, {2, "/payment_type", "No.", 11}, {6, "/payment_type", "No.", 60}}},
		"uuid": {Count: 2, Examples: []Example{{8, "/request_uuid", "Bad.", 80}, {8, "/request_uuid", "Bad.", 90}}},
	}, Fields: []FieldInfo{
		{Code: "enum", Field: new("/payment_type"), Count: 6, Lines: 6, FirstLines: []int64{1, 2, 6}},
		{Code: "uuid", Field: new("/request_uuid"), Count: 2, Lines: 1, FirstLines: []int64{8}},
	}, RejectedLeftOut: 2}
	difftest.Equal(t, "sum", want, sum)
	difftest.Equal(t, "examples after it was added of the first summary", 2, len(first.Codes["enum"].Examples))
}

// TestStoredSummary pins the JSON of a summary, which is stored and which clients read.
func TestStoredSummary(t *testing.T) {
	for _, c := range []struct {
		name    string
		summary Summary
		want    string
	}{
		{"no lines", Summary{Codes: map[transaction.Code]CodeInfo{}},
			`{"counts":{"total":0,"accepted":0,"invalid":0},"codes":{}}`},
		{"all members", Summary{
			Counts: Counts{Total: 3, Accepted: 1, Invalid: 2},
			Codes: map[transaction.Code]CodeInfo{
				"uuid": {Count: 2, Examples: []Example{
					{2, "/request_uuid", "Bad.", 80}, {3, "/request_uuid", "Bad.", 160}}},
				"enum": {Count: 1, Examples: []Example{{3, "/payment_type", "\"x\" <é>", 1 << 40}}},
			},
			Fields: []FieldInfo{
				{Code: "uuid", Field: new("/request_uuid"), Count: 2, Lines: 2, FirstLines: []int64{2, 3}},
				{Code: "enum", Count: 1, Lines: 1, FirstLines: []int64{3}},
			},
			RejectedLeftOut: 1,
		}, `{"counts":{"total":3,"accepted":1,"invalid":2},"codes":{` +
			`"enum":{"count":1,"examples":[{"line":3,"pointer":"/payment_type",` +
			`"message":"\"x\" \u003cé\u003e","offset":1099511627776}]},` +
			`"uuid":{"count":2,"examples":[{"line":2,"pointer":"/request_uuid","message":"Bad.","offset":80},` +
			`{"line":3,"pointer":"/request_uuid","message":"Bad.","offset":160}]}},` +
			`"fields":[{"code":"uuid","field":"/request_uuid","count":2,"lines":2,"first_lines":[2,3]},` +
			`{"code":"enum","field":null,"count":1,"lines":1,"first_lines":[3]}],"rejected_left_out":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := errtest.Must(json.Marshal(c.summary))(t)
			difftest.Equal(t, "stored summary", c.want, string(text))
			var decoded Summary
			errtest.Fatal(t, json.Unmarshal([]byte(c.want), &decoded))
			difftest.Equal(t, "decoded summary", c.summary, decoded)
		})
	}
}

func TestZeroSummaryHasAnObjectOfCodes(t *testing.T) {
	text, err := json.Marshal(Summary{})
	if want := `{"counts":{"total":0,"accepted":0,"invalid":0},"codes":{}}`; err != nil || string(text) != want {
		t.Errorf("the zero summary is %s, %v, want %s", text, err, want)
	}
}

func TestLongPointersAreCut(t *testing.T) {
	for _, c := range []struct{ name, pointer, want string }{
		{"longest", "/" + strings.Repeat("x", 199), "/" + strings.Repeat("x", 199)},
		{"too long", "/" + strings.Repeat("x", 200), "/" + strings.Repeat("x", 199) + "…"},
		{"too long within a code point", "/" + strings.Repeat("ü", 100), "/" + strings.Repeat("ü", 99) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Summary
			var tally Tally
			tally.Add(1, &Error{Code: "extra_forbidden", Pointer: c.pointer})
			tally.AddTo(&s)
			difftest.Equal(t, fmt.Sprintf("pointer of %d bytes was cut to", len(c.pointer)), c.want,
				s.Codes["extra_forbidden"].Examples[0].Pointer)
		})
	}
}
