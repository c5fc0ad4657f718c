package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/metric/metrictest"
	"sluice/shared/kit/objects"
)

var discard = slog.New(slog.DiscardHandler)

// stuckStore is a store that never answers.
type stuckStore struct{ batch.JobStore }

func (stuckStore) Apply(ctx context.Context, _ batch.ID, _ batch.Transition) (batch.Batch, error) {
	<-ctx.Done()
	return batch.Batch{}, ctx.Err()
}

// A step that cannot finish returns its error while its invocation still has time.
func TestStepEndsBeforeItsInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := (&Admit{Batches: stuckStore{}, Now: time.Now, Log: discard}).Run(ctx, AdmitInput{ID: "b"})
		var transient *Transient
		if !errors.As(err, &transient) {
			t.Errorf("got error %v, want a *Transient", err)
		}
		if got, want := time.Since(start), time.Minute-margin; got != want {
			t.Errorf("the step ended after %v, want %v", got, want)
		}
	})
}

// The record of a run of a step has its batch and its outcome; its duration and the processed amounts are in its
// metrics.
func TestEveryRunOfAStepIsMeasured(t *testing.T) {
	for _, tt := range []struct {
		err     error
		outcome string
	}{{nil, "ok"}, {&BatchOver{"over"}, "over"}, {&Transient{"later"}, "failed"}, {errors.New("else"), "failed"}} {
		t.Run(fmt.Sprint(tt.err), func(t *testing.T) {
			var out bytes.Buffer
			log := metric.New(&out, "test", time.Now, func(context.Context) string { return "" })
			step := Measured(log, metric.Settle, func(ctx context.Context, in ChunkInput) (struct{}, error) {
				return runAction(ctx, discard, in.ID, func(ctx context.Context) error {
					_, err := openJob(ctx, uploadedStore{}, in.ID)
					nameAttempt(ctx, func() string { return "a" })
					metric.Add(ctx, metric.Lines, 3)
					return errors.Join(err, tt.err)
				})
			})
			_, err := step(t.Context(), ChunkInput{ID: "b", Index: 7})
			if (err != nil) != (tt.err != nil) {
				t.Errorf("the step returned %v, want %v", err, tt.err)
			}
			metrics, err := metrictest.Read(out.Bytes(), time.Now())
			if err != nil || len(metrics) < 3 {
				t.Errorf("got the metrics %v, error %v, want three or more", metrics, err)
			}
			var got struct {
				Batch, Tenant, Attempt, Step, Outcome string
				Chunk, Lines                          int
			}
			want := got
			want.Batch, want.Tenant, want.Attempt, want.Step, want.Outcome = "b", "t", "a", "settle", tt.outcome
			want.Chunk, want.Lines = 7, 3
			if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != want {
				t.Errorf("got the record %+v, error %v, want %+v: %s", got, err, want, out.Bytes())
			}
		})
	}
}

// uploadedStore is a store with one uploaded batch, of a file of size bytes.
type uploadedStore struct {
	batch.JobStore
	size int64
}

func (s uploadedStore) Get(context.Context, batch.ID) (batch.Batch, error) {
	return batch.Batch{Tenant: "t", Status: batch.Uploaded, Object: batch.Object{Size: s.size}}, nil
}

func (s uploadedStore) Apply(_ context.Context, _ batch.ID, t batch.Transition) (batch.Batch, error) {
	return batch.Batch{Status: t.To, Object: batch.Object{Size: s.size}, Plan: *t.Plan}, nil
}

// However small the configured chunks are, their number is limited.
func TestNumberOfChunksIsBounded(t *testing.T) {
	for _, tt := range []struct {
		size, chunkBytes int64
		want             int
	}{
		{1, 1, 1},
		{maxChunks, 1, maxChunks},
		{maxChunks + 1, 1, maxChunks/2 + 1},
		{maxChunks*10 - 1, 10, maxChunks},
		{2<<30 - 1, 1 << 10, maxChunks},
		{2<<30 - 1, 0, chunk.MaxDefaultCount},
		{2<<30 - 1, 1 << 30, 2},
	} {
		t.Run(fmt.Sprintf("%d bytes by %d", tt.size, tt.chunkBytes), func(t *testing.T) {
			s := &Plan{Batches: uploadedStore{size: tt.size}, ChunkBytes: tt.chunkBytes, Now: time.Now, Log: discard}
			out, err := s.Run(t.Context(), BatchInput{})
			if err != nil || len(out.Chunks) != tt.want {
				t.Errorf("got %d chunks, error %v, want %d chunks", len(out.Chunks), err, tt.want)
			}
		})
	}
}

