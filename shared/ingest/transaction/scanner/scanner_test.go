package scanner

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/difftest"
)

func TestGoodLine(t *testing.T) {
	r := New(defaultRules()).Line([]byte(goodLine))
	want := &transaction.Result{
		RequestUUID:           []byte("0c1f6ad2-6f35-4d1b-9d5e-0a4c2f3b7e11"),
		PaymentExternalID:     []byte("pay-1"),
		TransactionExternalID: []byte("tx-1"),
		ModificationID:        []byte("mod-1"),
		ModificationOffset:    strings.Index(goodLine, `"mod-1"`),
		References: []transaction.Reference{
			{Role: transaction.Receiver, ID: []byte("known-1"), Offset: strings.Index(goodLine, `"known-1"`)},
			{Role: transaction.SendingPartner, ID: []byte("known-2"), Offset: strings.Index(goodLine, `"known-2"`)},
		},
		MainEntity: transaction.Receiver,
	}
	difftest.Equal(t, "r", want, r)
}

func TestEachRuleBrokenAlone(t *testing.T) {
	s := New(defaultRules())
	reached := make(map[transaction.Code]bool)
	for _, c := range faults {
		reached[c.code] = true
		t.Run(fmt.Sprintf("%s instead of %s", c.new, c.old), func(t *testing.T) {
			line := lineWith(t, c.old, c.new)
			if diff := oracleDiff(s, []byte(line), defaultRules()); diff != "" {
				t.Errorf("oracle (-), scanner (+):\n%s", diff)
			}
			var want []transaction.Finding
			if c.code != "" {
				want = []transaction.Finding{{Code: c.code, Pointer: c.pointer, Offset: c.offset(line)}}
			}
			difftest.Equal(t, "the result", want, verdictOf(s.Line([]byte(line))).Findings)
		})
	}
	for _, code := range allCodes {
		if !isUnreadable(code) && code != transaction.CodeLineTooLong && !reached[code] {
			t.Errorf("faults has no case for %s", code)
		}
	}
}

func TestUnreadableLines(t *testing.T) {
	s := New(defaultRules())
	for _, c := range brokenLines {
		t.Run(c.name, func(t *testing.T) {
			got := verdictOf(s.Line([]byte(c.line)))
			want := verdict{Findings: []transaction.Finding{{Code: c.code, Pointer: c.pointer, Offset: c.offset}}}
			difftest.Equal(t, "the result", want, got)
			if strings.Contains(c.line, "\n") {
				return // to the oracle, a line feed is white space
			}
			if diff := oracleDiff(s, []byte(c.line), defaultRules()); diff != "" {
				t.Errorf("oracle (-), scanner (+):\n%s", diff)
			}
		})
	}
}

func TestIdentifiersBeforeABreak(t *testing.T) {
	const line = `{"modification":{"external_id":"m\u002d1","external_id":"m-2"},"request_uuid":"later"}`
	r := New(defaultRules()).Line([]byte(line))
	if string(r.ModificationID) != "m-1" || r.RequestUUID != nil ||
		r.Findings[0].Code != transaction.CodeJSONDuplicateKey {
		t.Fatalf("got modification %q, request %q and %v, want modification m-1 and a duplicate key",
			r.ModificationID, r.RequestUUID, r.Findings)
	}
	const open = `{"modification":{"external_id":"m-1`
	s := New(defaultRules())
	if r := s.Line([]byte(open)); r.ModificationID != nil {
		t.Fatalf("got modification %q from a string that is not closed, want none", r.ModificationID)
	}
	if r := s.Line([]byte(open + `"`)); string(r.ModificationID) != "m-1" {
		t.Fatalf("got modification %q from a string that is closed, want m-1", r.ModificationID)
	}
}

func TestBlankLines(t *testing.T) {
	s := New(defaultRules())
	for _, line := range []string{"", " ", "\r", " \t \r"} {
		if r := s.Line([]byte(line)); !r.Blank || len(r.Findings) > 0 {
			t.Errorf("Line(%q) = %+v, want a blank line without findings", line, r)
		}
	}
}

func TestLinesThatAreNotObjects(t *testing.T) {
	s := New(defaultRules())
	for _, line := range []string{"null", "[]", `"x"`, "1", " [{}] \r"} {
		want := []transaction.Finding{{
			Code:    transaction.CodeObjectType,
			Offset:  len(line) - len(strings.TrimLeft(line, " ")),
			Message: schema.MessageNotObject,
		}}
		difftest.Equal(t, fmt.Sprintf("%q", line), want, s.Line([]byte(line)).Findings)
	}
}

