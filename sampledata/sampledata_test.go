package sampledata_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/sampledata"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func newGenerator(t testing.TB, o sampledata.Options) *sampledata.Generator {
	t.Helper()
	return errtest.Must(sampledata.New(o))(t)
}

type fact struct {
	Line int64  `json:"line"`
	Kind string `json:"kind"`
}

// generateAll returns everything that a generator writes.
func generateAll(t testing.TB, o sampledata.Options) (lines []byte, truth []fact, statuses map[string]string) {
	t.Helper()
	g := newGenerator(t, o)
	var text, facts, entities bytes.Buffer
	n, err := g.WriteWithTruth(&text, &facts)
	if err != nil || n != int64(text.Len()) {
		t.Fatalf("wrote %d of %d: %v", n, text.Len(), err)
	}
	errtest.Fatal(t, g.WriteEntities(&entities))
	for s := bufio.NewScanner(&facts); s.Scan(); {
		var f fact
		errtest.Fatal(t, json.Unmarshal(s.Bytes(), &f))
		truth = append(truth, f)
	}
	statuses = make(map[string]string)
	for s := bufio.NewScanner(&entities); s.Scan(); {
		var e struct{ ID, LifecycleStatus string }
		errtest.Fatal(t, json.Unmarshal(s.Bytes(), &e))
		statuses[e.ID] = e.LifecycleStatus
	}
	return text.Bytes(), truth, statuses
}

func TestSameOptionsGiveTheSameBytes(t *testing.T) {
	sum := func(o sampledata.Options) string {
		h := fnv.New128a()
		g := newGenerator(t, o)
		errtest.Fatal(t, errtest.Of(g.WriteWithTruth(h, h)))
		errtest.Fatal(t, g.WriteEntities(h))
		return fmt.Sprintf("%x", h.Sum(nil))
	}
	o := sampledata.Options{Lines: 3000, Seed: 7, Bad: 0.1}
	first := sum(o)
	if again := sum(o); again != first {
		t.Errorf("the same options gave %s, then %s", first, again)
	}
	o.Seed = 8
	if other := sum(o); other == first {
		t.Error("another seed gave the same bytes")
	}
}

