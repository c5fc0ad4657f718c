package validation

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sluice/shared/chunk"
	"sluice/shared/report"
	"sluice/shared/transaction"
)

// plainScanner reads lines of a language of its own, of which a test can write every case: words apart by single
// spaces.
//
//	m=ID u=ID t=ID        identifiers
//	s=ID r=ID p=ID        uses of entities
//	!CODE                 a finding
type plainScanner struct{ res transaction.Result }

var roles = map[byte]transaction.Role{'s': transaction.Sender, 'r': transaction.Receiver, 'p': transaction.SendingPartner}

func (s *plainScanner) Line(line []byte) *transaction.Result {
	s.res = transaction.Result{Blank: len(bytes.Trim(line, " \t\r")) == 0}
	offset := 0
	for word := range bytes.SplitSeq(bytes.TrimRight(line, "\r"), []byte(" ")) {
		s.word(word, offset)
		offset += len(word) + 1
	}
	return &s.res
}

func (s *plainScanner) word(word []byte, offset int) {
	if len(word) < 2 {
		return
	}
	res := &s.res
	switch value := word[2:]; {
	case word[0] == '!':
		code := transaction.Code(word[1:])
		if len(res.Findings) == 3 {
			res.Dropped++
			return
		}
		res.Findings = append(res.Findings, transaction.Finding{
			Code: code, Pointer: "/" + string(code), Message: "It is " + string(code) + ".", Offset: offset})
	case word[0] == 'm':
		res.ModificationID, res.ModificationOffset = value, offset
	case word[0] == 'u':
		res.RequestUUID = value
	case word[0] == 't':
		res.TransactionExternalID = value
	case roles[word[0]] != transaction.NoRole:
		res.References = append(res.References, transaction.Reference{Role: roles[word[0]], ID: value, Offset: offset})
	}
}

func (s *plainScanner) First(text []byte) (*transaction.Result, int) {
	n := bytes.IndexByte(text, '\n')
	if len(text) < n+1+transaction.Lookahead {
		panic("too little lies behind the line")
	}
	return s.Line(text[:n]), n
}

// TooLong gives the words that are surely complete.
func (s *plainScanner) TooLong(prefix []byte) *transaction.Result {
	s.Line(prefix[:max(bytes.LastIndexByte(prefix, ' '), 0)])
	s.res.Blank, s.res.References, s.res.Dropped = false, nil, 0
	s.res.Findings = []transaction.Finding{{Code: "line_too_long", Message: "It is too long."}}
	return &s.res
}

// states is a directory of entities whose ID tells their state.
type states struct {
	looked map[string]int
}

func stateOf(id string) EntityState {
	switch {
	case strings.HasPrefix(id, "no"):
		return Missing
	case strings.HasPrefix(id, "off"):
		return NotOnboarded
	}
	return Onboarded
}

func (s *states) Lookup(_ context.Context, ids []string) ([]EntityState, error) {
	if len(ids) == 0 || len(ids) > MaxLookup {
		return nil, fmt.Errorf("%d entities at a time", len(ids))
	}
	var answers []EntityState
	for _, id := range ids {
		s.looked[id]++
		answers = append(answers, stateOf(id))
	}
	return answers, nil
}

// verdict is everything that validation says of a file.
type verdict struct {
	report   string
	accepted []bool // by line
	summary  report.Summary
}

// judged is what the oracle knows of one line.
type judged struct {
	chunk.Line
	res transaction.Result
}

