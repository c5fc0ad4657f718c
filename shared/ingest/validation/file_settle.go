package validation

import (
	"context"
	"errors"
	"io"
	"slices"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
)

// settledChunk is the outcome of settling a chunk, and the parts that were written; nil for those that are not wanted.
type settledChunk struct {
	SettleResult
	report, csv, rejected, alerts *spool
}

// settleAll runs the third pass over all chunks, and writes the parts of the report to out in the order of the chunks.
func (v *fileValidator) settleAll(ctx context.Context, out io.Writer) (report.Summary, error) {
	if err := closeAll(v.indexes); err != nil {
		return report.Summary{}, err
	}
	duplicates := make([]chunk.Source, Partitions)
	for p, s := range v.duplicateRejections {
		if s != nil {
			duplicates[p] = s
		}
	}
	firstLines, reportStarts := make([]int64, len(v.results)+1), make([]int64, len(v.results)+1)
	firstLines[0] = 1
	for i, result := range v.results {
		firstLines[i+1] = firstLines[i] + result.Lines
		reportStarts[i+1] = reportStarts[i] + result.MinReportBytes
	}
	scanners := newPool(v.workers, v.in.NewScanner)
	settlers := newPool(v.workers, func() *settler { return new(settler) })
	settled := make([]settledChunk, len(v.results))
	defer func() {
		for _, c := range settled {
			_ = c.close()
		}
	}()
	produce := func(ctx context.Context, i int) (c settledChunk, err error) {
		scanner, s := scanners.get(), settlers.get()
		defer scanners.put(scanner)
		defer settlers.put(s)
		in := v.settleInput(i, scanner, firstLines[i], duplicates)
		in.ReportStart = reportStarts[i]
		c = v.openParts(&in)
		settled[i] = c
		err = catchFault(func() error {
			c.SettleResult, err = s.settleChunk(ctx, in, c.report, io.Discard)
			return err
		})
		return c, err
	}
	join, err := v.newJoin(out)
	if err != nil {
		return report.Summary{}, err
	}
	err = forEachInOrder(ctx, len(v.results), v.workers, produce, func(i int, c settledChunk) error {
		if err := join.add(c); err != nil {
			return err
		}
		v.settled.Add(v.results[i].Bytes)
		v.reportProgress()
		return errors.Join(c.close(), v.findings[i].close(), v.entityRejections[i].close())
	})
	complete := join.report.FirstShort() == 0
	join.sum.ReportComplete = &complete
	return join.sum, err
}

// openParts returns a chunk with the parts that are wanted of it, and makes them the outputs of its settling.
func (v *fileValidator) openParts(in *SettleInput) settledChunk {
	c := settledChunk{report: v.newSpool()}
	if v.in.Screening != nil {
		c.alerts = v.newSpool()
		in.Screening = v.screeningInput(c.alerts)
	}
	if v.in.CSV != nil {
		c.csv = v.newSpool()
		in.CSV = c.csv
	}
	if v.in.Rejected != nil {
		c.rejected = v.newSpool()
		in.Rejected = c.rejected
	}
	return c
}

func (c *settledChunk) close() error {
	return closeAll([]*spool{c.report, c.csv, c.rejected, c.alerts})
}

func (v *fileValidator) settleInput(i int, scanner Scanner, firstLine int64, duplicates []chunk.Source) SettleInput {
	in := SettleInput{
		ChunkInput:   v.chunkInput(i, scanner),
		FirstLine:    firstLine,
		LineCount:    v.results[i].Lines,
		Transactions: v.results[i].Transactions,
		Rejections:   duplicates,
		SeekPoints:   v.results[i].SeekPoints,

		MaxReportBytes: v.in.MaxReportBytes,
	}
	if v.entityRejections[i].size > 0 {
		in.Rejections = append(slices.Clip(duplicates), v.entityRejections[i])
	}
	if v.results[i].FindingsBytes > 0 {
		in.Findings = v.findings[i].reader()
	}
	return in
}

// join puts the parts of all chunks together.
type join struct {
	sum    report.Summary
	report *report.Joiner
	// csv and rejected are nil if they are not wanted.
	csv        *report.CSVJoiner
	rejected   io.Writer
	joinAlerts func(SettleResult, *spool) error
}

func (v *fileValidator) newJoin(out io.Writer) (*join, error) {
	j := &join{report: report.NewJoiner(out, v.in.MaxReportBytes), rejected: v.in.Rejected}
	j.joinAlerts = v.alertJoiner(&j.sum)
	if v.in.CSV == nil {
		return j, nil
	}
	var err error
	j.csv, err = report.NewCSVJoiner(v.in.CSV)
	return j, err
}

// add adds the parts of the next chunk.
func (j *join) add(c settledChunk) error {
	j.sum.Add(c.Summary)
	if err := j.report.AddPart(c.report, c.Report); err != nil {
		return err
	}
	if j.csv != nil {
		if err := j.csv.AddPart(c.csv, c.CSV, j.report.FirstShort()); err != nil {
			return err
		}
	}
	if j.rejected != nil {
		if _, err := c.rejected.WriteTo(j.rejected); err != nil {
			return err
		}
	}
	return j.joinAlerts(c.SettleResult, c.alerts)
}