func TestShareOfBadLines(t *testing.T) {
	for _, lines := range []int64{0, 1, 2, 3, 10, 99, 1000} {
		for _, share := range []float64{0, 0.001, 0.1, 1. / 3, 0.5, 0.999, 1} {
			_, truth, _ := generateAll(t, sampledata.Options{Lines: lines, Seed: 1, Bad: share})
			difftest.Equal(t, fmt.Sprintf("%d lines, share %v: bad lines", lines, share),
				int(math.Round(float64(lines)*share)), len(truth))
			if !slices.IsSortedFunc(truth, func(a, b fact) int { return int(a.Line - b.Line) }) {
				t.Errorf("%d lines, share %v: truth is not in order of lines", lines, share)
			}
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []sampledata.Options{
		{Lines: -1}, {Lines: sampledata.MaxLines + 1}, {Bad: -0.1}, {Bad: 1.1}, {Bad: math.NaN()}, {Entities: -1},
	} {
		errtest.Fails(t, fmt.Sprintf("New(%+v)", o), errtest.Of(sampledata.New(o)))
	}
}

// The scanner must find in every line exactly what the truth says of it, and nothing in the others. What the scanner
// cannot know, entities and duplicates, is looked up here.
func TestTruthAgreesWithTheScanner(t *testing.T) {
	every := sampledata.EveryKind()
	for _, o := range []sampledata.Options{
		{Lines: 10 * every, Seed: 1, Bad: 0.1},
		{Lines: every, Seed: 2, Bad: 1},
		{Lines: 20_000, Seed: 3, Bad: 0.2},
		{Lines: 3, Seed: 4, Bad: 1},
		{Lines: 5000, Seed: 5},
	} {
		t.Run(fmt.Sprintf("%d lines %v bad", o.Lines, o.Bad), func(t *testing.T) { compareWithScanner(t, o) })
	}
}

func compareWithScanner(t *testing.T, o sampledata.Options) {
	text, truth, statuses := generateAll(t, o)
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if int64(len(lines)) != o.Lines {
		t.Fatalf("%d lines, want %d", len(lines), o.Lines)
	}
	want := make(map[int64]string)
	for _, f := range truth {
		want[f.Line] = f.Kind
	}
	s := scanner.New(transaction.Rules{
		ReceivedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour,
	})
	ids := make(map[string][]int64)
	for i, line := range lines {
		number := int64(i + 1)
		r := s.Line(line)
		found := kindsOf(r, statuses)
		if id := string(r.ModificationID); id != "" {
			ids[id] = append(ids[id], number)
		}
		switch kind := want[number]; {
		case kind == "duplicate_modification_id" && len(found) == 0:
		case kind == "" && len(found) == 0:
		case !slices.Equal(found, []string{kind}):
			t.Errorf("line %d: the truth is %q, the scanner finds %q: %.300s", number, kind, found, line)
		}
	}
	for _, members := range ids {
		for _, number := range members {
			if (len(members) > 1) != (want[number] == "duplicate_modification_id") {
				t.Errorf("line %d: the truth is %q, and the lines %v have its ID", number, want[number], members)
			}
		}
	}
	if o.Lines > 1000 {
		checkSpread(t, ids, o)
	}
	if int64(len(truth)) >= sampledata.EveryKind() {
		var kinds []string
		for _, k := range want {
			kinds = append(kinds, k)
		}
		slices.Sort(kinds)
		difftest.Equal(t, "Compact", sampledata.Kinds(), slices.Compact(kinds))
	}
}

// kindsOf adds what the state of entities makes of the references of a readable line.
func kindsOf(r *transaction.Result, statuses map[string]string) []string {
	var found []string
	for _, f := range r.Findings {
		found = append(found, string(f.Code))
	}
	for _, ref := range r.References {
		switch statuses[string(ref.ID)] {
		case "":
			found = append(found, "entity_not_found")
		case "Unknown", "OnboardingInProgress", "ClientOffboarded":
			found = append(found, "entity_not_onboarded")
		}
	}
	return found
}

func checkSpread(t *testing.T, ids map[string][]int64, o sampledata.Options) {
	for id, members := range ids {
		if len(members) > 1 && members[len(members)-1]-members[0] < o.Lines/4 {
			t.Errorf("the lines %v with modification ID %s are close together", members, id)
		}
	}
}

func TestKindsCoverTheCodesOfTheService(t *testing.T) {
	kinds := sampledata.Kinds()
	for _, code := range []transaction.Code{
		transaction.CodeJSONInvalid, transaction.CodeJSONDuplicateKey, transaction.CodeJSONTooDeep,
		transaction.CodeLineTooLong, transaction.CodeMissing, transaction.CodeExtraForbidden,
		transaction.CodeStringType, transaction.CodeNumberType, transaction.CodeIntegerType,
		transaction.CodeObjectType, transaction.CodeArrayType, transaction.CodeStringTooShort,
		transaction.CodeStringTooLong, transaction.CodeEnum, transaction.CodeUUID, transaction.CodeCountry,
		transaction.CodeCurrency, transaction.CodeDateTime, transaction.CodeCreatedAtOutOfRange,
		transaction.CodeIPAddress, transaction.CodeBIC, transaction.CodeNumberRange,
		transaction.CodeEntityMissing, transaction.CodeEntityAmbiguous, transaction.CodeEntityTypeInvalid,
		transaction.CodeEntityNotFound, transaction.CodeEntityNotOnboarded, transaction.CodeMainEntityUnknown,
	} {
		if !slices.Contains(kinds, string(code)) {
			t.Errorf("no line has the error %s", code)
		}
	}
}

func TestLinesResembleRealOnes(t *testing.T) {
	const n = 20_000
	text, _, _ := generateAll(t, sampledata.Options{Lines: n, Seed: 11})
	if mean := len(text) / n; mean < 1000 || mean > 1200 {
		t.Errorf("the mean length is %d bytes, want about 1,100", mean)
	}
	var spaced, usual, foreign, described int
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(`": `)) {
			spaced++
		}
		if strings.HasPrefix(string(line), `{"request_uuid"`) {
			usual++
		}
		var l struct{ Description string }
		errtest.Fatal(t, json.Unmarshal(line, &l))
		if l.Description != "" {
			described++
			if utf8.RuneCountInString(l.Description) != len(l.Description) {
				foreign++
			}
		}
	}
	for name, got := range map[string]float64{
		"lines with spaces, a tenth":            float64(spaced) / n / 0.1,
		"lines with shuffled keys, a tenth":     float64(n-usual) / n / 0.1, // one in twenty still begins as usual
		"non-ASCII in free text, a quarter":     float64(foreign) / float64(described) / 0.25,
		"lines with a description, four fifths": float64(described) / n / 0.8,
	} {
		if got < 0.85 || got > 1.15 {
			t.Errorf("%s: %.3f times that, want 0.85 to 1.15 times", name, got)
		}
	}
}

