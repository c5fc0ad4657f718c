package lines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/observation/lines"
	"sluice/shared/ingest/observation/linestest"
	"sluice/shared/kit/difftest"
)

var receivedAt = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// storage has the chunks and objects of one batch.
type storage struct {
	chunks  []batch.Chunk
	objects map[string][]byte
	opened  []string
}

func (s *storage) Chunks(context.Context, batch.ID) ([]batch.Chunk, error) { return s.chunks, nil }

var errGone = errors.New("gone")

func (s *storage) Open(_ context.Context, key, _ string, from, to int64) (io.ReadCloser, error) {
	s.opened = append(s.opened, key)
	content, exists := s.objects[key]
	if !exists {
		return nil, errGone
	}
	if to < 0 {
		to = int64(len(content))
	}
	return io.NopCloser(bytes.NewReader(content[from:to])), nil
}

func (s *storage) Source(key, _ string) chunk.Source {
	if content, exists := s.objects[key]; exists {
		return chunk.NewSource(bytes.NewReader(content))
	}
	return gone{}
}

type gone struct{}

func (gone) Open(context.Context, int64, int64) (io.ReadCloser, error) { return nil, errGone }

const tooLong = 5000

// example is a batch of several chunks, and the errors of some of its lines.
func example(t *testing.T) (batch.Batch, *storage, *lines.Finder) {
	t.Helper()
	b := batch.Batch{ID: "b", Tenant: "t1", Status: batch.Processed, ReceivedAt: receivedAt,
		DigestKey: [16]byte{1, 2, 3}, Verdict: &batch.Verdict{}}
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
	s := &storage{}
	s.chunks, s.objects = linestest.Validate(t, &b, []byte(strings.Join(file, "\n")), 1500)
	if len(s.chunks) < 5 {
		t.Fatalf("the file has %d chunks, want some", len(s.chunks))
	}
	return b, s, &lines.Finder{Chunks: s, Uploads: s, Work: s}
}

// findAll finds all lines in steps of a budget, and returns the number of steps.
func findAll(t *testing.T, f *lines.Finder, b batch.Batch, budget lines.Budget, ids ...string) (
	events []observation.Event, steps int) {
	t.Helper()
	for from := (lines.Position{}); ; steps++ {
		left := budget
		found, end, err := f.Find(t.Context(), b, ids, from, &left)
		if err != nil || len(found) > budget.Events || steps > 100 {
			t.Fatalf("step %d from %+v: found %d, %v", steps, from, len(found), err)
		}
		events = append(events, found...)
		if end == nil {
			return events, steps + 1
		}
		from = *end
	}
}

var ample = lines.Budget{Sections: 1000, Bytes: 1 << 20, Events: 1000}

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
	b, _, f := example(t)
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
		"ample":         {ample, 1},
		"one event":     {lines.Budget{Sections: 1000, Bytes: 1 << 20, Events: 1}, 8},
		"three events":  {lines.Budget{Sections: 1000, Bytes: 1 << 20, Events: 3}, 3},
		"one section":   {lines.Budget{Sections: 1, Bytes: 1 << 20, Events: 1000}, 5},
		"one byte":      {lines.Budget{Sections: 1000, Bytes: 1, Events: 1000}, 5},
		"some sections": {lines.Budget{Sections: 20, Bytes: 1 << 20, Events: 1000}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			events, steps := findAll(t, f, b, c.budget, ids...)
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
	b, s, f := example(t)
	b.ErrorMessage = "why"
	b.Status = batch.ValidationFailed
	events, _ := findAll(t, f, b, ample, "m0", "m7")
	compare(t, []want{{"m0", "x0", rejected, "The batch was rejected: why"},
		{"m7", "x7", rejected, "/modification/type: "}}, events)
	b.Status = batch.Failed
	events, _ = findAll(t, f, b, ample, "m0", "m7")
	compare(t, []want{{"m0", "x0", failed, "The batch failed: why"}, {"m7", "x7", rejected, "/modification/type: "}},
		events)
	for i := range s.chunks {
		s.chunks[i].Settled = &batch.SettleResult{Skipped: true}
	}
	b.Status = batch.ValidationFailed // has too many transactions
	events, _ = findAll(t, f, b, ample, "m7")
	compare(t, []want{{"m7", "x7", rejected, "The batch was rejected: why"}}, events)
}

// Chunks without a line that is looked for are not read, and a file that is gone is an error.
func TestFindReadsWhatItNeeds(t *testing.T) {
	t.Parallel()
	b, s, f := example(t)
	if events, _ := findAll(t, f, b, ample, "nobody"); len(events) != 0 || len(s.opened) != 0 {
		t.Errorf("found %d and opened %q, want nothing", len(events), s.opened)
	}
	for _, key := range []string{b.Object.Key, s.chunks[0].Validated.IndexKey} {
		content := s.objects[key]
		delete(s.objects, key)
		left := ample
		if _, _, err := f.Find(t.Context(), b, []string{"m0"}, lines.Position{}, &left); !errors.Is(err, errGone) {
			t.Errorf("without %s: got %v, want its error", key, err)
		}
		s.objects[key] = content
	}
	b.DigestKey = [16]byte{}
	if events, _ := findAll(t, f, b, ample, "m0"); len(events) != 0 {
		t.Errorf("with another key %d lines are found", len(events))
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