// oracle judges a whole file in memory, the obvious way.
func oracle(file []byte, limit int, judgeEntities bool) verdict {
	lines := judgeLines(file, limit)
	sharing := map[string][]int64{}
	for i, l := range lines {
		if l.res.ModificationID != nil {
			id := string(l.res.ModificationID)
			sharing[id] = append(sharing[id], int64(i+1))
		}
	}
	var v verdict
	v.summary.Codes = map[transaction.Code]report.CodeInfo{}
	for i, l := range lines {
		v.accepted = append(v.accepted, false)
		if l.res.Blank {
			continue
		}
		v.summary.Counts.Total++
		out := report.Line{Number: int64(i + 1), RequestUUID: l.res.RequestUUID,
			TransactionExternalID: l.res.TransactionExternalID, ModificationID: l.res.ModificationID, Dropped: l.res.Dropped}
		for _, f := range l.res.Findings {
			out.Errors = append(out.Errors, report.Error{Code: f.Code, Pointer: f.Pointer, Message: f.Message,
				Offset: l.Offset + int64(f.Offset)})
		}
		if same := sharing[string(l.res.ModificationID)]; l.res.ModificationID != nil && len(same) > 1 {
			others := slices.DeleteFunc(slices.Clone(same), func(n int64) bool { return n == out.Number })
			out.Errors = append(out.Errors, report.Error{Code: CodeDuplicateModificationID, Pointer: "/modification/external_id",
				Message: duplicateMessage, Offset: l.Offset + int64(l.res.ModificationOffset),
				OtherLines: others[:min(10, len(others))], OtherLinesTotal: int64(len(others))})
		}
		for _, use := range l.res.References {
			e := report.Error{Pointer: "/" + use.Role.Name() + "/by_external_id", Offset: l.Offset + int64(use.Offset)}
			switch state := stateOf(string(use.ID)); {
			case !judgeEntities || state == Onboarded:
				continue
			case state == Missing:
				e.Code, e.Message = transaction.CodeEntityNotFound, notFoundMessage
			default:
				e.Code, e.Message = transaction.CodeEntityNotOnboarded, notOnboardedMessage
			}
			out.Errors = append(out.Errors, e)
		}
		if len(out.Errors) == 0 {
			v.accepted[i] = true
			v.summary.Counts.Accepted++
			continue
		}
		v.summary.Counts.Invalid++
		slices.SortStableFunc(out.Errors, func(a, b report.Error) int { return cmp.Compare(a.Offset, b.Offset) })
		for _, e := range out.Errors {
			v.summary.AddError(out.Number, &e)
		}
		v.report += string(out.AppendTo(nil))
	}
	return v
}

func judgeLines(file []byte, limit int) []judged {
	var lines []judged
	offset := int64(0)
	if bytes.HasPrefix(file, []byte("\xEF\xBB\xBF")) {
		offset = 3
	}
	for text := range bytes.Lines(file[offset:]) {
		whole := len(text)
		text = bytes.TrimSuffix(text, []byte("\n"))
		scanner := new(plainScanner)
		l := judged{Line: chunk.Line{Offset: offset, Text: text}}
		if len(text) > limit {
			l.res = *scanner.TooLong(text[:limit])
		} else {
			l.res = *scanner.Line(text)
		}
		lines = append(lines, l)
		offset += int64(whole)
	}
	return lines
}

// randomFile writes lines of every kind: blank, valid, with findings, sharing IDs, too long.
func randomFile(rng *rand.Rand, lines int) []byte {
	var b bytes.Buffer
	if rng.IntN(4) == 0 {
		b.WriteString("\xEF\xBB\xBF")
	}
	ids := 1 + rng.IntN(2*lines+1)
	bad := rng.IntN(4)
	for i := range lines {
		b.WriteString(randomLine(rng, ids, bad))
		switch {
		case i == lines-1 && rng.IntN(2) == 0:
		case rng.IntN(5) == 0:
			b.WriteString("\r\n")
		default:
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}

func randomLine(rng *rand.Rand, ids, bad int) string {
	if rng.IntN(10) == 0 {
		return strings.Repeat(" ", rng.IntN(3))
	}
	var words []string
	for _, name := range []string{"m", "u", "t"} {
		if rng.IntN(8) > 0 {
			words = append(words, fmt.Sprintf("%s=%d", name, rng.IntN(ids)))
		}
	}
	for _, role := range []string{"s", "r", "p"} {
		kind := "ok"
		if rng.IntN(8) < bad {
			kind = []string{"no", "off"}[rng.IntN(2)]
		}
		words = append(words, fmt.Sprintf("%s=%s%d", role, kind, rng.IntN(5)))
	}
	for rng.IntN(6) < bad {
		words = append(words, []string{"!missing", "!uuid", "!enum"}[rng.IntN(3)])
	}
	if rng.IntN(12) == 0 {
		words = append(words, strings.Repeat("x", 40+rng.IntN(60)))
	}
	rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words, " ")
}
