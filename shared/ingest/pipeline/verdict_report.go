package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/objects"
)

// writeReport joins the parts of the report, of its CSV form and of the rejected lines, in the order of the chunks, all
// of which must be settled, adds up their summaries, and returns the verdict that names the files.
func (s *Verdict) writeReport(ctx context.Context, j *job, chunks []batch.Chunk) (batch.Verdict, error) {
	settled := make([]batch.SettleResult, len(chunks))
	for i, c := range chunks {
		settled[i] = *c.Settled
	}
	attempt := nameAttempt(ctx, s.NewAttempt)
	files := reportFiles{Verdict: s, job: j, attempt: attempt, settled: settled}
	v, sum, err := files.write(ctx)
	if err != nil {
		return batch.Verdict{}, err
	}
	if v.Screening, err = s.writeAlerts(ctx, j, chunks, attempt); err != nil {
		return batch.Verdict{}, err
	}
	v.SummaryKey = j.reportKey(attempt, "summary.json")
	err = s.Work.WriteObject(ctx, v.SummaryKey, func(w io.Writer) error { return json.NewEncoder(w).Encode(sum) })
	return v, err
}

// reportFiles are the files of rejected lines and their errors for the client, while one attempt writes them.
type reportFiles struct {
	*Verdict
	job     *job
	attempt string
	settled []batch.SettleResult
}

// write writes the files at the same time, and returns the verdict that names them, and the summary of the report.
func (f *reportFiles) write(ctx context.Context) (v batch.Verdict, sum report.Summary, err error) {
	g, ctx := errgroup.WithContext(ctx)
	var csvKey, rejectedKey string
	g.Go(func() (err error) {
		v.ReportKey, v.ReportShortened, csvKey, err = f.joinReports(ctx)
		return err
	})
	g.Go(func() (err error) {
		rejectedKey, err = f.joinRejected(ctx)
		return err
	})
	g.Go(func() (err error) {
		sum, err = f.addSummaries(ctx)
		return err
	})
	if err := g.Wait(); err != nil {
		return batch.Verdict{}, report.Summary{}, err
	}
	complete := !v.ReportShortened
	sum.ReportComplete = &complete
	v.Total, v.Accepted, v.Invalid = sum.Counts.Total, sum.Counts.Accepted, sum.Counts.Invalid
	v.CSVKey, v.RejectedKey, v.RejectedLeftOut = csvKey, rejectedKey, sum.RejectedLeftOut
	return v, sum, nil
}

// addSummaries adds up the summaries of the chunks.
func (f *reportFiles) addSummaries(ctx context.Context) (sum report.Summary, err error) {
	for _, r := range f.settled {
		part := report.Summary{Counts: report.Counts{Total: r.Accepted + r.Invalid, Accepted: r.Accepted,
			Invalid: r.Invalid}}
		if r.SummaryKey != "" {
			body, err := f.Work.Open(ctx, r.SummaryKey, "", 0, -1)
			if err != nil {
				return sum, err
			}
			err = json.NewDecoder(body).Decode(&part)
			body.Close()
			if err != nil {
				return sum, fmt.Errorf("%s: %w", r.SummaryKey, err)
			}
		}
		sum.Add(part)
	}
	return sum, nil
}

// joinReports joins the parts of the report and the parts of its CSV form. The records of a line are short exactly if
// its entry in the report is, so the one must be known before the other, unless nothing can be short.
func (f *reportFiles) joinReports(ctx context.Context) (key string, shortened bool, csvKey string, err error) {
	full, short := int64(0), int64(0)
	for _, r := range f.settled {
		full, short = full+r.ReportBytes-r.ShortBytes, short+r.ShortBytes
	}
	if limit := f.job.MaxReportBytes; short == 0 && (limit <= 0 || full <= limit) {
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() (err error) {
			key, _, err = f.joinReport(ctx)
			return err
		})
		g.Go(func() (err error) {
			csvKey, err = f.joinCSV(ctx, 0)
			return err
		})
		err = g.Wait()
		return key, false, csvKey, err
	}
	key, firstShort, err := f.joinReport(ctx)
	if err == nil {
		csvKey, err = f.joinCSV(ctx, firstShort)
	}
	return key, firstShort > 0, csvKey, err
}

