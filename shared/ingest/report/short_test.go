package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
)

func TestAppendShortTo(t *testing.T) {
	line := Line{Number: 7, TransactionExternalID: []byte(`t"1`), ModificationID: []byte{}, Dropped: 3, Errors: []Error{
		{Code: "enum", Pointer: "/a"}, {Code: "missing"}, {Code: "enum", Pointer: "/b"}}}
	want := `{"line":7,"transaction_external_id":"t\"1","modification_external_id":"","codes":["enum","missing"]}` +
		"\n"
	difftest.Equal(t, "short entry", want, string(line.AppendShortTo(nil)))
	got, number, err := appendShortOf(nil, line.AppendTo(nil))
	if err != nil || string(got) != want || number != 7 {
		t.Errorf("shortened entry, error %v\ngot  %s\nwant %s", err, got, want)
	}
}

// textPart is a part in memory. Bytes beyond its end are missing.
type textPart string

func (p textPart) Range(from, to int64) io.ReadCloser {
	from, to = min(from, int64(len(p))), min(to, int64(len(p)))
	return io.NopCloser(strings.NewReader(string(p[from:to])))
}

func TestJoinerRefusesDamagedParts(t *testing.T) {
	entry := (&Line{Number: 1, Errors: []Error{{Code: "enum"}}}).AppendTo(nil)
	size := int64(len(entry))
	for _, c := range []struct {
		name        string
		part        string
		full, short int64
		limit       int64
	}{
		{"too short", string(entry[:size-1]), size, 0, 0},
		{"too short for short entries", string(entry), size, 1, 0},
		{"shorter than its entries, beyond the limit", string(entry[:size-1]), size, 0, 1},
		{"with short entries that are none", string(entry) + "nonsense\n", size, 9, 0},
		{"without a line feed at the limit", strings.TrimSuffix(string(entry), "\n"), size, 0, 5},
		{"not JSON beyond the limit", string(entry) + "nonsense\n", size + 9, 0, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := NewJoiner(new(bytes.Buffer), c.limit).AddPart(textPart(c.part), PartSize{c.full, c.short})
			if err == nil {
				t.Error("no error, want one")
			}
		})
	}
}

// A part begins to be short by the sum of MinBytes: an entry must not be shorter than that.
func TestMinBytes(t *testing.T) {
	for _, res := range []transaction.Result{
		{},
		{RequestUUID: []byte{}, TransactionExternalID: []byte("t\n"), ModificationID: []byte("m\xff")},
		{Findings: []transaction.Finding{{Code: "enum"}}},
		{Findings: []transaction.Finding{{Code: "enum", Pointer: "/a/b~1/0", Message: "No \"x\".", Offset: 9},
			{Code: "missing", Pointer: "/x"}}},
		{Findings: make([]transaction.Finding, MaxErrors)},
	} {
		line := Line{Number: 1, RequestUUID: res.RequestUUID, TransactionExternalID: res.TransactionExternalID,
			ModificationID: res.ModificationID}
		for _, f := range res.Findings {
			line.Errors = append(line.Errors, Error{Code: f.Code, Pointer: f.Pointer, Message: f.Message,
				Offset: int64(f.Offset)})
		}
		if got, most := MinBytes(&res), int64(len(line.AppendTo(nil))); got > most || got < most/3 {
			t.Errorf("MinBytes of %d findings is %d, want at most the %d bytes of the entry and no less than a third",
				len(res.Findings), got, most)
		}
	}
}
