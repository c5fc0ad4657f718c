package scanner

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/transaction"
	"sluice/shared/transaction/schema"
)

func TestGoodLine(t *testing.T) {
	r := New(defaultRules()).Line([]byte(goodLine))
	want := &transaction.Result{
		RequestUUID:           []byte("0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"),
		TransactionExternalID: []byte("tx-1"),
		ModificationID:        []byte("mod-1"),
		ModificationOffset:    strings.Index(goodLine, `"mod-1"`),
		References: []transaction.Reference{
			{Role: transaction.Receiver, ID: []byte("known-1"), Offset: strings.Index(goodLine, `"known-1"`)},
			{Role: transaction.SendingPartner, ID: []byte("known-2"), Offset: strings.Index(goodLine, `"known-2"`)},
		},
		MainEntity: transaction.Receiver,
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatal(diff)
	}
}

func TestEachRuleBrokenAlone(t *testing.T) {
	s := New(defaultRules())
	reached := make(map[transaction.Code]bool)
	for _, c := range faults {
		line := lineWith(t, c.old, c.new)
		if diff := disagreement(s, []byte(line), defaultRules()); diff != "" {
			t.Errorf("%s for %s: oracle (-), scanner (+):\n%s", c.new, c.old, diff)
		}
		var want []transaction.Finding
		if c.code != "" {
			at := strings.Index(goodLine, c.old)
			if k := strings.Index(c.new, c.at); k >= 0 {
				at += k
			} else {
				at = strings.Index(line, c.at)
			}
			want = []transaction.Finding{{Code: c.code, Pointer: c.pointer, Offset: at}}
			reached[c.code] = true
		}
		got := verdictOf(s.Line([]byte(line))).Findings
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s for %s: want (-), got (+):\n%s", c.new, c.old, diff)
		}
	}
	for _, code := range allCodes {
		if !unreadable(code) && code != transaction.CodeLineTooLong && !reached[code] {
			t.Errorf("no case for %s", code)
		}
	}
}

