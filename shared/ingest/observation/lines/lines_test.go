package lines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/ingest/observation/linestest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
)

var receivedAt = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// batches has one batch with its chunks.
type batches struct {
	batch.Batch
	chunks []batch.Chunk
}

func (b *batches) Get(context.Context, batch.ID) (batch.Batch, error)      { return b.Batch, nil }
func (b *batches) Chunks(context.Context, batch.ID) ([]batch.Chunk, error) { return b.chunks, nil }

const tooLong = 5000

// example is a batch of several chunks, and the errors of some of its lines.
func example(t *testing.T) (*batches, *linestest.Index, *lines.Finder) {
	t.Helper()
	b := &batches{Batch: batch.Batch{ID: "0199a6a4-6f00-7cc3-98c4-dc0c0c07398f", Tenant: "t1", Status: batch.Processed,
		ReceivedAt: receivedAt, DigestKey: [16]byte{1, 2, 3}, Verdict: &batch.Verdict{}}}
	var file []string
	for i := range 30 {
		file = append(file, linestest.Line(fmt.Sprintf("x%d", i), fmt.Sprintf("m%d", i), i != 7))
		switch i {
		case 3, 20, 21:
			file = append(file, linestest.Line("again", "twice", true))
		case 12:
			file = append(file, "", `{"transaction_external_id":"broken","modification":{"external_id":"mb"},`,
				strings.Replace(linestest.Line("long", "ml", true), `"currency"`,
					`"reason":"`+strings.Repeat("r", tooLong)+`","currency"`, 1))
		}
	}
	now := func() time.Time { return receivedAt.Add(time.Hour) }
	x := linestest.NewIndex(dynamotest.Start(t), now)
	b.chunks = x.Validate(t, &b.Batch, []byte(strings.Join(file, "\n")), 1500)
	if len(b.chunks) < 5 {
		t.Fatalf("the file has %d chunks, want some", len(b.chunks))
	}
	return b, x, &lines.Finder{Batches: b, Index: x, Keys: x, Work: x, IsGone: lineindextest.IsGone, Now: now}
}

// findAll finds all lines in steps of a budget, and returns the number of steps.
func findAll(t *testing.T, f *lines.Finder, budget lines.Budget, ids ...string) (events []observation.Event,
	steps int) {
	t.Helper()
	for after := (*lineindex.Position)(nil); ; steps++ {
		left := budget
		found, end, err := f.Find(t.Context(), "t1", ids, after, &left)
		if err != nil || len(found) > budget.Events || steps > 100 {
			t.Fatalf("step %d from %v: found %d, %v", steps, after, len(found), err)
		}
		events = append(events, found...)
		if after = end; end == nil {
			return events, steps + 1
		}
	}
}

var ample = lines.Budget{Bytes: 1 << 20, Events: 1000}

// want is an event with the beginning of its reason.
type want struct {
	modification, transaction string
	status                    int
	reason                    string
}

func compare(t *testing.T, wanted []want, events []observation.Event) {
	t.Helper()
	var got []want
	for i, e := range events {
		reason := e.Reason
		if i < len(wanted) && strings.HasPrefix(reason, wanted[i].reason) && wanted[i].reason != "" {
			reason = wanted[i].reason
		}
		got = append(got, want{e.ModificationID, e.TransactionID, e.Status, reason})
		if e.Tenant != "t1" || !e.At.Equal(receivedAt) || len(e.Reason) > observation.MaxReasonBytes+len("…") {
			t.Errorf("got %+v, want tenant, time and a short reason", e)
		}
	}
	difftest.Equal(t, "the result", wanted, got, cmp.AllowUnexported(want{}))
}

const rejected, failed, stored = http.StatusBadRequest, http.StatusInternalServerError, http.StatusCreated

