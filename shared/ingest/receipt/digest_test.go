package receipt_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/receipt"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func sum(s string) []byte {
	h := sha256.Sum256([]byte(s))
	return h[:]
}

// digestInPieces returns the sums of a file that is written in pieces of a length.
func digestInPieces(t *testing.T, d *receipt.Digest, file string, length int) receipt.Sums {
	t.Helper()
	for len(file) > 0 {
		n := min(length, len(file))
		difftest.Equal(t, "wrote", n, errtest.Must(io.WriteString(d, file[:n]))(t))
		file = file[n:]
	}
	return d.Sum()
}

func TestDigest(t *testing.T) {
	t.Parallel()
	const bom = "\xEF\xBB\xBF"
	blankTooLong := strings.Repeat(" ", 256<<10+1)
	second := func(line int64) bool { return line == 2 }
	tests := []struct {
		name, file string
		accepts    func(int64) bool
		// lines is the hashed text of the lines, and taken their number.
		lines string
		taken int64
	}{
		{"empty", "", nil, "", 0},
		{"lines", "{1}\n{2}\n", nil, "{1}\n{2}\n", 2},
		{"no final line feed", "{1}\n{2}", nil, "{1}\n{2}\n", 2},
		{"carriage returns stay", "{1}\r\n{2}\r\n", nil, "{1}\r\n{2}\r\n", 2},
		{"a carriage return at the end", "{1}\r", nil, "{1}\r\n", 1},
		{"white space stays", " \t{1} \n", nil, " \t{1} \n", 1},
		{"blank lines", "\n{1}\n \t\r\n\r\n{2}\n\n", nil, "{1}\n{2}\n", 2},
		{"a blank end", "{1}\n  ", nil, "{1}\n", 1},
		{"nothing but blanks", " \n\t", nil, "", 0},
		{"byte-order mark", bom + "{1}\n", nil, "{1}\n", 1},
		{"byte-order mark and a blank line", bom + " \n{1}", nil, "{1}\n", 1},
		{"only a byte-order mark", bom, nil, "", 0},
		{"half a byte-order mark", bom[:2], nil, bom[:2] + "\n", 1},
		{"half a byte-order mark and a line", bom[:2] + "{1}\n", nil, bom[:2] + "{1}\n", 1},
		{"a later byte-order mark", "{1}\n" + bom + "{2}\n", nil, "{1}\n" + bom + "{2}\n", 2},
		{"other white space is text", "\v\n\u00a0\n", nil, "\v\n\u00a0\n", 2},
		{"no JSON", "garbage\n\x00\xff\n", nil, "garbage\n\x00\xff\n", 2},
		{"the second line", "{1}\n{2}\n{3}\n", second, "{2}\n", 1},
		{"blank lines are counted", "\n{2}\n{3}\n", second, "{2}\n", 1},
		{"a blank line is never taken", "{1}\n\t\n{3}\n", second, "", 0},
		{"none", "{1}\n{2}", func(int64) bool { return false }, "", 0},
		{"the end is not accepted", "{1}\n{2}\n{3}", second, "{2}\n", 1},
		{"a blank line of the greatest length", blankTooLong[1:] + "\n{1}\n", nil, "{1}\n", 1},
		{"a longer one is not blank", "{1}\n" + blankTooLong + "\n{1}\n", second, blankTooLong + "\n", 1},
		{"a longer one at the end", "{1}\n" + blankTooLong, nil, "{1}\n" + blankTooLong + "\n", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, length := range []int{1, 2, 3, 5, 7, 64 << 10, len(tt.file) + 1} {
				if length < 100 && len(tt.file) > 1000 {
					continue
				}
				want := receipt.Sums{File: sum(tt.file), Bytes: int64(len(tt.file)), Lines: sum(tt.lines),
					LineCount: tt.taken}
				difftest.Equal(t, fmt.Sprintf("pieces of %d bytes", length), want,
					digestInPieces(t, receipt.NewDigest(tt.accepts), tt.file, length))
				want.File = nil
				difftest.Equal(t, fmt.Sprintf("lines alone, pieces of %d bytes", length), want,
					digestInPieces(t, receipt.NewLineDigest(tt.accepts), tt.file, length))
			}
		})
	}
}

// checkAsRead checks that the lines of a digest are those that the passes over the chunks read and do not call blank.
func checkAsRead(t *testing.T, file []byte, isAccepted func(line int64) bool, piece int) {
	t.Helper()
	s := scanner.New(transaction.Rules{MaxLineBytes: transaction.MaxLineBytes})
	var want bytes.Buffer
	line, taken := int64(0), int64(0)
	plan := chunk.NewPlan(int64(len(file)), 7)
	for i := range plan.Count() {
		r := chunk.NewReader(t.Context(), chunk.NewSource(bytes.NewReader(file)), plan, i,
			chunk.Options{MaxLineBytes: transaction.MaxLineBytes})
		for r.Next() {
			if line++; !s.Identify(r.Line().Text).Blank && isAccepted(line) {
				taken++
				fmt.Fprintf(&want, "%s\n", r.Line().Text)
			}
		}
		errtest.Fatal(t, r.Err())
		r.Close()
	}
	got := digestInPieces(t, receipt.NewDigest(isAccepted), string(file), piece)
	if !bytes.Equal(got.Lines, sum(want.String())) || got.LineCount != taken ||
		!bytes.Equal(got.File, sum(string(file))) {
		t.Errorf("%q in pieces of %d bytes: got %+v, want %d lines: %q", file, piece, got, taken, want.String())
	}
}

func TestDigestTakesTheLinesThatAreRead(t *testing.T) {
	t.Parallel()
	pieces := []string{"\n", "\n", "\r\n", " ", "\t", "{}", "x", "\xEF", "\xBB", "\xBF", "\xEF\xBB\xBF"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var file []byte
		for range random.IntN(20) {
			file = append(file, pieces[random.IntN(len(pieces))]...)
		}
		mask := random.Uint64()
		checkAsRead(t, file, func(line int64) bool { return mask>>(line%64)&1 == 1 }, 1+random.IntN(5))
	}
}

func FuzzDigest(f *testing.F) {
	f.Add([]byte("\xEF\xBB\xBF{1}\r\n \n{2}"), uint64(5), 3)
	f.Add([]byte("\n\n \t"), uint64(0), 1)
	f.Fuzz(func(t *testing.T, file []byte, mask uint64, piece int) {
		if len(file) > 10_000 || piece < 1 {
			return
		}
		checkAsRead(t, file, func(line int64) bool { return mask>>(line%64)&1 == 1 }, piece)
	})
}

// BenchmarkDigest digests a file of lines of about 1,100 bytes, as the generator makes them.
func BenchmarkDigest(b *testing.B) {
	text := []byte(strings.Repeat(strings.Repeat("x", 1099)+"\n", 10_000))
	for _, name := range []string{"lines alone", "with a blank line first"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				d := receipt.NewDigest(nil)
				if name != "lines alone" {
					io.WriteString(d, "\n")
				}
				d.Write(text)
				d.Sum()
			}
		})
	}
}