func TestDepth(t *testing.T) {
	const before = `{"billing":`
	s := New(transaction.Rules{})
	for _, levels := range []int{transaction.MaxDepth - 2, transaction.MaxDepth - 1, transaction.MaxDepth, 20000} {
		for opening, closing := range map[string]string{`[`: `]`, `{"a":`: `}`} {
			t.Run(fmt.Sprintf("%d of %s", levels, opening), func(t *testing.T) {
				line := before + strings.Repeat(opening, levels)
				want := levels >= transaction.MaxDepth // the line's own object is one more
				if !want {
					if opening != `[` {
						line += "1"
					}
					line += strings.Repeat(closing, levels) + "}"
				}
				r := s.Line([]byte(line))
				offset := len(before) + (transaction.MaxDepth-1)*len(opening)
				got := len(r.Findings) == 1 && r.Findings[0].Code == transaction.CodeJSONTooDeep &&
					r.Findings[0].Offset == offset
				if got != want {
					t.Errorf("got %v, want a finding of too deep nesting at byte %d: %v", r.Findings, offset, want)
				}
			})
		}
	}
}

func TestLineLength(t *testing.T) {
	rules := defaultRules()
	rules.MaxLineBytes = len(goodLine)
	s := New(rules)
	want := []transaction.Finding{{
		Code: transaction.CodeLineTooLong, Message: schema.MessageTooLong(len(goodLine)), Offset: len(goodLine),
	}}
	after := "\n" + strings.Repeat(" ", padding)
	t.Run("Line, at the limit", func(t *testing.T) {
		if r := s.Line([]byte(goodLine)); len(r.Findings) > 0 {
			t.Fatalf("got %v, want no finding", r.Findings)
		}
	})
	t.Run("Line, over the limit", func(t *testing.T) {
		r := s.Line([]byte(goodLine + " "))
		difftest.Equal(t, "the result", want, r.Findings)
		if string(r.ModificationID) != "mod-1" || len(r.References) > 0 || r.MainEntity != transaction.NoRole {
			t.Errorf("got %+v, want modification mod-1, no reference and no main entity", r)
		}
	})
	t.Run("First, at the limit", func(t *testing.T) {
		if r, n := s.First([]byte(goodLine + after)); n != len(goodLine) || len(r.Findings) > 0 {
			t.Fatalf("got %d bytes and %v, want %d and no finding", n, r.Findings, len(goodLine))
		}
	})
	t.Run("First, over the limit", func(t *testing.T) {
		r, n := s.First([]byte(goodLine + " " + after))
		if diff := cmp.Diff(want, r.Findings); diff != "" || n != len(goodLine)+1 {
			t.Fatalf("got %d bytes, want %d; want (-), got (+):\n%s", n, len(goodLine)+1, diff)
		}
	})
}

