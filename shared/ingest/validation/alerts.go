package validation

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
)

// CodeScreeningHit is the code of a line with a name that has hits, in a batch that rejects such lines.
const CodeScreeningHit transaction.Code = "screening_hit"

// screeningHitMessage names the list and the ID of the entry that is most like the name.
const screeningHitMessage = "The name is like that of an entry of a watchlist: list %s, entry %s. The result of the " +
	"screening has all hits."

// ScreeningInput is what SettleChunk needs of the screening of names.
type ScreeningInput struct {
	// Hits are the hits by partition; nil where there are none.
	Hits []chunk.Source
	// Reject means that lines with hits are rejected.
	Reject bool
	// Alerts receives the alerts of the chunk.
	Alerts io.Writer
	// MaxBytes is the number of bytes after which alerts are counted and not written; 0 means no limit.
	MaxBytes int64
}

// alerter joins the hits of one chunk to its lines, and keeps its memory for the next one.
type alerter struct {
	sections sectionReader
	// found are the uses of names that have hits, by line and offset.
	found []foundName
	out   *bufio.Writer
	// decoded and decodedOf are the hits of the latest name.
	decoded   []report.Hit
	decodedOf []byte
	buf       []byte
}

// foundName is a use of a name that has hits.
type foundName struct {
	reference
	name, hits []byte
}

// read reads the chunk's section of the hits of all partitions.
func (a *alerter) read(ctx context.Context, in *SettleInput) error {
	a.found = a.found[:0]
	if in.Screening == nil {
		return nil
	}
	err := a.sections.readEach(ctx, len(in.Screening.Hits), in.Concurrency,
		func(ctx context.Context, p int, buf []byte) ([]byte, error) {
			return readSection(ctx, in.Screening.Hits[p], hitsMagic, in.Plan.Count(), in.Chunk, buf)
		},
		func(_ int, section []byte) error { return a.addSection(section, in.LineCount) })
	slices.SortFunc(a.found, func(x, y foundName) int {
		return cmp.Or(cmp.Compare(x.line, y.line), cmp.Compare(x.offset, y.offset))
	})
	return err
}

// addSection adds the names of one partition.
func (a *alerter) addSection(section []byte, lineCount int64) error {
	if len(section) == 0 {
		return nil
	}
	d := &decoder{b: bytes.Clone(section)}
	for n := d.uvarint(); n > 0 && !d.failed; n-- {
		u := usedText{d.text(), d.uvarint(), d.text()}
		hits := d.text()
		valid := decodeReferences(u.references, u.count, lineCount, func(r reference) {
			a.found = append(a.found, foundName{r, u.text, hits})
		})
		if !valid {
			d.fail()
		}
	}
	return d.finish("hits")
}

// hitsOf returns the hits of a name, the best one first, until its next call.
func (a *alerter) hitsOf(found *foundName) ([]report.Hit, error) {
	if a.decodedOf == nil || !bytes.Equal(a.decodedOf, found.hits) {
		var err error
		if a.decoded, err = decodeHits(found.hits); err != nil {
			return nil, err
		}
		a.decodedOf = found.hits
	}
	return a.decoded, nil
}

// appendRejections appends a rejection for each use of a name that has hits.
func (a *alerter) appendRejections(rejections []rejection) []rejection {
	for i := range a.found {
		f := &a.found[i]
		rejections = append(rejections, rejection{line: f.line, set: uint32(i), reason: screeningHit, offset: f.offset,
			role: f.role})
	}
	return rejections
}

// writeAlerts writes the alerts of the chunk. It reads their lines again, for the identifiers.
func (s *settler) writeAlerts(ctx context.Context) error {
	if len(s.alerts.found) == 0 {
		return nil
	}
	s.alerts.out = resetWriter(s.alerts.out, s.in.Screening.Alerts, 64<<10)
	for rest := s.alerts.found; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].line == rest[0].line {
			n++
		}
		line, res, err := s.readLine(ctx, int64(rest[0].line))
		if err != nil {
			return err
		}
		for i := range rest[:n] {
			if err := s.writeAlertsOf(line, res, &rest[i]); err != nil {
				return err
			}
		}
		rest = rest[n:]
	}
	if err := s.alerts.out.Flush(); err != nil {
		return fmt.Errorf("write alerts: %w", err)
	}
	return nil
}

// writeAlertsOf writes an alert for each hit of a name that a line uses.
func (s *settler) writeAlertsOf(line *chunk.Line, res *transaction.Result, found *foundName) error {
	a := &s.alerts
	hits, err := a.hitsOf(found)
	if err != nil {
		return err
	}
	alert := report.Alert{
		Line: s.in.FirstLine + line.Number, TransactionExternalID: res.TransactionExternalID,
		ModificationID: res.ModificationID, Role: found.role, FullName: found.name,
	}
	for i := range res.Names {
		if res.Names[i].Role == found.role {
			alert.ExternalID = res.Names[i].ExternalID
		}
	}
	for _, alert.Hit = range hits {
		s.result.Hits++
		if !report.IsFull(s.result.AlertBytes, s.in.Screening.MaxBytes) {
			s.result.AlertsLeftOut = true
			continue
		}
		a.buf = alert.AppendTo(a.buf[:0])
		s.result.AlertBytes += int64(len(a.buf))
		if _, err := a.out.Write(a.buf); err != nil {
			return fmt.Errorf("write alerts: %w", err)
		}
	}
	return nil
}
