package validation

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
)

// plainScanner scans lines in a language of its own, in which a test can write every case. A line is words separated by
// single spaces:
//
//	m=ID u=ID t=ID        modification ID, request UUID, transaction ID
//	s=ID r=ID p=ID        references to entities as sender, receiver and sending partner
//	!CODE                 a finding; at most three are kept
//
// All other words are ignored.
type plainScanner struct{ res transaction.Result }

var roles = map[byte]transaction.Role{
	's': transaction.Sender,
	'r': transaction.Receiver,
	'p': transaction.SendingPartner,
}

func (s *plainScanner) Line(line []byte) *transaction.Result {
	s.res = transaction.Result{Blank: len(bytes.Trim(line, " \t\r")) == 0}
	offset := 0
	for word := range bytes.SplitSeq(bytes.TrimRight(line, "\r"), []byte(" ")) {
		s.scanWord(word, offset)
		offset += len(word) + 1
	}
	return &s.res
}

func (s *plainScanner) scanWord(word []byte, offset int) {
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
		panic(fmt.Sprintf("%d bytes follow the line feed, want at least %d", len(text)-n-1, transaction.Lookahead))
	}
	return s.Line(text[:n]), n
}

// TooLong scans the words that are certainly complete.
func (s *plainScanner) TooLong(prefix []byte) *transaction.Result {
	s.Line(prefix[:max(bytes.LastIndexByte(prefix, ' '), 0)])
	s.res.Blank, s.res.References, s.res.Dropped = false, nil, 0
	s.res.Findings = []transaction.Finding{{Code: "line_too_long", Message: "It is too long."}}
	return &s.res
}

// outcome is everything that validation finds out about a file.
type outcome struct {
	// report is the report, csv the same as CSV, and rejected the rejected lines.
	report, csv, rejected string
	// accepted is set for each line that is accepted, by the index of the line.
	accepted []bool
	summary  report.Summary
}

// scannedLine is a line and the result of scanning it.
type scannedLine struct {
	chunk.Line
	res transaction.Result
}

// oracle validates a whole file in memory in the most obvious way.
func oracle(file []byte, maxLineBytes int, checkEntities bool) outcome {
	lines := scanLines(file, maxLineBytes)
	linesByID := map[string][]int64{}
	for i, l := range lines {
		if l.res.ModificationID != nil {
			id := string(l.res.ModificationID)
			linesByID[id] = append(linesByID[id], int64(i+1))
		}
	}
	var o outcome
	var tally report.Tally
	o.csv = report.CSVHeader
	for i, l := range lines {
		o.accepted = append(o.accepted, false)
		if l.res.Blank {
			continue
		}
		o.summary.Counts.Total++
		out := report.Line{
			Number:                int64(i + 1),
			RequestUUID:           l.res.RequestUUID,
			TransactionExternalID: l.res.TransactionExternalID,
			ModificationID:        l.res.ModificationID,
			Dropped:               l.res.Dropped,
		}
		for _, f := range l.res.Findings {
			message := f.Message
			if f.Code == transaction.CodeJSONInvalid {
				message = strings.TrimSuffix(message, ".") + fmt.Sprintf(" (byte %d of the line).", f.Offset+1)
			}
			out.Errors = append(out.Errors, report.Error{
				Code: f.Code, Pointer: f.Pointer, Message: message, Offset: l.Offset + int64(f.Offset),
			})
		}
		if same := linesByID[string(l.res.ModificationID)]; l.res.ModificationID != nil && len(same) > 1 {
			others := slices.DeleteFunc(slices.Clone(same), func(n int64) bool { return n == out.Number })
			out.Errors = append(out.Errors, report.Error{
				Code:            CodeDuplicateModificationID,
				Pointer:         "/modification/external_id",
				Message:         fmt.Sprintf(duplicateMessage, nameLines(others, int64(len(others)))),
				Offset:          l.Offset + int64(l.res.ModificationOffset),
				OtherLines:      others[:min(10, len(others))],
				OtherLinesTotal: int64(len(others)),
			})
		}
		for _, ref := range l.res.References {
			e := report.Error{Pointer: "/" + ref.Role.Name() + "/by_external_id", Offset: l.Offset + int64(ref.Offset)}
			switch state := stateOf(string(ref.ID)); {
			case !checkEntities || state == Onboarded:
				continue
			case state == Missing:
				e.Code, e.Message = transaction.CodeEntityNotFound, notFoundMessage
			default:
				e.Code, e.Message = transaction.CodeEntityNotOnboarded, notOnboardedMessage
			}
			out.Errors = append(out.Errors, e)
		}
		if len(out.Errors) == 0 {
			o.accepted[i] = true
			o.summary.Counts.Accepted++
			continue
		}
		o.summary.Counts.Invalid++
		slices.SortStableFunc(out.Errors, func(a, b report.Error) int { return cmp.Compare(a.Offset, b.Offset) })
		for _, e := range out.Errors {
			tally.Add(out.Number, &e)
		}
		o.report += string(out.AppendTo(nil))
		o.csv += csvOf(&out)
		if l.TooLong {
			o.summary.RejectedLeftOut++
		} else {
			o.rejected += string(l.Text) + "\n"
		}
	}
	tally.AddTo(&o.summary)
	return o
}

// csvOf returns the records of a line of the report as the standard library writes them.
func csvOf(l *report.Line) string {
	var out strings.Builder
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	for _, e := range l.Errors {
		w.Write([]string{fmt.Sprint(l.Number), string(l.ModificationID), string(l.TransactionExternalID),
			string(e.Code), e.Pointer, e.Message, fmt.Sprint(e.Offset)})
	}
	w.Flush()
	return out.String()
}

// scanLines divides a file into lines and scans each.
func scanLines(file []byte, maxLineBytes int) []scannedLine {
	var lines []scannedLine
	offset := int64(0)
	if bytes.HasPrefix(file, []byte("\xEF\xBB\xBF")) {
		offset = 3
	}
	for text := range bytes.Lines(file[offset:]) {
		lengthInFile := len(text)
		text = bytes.TrimSuffix(text, []byte("\n"))
		scanner := new(plainScanner)
		l := scannedLine{Line: chunk.Line{Offset: offset, Text: text}}
		if len(text) > maxLineBytes {
			l.TooLong = true
			l.res = *scanner.TooLong(text[:maxLineBytes])
		} else {
			l.res = *scanner.Line(text)
		}
		lines = append(lines, l)
		offset += int64(lengthInFile)
	}
	return lines
}

// randomFile returns a file of random lines: blank, valid, with findings, with shared IDs, and too long.
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

// randomLine returns a line with IDs below ids. The larger bad is, from 0 to 3, the more is wrong with it.
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
