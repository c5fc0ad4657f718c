// Package batchtest tests implementations of batch.Store against the contract of that interface.
package batchtest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"sluice/shared/batch"
	"sluice/shared/chunk"
	"sluice/shared/transaction"
)

// Conform tests a store against the contract of batch.Store. Each call of open returns an empty store.
func Conform(t *testing.T, open func(t *testing.T) batch.Store) {
	for name, test := range map[string]func(*testing.T, batch.Store){
		"create":      testCreate,
		"fields":      testFields,
		"content":     testContent,
		"transitions": testTransitions,
		"conflicts":   testOnlyLegalTransitions,
		"races":       testOneWinsARace,
		"cancel":      testCancel,
		"overtaken":   testCancelIsOvertaken,
		"cancel race": testCancelRaces,
		"chunks":      testChunks,
		"cursor":      testCursor,
		"partitions":  testPartitions,
		"line counts": testLineCounts,
		"screening":   testScreening,
		"digests":     testDigests,
		"list":        testList,
		"list pages":  testListIsBounded,
		"statuses":    testStatuses,
		"unfinished":  testUnfinished,
		"backlogs":    testBacklogs,
		"open":        testOpen,
		"unannounced": testUnannounced,
		"upload":      testUpload,
		"announcer":   testOneAttemptAnnounces,
		"files":       testFiles,
		"equal files": testEqualFilesAtOnce,
		"export":      testExport,
		"exporter":    testOneAttemptExports,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var createdAt = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

// NewBatch returns a batch of a tenant in the status AWAITING_UPLOAD.
func NewBatch(t *testing.T, tenant string) batch.Batch {
	t.Helper()
	return batch.Batch{
		ID: newID(t), Tenant: tenant, Client: "c", Status: batch.AwaitingUpload, RejectOnInvalid: true,
		CreatedAt: createdAt, UpdatedAt: createdAt, UploadBy: createdAt.Add(15 * time.Minute), DigestKey: [16]byte{1, 2,
			3},
		Settings: batch.Settings{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: transaction.ByPaymentType},
	}
}

func newID(t *testing.T) batch.ID {
	t.Helper()
	id, err := batch.NewID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// create stores a new batch of a tenant, in the given status, and returns it.
func create(t *testing.T, s batch.Store, tenant string, status batch.Status) batch.Batch {
	t.Helper()
	b := NewBatch(t, tenant)
	b.Status = status
	if err := s.Create(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

func testCreate(t *testing.T, s batch.Store) {
	b := NewBatch(t, "tenant")
	b.Settings.Retention = 400 * 24 * time.Hour
	if _, err := s.Get(t.Context(), b.ID); !errors.Is(err, batch.ErrNotFound) {
		t.Errorf("Get of an unknown batch: got error %v, want ErrNotFound", err)
	}
	transition := batch.Transition{To: batch.Uploaded, At: createdAt}
	if _, err := s.Apply(t.Context(), b.ID, transition); !errors.Is(err, batch.ErrNotFound) {
		t.Errorf("Apply to an unknown batch: got error %v, want ErrNotFound", err)
	}
	for _, call := range []string{"first", "repeated"} {
		if err := s.Create(t.Context(), b); err != nil {
			t.Errorf("%s Create: %v", call, err)
		}
	}
	other := b
	other.DigestKey[0]++
	if err := s.Create(t.Context(), other); err == nil {
		t.Error("Create of another batch with the same ID: got no error")
	}
	got, err := s.Get(t.Context(), b.ID)
	if diff := cmp.Diff(b, got); err != nil || diff != "" {
		t.Errorf("Get after Create: error %v, batch (-want +got):\n%s", err, diff)
	}
	if _, err := s.Apply(t.Context(), b.ID, transition); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), b); err == nil {
		t.Error("Create of a batch that is no longer AWAITING_UPLOAD: got no error")
	}
}

// transitionsToProcessed returns every transition on the way to PROCESSED, with everything that is recorded with them.
func transitionsToProcessed() []batch.Transition {
	plan := chunk.NewPlan(1000, 100)
	return []batch.Transition{
		{To: batch.Uploaded, At: createdAt, ReceivedAt: createdAt.Add(time.Second),
			Object: &batch.Object{Key: "uploads/t/b", ETag: `"e"`, Version: "v", Size: 1000}},
		{To: batch.ValidationStarted, At: createdAt, Plan: &plan, MaxLineBytes: 4096, MaxTransactions: 9000, MaxReportBytes: 5000},
		{To: batch.PendingIngestion, At: createdAt,
			Verdict: &batch.Verdict{Total: 9, Accepted: 7, Invalid: 2, ReportKey: "r", SummaryKey: "s"}},
		{To: batch.Initialized, At: createdAt},
		{To: batch.InProgress, At: createdAt},
		{To: batch.Processed, At: createdAt.Add(time.Minute)},
	}
}

func testTransitions(t *testing.T, s batch.Store) {
	want := create(t, s, "tenant", batch.AwaitingUpload)
	for _, transition := range transitionsToProcessed() {
		want.PreviousStatus, want.Status, want.UpdatedAt = want.Status, transition.To, transition.At
		if transition.Object != nil {
			want.Object, want.ReceivedAt = *transition.Object, transition.ReceivedAt
		}
		if transition.Plan != nil {
			want.Plan, want.MaxLineBytes = *transition.Plan, transition.MaxLineBytes
			want.MaxTransactions = transition.MaxTransactions
			want.MaxReportBytes = transition.MaxReportBytes
		}
		if transition.Verdict != nil {
			want.Verdict = transition.Verdict
		}
		if transition.To.IsVisible() {
			want.History = append(want.History, batch.StatusAt{Status: transition.To, At: transition.At})
		}
		if transition.To.IsTerminal() {
			want.Unannounced = batch.Receivers()
		}
		applied, err := s.Apply(t.Context(), want.ID, transition)
		if err != nil {
			t.Fatalf("transition to %s: %v", transition.To, err)
		}
		read, err := s.Get(t.Context(), want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, applied); diff != "" {
			t.Errorf("Apply of %s (-want +got):\n%s", transition.To, diff)
		}
		if diff := cmp.Diff(want, read); diff != "" {
			t.Errorf("Get after %s (-want +got):\n%s", transition.To, diff)
		}
		var conflict *batch.ConflictError
		_, err = s.Apply(t.Context(), want.ID, transition)
		if !errors.As(err, &conflict) || conflict.Wanted != transition.To || !cmp.Equal(conflict.Current, want) {
			t.Errorf("repeated transition to %s: got error %v, want a conflict with the batch as it is", transition.To,
				err)
		}
	}

	tooMany := create(t, s, "tenant", batch.ValidationStarted)
	verdict := batch.Verdict{Outcome: batch.TooManyTransactions, Total: 10, Invalid: 1}
	rejected := batch.Transition{To: batch.ValidationFailed, At: createdAt, Verdict: &verdict, ErrorMessage: "too many"}
	got, err := s.Apply(t.Context(), tooMany.ID, rejected)
	if diff := cmp.Diff(&verdict, got.Verdict); err != nil || diff != "" || got.ErrorMessage != "too many" {
		t.Errorf("too many transactions: error %v, message %q, verdict (-want +got):\n%s", err, got.ErrorMessage, diff)
	}
}

// testOnlyLegalTransitions tries every transition from every status.
func testOnlyLegalTransitions(t *testing.T, s batch.Store) {
	for _, from := range batch.Statuses() {
		for _, to := range batch.Statuses() {
			if len(to.Predecessors()) == 0 {
				continue
			}
			b := NewBatch(t, "tenant")
			b.Status, b.ValidateOnly = from, batch.EndsValidateOnly(from, to)
			if err := s.Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: to, At: createdAt, ErrorMessage: "why"})
			var conflict *batch.ConflictError
			isConflict := errors.As(err, &conflict)
			if legal := from.CanTransitionTo(to); legal && err != nil || !legal && !isConflict {
				t.Errorf("transition from %s to %s: got error %v, want legal = %v", from, to, err, legal)
			}
		}
	}
	b := create(t, s, "tenant", batch.ValidationStarted)
	for _, from := range []batch.Status{"", batch.ValidationStarted} {
		var conflict *batch.ConflictError
		_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Processed, From: from, At: createdAt})
		if !errors.As(err, &conflict) {
			t.Errorf("end of a batch that is not validate_only after its validation: got error %v, want a conflict", err)
		}
	}
	b = create(t, s, "tenant", batch.InProgress)
	only := batch.Transition{To: batch.Failed, From: batch.Uploaded, At: createdAt}
	var conflict *batch.ConflictError
	if _, err := s.Apply(t.Context(), b.ID, only); !errors.As(err, &conflict) {
		t.Errorf("transition of a batch in %s that is limited to %s: got error %v, want a conflict", b.Status,
			only.From, err)
	}
}