// A missing uploaded file is final; a missing work file is the service's own fault, and a retry may find it.
func TestOnlyAMissingUploadIsFinal(t *testing.T) {
	for _, cause := range []error{objects.ErrChanged, objects.ErrNotFound, objects.ErrDenied} {
		t.Run(cause.Error(), func(t *testing.T) {
			_, err := pinnedUpload(batch.Batch{}, failingBucket{cause}).Open(t.Context(), 0, 1)
			var changed *ObjectChanged
			if got := stepError(t.Context(), discard, "b", err); !errors.As(got, &changed) {
				t.Errorf("error of the uploaded file: got %v, want an *ObjectChanged", got)
			}
			var transient *Transient
			if got := stepError(t.Context(), discard, "b", cause); !errors.As(got, &transient) {
				t.Errorf("error of a work file: got %v, want a *Transient", got)
			}
		})
	}
}

// failingBucket is a bucket whose objects cannot be opened.
type failingBucket struct{ err error }

func (b failingBucket) Source(string, string) chunk.Source { return b }

func (b failingBucket) Open(context.Context, int64, int64) (io.ReadCloser, error) { return nil, b.err }

func TestRejectionMessages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rejects bool
		verdict batch.Verdict
		want    string
	}{
		{"all valid", true, batch.Verdict{Total: 2, Accepted: 2}, ""},
		{"some invalid and dropped", false, batch.Verdict{Total: 2, Accepted: 1, Invalid: 1}, ""},
		{"too many", false, batch.Verdict{Outcome: batch.TooManyTransactions, Total: 9},
			"The file contains 9 transactions; a batch may contain at most 8. Split the file into several batches."},
		{"none", false, batch.Verdict{}, "The file contains no transaction."},
		{"the only one invalid", true, batch.Verdict{Total: 1, Invalid: 1},
			"The only transaction of the file is invalid; the validation report lists its errors."},
		{"all invalid", false, batch.Verdict{Total: 2, Invalid: 2},
			"All 2 transactions are invalid; the validation report lists their errors."},
		{"one invalid", true, batch.Verdict{Total: 2, Accepted: 1, Invalid: 1},
			"1 of 2 transactions is invalid and reject_on_invalid is true, so nothing was ingested; " +
				"the validation report lists its errors."},
		{"two invalid", true, batch.Verdict{Total: 3, Accepted: 1, Invalid: 2},
			"2 of 3 transactions are invalid and reject_on_invalid is true, so nothing was ingested; " +
				"the validation report lists their errors."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := batch.Batch{RejectOnInvalid: tt.rejects, MaxTransactions: 8}
			if got := rejectionMessage(b, tt.verdict); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestWorkKeys requires that the work files of a batch are spread evenly over the prefixes of the bucket, and that all
// are below work/, which policies and the lifecycle name.
func TestWorkKeys(t *testing.T) {
	j := &job{Batch: batch.Batch{ID: "0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01"}}
	if got, want := j.chunkWorkKey(7, "attempt", "index"),
		"work/41/0199a1c2-7d3e-7c44-9a55-3f1d2b6c8e01/chunk-00007/attempt.index"; got != want {
		t.Errorf("the key of a chunk is %s, want %s", got, want)
	}
	count := map[string]int{}
	for i := range maxChunks {
		count[j.chunkWorkKey(i, "a", "index")[:len("work/0")]]++
	}
	for prefix, n := range count {
		if n > 3*maxChunks/16 {
			t.Errorf("%d of %d chunks have keys that begin with %s, want no more than %d", n, maxChunks, prefix,
				3*maxChunks/16)
		}
	}
	if len(count) != 16 {
		t.Errorf("the keys of the chunks begin with %v, want 16 different digits", count)
	}
}