func TestUnreadableLines(t *testing.T) {
	s := New(defaultRules())
	for _, c := range brokenLines {
		r := s.Line([]byte(c.line))
		got := verdictOf(r)
		want := verdict{Findings: []transaction.Finding{{Code: c.code, Pointer: c.pointer, Offset: c.offset}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", c.name, diff)
		}
		if strings.Contains(c.line, "\n") {
			continue // white space to the oracle
		}
		if diff := disagreement(s, []byte(c.line), defaultRules()); diff != "" {
			t.Errorf("%s: oracle (-), scanner (+):\n%s", c.name, diff)
		}
	}
}

func TestIdentifiersBeforeTheBreak(t *testing.T) {
	const line = `{"modification":{"external_id":"m\u002d1","external_id":"m-2"},"request_uuid":"later"}`
	r := New(defaultRules()).Line([]byte(line))
	if string(r.ModificationID) != "m-1" || r.RequestUUID != nil ||
		r.Findings[0].Code != transaction.CodeJSONDuplicateKey {
		t.Fatalf("modification %q, request %q, findings %v", r.ModificationID, r.RequestUUID, r.Findings)
	}
	const open = `{"modification":{"external_id":"m-1`
	s := New(defaultRules())
	if r := s.Line([]byte(open)); r.ModificationID != nil {
		t.Fatalf("a string that is not closed was given as %q", r.ModificationID)
	}
	if r := s.Line([]byte(open + `"`)); string(r.ModificationID) != "m-1" {
		t.Fatalf("a string that is closed was given as %q", r.ModificationID)
	}
}

func TestBlankAndRootless(t *testing.T) {
	s := New(defaultRules())
	for _, line := range []string{"", " ", "\r", " \t \r"} {
		if r := s.Line([]byte(line)); !r.Blank || len(r.Findings) > 0 {
			t.Errorf("%q: %+v", line, r)
		}
	}
	for _, line := range []string{"null", "[]", `"x"`, "1", " [{}] \r"} {
		want := []transaction.Finding{{Code: transaction.CodeObjectType, Offset: strings.IndexFunc(line,
			func(r rune) bool { return r != ' ' }), Message: schema.MessageNotObject}}
		if diff := cmp.Diff(want, s.Line([]byte(line)).Findings); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
}

func TestDepth(t *testing.T) {
	s := New(transaction.Rules{})
	for _, c := range []struct {
		levels int // inside the line's own object
		want   bool
	}{{transaction.MaxDepth - 2, false}, {transaction.MaxDepth - 1, false}, {transaction.MaxDepth, true}, {20000,
		true}} {
		for _, nest := range []string{`[`, `{"a":`} {
			line := `{"billing":` + strings.Repeat(nest, c.levels)
			offset := len(`{"billing":`) + (transaction.MaxDepth-1)*len(nest)
			if !c.want {
				closing := strings.NewReplacer("[", "]", `{"a":`, "}").Replace(strings.Repeat(nest, c.levels))
				if nest != `[` {
					line += "1"
				}
				line += closing + "}"
			}
			r := s.Line([]byte(line))
			tooDeep := len(r.Findings) == 1 && r.Findings[0].Code == transaction.CodeJSONTooDeep &&
				r.Findings[0].Offset == offset
			if tooDeep != c.want {
				t.Errorf("%d levels of %s: %v", c.levels, nest, r.Findings)
			}
		}
	}
}

func TestLineLength(t *testing.T) {
	rules := defaultRules()
	rules.MaxLineBytes = len(goodLine)
	s := New(rules)
	if r := s.Line([]byte(goodLine)); len(r.Findings) > 0 {
		t.Fatal("at the limit:", r.Findings)
	}
	want := []transaction.Finding{{Code: transaction.CodeLineTooLong, Message: schema.MessageTooLong,
		Offset: len(goodLine)}}
	r := s.Line([]byte(goodLine + " "))
	if diff := cmp.Diff(want, r.Findings); diff != "" || string(r.ModificationID) != "mod-1" || len(r.References) > 0 ||
		r.MainEntity != transaction.NoRole {
		t.Fatalf("over the limit: %+v %s", r, diff)
	}
	over := []byte(goodLine + " \n" + strings.Repeat(" ", padding))
	if r, n := s.First(over); n != len(goodLine)+1 || cmp.Diff(want, r.Findings) != "" {
		t.Fatalf("over the limit, and not cut: %d bytes, %v", n, r.Findings)
	}
	if r, n := s.First(append([]byte(goodLine), over[len(goodLine)+1:]...)); n != len(goodLine) || len(r.Findings) > 0 {
		t.Fatalf("at the limit, and not cut: %d bytes, %v", n, r.Findings)
	}
	// The identifiers are given from the byte on at which their string is complete.
	for _, id := range []string{`"mod-1"`, `"tx-1"`} {
		end := strings.Index(goodLine, id) + len(id)
		before, after := verdictOf(s.TooLong([]byte(goodLine[:end-1]))), verdictOf(s.TooLong([]byte(goodLine[:end])))
		if strings.Contains(before.ModificationID+before.TransactionID, strings.Trim(id, `"`)) {
			t.Errorf("%s is given before it is complete", id)
		}
		if !strings.Contains(after.ModificationID+after.TransactionID, strings.Trim(id, `"`)) {
			t.Errorf("%s is not given when it is complete", id)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	for _, limit := range []int{1, 2, 100} {
		for _, count := range []int{limit - 1, limit, limit + 1, 5000} {
			var extra strings.Builder
			for i := range count {
				fmt.Fprintf(&extra, `"x%d":%d,`, i, i)
			}
			rules := defaultRules()
			rules.MaxFindings = limit
			r := New(rules).Line([]byte("{" + extra.String() + goodLine[1:]))
			if len(r.Findings) != min(count, limit) || r.Dropped != max(count-limit, 0) {
				t.Errorf("%d faults, limit %d: %d findings, %d dropped", count, limit, len(r.Findings), r.Dropped)
			}
		}
	}
	if r := New(transaction.Rules{}).Line([]byte(`{"entity":` + strings.Repeat(" ", 10) + `1` + strings.Repeat(`,"a":1`,
		2) + `}`)); r.Dropped != 0 || len(r.Findings) != 1 {
		t.Errorf("a failure keeps earlier findings: %v", r.Findings)
	}
}

func TestMainEntity(t *testing.T) {
	known := func(id string) string { return `{"by_external_id":"` + id + `"}` }
	const unknown = `{"external_entity_type":"unknown","unknown":{"external_id":"u"}}`
	for _, c := range []struct {
		rule                      transaction.MainEntityRule
		payment, sender, receiver string
		want                      transaction.Role
		wantFinding               string
	}{
		{transaction.EitherParty, `"payin"`, known("a"), known("b"), transaction.Sender, ""},
		{transaction.EitherParty, `"payin"`, unknown, known("b"), transaction.Receiver, ""},
		{transaction.EitherParty, `"payin"`, unknown, unknown, transaction.NoRole, "/sender"},
		{transaction.EitherParty, `"payin"`, unknown, `{}`, transaction.NoRole, ""},
		{transaction.EitherParty, `"payin"`, known(""), unknown, transaction.NoRole, ""},
		{transaction.ByPaymentType, `"payin"`, known("a"), known("b"), transaction.Receiver, ""},
		{transaction.ByPaymentType, `"payin"`, known("a"), unknown, transaction.NoRole, "/receiver"},
		{transaction.ByPaymentType, `"payout"`, known("a"), unknown, transaction.Sender, ""},
		{transaction.ByPaymentType, `"payout"`, unknown, known("b"), transaction.NoRole, "/sender"},
		{transaction.ByPaymentType, `"ledger"`, known("a"), known("b"), transaction.Sender, ""},
		{transaction.ByPaymentType, `null`, unknown, known("b"), transaction.NoRole, "/sender"},
	} {
		line := strings.Replace(goodLine, `"payin"`, c.payment, 1)
		line = strings.Replace(line, `{"by_external_id":"known-1"}`, c.receiver, 1)
		from, to := strings.Index(line, `"sender":`)+len(`"sender":`), strings.Index(line, `,"receiver":`)
		line = line[:from] + c.sender + line[to:]
		rules := defaultRules()
		rules.MainEntity = c.rule
		r := New(rules).Line([]byte(line))
		var pointer string
		for _, f := range r.Findings {
			if f.Code == transaction.CodeMainEntityUnknown {
				pointer = f.Pointer
			}
		}
		if r.MainEntity != c.want || pointer != c.wantFinding {
			t.Errorf("%+v: main entity %v, finding %q", c, r.MainEntity, pointer)
		}
	}
}

func TestWindow(t *testing.T) {
	at := func(t time.Time) []byte {
		return []byte(strings.Replace(goodLine, "2026-01-31T10:00:00.123", t.Format(time.RFC3339Nano), 1))
	}
	rules := transaction.Rules{ReceivedAt: receivedAt, MaxPast: 30 * 24 * time.Hour, MaxFuture: 720 * time.Hour}
	for _, limit := range []time.Time{receivedAt.Add(-rules.MaxPast), receivedAt.Add(rules.MaxFuture)} {
		outside := time.Nanosecond
		if limit.Before(receivedAt) {
			outside = -outside
		}
		for _, c := range []struct {
			at   time.Time
			want int
		}{{limit.Add(-outside), 0}, {limit, 0}, {limit.Add(outside), 1}, {limit.Add(outside).In(time.FixedZone("",
			-7*3600)), 1}} {
			if r := New(rules).Line(at(c.at)); len(r.Findings) != c.want {
				t.Errorf("%v: %v", c.at, r.Findings)
			}
		}
	}
	if r := New(transaction.Rules{ReceivedAt: receivedAt}).Line(at(receivedAt.AddDate(500, 0,
		0))); len(r.Findings) > 0 {
		t.Error("no limit set:", r.Findings)
	}
}

// A finding must not repeat what stands in the line, but for the keys that its pointer shows.
func TestSentencesRepeatNoValue(t *testing.T) {
	const secret = "SECRETSECRET"
	s := New(defaultRules())
	for _, value := range []string{`"` + secret + `"`, `{"` + secret + `":"` + secret + `"}`, `["` + secret + `"]`} {
		for _, o := range schema.Objects {
			for i := range o.Fields {
				line := fmt.Sprintf(`{"sender":{%[1]q:%[2]s,"unknown":{%[1]q:%[2]s}},"modification":{%[1]q:%[2]s},"billing":{%[1]q:%[2]s}}`, o.Fields[i].Name, value)
				for _, f := range s.Line([]byte(line)).Findings {
					if strings.Contains(f.Message, secret) || !strings.HasSuffix(f.Message, ".") {
						t.Errorf("%s: %s", f.Pointer, f.Message)
					}
				}
			}
		}
	}
}

func TestManyKeysStayLinear(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"billing":{"k0":0`)
	for i := 1; b.Len() < transaction.MaxLineBytes-100; i++ {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	repeated := append(b.Bytes()[:b.Len():b.Len()], `,"k77":1}}`...)
	s := New(defaultRules())
	if r := s.Line(append(b.Bytes()[:b.Len():b.Len()],
		"}}"...)); r.Findings[0].Code == transaction.CodeJSONDuplicateKey {
		t.Fatal("every key is there once:", r.Findings)
	}
	if r := s.Line(repeated); r.Findings[0].Code != transaction.CodeJSONDuplicateKey ||
		r.Findings[0].Pointer != "/billing/k77" {
		t.Fatal("k77 is there twice:", r.Findings)
	}
}

// A line far over the limit is not remembered, whatever it holds.
func TestMemoryOfLongLines(t *testing.T) {
	rules := defaultRules()
	rules.MaxLineBytes = 1000
	for _, piece := range []string{`"k%d":0,`, `"k%d":{"k":"\n"},`, `"%d":"` + strings.Repeat(`\n`, 5000) + `",`} {
		for _, within := range []string{`{`, `{"modification":{"external_id":"`, `{"additional_fields":{`, `{"x":[{`} {
			s := New(rules)
			text := []byte(within)
			for i := 0; len(text) < 300_000; i++ {
				text = fmt.Appendf(text, piece, i)
			}
			text = append(append(text, '\n'), make([]byte, padding)...)
			if r, n := s.First(text); n != len(text)-padding-1 || len(r.Findings) != 1 ||
				r.Findings[0].Code != transaction.CodeLineTooLong {
				t.Fatalf("%s%s: %d bytes, %v", within, piece, n, r.Findings)
			}
			if len(s.keys.slots) > 1024 || cap(s.unescaped) > 4096 {
				t.Errorf("%s%s: %d keys and %d bytes are kept", within, piece, len(s.keys.slots), cap(s.unescaped))
			}
		}
	}
}