func testOneWinsARace(t *testing.T, s batch.Store) {
	b := create(t, s, "tenant", batch.AwaitingUpload)
	var mu sync.Mutex
	var wg sync.WaitGroup
	applied, committed := 0, map[batch.ReconcileResult]bool{}
	for i := range 16 {
		wg.Go(func() {
			_, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Uploaded, At: createdAt})
			result, commitErr := s.CommitReconciled(t.Context(), b.ID, 3,
				batch.ReconcileResult{RejectionsKey: string(rune('a' + i))})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				applied++
			}
			if commitErr != nil {
				t.Error(commitErr)
			}
			committed[result] = true
		})
	}
	wg.Wait()
	if applied != 1 || len(committed) != 1 {
		t.Errorf("got %d transitions made and %d results committed, want one of each", applied, len(committed))
	}
	results, err := s.Reconciled(t.Context(), b.ID)
	if err != nil || results[3] == nil || !committed[*results[3]] || results[2] != nil {
		t.Errorf("Reconciled: got %v, error %v, want the committed result of partition 3 alone", results, err)
	}
}

func testChunks(t *testing.T, s batch.Store) {
	id := newID(t)
	c, err := s.Chunk(t.Context(), id, 7)
	if diff := cmp.Diff(batch.Chunk{Index: 7}, c); err != nil || diff != "" {
		t.Errorf("Chunk without results: error %v, chunk (-want +got):\n%s", err, diff)
	}
	validated := batch.ValidateResult{Lines: 10, Transactions: 9, Invalid: 1, Bytes: 100, FindingsKey: "f",
		IndexKey: "i", IndexSections: "\x01\x80\x02", NamesSections: "\x03"}
	for _, r := range []batch.ValidateResult{validated, {Lines: 99}} {
		if got, err := s.CommitValidated(t.Context(), id, 7, r); err != nil || got != validated {
			t.Errorf("CommitValidated(%+v): got %+v, error %v, want %+v", r, got, err, validated)
		}
	}
	settled := batch.SettleResult{
		FirstLine: 1, Accepted: 8, Invalid: 1, AcceptedKey: "a", ReportKey: "r", ReportBytes: 5, SummaryKey: "s",
	}
	for _, r := range []batch.SettleResult{settled, {Skipped: true}} {
		if got, err := s.CommitSettled(t.Context(), id, 7, r); err != nil || got != settled {
			t.Errorf("CommitSettled(%+v): got %+v, error %v, want %+v", r, got, err, settled)
		}
	}
	skipped := batch.SettleResult{Skipped: true}
	for _, r := range []batch.SettleResult{skipped, settled} {
		if got, err := s.CommitSettled(t.Context(), id, 12, r); err != nil || got != skipped {
			t.Errorf("CommitSettled(%+v): got %+v, error %v, want %+v", r, got, err, skipped)
		}
	}
	for _, index := range []int{300, 0, 12} {
		if _, err := s.CommitValidated(t.Context(), id, index, batch.ValidateResult{Lines: int64(index)}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Chunks(t.Context(), id)
	want := []batch.Chunk{
		{Index: 0, Validated: &batch.ValidateResult{}},
		{Index: 7, Validated: &validated, Settled: &settled},
		{Index: 12, Validated: &batch.ValidateResult{Lines: 12}, Settled: &skipped},
		{Index: 300, Validated: &batch.ValidateResult{Lines: 300}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Chunks: error %v, chunks (-want +got):\n%s", err, diff)
	}
}

func testCursor(t *testing.T, s batch.Store) {
	id := newID(t)
	begun := batch.IngestCursor{Line: 4, Offset: 40, Stored: 4}
	done := batch.IngestCursor{Line: 10, Offset: 100, Stored: 8, Done: true}
	for _, tt := range []struct {
		name      string
		put, want batch.IngestCursor
	}{
		{"the first", begun, begun},
		{"one that is behind", batch.IngestCursor{Line: 2, Offset: 20, Stored: 2}, begun},
		{"the last", done, done},
		{"one after the last", batch.IngestCursor{Line: 10, Offset: 100, Stored: 9}, done},
	} {
		if got, err := s.AdvanceCursor(t.Context(), id, 7, tt.put); err != nil || got != tt.want {
			t.Errorf("AdvanceCursor with %s: got %+v, error %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	c, err := s.Chunk(t.Context(), id, 7)
	if diff := cmp.Diff(batch.Chunk{Index: 7, Ingested: &done}, c); err != nil || diff != "" {
		t.Errorf("Chunk: error %v, chunk (-want +got):\n%s", err, diff)
	}
}

func testPartitions(t *testing.T, s batch.Store) {
	id := newID(t)
	some, none := batch.ReconcileResult{RejectionsKey: "k", RejectionsSections: "\x00\x80\x01"}, batch.ReconcileResult{}
	for _, tt := range []struct {
		partition int
		put, want batch.ReconcileResult
	}{{0, some, some}, {0, none, some}, {15, none, none}, {15, some, none}} {
		if got, err := s.CommitReconciled(t.Context(), id, tt.partition, tt.put); err != nil || got != tt.want {
			t.Errorf("CommitReconciled(%d, %+v): got %+v, error %v, want %+v", tt.partition, tt.put, got, err, tt.want)
		}
	}
	got, err := s.Reconciled(t.Context(), id)
	want := [batch.Partitions]*batch.ReconcileResult{0: &some, 15: &none}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Reconciled: error %v, results (-want +got):\n%s", err, diff)
	}
}

func testLineCounts(t *testing.T, s batch.Store) {
	id := newID(t)
	if got, err := s.LineCounts(t.Context(), id); err != nil || got != nil {
		t.Errorf("LineCounts before the commit: got %+v, error %v, want nil", got, err)
	}
	want := batch.LineCounts{ByChunk: []int64{10, 0, 7}, Transactions: 16}
	for _, put := range []batch.LineCounts{want, {ByChunk: []int64{1}}} {
		got, err := s.CommitLineCounts(t.Context(), id, put)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("CommitLineCounts: error %v, counts (-want +got):\n%s", err, diff)
		}
	}
	got, err := s.LineCounts(t.Context(), id)
	if diff := cmp.Diff(&want, got); err != nil || diff != "" {
		t.Errorf("LineCounts: error %v, counts (-want +got):\n%s", err, diff)
	}
	if chunks, err := s.Chunks(t.Context(), id); err != nil || len(chunks) != 0 {
		t.Errorf("Chunks: got %d, error %v, want none", len(chunks), err)
	}
}

func testStatuses(t *testing.T, s batch.Store) {
	want := map[batch.ID]batch.Status{}
	ids := []batch.ID{batch.ID(uuid.NewString())} // unknown
	for range 105 {                               // more than fit into one request of DynamoDB
		b := create(t, s, "mine", batch.AwaitingUpload)
		want[b.ID] = b.Status
		ids = append(ids, b.ID)
	}
	if _, err := s.Apply(t.Context(), ids[1], batch.Transition{To: batch.Uploaded, At: createdAt}); err != nil {
		t.Fatal(err)
	}
	want[ids[1]] = batch.Uploaded
	got, err := s.Statuses(t.Context(), ids)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Statuses: error %v, statuses (-want +got):\n%s", err, diff)
	}
}

// testUnfinished follows a batch to its end, and postpones it at each status.
func testBacklogs(t *testing.T, s batch.Store) {
	expect := func(when string, want map[batch.Status]batch.Backlog) {
		t.Helper()
		got, err := s.Backlogs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("backlogs %s (-want +got):\n%s", when, diff)
		}
	}
	expect("of no batches", map[batch.Status]batch.Backlog{})
	waiting := batch.Backlog{Batches: 39, Since: createdAt}
	for range waiting.Batches {
		create(t, s, "tenant", batch.AwaitingUpload)
	}
	expect("at first", map[batch.Status]batch.Backlog{batch.AwaitingUpload: waiting})
	b := create(t, s, "other", batch.AwaitingUpload)
	at := createdAt
	for _, transition := range transitionsToProcessed() {
		at = at.Add(time.Hour)
		transition.At = at
		if _, err := s.Apply(t.Context(), b.ID, transition); err != nil {
			t.Fatal(err)
		}
		if err := s.Postpone(t.Context(), b.ID, at.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		want := map[batch.Status]batch.Backlog{batch.AwaitingUpload: waiting}
		if !transition.To.IsTerminal() {
			want[transition.To] = batch.Backlog{Batches: 1, Since: at}
		}
		expect("after the transition to "+string(transition.To), want)
	}
}

func testUnfinished(t *testing.T, s batch.Store) {
	b := create(t, s, "tenant", batch.AwaitingUpload)
	other := create(t, s, "tenant", batch.AwaitingUpload)
	visits := func(before time.Time) (n int) {
		t.Helper()
		if err := s.EachUnfinished(t.Context(), before, func(id batch.ID) error {
			if id == b.ID {
				n++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	at := createdAt
	for i, transition := range transitionsToProcessed() {
		if got := [2]int{visits(at), visits(at.Add(time.Second))}; got != [2]int{0, 1} {
			t.Errorf("before transition %d: visits %v at its time and after it, want 0 and 1", i, got)
		}
		at = at.Add(time.Hour)
		if err := s.Postpone(t.Context(), b.ID, at); err != nil {
			t.Fatal(err)
		}
		if got := [2]int{visits(at), visits(at.Add(time.Second))}; got != [2]int{0, 1} {
			t.Errorf("postponed before transition %d: visits %v, want 0 and 1", i, got)
		}
		at = at.Add(time.Hour)
		transition.At = at
		if _, err := s.Apply(t.Context(), b.ID, transition); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []batch.ID{b.ID, newID(t)} {
		if err := s.Postpone(t.Context(), id, at); err != nil {
			t.Errorf("Postpone of a batch that has ended or does not exist: %v", err)
		}
	}
	if got := visits(at.Add(time.Hour)); got != 0 {
		t.Errorf("after the end: %d visits, want none", got)
	}
	stop := errors.New("stop")
	if err := s.EachUnfinished(t.Context(), at, func(batch.ID) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a visit that fails: got error %v, want its own", err)
	}
	failed := batch.Transition{To: batch.Failed, At: at, ErrorMessage: "m", Expires: at.Add(time.Hour)}
	if _, err := s.Apply(t.Context(), other.ID, failed); err != nil {
		t.Fatal(err)
	}
}