// joinReport joins the parts of the report. An empty report is an object, too. It returns the number of the first line
// whose entry is short; 0 if no entry is short.
func (f *reportFiles) joinReport(ctx context.Context) (key string, firstShort int64, err error) {
	key = f.job.reportKey(f.attempt, "jsonl")
	whole := f.Work.Create(ctx, key)
	defer whole.Abort()
	joiner := report.NewJoiner(whole, f.job.MaxReportBytes)
	for _, r := range f.settled {
		size := report.PartSize{Full: r.ReportBytes - r.ShortBytes, Short: r.ShortBytes}
		if err := joiner.AddPart(f.part(ctx, r.ReportKey), size); err != nil {
			return "", 0, fmt.Errorf("%s: %w", r.ReportKey, err)
		}
	}
	return key, joiner.FirstShort(), whole.Close()
}

// joinCSV joins the parts of the report as CSV, and returns the key of the object; empty if no line is rejected. The
// records of the line firstShort and of later ones are short.
func (f *reportFiles) joinCSV(ctx context.Context, firstShort int64) (string, error) {
	if !f.hasParts() {
		return "", nil
	}
	whole := f.Work.Create(ctx, f.job.reportKey(f.attempt, "csv"))
	defer whole.Abort()
	joiner, err := report.NewCSVJoiner(whole)
	if err != nil {
		return "", err
	}
	for i, r := range f.settled {
		size, shortFrom := report.PartSize{Full: r.CSVBytes - r.CSVShortBytes, Short: r.CSVShortBytes}, firstShort
		if i+1 < len(f.settled) && f.settled[i+1].FirstLine <= firstShort {
			shortFrom = 0 // the part is copied as it is
		}
		if err := joiner.AddPart(f.part(ctx, r.CSVKey), size, shortFrom); err != nil {
			return "", fmt.Errorf("%s: %w", r.CSVKey, err)
		}
	}
	return whole.CommitIfWritten()
}

// joinRejected joins the rejected lines of the chunks, and returns the key of the object; empty if there are none.
func (f *reportFiles) joinRejected(ctx context.Context) (string, error) {
	if !f.hasParts() {
		return "", nil
	}
	whole := f.Work.Create(ctx, f.job.reportKey(f.attempt, "rejected.jsonl"))
	defer whole.Abort()
	for _, r := range f.settled {
		if err := copyPart(whole, f.part(ctx, r.RejectedKey), r.RejectedBytes); err != nil {
			return "", fmt.Errorf("%s: %w", r.RejectedKey, err)
		}
	}
	return whole.CommitIfWritten()
}

func copyPart(w io.Writer, part report.Part, size int64) error {
	body := part.Range(0, size)
	defer body.Close()
	_, err := io.Copy(w, body)
	return err
}

// hasParts reports whether a line is rejected and all chunks with such lines have parts of the CSV and of the rejected
// lines: a release that wrote none may have settled some of them.
func (f *reportFiles) hasParts() bool {
	invalid := int64(0)
	for _, r := range f.settled {
		if invalid += r.Invalid; r.Invalid > 0 && r.CSVKey == "" {
			return false
		}
	}
	return invalid > 0
}

// part returns the part of a file that is a work file.
func (f *reportFiles) part(ctx context.Context, key string) report.Part {
	return workPart{ctx, f.Work, key}
}

// workPart is a part of a file in the work bucket, which S3 can copy.
type workPart struct {
	ctx  context.Context
	work *objects.Bucket
	key  string
}

func (p workPart) Range(from, to int64) io.ReadCloser { return p.work.Section(p.ctx, p.key, from, to) }
