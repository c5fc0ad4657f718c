package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestCSVRecords(t *testing.T) {
	line := Line{
		Number: 7, TransactionExternalID: []byte(`t,"1"`), ModificationID: []byte("-1"),
		Errors: []Error{
			{Code: "enum", Pointer: "/payment_type", Message: "Use one of a, b.", Offset: 1 << 40},
			{Code: "missing", Pointer: "/=x", Message: "It is missing."},
			{Code: "enum", Pointer: "", Message: "\"No\"\r\nline.", Offset: 3},
		},
	}
	want := `7,'-1,"t,""1""",enum,/payment_type,"Use one of a, b.",1099511627776` + "\r\n" +
		`7,'-1,"t,""1""",missing,/=x,It is missing.,0` + "\r\n" +
		`7,'-1,"t,""1""",enum,,"""No""` + "\r\n" + `line.",3` + "\r\n"
	difftest.Equal(t, "records", want, string(line.AppendCSVTo(nil)))
	short := `7,'-1,"t,""1""",enum missing,,,` + "\r\n"
	difftest.Equal(t, "short record", short, string(line.AppendShortCSVTo(nil)))
	unreadable := Line{Number: 1, Errors: []Error{{Code: "json_invalid", Message: "No."}}}
	difftest.Equal(t, "record without IDs", "1,,,json_invalid,,No.,0\r\n", string(unreadable.AppendCSVTo(nil)))
}

func TestCells(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"plain-1 x":     "plain-1 x",
		"a,b":           `"a,b"`,
		`a"b`:           `"a""b"`,
		"a\nb":          "\"a\nb\"",
		"=1+1":          "'=1+1",
		"+49":           "'+49",
		"-1":            "'-1",
		"@SUM(A1)":      "'@SUM(A1)",
		"'x":            "''x",
		"\t=1":          "'\t=1",
		"\r=1":          "\"'\r=1\"",
		"\n=1":          "\"'\n=1\"",
		"=1,2":          `"'=1,2"`,
		"＝1":            "'＝1",
		"＠x":            "'＠x",
		" =1":           " =1",
		"ümläut 🙂":      "ümläut 🙂",
		"a\x00b\xffc":   "a\uFFFDb\uFFFDc",
		"\xef\xbc":      "\uFFFD\uFFFD",
		"a;b\u2028\x7f": "a;b\u2028\x7f",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			difftest.Equal(t, "cell", want, string(appendCell(nil, text)))
			difftest.Equal(t, "cell after another", "x,"+want, string(appendCell([]byte("x,"), []byte(text))))
		})
	}
}

// IDs of 255 bytes are whole; of longer ones, which no valid line has, the beginning is given.
func TestLongIDsInCSV(t *testing.T) {
	for n, want := range map[int]string{
		254: strings.Repeat("é", 127), 256: strings.Repeat("é", 127) + "…", 1000: strings.Repeat("é", 127) + "…",
	} {
		line := Line{Number: 1, ModificationID: []byte(strings.Repeat("é", n/2)), Errors: []Error{{Code: "enum"}}}
		if got := string(line.AppendCSVTo(nil)); got != "1,"+want+",,enum,,,0\r\n" {
			t.Errorf("an ID of %d bytes became %q, want %q", n, got, want)
		}
	}
}

// FuzzCSV requires that a reader of CSV finds the values of the line in each record, but for the apostrophes, that no
// cell is a formula, and that the joiner shortens a part to the bytes that its maker would have written.
func FuzzCSV(f *testing.F) {
	f.Add("m", "t", "/p", "Message.")
	f.Add("=1+1", "a\r\nb\",c", "/x\x00", "\xff'")
	f.Add("\"\n\"", "", "\r\n", "＋1,")
	f.Fuzz(func(t *testing.T, modification, transactionID, pointer, message string) {
		line := Line{Number: 12, ModificationID: []byte(modification), TransactionExternalID: []byte(transactionID),
			Errors: []Error{{Code: "enum", Pointer: pointer, Message: message, Offset: 5}, {Code: "uuid"},
				{Code: "enum", Pointer: "/other"}}}
		text := line.AppendCSVTo(nil)
		records := errtest.Must(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)
		difftest.Equal(t, fmt.Sprintf("%q: records", text), 3, len(records))
		for i, want := range []string{"12", modification, transactionID, "enum", pointer, message, "5"} {
			requireCell(t, records[0][i], want)
		}
		var out bytes.Buffer
		j := errtest.Must(NewCSVJoiner(&out))(t)
		errtest.Fatal(t, j.AddPart(textPart(text), PartSize{Full: int64(len(text))}, 12))
		difftest.Equal(t, "shortened to", CSVHeader+string(line.AppendShortCSVTo(nil)), out.String())
	})
}

// requireCell compares a cell with the text that was written to it.
func requireCell(t *testing.T, got, want string) {
	t.Helper()
	if first, _ := utf8.DecodeRuneInString(got); strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		t.Errorf("cell %q may be a formula", got)
	}
	got, _ = strings.CutPrefix(got, "'")
	want = strings.ReplaceAll(string([]rune(want)), "\x00", "\uFFFD") // one for each byte that is not UTF-8
	// The reader of the standard library makes \r\n in a cell \n.
	if len(want) <= maxCellIDBytes && got != strings.ReplaceAll(want, "\r\n", "\n") {
		t.Errorf("cell is %q, want %q", got, want)
	}
}
