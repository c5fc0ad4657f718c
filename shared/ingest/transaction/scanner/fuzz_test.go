package scanner

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/transaction"
)

func FuzzLine(f *testing.F) {
	for _, line := range corpus {
		f.Add([]byte(line))
	}
	for _, c := range brokenLines {
		f.Add([]byte(c.line))
	}
	for _, c := range faults {
		f.Add([]byte(lineWith(f, c.old, c.new)))
	}
	rules := comparedRules()
	f.Fuzz(func(t *testing.T, line []byte) {
		// To the library, a line feed is white space; but no line has one.
		if bytes.IndexByte(line, '\n') >= 0 || len(line) > transaction.MaxLineBytes {
			return
		}
		for _, r := range rules {
			if diff := oracleDiff(New(r), line, r); diff != "" {
				t.Fatalf("%q\noracle (-), scanner (+):\n%s", line, diff)
			}
		}
	})
}

// FuzzTooLong compares the values that the scanner and the oracle read from a line before the place where it was cut
// off.
func FuzzTooLong(f *testing.F) {
	f.Add([]byte(goodLine), 900)
	f.Add([]byte(corpus[2]), 180)
	f.Fuzz(func(t *testing.T, line []byte, cut int) {
		if cut < 0 || cut > len(line) || bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		prefix := line[:cut]
		got, want := verdictOf(New(defaultRules()).TooLong(prefix)), judge(prefix, defaultRules())
		want = verdict{
			RequestUUID: want.RequestUUID, PaymentID: want.PaymentID, TransactionID: want.TransactionID,
			ModificationID: want.ModificationID, ModificationOffset: want.ModificationOffset,
			Findings: []transaction.Finding{{Code: transaction.CodeLineTooLong, Offset: cut}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q\noracle (-), scanner (+):\n%s", prefix, diff)
		}
	})
}
