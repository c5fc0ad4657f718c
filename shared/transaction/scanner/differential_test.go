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

	"sluice/shared/transaction"
)

var (
	mutations    = flag.Int("mutations", 20000, "damaged lines that TestMutations compares with the oracle")
	mutationSeed = flag.Uint64("mutation-seed", 1, "first seed of TestMutations")
)

// verdictOf is what the scanner says, in the oracle's terms.
func verdictOf(r *transaction.Result) verdict {
	v := verdict{
		Blank: r.Blank, RequestUUID: string(r.RequestUUID), TransactionID: string(r.TransactionExternalID),
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

// difference is nearly always none, and that is found out quickly.
func difference(a, b verdict) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return cmp.Diff(a, b)
}

// disagreement compares the scanner with the oracle on one line; "" when they agree.
func disagreement(s *Scanner, line []byte, rules transaction.Rules) string {
	if diff := difference(verdictOf(s.Line(bytes.Clone(line))), verdictOf(s.Line(inFile(line)))); diff != "" {
		return "copied (-), read where it lies (+):\n" + diff
	}
	if diff := firstOf(s, line); diff != "" {
		return diff
	}
	r := s.Line(line)
	got, want := verdictOf(r), judge(line, rules)
	for _, f := range r.Findings {
		if f.Message == "" {
			return "a finding without a sentence: " + string(f.Code) + " at " + f.Pointer
		}
	}
	if len(want.Findings) == 1 && len(got.Findings) == 1 && unreadable(want.Findings[0].Code) {
		sameFault(line, &got.Findings[0], &want.Findings[0])
	}
	return difference(want, got)
}

// firstOf compares the reading of a line with that of the first line of a text.
func firstOf(s *Scanner, line []byte) string {
	text := inFile(line)
	first, n := s.First(text[:cap(text)])
	got := verdictOf(first)
	if n != len(line) {
		return fmt.Sprintf("a line of %d bytes, not of %d", n, len(line))
	}
	return difference(verdictOf(s.Line(line)), got)
}

// sameFault forgives the library where it sees a fault of the grammar elsewhere in the same word: a number that the end
// of the line cuts off at its beginning, a stray comma at the comma, a bare word instead of a name at its end.
func sameFault(line []byte, got, want *transaction.Finding) {
	from, to := min(got.Offset, want.Offset), max(got.Offset, want.Offset)
	const inWords = ", \t\r\n+-.0123456789abcdefghijklmnopqrstuvwxyzE"
	if from >= 0 && len(bytes.Trim(line[from:to], inWords)) == 0 {
		want.Offset = got.Offset
	}
}

// inFile is the line as a part of a buffer, with something behind it that would close whatever it leaves open.
func inFile(line []byte) []byte {
	file := slices.Concat([]byte("{}\n"), line, []byte("\n"), []byte(strings.Repeat("\"}]} 0e1", padding)))
	return file[3 : 3+len(line)]
}

func unreadable(c transaction.Code) bool {
	return c == transaction.CodeJSONInvalid || c == transaction.CodeJSONDuplicateKey || c == transaction.CodeJSONTooDeep
}

// everyRule are the rules under which lines are compared.
func everyRule() []transaction.Rules {
	window := transaction.Rules{ReceivedAt: receivedAt, MaxPast: 48 * time.Hour, MaxFuture: time.Hour,
		MainEntity: transaction.ByPaymentType}
	rules := []transaction.Rules{defaultRules(), window}
	for i := range rules {
		rules[i].MaxFindings = 1 << 20
	}
	return rules
}

func TestMutations(t *testing.T) {
	rules := everyRule()
	var scanners []*Scanner
	for _, r := range rules {
		scanners = append(scanners, New(r))
	}
	failures, seen := 0, make(map[transaction.Code]int)
	for n := range *mutations {
		rng := rand.New(rand.NewPCG(*mutationSeed, uint64(n)))
		line := mutant(rng)
		k := n % len(rules)
		diff := disagreement(scanners[k], line, rules[k])
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
			t.Errorf("no damaged line has %s: the comparison does not reach it", code)
		}
	}
}
