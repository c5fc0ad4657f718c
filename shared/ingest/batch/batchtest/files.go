package batchtest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var testFile = batch.File{Tenant: "tenant", SHA256: bytes.Repeat([]byte{7}, 32)}

// expectProcessedAs checks which batch has processed a file.
func expectProcessedAs(t *testing.T, s batch.Store, f batch.File, now time.Time, want batch.ID) {
	t.Helper()
	difftest.Equal(t, fmt.Sprintf("at %v the file was processed as", now), want,
		errtest.Must(s.ProcessedAs(t.Context(), f, now))(t))
}

// finish makes a batch that is IN_PROGRESS PROCESSED with the file, and returns it.
func finish(t *testing.T, s batch.Store, id batch.ID, at time.Time) batch.Batch {
	t.Helper()
	return errtest.Must(s.Apply(t.Context(), id, batch.Transition{To: batch.Processed, At: at, File: &testFile}))(t)
}

func testFiles(t *testing.T, s batch.Store) {
	expectProcessedAs(t, s, testFile, createdAt, "")
	first := create(t, s, "tenant", batch.InProgress)
	if b := finish(t, s, first.ID, createdAt); b.Status != batch.Processed || b.DuplicateOf != "" {
		t.Errorf("the first batch with a file: got %s, duplicate of %q; want PROCESSED, of none", b.Status,
			b.DuplicateOf)
	}
	otherTenant, otherFile := testFile, testFile
	otherTenant.Tenant, otherFile.SHA256 = "another", bytes.Repeat([]byte{8}, 32)
	expectProcessedAs(t, s, otherTenant, createdAt, "")
	expectProcessedAs(t, s, otherFile, createdAt, "")
	end := createdAt.Add(batch.DuplicateWindow).Truncate(time.Second)
	expectProcessedAs(t, s, testFile, end.Add(-time.Second), first.ID)
	expectProcessedAs(t, s, testFile, end, "")

	// A transition that is not made leaves the file as it was.
	failed := create(t, s, "tenant", batch.ValidationFailed)
	var conflict *batch.ConflictError
	for _, b := range []batch.Batch{failed, first} {
		_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Processed, At: end, File: &testFile})
		if !errors.As(err, &conflict) || conflict.Current.ID != b.ID {
			t.Errorf("a transition that is not legal: got error %v, want a conflict", err)
		}
	}
	errtest.Is(t, "an unknown batch",
		errtest.Of(s.Apply(t.Context(), newID(t), batch.Transition{To: batch.Processed, At: end, File: &testFile})),
		batch.ErrNotFound)
	expectProcessedAs(t, s, testFile, end.Add(-time.Second), first.ID)

	// The next batch names the one before it, and is remembered for longer.
	second := create(t, s, "tenant", batch.InProgress)
	if b := finish(t, s, second.ID, createdAt.Add(time.Hour)); b.DuplicateOf != first.ID {
		t.Errorf("the second batch with a file is a duplicate of %q, want %q", b.DuplicateOf, first.ID)
	}
	expectProcessedAs(t, s, testFile, end.Add(time.Hour-time.Second), second.ID)

	// A batch goes on to name the one that its verdict has named.
	third := create(t, s, "tenant", batch.ValidationStarted)
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), third.ID, batch.Transition{To: batch.PendingIngestion,
		At: createdAt, DuplicateOf: first.ID, Verdict: &batch.Verdict{Total: 1, Accepted: 1, ReportKey: "r"}})))
	for _, to := range []batch.Status{batch.Initialized, batch.InProgress} {
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), third.ID, batch.Transition{To: to, At: createdAt})))
	}
	if b := finish(t, s, third.ID, createdAt.Add(2*time.Hour)); b.DuplicateOf != first.ID {
		t.Errorf("the third batch with a file is a duplicate of %q, want that of its verdict, %q", b.DuplicateOf,
			first.ID)
	}
	last := create(t, s, "tenant", batch.InProgress)
	if b := finish(t, s, last.ID, end.Add(3*time.Hour)); b.DuplicateOf != "" {
		t.Errorf("a batch with a file that was processed long ago is a duplicate of %q, want none", b.DuplicateOf)
	}
}

