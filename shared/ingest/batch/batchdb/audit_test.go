package batchdb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"sluice/shared/access/audit"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// The store records the creation of a batch and each transition that it makes, and none that it does not make.
func TestTransitionsAreRecorded(t *testing.T) {
	var trail bytes.Buffer
	none := func(context.Context) string { return "" }
	s := batchdb.New(dynamotest.Start(t), "test-batches").Audited(audit.New(&trail, time.Now, none))
	created := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	b := batch.Batch{ID: "b", Tenant: "t", Client: "c", Status: batch.AwaitingUpload, CreatedAt: created,
		UpdatedAt: created}
	errtest.Fatal(t, s.Create(t.Context(), b))
	uploaded := batch.Transition{To: batch.Uploaded, At: created.Add(3 * time.Second),
		ReceivedAt: created.Add(2 * time.Second), Object: &batch.Object{Key: "k", ETag: `"e"`, Size: 100}}
	ended := batch.Transition{To: batch.Failed, At: created.Add(4 * time.Second), ErrorMessage: "why"}
	for _, transition := range []batch.Transition{uploaded, ended} {
		errtest.Fatal(t, errtest.Of(s.Apply(t.Context(), b.ID, transition)))
	}
	var conflict *batch.ConflictError
	if _, err := s.Apply(t.Context(), b.ID, batch.Transition{To: batch.Uploaded, At: created.Add(5 * time.Second),
		Object: uploaded.Object}); !errors.As(err, &conflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	type record = map[string]any
	with := func(r record) record {
		r["record"], r["tenant"], r["client"], r["batch"], r["lines"] = "transition", "t", "c", "b", 0.
		return r
	}
	want := []record{
		with(record{"time": "2026-11-26T08:00:00Z", "msg": "batch created", "from": "", "to": "AWAITING_UPLOAD",
			"bytes": 0., "seconds": 0.}),
		with(record{"time": "2026-11-26T08:00:03Z", "msg": "batch transition", "from": "AWAITING_UPLOAD",
			"to": "UPLOADED", "bytes": 100., "seconds": 1., "received_at": "2026-11-26T08:00:02Z", "etag": `"e"`}),
		with(record{"time": "2026-11-26T08:00:04Z", "msg": "batch finished", "from": "UPLOADED", "to": "ERROR",
			"bytes": 100., "seconds": 2., "received_at": "2026-11-26T08:00:02Z", "etag": `"e"`, "error": "why"}),
	}
	var got []record
	for line := range strings.Lines(trail.String()) {
		var r record
		errtest.Fatal(t, json.Unmarshal([]byte(line), &r))
		got = append(got, r)
	}
	difftest.Equal(t, "the result", want, got)
}
