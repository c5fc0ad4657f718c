package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"sluice/shared/batch"
	"sluice/shared/objects"
	"sluice/shared/report"
)

// VerdictOutput tells the state machine whether there is anything to ingest.
type VerdictOutput struct {
	Ingest bool `json:"ingest"`
}

// Verdict adds up the chunks, puts the report together and decides.
type Verdict struct {
	Batches closer
	Work    *objects.Bucket
	Attempt Attempts
	Now     Clock
	Log     *slog.Logger
}

// Run is the state Verdict.
func (s *Verdict) Run(ctx context.Context, in BatchInput) (VerdictOutput, error) {
	return step(ctx, s.Log, in.ID, func(ctx context.Context) (VerdictOutput, error) { return s.run(ctx, in.ID) })
}

func (s *Verdict) run(ctx context.Context, id batch.ID) (VerdictOutput, error) {
	b, err := s.Batches.Get(ctx, id)
	if err != nil {
		return VerdictOutput{}, err
	}
	if b.Verdict != nil { // by an earlier run
		return VerdictOutput{b.Status != batch.ValidationFailed}, nil
	}
	if b, err = open(ctx, s.Batches, id); err != nil {
		return VerdictOutput{}, err
	}
	chunks, err := validated(ctx, s.Batches, b)
	if err != nil {
		return VerdictOutput{}, err
	}
	v := count(chunks)
	v.Outcome = batch.TooManyTransactions
	if !tooMany(b, chunks) {
		if v, err = s.report(ctx, b, chunks); err != nil {
			return VerdictOutput{}, err
		}
	}
	change := batch.Transition{To: batch.PendingIngestion, At: s.Now(), Verdict: &v}
	if why := rejection(b, v); why != "" {
		change.To, change.ErrorMessage = batch.ValidationFailed, why
	}
	b, err = move(ctx, s.Batches, id, change)
	return VerdictOutput{b.Status != batch.ValidationFailed}, err
}

// rejection says why a batch is rejected as a whole; "" when its accepted lines are to be ingested.
func rejection(b batch.Batch, v batch.Verdict) string {
	switch {
	case v.Outcome == batch.TooManyTransactions:
		return fmt.Sprintf("The file contains %d transactions; a batch takes at most %d. Split it.", v.Total, b.MaxTransactions)
	case v.Total == 0:
		return "The file contains no transaction."
	case v.Accepted == 0:
		return fmt.Sprintf("None of the %d transactions is valid; the validation report names every error.", v.Total)
	case v.Invalid > 0 && b.RejectOnInvalid:
		return fmt.Sprintf("%d of %d transactions are invalid and reject_on_invalid is true, so nothing was ingested; "+
			"the validation report names every error.", v.Invalid, v.Total)
	}
	return ""
}

// tooMany reports whether a validated batch has more transactions than it may have.
func tooMany(b batch.Batch, chunks []batch.Chunk) bool {
	return b.MaxTransactions > 0 && count(chunks).Total > b.MaxTransactions
}

// count is what validation alone knows: what is wrong with a line because of other lines, or of entities, is not in it.
func count(chunks []batch.Chunk) (v batch.Verdict) {
	for _, c := range chunks {
		v.Total += c.Validated.Transactions
		v.Invalid += c.Validated.Invalid
	}
	return v
}

// report strings the parts of the report together, in the order of the chunks, and its summary beside it.
func (s *Verdict) report(ctx context.Context, b batch.Batch, chunks []batch.Chunk) (batch.Verdict, error) {
	attempt := s.Attempt()
	whole := s.Work.Create(ctx, reportKey(b, attempt, "jsonl"))
	defer whole.Abort()
	var sum report.Summary
	for _, c := range chunks {
		if c.Settled == nil {
			return batch.Verdict{}, fmt.Errorf("batch %s: chunk %d is not settled", b.ID, c.Index)
		}
		if err := s.part(ctx, whole, &sum, *c.Settled); err != nil {
			return batch.Verdict{}, err
		}
	}
	v := batch.Verdict{
		Total: sum.Counts.Total, Accepted: sum.Counts.Accepted, Invalid: sum.Counts.Invalid,
		ReportKey: reportKey(b, attempt, "jsonl"), SummaryKey: reportKey(b, attempt, "summary.json"),
	}
	if err := whole.Close(); err != nil {
		return v, err
	}
	summary := s.Work.Create(ctx, v.SummaryKey)
	defer summary.Abort()
	if err := json.NewEncoder(summary).Encode(sum); err != nil {
		return v, err
	}
	return v, summary.Close()
}

func (s *Verdict) part(ctx context.Context, whole io.Writer, sum *report.Summary, c batch.SettleResult) error {
	part := report.Summary{Counts: report.Counts{Total: c.Accepted + c.Invalid, Accepted: c.Accepted, Invalid: c.Invalid}}
	if c.SummaryKey != "" {
		body, err := s.Work.Open(ctx, c.SummaryKey, "", 0, -1)
		if err != nil {
			return err
		}
		defer body.Close()
		if err := json.NewDecoder(body).Decode(&part); err != nil {
			return err
		}
	}
	sum.Add(part)
	if c.ReportKey == "" {
		return nil
	}
	body, err := s.Work.Open(ctx, c.ReportKey, "", 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	n, err := io.Copy(whole, body)
	if err == nil && n != c.ReportBytes {
		err = fmt.Errorf("part of the report has %d bytes, not %d", n, c.ReportBytes)
	}
	return err
}
