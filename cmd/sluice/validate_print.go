package main

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"sluice/shared/report"
	"sluice/shared/transaction"
)

// print shows each kind of error with the first line that has it, the most frequent first, and then the outcome, so that
// this is what a person sees without scrolling.
func (v *check) print(sum report.Summary, path string, file io.ReaderAt, bytes int64, took time.Duration) {
	codes := make([]transaction.Code, 0, len(sum.Codes))
	for code := range sum.Codes {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, func(a, b transaction.Code) int {
		return cmp.Or(cmp.Compare(sum.Codes[b].Count, sum.Codes[a].Count), cmp.Compare(a, b))
	})
	for _, code := range codes {
		v.printCode(code, sum.Codes[code], file)
	}
	if len(codes) > 0 {
		v.con.printf("\n")
	}
	v.con.printf("%s: %s in %.1f s (%s)\n", printable(path), size(bytes), took.Seconds(), rate(bytes, took))
	c := sum.Counts
	switch {
	case c.Total == 0:
		v.con.printf("%s\n", v.con.paint(red, "The file contains no transaction."))
	case c.Invalid == 0:
		v.con.printf("%s\n", v.con.paint(green, "All "+number(c.Total)+" transactions are valid."))
	default:
		v.con.printf("%s of %s transactions are invalid; %s are valid.\n", v.con.paint(red, number(c.Invalid)), number(c.Total), number(c.Accepted))
	}
	if v.entities == "" && c.Total > 0 {
		v.con.printf("%s\n", v.con.paint(dim, "Whether the entities exist was not judged: --entities names a file of them."))
	}
	if v.report != "" {
		v.con.printf("The report is in %s.\n", v.report)
	}
}

func (v *check) printCode(code transaction.Code, info report.CodeInfo, file io.ReaderAt) {
	first := info.Examples[0]
	v.con.printf("\n%s  %s, first in line %s  %s\n  %s\n", v.con.paint(red, string(code)), times(info.Count), number(first.Line),
		printable(first.Pointer), printable(first.Message))
	if text, mark := excerpt(file, first.Offset, max(v.con.width-6, 72)); text != "" {
		v.con.printf("    %s\n    %s%s\n", v.con.paint(dim, text), strings.Repeat(" ", mark), v.con.paint(red, "^"))
	}
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return number(n) + " times"
}