// Two lines of one transaction are two modifications of it.
func TestSomeTransactionsHaveSeveralModifications(t *testing.T) {
	seen := make(map[string]int)
	for _, line := range sampledata.Lines(400, 1, 0) {
		var l struct {
			ID string `json:"transaction_external_id"`
		}
		errtest.Fatal(t, json.Unmarshal(line, &l))
		seen[l.ID]++
	}
	difftest.Equal(t, "400 lines belong to: transactions", 300, len(seen))
}

// limitedWriter accepts some bytes, then fails.
type limitedWriter int

func (f *limitedWriter) Write(p []byte) (int, error) {
	if int(*f) < len(p) {
		return int(*f), io.ErrShortWrite
	}
	*f -= limitedWriter(len(p))
	return len(p), nil
}

func TestWritingToAFailingWriter(t *testing.T) {
	for _, room := range []limitedWriter{0, 1000, 1 << 21} {
		g := newGenerator(t, sampledata.Options{Lines: 5000, Seed: 1})
		left := room
		if n, err := g.WriteTo(&left); err != io.ErrShortWrite || n > int64(room) {
			t.Errorf("room for %d bytes: wrote %d, %v; want at most those and io.ErrShortWrite", room, n, err)
		}
	}
}

func BenchmarkGenerator(b *testing.B) {
	for _, bad := range []float64{0, 0.05} {
		b.Run(fmt.Sprintf("bad=%v", bad), func(b *testing.B) {
			g := newGenerator(b, sampledata.Options{Lines: int64(b.N), Seed: 1, Bad: bad})
			b.ReportAllocs()
			n := errtest.Must(g.WriteTo(io.Discard))(b)
			b.SetBytes(n / int64(b.N))
		})
	}
}

// The names of unknown entities are distributed as names are: one in many lines, most in one.
func TestNamesFollowZipf(t *testing.T) {
	count := map[string]int{}
	names := 0
	for _, line := range sampledata.Lines(6000, 3, 0) {
		for _, role := range []string{"sender", "receiver", "sending_partner", "receiving_partner"} {
			var decoded map[string]json.RawMessage
			var party struct {
				Unknown struct {
					FullName string `json:"full_name"`
				}
			}
			errtest.Fatal(t, json.Unmarshal(line, &decoded))
			if decoded[role] == nil {
				continue
			}
			errtest.Fatal(t, json.Unmarshal(decoded[role], &party))
			if name := party.Unknown.FullName; name != "" {
				names++
				count[name]++
			}
		}
	}
	most, ascii := 0, 0
	for name, n := range count {
		most = max(most, n)
		if !utf8.ValidString(name) || strings.TrimSpace(name) != name {
			t.Errorf("%q is no name", name)
		}
		if !strings.ContainsFunc(name, func(r rune) bool { return r > 127 }) {
			ascii++
		}
	}
	if share := float64(len(count)) / float64(names); share < 0.6 || share > 0.99 || most < 5 {
		t.Errorf("of %d names %.2f are distinct, and one occurs %d times", names, share, most)
	}
	if share := float64(ascii) / float64(len(count)); share < 0.6 || share > 0.85 {
		t.Errorf("%.2f of the names are in ASCII", share)
	}
}
