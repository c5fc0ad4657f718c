package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/objects"
)

// Verdict is the step of the state Verdict: it adds up the chunks, joins their parts of the report, and decides
// whether the accepted lines are ingested, with the transition to PENDING_INGESTION, or not, with that to
// VALIDATION_FAILED. A batch that is validate_only ends with it: instead of PENDING_INGESTION it becomes PROCESSED.
type Verdict struct {
	Batches batch.JobStore
	Work    *objects.Bucket
	// Slots takes back the slot of validation.
	Slots slots
	// NewAttempt names an attempt.
	NewAttempt func() string
	Now        func() time.Time
	Log        *slog.Logger
}

// VerdictOutput tells the state machine whether there is anything to ingest, or that the digest of the accepted lines
// is to be computed before the verdict.
type VerdictOutput struct {
	Ingest bool `json:"ingest"`
	Digest bool `json:"digest"`
}

// Run decides about a batch. A repeated run returns the decision of the first one.
func (s *Verdict) Run(ctx context.Context, in BatchInput) (VerdictOutput, error) {
	return runStep(ctx, s.Log, in.ID, func(ctx context.Context) (VerdictOutput, error) { return s.run(ctx, in.ID) })
}

func (s *Verdict) run(ctx context.Context, id batch.ID) (VerdictOutput, error) {
	j, err := openJob(ctx, s.Batches, id)
	if j.Verdict == nil { // else an earlier run has decided, perhaps with a terminal status
		if err == nil {
			err = s.decide(ctx, j)
		}
		if errors.Is(err, errDigestMissing) {
			return VerdictOutput{Digest: true}, nil
		}
		if err != nil {
			return VerdictOutput{}, err
		}
	}
	// The slot is left after the verdict is stored, because nothing is validated after that.
	if err := s.Slots.Leave(ctx, admission.Validation, j.Batch); err != nil {
		return VerdictOutput{}, err
	}
	return VerdictOutput{Ingest: j.Status != batch.ValidationFailed && !j.ValidateOnly}, nil
}

// decide judges a batch and makes the transition that follows from the verdict.
func (s *Verdict) decide(ctx context.Context, j *job) error {
	if err := s.findDuplicate(ctx, j); err != nil {
		return err
	}
	verdict, err := s.judge(ctx, j)
	if err != nil {
		return err
	}
	metric.Add(ctx, metric.Lines, verdict.Total)
	metric.Add(ctx, metric.Findings, verdict.Invalid)
	t := batch.Transition{To: batch.PendingIngestion, At: s.Now(), Verdict: &verdict, DuplicateOf: j.DuplicateOf,
		Index: true}
	if message := rejectionMessage(j.Batch, verdict); message != "" {
		t.To, t.ErrorMessage = batch.ValidationFailed, message
		return j.transition(ctx, t)
	}
	t.Opens, t.Alone = j.File(), j.OnDuplicate == batch.RejectOpenDuplicate
	if j.ValidateOnly {
		t.To = batch.Processed
		if !t.Alone {
			t.Opens = nil // nothing of it is processed
		}
	}
	err = j.transition(ctx, t)
	if taken, ok := errors.AsType[*batch.FileTakenError](err); ok {
		verdict.AcceptedSHA256 = nil
		t = batch.Transition{To: batch.ValidationFailed, At: t.At, Verdict: &verdict, DuplicateOf: taken.By,
			ErrorMessage: taken.Error(), Index: true}
		return j.transition(ctx, t)
	}
	return err
}

// findDuplicate sets the batch of which the job's one is a duplicate, if its file was processed before. Of two batches
// with the same file neither is found by the other one as long as neither is PROCESSED.
func (s *Verdict) findDuplicate(ctx context.Context, j *job) (err error) {
	if file := j.File(); file != nil {
		j.DuplicateOf, err = s.Batches.ProcessedAs(ctx, *file, s.Now())
	}
	return err
}

