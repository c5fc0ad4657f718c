package report

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
)

// A summary tells MaxFields pairs apart and counts the others by code, whether the errors are counted in one part or in
// several.
func TestFieldsAreBounded(t *testing.T) {
	const lines = 3
	var whole Tally
	var parts Summary
	for line := int64(1); line <= lines; line++ {
		var part Tally
		for n := range MaxFields + 2 {
			e := &Error{Code: "extra_forbidden", Pointer: fmt.Sprint("/", n)}
			whole.Add(line, e)
			part.Add(line, e)
		}
		e := &Error{Code: "late", Pointer: "/0"}
		whole.Add(line, e)
		part.Add(line, e)
		var s Summary
		part.AddTo(&s)
		parts.Add(s)
	}
	var sum Summary
	whole.AddTo(&sum)
	if diff := cmp.Diff(sum, parts); diff != "" {
		t.Errorf("summary (-whole +parts):\n%s", diff)
	}
	if len(sum.Fields) != MaxFields+2 {
		t.Fatalf("%d fields, want %d and one for the others of each code", len(sum.Fields), MaxFields)
	}
	want := []FieldInfo{
		{Code: "extra_forbidden", Count: 2 * lines, Lines: lines, FirstLines: []int64{1, 2, 3}},
		{Code: "late", Count: lines, Lines: lines, FirstLines: []int64{1, 2, 3}},
	}
	difftest.Equal(t, "the others", want, sum.Fields[MaxFields:])
	total := int64(0)
	for _, f := range sum.Fields {
		total += f.Count
	}
	if want := sum.Codes["extra_forbidden"].Count + sum.Codes["late"].Count; total != want {
		t.Errorf("the fields have %d errors, the codes %d", total, want)
	}
}

// A part may tell fields apart that the parts preceding it have used up the number for.
func TestFieldsOfLaterParts(t *testing.T) {
	partOf := func(first, n int, line int64) (s Summary) {
		var tally Tally
		for i := range n {
			tally.Add(line, &Error{Code: "missing", Pointer: fmt.Sprint("/", first+i)})
		}
		tally.AddTo(&s)
		return s
	}
	var sum Summary
	sum.Add(partOf(0, MaxFields-1, 1))
	sum.Add(partOf(MaxFields-2, 3, 2)) // one known, one new, one too many
	if n := len(sum.Fields); n != MaxFields+1 {
		t.Fatalf("%d fields, want %d and one for the others", n, MaxFields)
	}
	if got := sum.Fields[MaxFields-2]; got.Count != 2 || *got.Field != fmt.Sprint("/", MaxFields-2) {
		t.Errorf("the known field is %+v, want 2 errors", got)
	}
	if got := sum.Fields[MaxFields]; got.Field != nil || got.Count != 1 || got.FirstLines[0] != 2 {
		t.Errorf("the others are %+v, want 1 error of line 2", got)
	}
}

func TestEntries(t *testing.T) {
	field := func(code, name string, count, lines int64) FieldInfo {
		return FieldInfo{Code: transaction.Code(code), Field: &name, Count: count, Lines: lines,
			FirstLines: []int64{lines}}
	}
	entry := func(code, name string, count int64, share float64, line int64) Entry {
		return Entry{Code: transaction.Code(code), Field: &name, Count: count, Share: share, FirstLines: []int64{line}}
	}
	s := Summary{Counts: Counts{Total: 4}, Fields: []FieldInfo{{Code: "b", Count: 2, Lines: 5}, field("b", "/y", 2, 1),
		field("c", "", 7, 4), field("b", "/x", 2, 2), field("a", "/z", 2, 3)}}
	want := []Entry{entry("c", "", 7, 1, 4), entry("a", "/z", 2, 0.75, 3), entry("b", "/x", 2, 0.5, 2),
		entry("b", "/y", 2, 0.25, 1), {Code: "b", Count: 2, Share: 1}}
	difftest.Equal(t, "entries", want, s.Entries())
	difftest.Equal(t, "entries of no errors", []Entry{}, Summary{}.Entries())
}
