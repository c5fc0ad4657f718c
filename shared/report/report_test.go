package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/transaction"
)

func TestLine(t *testing.T) {
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
		`{"loc":["modification","type"],"msg":"No.","type":"enum","pointer":"/modification/type","offset":1099511627776},` +
		`{"loc":["modification","external_id"],"msg":"","type":"duplicate_modification_id",` +
		`"pointer":"/modification/external_id","offset":12,"other_lines":[1,9],"other_lines_total":15}` +
		`],"errors_dropped":3}` + "\n"
	if diff := cmp.Diff(want, string(line.AppendTo(nil))); diff != "" {
		t.Error(diff)
	}
	if got := string((&Line{Number: 1}).AppendTo([]byte("x"))); got != `x{"line":1,"request_uuid":null,`+
		`"transaction_external_id":null,"modification_external_id":null,"errors":[]}`+"\n" {
		t.Error(got)
	}
}

func TestLoc(t *testing.T) {
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
		if got := string(appendLoc(nil, pointer)); got != want {
			t.Errorf("%s: %s, want %s", pointer, got, want)
		}
	}
}

// FuzzString holds that every string, of whatever bytes, is JSON of one line and means what encoding/json makes of it.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", `quote " and \`, "\x00\x01\x1f\x7f\r\n\t\b\f", "ümläut 🙂", "\xff\xfe", "a\xc3",
		"\xed\xa0\x80", "\u2028\u2029", "\xf0\x9f\x99", "\uFFFD", "<>&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := appendString(nil, s)
		if again := appendString(nil, []byte(s)); !bytes.Equal(got, again) {
			t.Fatalf("%s as bytes is %s", got, again)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); len(back) < len(want) || bytes.ContainsAny(got, "\n\r") {
			t.Fatalf("%q came back as %q", s, back)
		}
		var want string
		std, _ := json.Marshal(s)
		if json.Unmarshal(std, &want); back != want {
			t.Fatalf("%q came back as %q, from encoding/json as %q", s, back, want)
		}
	})
}

func TestSummary(t *testing.T) {
	var first, second, sum Summary
	for line := range int64(2) {
		first.Count(line+1, &Error{Code: "enum", Pointer: "/payment_type", Message: "No.", Offset: 10 + line})
	}
	first.Counts = Counts{Total: 5, Accepted: 3, Invalid: 2}
	for line := range int64(4) {
		second.Count(line+6, &Error{Code: "enum", Pointer: "/payment_type", Message: "No.", Offset: 60 + line})
	}
	second.Count(8, &Error{Code: "uuid", Pointer: "/request_uuid", Message: "Bad.", Offset: 80})
	second.Counts = Counts{Total: 10, Accepted: 6, Invalid: 4}
	sum.Add(first)
	sum.Add(second)
	sum.Add(Summary{})

	want := Summary{Counts: Counts{Total: 15, Accepted: 9, Invalid: 6}, Codes: map[transaction.Code]CodeInfo{
		"enum": {Count: 6, Examples: []Example{{1, "/payment_type", "No.", 10}, {2, "/payment_type", "No.", 11}, {6, "/payment_type", "No.", 60}}},
		"uuid": {Count: 1, Examples: []Example{{8, "/request_uuid", "Bad.", 80}}},
	}}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Error(diff)
	}
	if len(first.Codes["enum"].Examples) != 2 {
		t.Error("adding changed what was added")
	}
	text, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	var back Summary
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Error(diff)
	}
}

func TestEmptySummaryIsAnObject(t *testing.T) {
	text, err := json.Marshal(Summary{})
	if want := `{"counts":{"total":0,"accepted":0,"invalid":0},"codes":{}}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}

func TestLongPointersAreCut(t *testing.T) {
	for _, c := range []struct{ pointer, want string }{
		{"/" + strings.Repeat("x", 199), "/" + strings.Repeat("x", 199)},
		{"/" + strings.Repeat("x", 200), "/" + strings.Repeat("x", 199) + "…"},
		{"/" + strings.Repeat("ü", 100), "/" + strings.Repeat("ü", 99) + "…"},
	} {
		var s Summary
		s.Count(1, &Error{Code: "extra_forbidden", Pointer: c.pointer})
		if got := s.Codes["extra_forbidden"].Examples[0].Pointer; got != c.want {
			t.Errorf("pointer of %d bytes cut to %q", len(c.pointer), got)
		}
	}
}
