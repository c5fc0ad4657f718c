package scanner_test

import (
	"testing"
	"time"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
)

// sampleLines are generated lines without errors, in place in one buffer, with what must follow the last of them.
func sampleLines(b *testing.B) (lines [][]byte, size int) {
	b.Helper()
	var text []byte
	generated := sampledata.Lines(5000, 1, 0)
	for _, line := range generated {
		text = append(append(text, line...), '\n')
	}
	text = append(text, make([]byte, transaction.Lookahead)...)
	at := 0
	for _, line := range generated {
		lines = append(lines, text[at:at+len(line)])
		at += len(line) + 1
	}
	return lines, at
}

func benchmarkScanner(b *testing.B, read func(s *scanner.Scanner, line []byte)) {
	lines, size := sampleLines(b)
	s := scanner.New(transaction.Rules{ReceivedAt: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
		MaxFuture: 720 * time.Hour})
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			read(s, line)
		}
	}
}

func BenchmarkLine(b *testing.B) {
	benchmarkScanner(b, func(s *scanner.Scanner, line []byte) { s.Line(line) })
}

func BenchmarkIdentify(b *testing.B) {
	benchmarkScanner(b, func(s *scanner.Scanner, line []byte) { s.Identify(line) })
}
