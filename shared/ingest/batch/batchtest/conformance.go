// Package batchtest tests implementations of batch.Store against the contract of that interface.
package batchtest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"sluice/shared/access/tenancy"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Conform tests a store against the contract of batch.Store, one call after the other. Each call of open returns an
// empty store.
func Conform(t *testing.T, open func(t *testing.T) batch.Store) {
	for name, test := range map[string]func(*testing.T, batch.Store){
		"create":      testCreate,
		"fields":      testFields,
		"content":     testContent,
		"transitions": testTransitions,
		"conflicts":   testOnlyLegalTransitions,
		"cancel":      testCancel,
		"overtaken":   testCancelIsOvertaken,
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
		"forgotten":   testForgottenUploads,
		"unannounced": testUnannounced,
		"upload":      testUpload,
		"announcer":   testOneAttemptAnnounces,
		"files":       testFiles,
		"open files":  testOpenFiles,
		"export":      testExport,
		"exporter":    testOneAttemptExports,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// ConformConcurrently tests a store against what the contract of batch.Store says of calls at the same time. Each call
// of open returns an empty store.
func ConformConcurrently(t *testing.T, open func(t *testing.T) batch.Store) {
	for name, test := range map[string]func(*testing.T, batch.Store){
		"races":       testOneWinsARace,
		"cancel race": testCancelRaces,
		"equal files": testEqualFilesAtOnce,
		"alone":       testOneIsAlone,
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
		Settings: tenancy.Settings{MaxPast: time.Hour, MaxFuture: 720 * time.Hour, MainEntity: tenancy.ByPaymentType},
	}
}

func newID(t *testing.T) batch.ID {
	t.Helper()
	return errtest.Must(batch.NewID())(t)
}

// create stores a new batch of a tenant, in the given status, and returns it.
func create(t *testing.T, s batch.Store, tenant string, status batch.Status) batch.Batch {
	t.Helper()
	b := NewBatch(t, tenant)
	b.Status = status
	errtest.Fatal(t, s.Create(t.Context(), b))
	return b
}

func testCreate(t *testing.T, s batch.Store) {
	b := NewBatch(t, "tenant")
	b.Settings.Retention = 400 * 24 * time.Hour
	errtest.Is(t, "Get of an unknown batch", errtest.Of(s.Get(t.Context(), b.ID)), batch.ErrNotFound)
	transition := batch.Transition{To: batch.Uploaded, At: createdAt}
	errtest.Is(t, "Apply to an unknown batch", errtest.Of(s.Apply(t.Context(), b.ID, transition)),
		batch.ErrNotFound)
	for _, call := range []string{"first", "repeated"} {
		errtest.Is(t, call+" Create", s.Create(t.Context(), b), nil)
	}
	other := b
	other.DigestKey[0]++
	errtest.Fails(t, "Create of another batch with the same ID", s.Create(t.Context(), other))
	difftest.Equal(t, "Get after Create: batch", b, errtest.Must(s.Get(t.Context(), b.ID))(t))
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, transition)))
	errtest.Fails(t, "Create of a batch that is no longer AWAITING_UPLOAD", s.Create(t.Context(), b))
}

func testStatuses(t *testing.T, s batch.Store) {
	want := map[batch.ID]batch.Status{}
	ids := []batch.ID{batch.ID(uuid.NewString())} // unknown
	for range 105 {                               // more than fit into one request of DynamoDB
		b := create(t, s, "mine", batch.AwaitingUpload)
		want[b.ID] = b.Status
		ids = append(ids, b.ID)
	}
	errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), ids[1], batch.Transition{To: batch.Uploaded, At: createdAt})))
	want[ids[1]] = batch.Uploaded
	difftest.Equal(t, "Statuses: statuses", want, errtest.Must(s.Statuses(t.Context(), ids))(t))
}