// Of batches that become PROCESSED at the same time with the same file, each names another one, but for the first.
func testEqualFilesAtOnce(t *testing.T, s batch.Store) {
	const batches = 6
	var mu sync.Mutex
	named := map[batch.ID]int{}
	var group sync.WaitGroup
	for range batches {
		b := create(t, s, "tenant", batch.InProgress)
		group.Go(func() {
			got, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Processed, At: createdAt,
				File: &testFile})
			if err != nil || got.Status != batch.Processed || got.DuplicateOf == b.ID {
				t.Errorf("got %s, duplicate of %q, error %v", got.Status, got.DuplicateOf, err)
			}
			mu.Lock()
			defer mu.Unlock()
			named[got.DuplicateOf]++
		})
	}
	group.Wait()
	if len(named) != batches || named[""] != 1 {
		t.Errorf("the batches name %v, want one that names none, and each other one another", named)
	}
}

// A batch that is to be alone with its file is refused while another one processes it, and afterwards, if that was
// PROCESSED.
func testOpenFiles(t *testing.T, s batch.Store) {
	open := func(b batch.Batch, alone bool) error {
		t.Helper()
		got, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.PendingIngestion, At: createdAt,
			Opens: &testFile, Alone: alone})
		if err == nil && got.Status != batch.PendingIngestion {
			t.Errorf("got %s, want PENDING_INGESTION", got.Status)
		}
		return err
	}
	expectTaken := func(err error, by batch.ID, isProcessed bool) {
		t.Helper()
		var taken *batch.FileTakenError
		if !errors.As(err, &taken) || taken.By != by || taken.IsProcessed != isProcessed {
			t.Errorf("got error %v, want that batch %s has the file, processed: %t", err, by, isProcessed)
		}
	}
	var batches []batch.Batch
	for range 6 {
		batches = append(batches, create(t, s, "tenant", batch.ValidationStarted))
	}
	errtest.Fatal(t, open(batches[0], true))
	var conflict *batch.ConflictError
	if err := open(batches[0], true); !errors.As(err, &conflict) { // it is not in its own way
		t.Errorf("repeated: got error %v, want a conflict", err)
	}
	expectTaken(open(batches[1], true), batches[0].ID, false)
	errtest.Fatal(t, open(batches[2], false))
	expectTaken(open(batches[1], true), batches[0].ID, false)
	fail := batch.Transition{To: batch.Failed, At: createdAt, ErrorMessage: "e"}
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), batches[0].ID, fail)))
	expectTaken(open(batches[1], true), batches[2].ID, false)
	b := batches[1]
	b.ValidateOnly, b.ID = true, newID(t)
	errtest.Fatal(t, s.Create(t.Context(), b))
	dryRun := batch.Transition{To: batch.Processed, At: createdAt, Opens: &testFile, Alone: true}
	_, err := s.Apply(t.Context(), b.ID, dryRun)
	expectTaken(err, batches[2].ID, false)
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), batches[2].ID, fail)))
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, dryRun))) // does not process the file
	errtest.Fatal(t, open(batches[1], true))
	for _, to := range []batch.Status{batch.Initialized, batch.InProgress} {
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), batches[1].ID, batch.Transition{To: to, At: createdAt})))
		expectTaken(open(batches[3], true), batches[1].ID, false)
	}
	finish(t, s, batches[1].ID, createdAt)
	expectTaken(open(batches[3], true), batches[1].ID, true)
	errtest.Fatal(t, open(batches[3], false))
	difftest.Equal(t, "another batch", batch.ValidationStarted,
		errtest.Must(s.Get(t.Context(), batches[4].ID))(t).Status)
}

// Of batches that want to be alone with a file at the same time, one is.
func testOneIsAlone(t *testing.T, s batch.Store) {
	const batches = 6
	errs := make(chan error, batches)
	for range batches {
		b := create(t, s, "tenant", batch.ValidationStarted)
		go func() {
			_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.PendingIngestion, At: createdAt,
				Opens: &testFile, Alone: true})
			errs <- err
		}()
	}
	alone := 0
	for range batches {
		err := <-errs
		if _, isTaken := errors.AsType[*batch.FileTakenError](err); err == nil {
			alone++
		} else if !isTaken {
			t.Errorf("got error %v, want that another batch has the file", err)
		}
	}
	difftest.Equal(t, "batches are alone with the file", 1, alone)
}