// TooLong returns an identifier from the byte on at which its string is complete.
func TestIdentifiersOfLongLines(t *testing.T) {
	s := New(defaultRules())
	for _, id := range []string{`"mod-1"`, `"tx-1"`} {
		end := strings.Index(goodLine, id) + len(id)
		incomplete := verdictOf(s.TooLong([]byte(goodLine[:end-1])))
		complete := verdictOf(s.TooLong([]byte(goodLine[:end])))
		if got := incomplete.ModificationID + incomplete.TransactionID; strings.Contains(got, strings.Trim(id, `"`)) {
			t.Errorf("got %s before it is complete", id)
		}
		if got := complete.ModificationID + complete.TransactionID; !strings.Contains(got, strings.Trim(id, `"`)) {
			t.Errorf("got %q, want %s, which is complete", got, id)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	for _, limit := range []int{1, 2, 100} {
		for _, count := range []int{limit - 1, limit, limit + 1, 5000} {
			t.Run(fmt.Sprintf("%d faults, limit %d", count, limit), func(t *testing.T) {
				var extra strings.Builder
				for i := range count {
					fmt.Fprintf(&extra, `"x%d":%d,`, i, i)
				}
				rules := defaultRules()
				rules.MaxFindings = limit
				r := New(rules).Line([]byte("{" + extra.String() + goodLine[1:]))
				difftest.Equal(t, "result", []any{min(count, limit), max(count-limit, 0)},
					[]any{len(r.Findings), r.Dropped})
			})
		}
	}
}

func TestFailureReplacesFindings(t *testing.T) {
	r := New(transaction.Rules{}).Line([]byte(`{"entity":          1,"a":1,"a":1}`))
	if r.Dropped != 0 || len(r.Findings) != 1 || r.Findings[0].Code != transaction.CodeJSONDuplicateKey {
		t.Errorf("got %v and %d dropped, want one finding of a duplicate key", r.Findings, r.Dropped)
	}
}

func TestMainEntity(t *testing.T) {
	const (
		known    = `{"by_external_id":"a"}`
		other    = `{"by_external_id":"b"}`
		emptyID  = `{"by_external_id":""}`
		embedded = `{"external_entity_type":"unknown","unknown":{"external_id":"u"}}`
	)
	for _, c := range []struct {
		rule                          tenancy.MainEntityRule
		paymentType, sender, receiver string
		want                          transaction.Role
		wantFinding                   string
	}{
		{tenancy.EitherParty, `"payin"`, known, other, transaction.Sender, ""},
		{tenancy.EitherParty, `"payin"`, embedded, other, transaction.Receiver, ""},
		{tenancy.EitherParty, `"payin"`, embedded, embedded, transaction.NoRole, "/sender"},
		{tenancy.EitherParty, `"payin"`, embedded, `{}`, transaction.NoRole, ""},
		{tenancy.EitherParty, `"payin"`, emptyID, embedded, transaction.NoRole, ""},
		{tenancy.ByPaymentType, `"payin"`, known, other, transaction.Receiver, ""},
		{tenancy.ByPaymentType, `"payin"`, known, embedded, transaction.NoRole, "/receiver"},
		{tenancy.ByPaymentType, `"payout"`, known, embedded, transaction.Sender, ""},
		{tenancy.ByPaymentType, `"payout"`, embedded, other, transaction.NoRole, "/sender"},
		{tenancy.ByPaymentType, `"ledger"`, known, other, transaction.Sender, ""},
		{tenancy.ByPaymentType, `null`, embedded, other, transaction.NoRole, "/sender"},
	} {
		t.Run(fmt.Sprintf("%s %s %s %s", c.rule, c.paymentType, c.sender, c.receiver), func(t *testing.T) {
			line := strings.Replace(goodLine, `"payin"`, c.paymentType, 1)
			line = strings.Replace(line, `{"by_external_id":"known-1"}`, c.receiver, 1)
			from, to := strings.Index(line, `"sender":`)+len(`"sender":`), strings.Index(line, `,"receiver":`)
			line = line[:from] + c.sender + line[to:]
			rules := defaultRules()
			rules.MainEntity = c.rule
			r := New(rules).Line([]byte(line))
			var finding string
			for _, f := range r.Findings {
				if f.Code == transaction.CodeMainEntityUnknown {
					finding = f.Pointer
				}
			}
			if r.MainEntity != c.want || finding != c.wantFinding {
				t.Errorf("got main entity %q and a finding at %q, want %q and %q",
					r.MainEntity.Name(), finding, c.want.Name(), c.wantFinding)
			}
		})
	}
}

func TestWindowOfCreatedAt(t *testing.T) {
	lineOf := func(t time.Time) []byte {
		return []byte(strings.Replace(goodLine, "2026-01-31T10:00:00.123", t.Format(time.RFC3339Nano), 1))
	}
	rules := transaction.Rules{ReceivedAt: receivedAt, MaxPast: 30 * 24 * time.Hour, MaxFuture: 720 * time.Hour}
	first, last := receivedAt.Add(-rules.MaxPast), receivedAt.Add(rules.MaxFuture)
	west := time.FixedZone("", -7*3600)
	for _, c := range []struct {
		name      string
		createdAt time.Time
		want      int
	}{
		{"after the first instant", first.Add(time.Nanosecond), 0},
		{"first instant", first, 0},
		{"before the first instant", first.Add(-time.Nanosecond), 1},
		{"before the first instant, elsewhere", first.Add(-time.Nanosecond).In(west), 1},
		{"before the last instant", last.Add(-time.Nanosecond), 0},
		{"last instant", last, 0},
		{"after the last instant", last.Add(time.Nanosecond), 1},
		{"after the last instant, elsewhere", last.Add(time.Nanosecond).In(west), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := New(rules).Line(lineOf(c.createdAt)); len(r.Findings) != c.want {
				t.Errorf("got %v, want %d findings", r.Findings, c.want)
			}
		})
	}
	t.Run("no limits", func(t *testing.T) {
		r := New(transaction.Rules{ReceivedAt: receivedAt}).Line(lineOf(receivedAt.AddDate(500, 0, 0)))
		difftest.Len(t, "Findings", 0, r.Findings)
	})
}

// The message of a character that is not allowed names it.
func TestUnexpectedCharacter(t *testing.T) {
	s := New(defaultRules())
	for line, want := range map[string]string{`{'a':1}`: "the character ' is", `{"a":1,}`: "the character } is",
		"{\x01}": "the character U+0001 is", "{\x7f}": "U+007F", "{é}": "the character U+00E9 'é' is",
		"{“a”:1}": "the character U+201C '“' is", "{\u200b}": "the character U+200B is",
		"{\u202e}": "the character U+202E is", "{\xe2\x80": "is not valid UTF-8", "{\xff}": "is not valid UTF-8",
		"{\ufffd}": "the character U+FFFD '\ufffd' is", "\x00{}": "the character U+0000 is"} {
		r := s.Line([]byte(line))
		if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, want) {
			t.Errorf("%s: got %v, want %q", line, r.Findings, want)
		}
	}
}