// Lines are found in all chunks, with what became of them, in one step or in many.
func TestFind(t *testing.T) {
	t.Parallel()
	_, _, f := example(t)
	duplicate := want{"twice", "again", rejected, "/modification/external_id: "}
	wanted := []want{
		{"m0", "x0", stored, ""}, duplicate, {"m7", "x7", rejected, "/modification/type: "},
		{"mb", "broken", rejected, ""},
		{"ml", "long", rejected, ""}, duplicate, duplicate, {"m29", "x29", stored, ""},
	}
	ids := []string{"m29", "m0", "nobody", "twice", "ml", "mb", "m7"}
	for name, c := range map[string]struct {
		budget   lines.Budget
		minSteps int
	}{
		"ample":        {ample, 1},
		"one event":    {lines.Budget{Bytes: 1 << 20, Events: 1}, 8},
		"three events": {lines.Budget{Bytes: 1 << 20, Events: 3}, 3},
		"one byte":     {lines.Budget{Bytes: 1, Events: 1000}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			events, steps := findAll(t, f, c.budget, ids...)
			for i, e := range events { // the findings of the scanner are not compared here
				if e.ModificationID == "mb" || e.ModificationID == "ml" {
					if e.Reason == "" {
						t.Errorf("%s has no reason", e.ModificationID)
					}
					events[i].Reason = ""
				}
			}
			compare(t, wanted, events)
			if steps < c.minSteps {
				t.Errorf("took %d steps, want at least %d", steps, c.minSteps)
			}
		})
	}
}

// What became of a line depends on its batch.
func TestFindByOutcome(t *testing.T) {
	t.Parallel()
	b, _, f := example(t)
	b.ErrorMessage = "why"
	b.Status = batch.ValidationFailed
	events, _ := findAll(t, f, ample, "m0", "m7")
	compare(t, []want{{"m0", "x0", rejected, "The batch was rejected: why"},
		{"m7", "x7", rejected, "/modification/type: "}}, events)
	b.Status = batch.Failed
	events, _ = findAll(t, f, ample, "m0", "m7")
	compare(t, []want{{"m0", "x0", failed, "The batch failed: why"}, {"m7", "x7", rejected, "/modification/type: "}},
		events)
	for i := range b.chunks {
		b.chunks[i].Settled = &batch.SettleResult{Skipped: true}
	}
	b.Status = batch.ValidationFailed // has too many transactions
	events, _ = findAll(t, f, ample, "m0")
	compare(t, []want{{"m0", "x0", rejected, "The batch was rejected: why"}}, events)
}

// The outcomes of lines whose work files are gone, or that are too old, are not known. A damaged index is an error.
func TestFindWithoutFiles(t *testing.T) {
	t.Parallel()
	b, x, f := example(t)
	for _, c := range b.chunks {
		if key := c.Settled.ReportKey; bytes.Contains(x.Objects[key], []byte(`"m7"`)) {
			delete(x.Objects, key)
		}
	}
	if events, _ := findAll(t, f, ample, "m7"); len(events) != 0 {
		t.Errorf("found %v without a report", events)
	}
	f.Now = func() time.Time { return receivedAt.Add(lines.Life - 1) }
	if events, _ := findAll(t, f, ample, "m0"); len(events) != 1 {
		t.Errorf("found %v on the last day", events)
	}
	f.Now = func() time.Time { return receivedAt.Add(lines.Life) }
	if events, _ := findAll(t, f, ample, "m0"); len(events) != 0 {
		t.Errorf("found %v of an old batch", events)
	}
	b.Status = batch.InProgress
	f.Now = func() time.Time { return receivedAt }
	if events, _ := findAll(t, f, ample, "m0"); len(events) != 0 {
		t.Errorf("found %v of a batch that has not ended", events)
	}
	for key := range x.Objects {
		if strings.Contains(key, "/segments/") {
			x.Objects[key] = nil
		}
	}
	left := ample
	if _, _, err := f.Find(t.Context(), "t1", []string{"m0"}, nil, &left); !errors.Is(err, lineindex.ErrCorrupt) {
		t.Errorf("got %v of a damaged index", err)
	}
}

func TestHasEvents(t *testing.T) {
	t.Parallel()
	v := &batch.Verdict{}
	for want, batches := range map[bool][]batch.Batch{
		true: {{Status: batch.Processed, Verdict: v}, {Status: batch.ValidationFailed, Verdict: v},
			{Status: batch.Failed, Verdict: v}},
		false: {{Status: batch.Failed}, {Status: batch.InProgress, Verdict: v},
			{Status: batch.PendingIngestion, Verdict: v}, {Status: batch.Processed, Verdict: v, ValidateOnly: true},
			{Status: batch.Failed, Verdict: v, ErrorMessage: batch.Cancelled}},
	} {
		for _, b := range batches {
			if got := lines.HasEvents(b); got != want {
				t.Errorf("%+v: got %t, want %t", b, got, want)
			}
		}
	}
}
