package scanner

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/transaction"
)

var (
	mutations    = flag.Int("mutations", 20000, "damaged lines that TestMutations compares with the oracle")
	mutationSeed = flag.Uint64("mutation-seed", 1, "first seed of TestMutations")
)

// verdictOf returns a copy of the scanner's result in the form of the oracle's.
func verdictOf(r *transaction.Result) verdict {
	v := verdict{
		Blank: r.Blank, RequestUUID: string(r.RequestUUID), PaymentID: string(r.PaymentExternalID),
		TransactionID:  string(r.TransactionExternalID),
		ModificationID: string(r.ModificationID), ModificationOffset: r.ModificationOffset, MainEntity: r.MainEntity,
	}
	for _, f := range r.Findings {
		f.Message = ""
		v.Findings = append(v.Findings, f)
	}
	for _, ref := range r.References {
		v.References = append(v.References, oracleReference{Role: ref.Role, ID: string(ref.ID), Offset: ref.Offset})
	}
	return v
}

// verdictDiff returns the differences of two verdicts, or "". It is quick where there are none, which is nearly always.
func verdictDiff(a, b verdict) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b)
}

// oracleDiff returns how the scanner and the oracle disagree about a line, or "".
func oracleDiff(s *Scanner, line []byte, rules transaction.Rules) string {
	if diff := verdictDiff(verdictOf(s.Line(bytes.Clone(line))), verdictOf(s.Line(inPlace(line)))); diff != "" {
		return "line copied (-), read in place (+):\n" + diff
	}
	if diff := firstDiff(s, line); diff != "" {
		return diff
	}
	r := s.Line(line)
	got, want := verdictOf(r), judge(line, rules)
	for _, f := range r.Findings {
		if f.Message == "" {
			return "a finding without a message: " + string(f.Code) + " at " + f.Pointer
		}
	}
	if len(want.Findings) == 1 && len(got.Findings) == 1 && isUnreadable(want.Findings[0].Code) {
		alignOffsets(line, &got.Findings[0], &want.Findings[0])
	}
	return verdictDiff(want, got)
}

// firstDiff returns how Line and First disagree about a line, or "".
func firstDiff(s *Scanner, line []byte) string {
	text := inPlace(line)
	first, n := s.First(text[:cap(text)])
	got := verdictOf(first)
	if n != len(line) {
		return fmt.Sprintf("First returned a line of %d bytes, not of %d", n, len(line))
	}
	return verdictDiff(verdictOf(s.Line(line)), got)
}

// alignOffsets sets the offset of the oracle's finding to the offset of the scanner's if the two are in the same token.
// The library reports a number that the line cuts off at its beginning, a stray comma at the comma, and a bare word in
// the place of a name at its end.
func alignOffsets(line []byte, got, want *transaction.Finding) {
	from, to := min(got.Offset, want.Offset), max(got.Offset, want.Offset)
	const inTokens = ", \t\r\n+-.0123456789abcdefghijklmnopqrstuvwxyzE"
	if from >= 0 && len(bytes.Trim(line[from:to], inTokens)) == 0 {
		want.Offset = got.Offset
	}
}

// inPlace returns the line as a part of a buffer, followed by bytes that would close everything that it leaves open.
func inPlace(line []byte) []byte {
	file := slices.Concat([]byte("{}\n"), line, []byte("\n"), []byte(strings.Repeat("\"}]} 0e1", padding)))
	return file[3 : 3+len(line)]
}

func isUnreadable(c transaction.Code) bool {
	return c == transaction.CodeJSONInvalid || c == transaction.CodeJSONDuplicateKey || c == transaction.CodeJSONTooDeep
}

// comparedRules returns the rules under which lines are compared.
func comparedRules() []transaction.Rules {
	window := transaction.Rules{ReceivedAt: receivedAt, MaxPast: 48 * time.Hour, MaxFuture: time.Hour,
		MainEntity: tenancy.ByPaymentType}
	rules := []transaction.Rules{defaultRules(), window}
	for i := range rules {
		rules[i].MaxFindings = 1 << 20
	}
	return rules
}

func TestMutations(t *testing.T) {
	rules := comparedRules()
	var scanners []*Scanner
	for _, r := range rules {
		scanners = append(scanners, New(r))
	}
	failures, seen := 0, make(map[transaction.Code]int)
	for n := range *mutations {
		rng := rand.New(rand.NewPCG(*mutationSeed, uint64(n)))
		line := mutatedLine(rng)
		k := n % len(rules)
		diff := oracleDiff(scanners[k], line, rules[k])
		for _, f := range scanners[k].result.Findings {
			seen[f.Code]++
		}
		if len(scanners[k].result.Findings) == 0 {
			seen["none"]++
		}
		if diff != "" {
			t.Errorf("mutation %d: %q\noracle (-), scanner (+):\n%s", n, line, diff)
			if failures++; failures == 5 {
				t.Fatal("giving up after five disagreements")
			}
		}
	}
	t.Logf("%d lines compared; findings: %v", *mutations, seen)
	for _, code := range allCodes {
		if seen[code] == 0 && *mutations >= 20000 && code != transaction.CodeLineTooLong {
			t.Errorf("no damaged line has a finding with the code %s", code)
		}
	}
}