// A message repeats nothing that the line says; the keys of the line are in the pointer.
func TestMessagesRepeatNoValue(t *testing.T) {
	const secret = "SECRETSECRET"
	const format = `{"sender":{%[1]q:%[2]s,"unknown":{%[1]q:%[2]s}},` +
		`"modification":{%[1]q:%[2]s},"billing":{%[1]q:%[2]s}}`
	s := New(defaultRules())
	for _, value := range []string{`"` + secret + `"`, `{"` + secret + `":"` + secret + `"}`, `["` + secret + `"]`} {
		for _, o := range schema.Objects {
			for i := range o.Fields {
				line := fmt.Sprintf(format, o.Fields[i].Name, value)
				for _, f := range s.Line([]byte(line)).Findings {
					if strings.Contains(f.Message, secret) || !strings.HasSuffix(f.Message, ".") {
						t.Errorf("got %q for %s, want a sentence without the value", f.Message, f.Pointer)
					}
				}
			}
		}
	}
}

// A line with very many keys is read in linear time: a quadratic comparison would take minutes.
func TestManyKeys(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"billing":{"k0":0`)
	for i := 1; b.Len() < transaction.MaxLineBytes-100; i++ {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	s := New(defaultRules())
	if r := s.Line([]byte(b.String() + `}}`)); r.Findings[0].Code == transaction.CodeJSONDuplicateKey {
		t.Errorf("got %v for keys that all differ", r.Findings)
	}
	r := s.Line([]byte(b.String() + `,"k77":1}}`))
	if r.Findings[0].Code != transaction.CodeJSONDuplicateKey || r.Findings[0].Pointer != "/billing/k77" {
		t.Errorf("got %v, want a duplicate key at /billing/k77", r.Findings)
	}
}

// The scanner does not remember more of any line than the limit allows.
func TestMemoryOfLongLines(t *testing.T) {
	rules := defaultRules()
	rules.MaxLineBytes = 1000
	for _, piece := range []string{`"k%d":0,`, `"k%d":{"k":"\n"},`, `"%d":"` + strings.Repeat(`\n`, 5000) + `",`} {
		for _, opening := range []string{`{`, `{"modification":{"external_id":"`, `{"additional_fields":{`, `{"x":[{`} {
			s := New(rules)
			text := []byte(opening)
			for i := 0; len(text) < 300_000; i++ {
				text = fmt.Appendf(text, piece, i)
			}
			length := len(text)
			text = append(append(text, '\n'), make([]byte, padding)...)
			r, n := s.First(text)
			if n != length || len(r.Findings) != 1 || r.Findings[0].Code != transaction.CodeLineTooLong {
				t.Fatalf("%s%s: got %d bytes and %v, want %d bytes and line_too_long",
					opening, piece, n, r.Findings, length)
			}
			if len(s.keys.slots) > 1024 || cap(s.unescaped) > 4096 {
				t.Errorf("%s%s: got %d slots for keys and %d bytes of strings, want at most 1024 and 4096",
					opening, piece, len(s.keys.slots), cap(s.unescaped))
			}
		}
	}
}