// judge returns the verdict on a batch, all chunks of which must be settled.
func (s *Verdict) judge(ctx context.Context, j *job) (batch.Verdict, error) {
	chunks, err := j.validatedChunks(ctx)
	if err != nil {
		return batch.Verdict{}, err
	}
	if total := batch.CountLines(chunks).Transactions; j.HasTooMany(total) {
		tooMany := batch.Verdict{Outcome: batch.TooManyTransactions, Total: total}
		for _, c := range chunks {
			tooMany.Invalid += c.Validated.Invalid // by the first pass alone
		}
		return tooMany, nil
	}
	accepted, err := j.acceptedDigest(chunks)
	if err != nil {
		return batch.Verdict{}, err
	}
	v, err := s.writeReport(ctx, j, chunks)
	v.AcceptedSHA256 = accepted
	return v, err
}

// errDigestMissing means that the digest of the accepted lines is to be computed first.
var errDigestMissing = errors.New("the digest of the accepted lines is not computed")

// acceptedDigest returns the digest over the accepted lines of a batch whose chunks are settled; nil if it is rejected
// as a whole, as nothing of it is accepted then. It returns errDigestMissing if the file has to be read again for it.
func (j *job) acceptedDigest(chunks []batch.Chunk) ([]byte, error) {
	var v batch.Verdict
	for _, c := range chunks {
		if c.Settled == nil {
			return nil, fmt.Errorf("batch %s: chunk %d is not settled", j.ID, c.Index)
		}
		v.Accepted += c.Settled.Accepted
		v.Invalid += c.Settled.Invalid
	}
	v.Total = v.Accepted + v.Invalid
	switch {
	case rejectionMessage(j.Batch, v) != "":
		return nil, nil
	case v.Invalid == 0:
		return j.LinesSHA256, nil // computed with the digest of the file, while the chunks were validated
	case j.AcceptedSHA256 == nil && j.FileSHA256 != nil:
		return nil, errDigestMissing
	}
	return j.AcceptedSHA256, nil // nil for an execution of a release that computed none
}

// rejectionMessage tells the client why the batch is rejected as a whole; it is empty if its accepted lines are
// ingested.
func rejectionMessage(b batch.Batch, v batch.Verdict) string {
	effect := "nothing was ingested"
	if b.ValidateOnly {
		effect = "the batch is rejected"
	}
	switch {
	case b.DuplicateOf != "" && b.OnDuplicate.Rejects():
		return batch.DuplicateMessage(b.DuplicateOf)
	case v.Outcome == batch.TooManyTransactions:
		return fmt.Sprintf("The file contains %d transactions; a batch may contain at most %d. "+
			"Split the file into several batches.", v.Total, b.MaxTransactions)
	case v.Total == 0:
		return "The file contains no transaction."
	case v.Total == 1 && v.Accepted == 0:
		return "The only transaction of the file is invalid; the validation report lists its errors."
	case v.Accepted == 0:
		return fmt.Sprintf("All %d transactions are invalid; the validation report lists their errors.", v.Total)
	case v.Invalid == 1 && b.RejectOnInvalid:
		return fmt.Sprintf("1 of %d transactions is invalid and reject_on_invalid is true, so %s; "+
			"the validation report lists its errors.", v.Total, effect)
	case v.Invalid > 0 && b.RejectOnInvalid:
		return fmt.Sprintf("%d of %d transactions are invalid and reject_on_invalid is true, so %s; "+
			"the validation report lists their errors.", v.Invalid, v.Total, effect)
	case b.MaxRejected == nil || !b.MaxRejected.IsExceeded(v.Invalid, v.Total):
		return ""
	case v.Invalid == 1:
		return fmt.Sprintf("1 of %d transactions is invalid and max_rejected is %s, so %s; "+
			"the validation report lists its errors.", v.Total, b.MaxRejected, effect)
	}
	return fmt.Sprintf("%d of %d transactions are invalid and max_rejected is %s, so %s; "+
		"the validation report lists their errors.", v.Invalid, v.Total, b.MaxRejected, effect)
}
