package batchtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// testScreening stores a batch whose names are screened, pins lists, and screens partitions.
func testScreening(t *testing.T, s batch.Store) {
	b := NewBatch(t, "tenant")
	b.Status = batch.Uploaded
	b.Screening = &batch.Screening{Lists: []string{"un"}, Threshold: 0, Reject: true}
	errtest.Fatal(t, s.Create(t.Context(), b))
	versions := []batch.ListVersion{
		{Owner: "shared", List: "un", Version: "v1", SourceDate: createdAt.Truncate(time.Second)},
		{Owner: "tenant", List: "own", Version: "v2"},
	}
	plan := transitionsToProcessed()[1]
	plan.ListVersions = versions
	applied := errtest.Must(s.Apply(t.Context(), b.ID, plan))(t)
	want := *b.Screening
	want.Versions = versions
	read, err := s.Get(t.Context(), b.ID)
	if diff := cmp.Diff(&want, applied.Screening) + cmp.Diff(&want, read.Screening); err != nil || diff != "" {
		t.Errorf("screening: error %v (-want +got):\n%s", err, diff)
	}

	some, none := batch.ScreenResult{Names: 3, HitsKey: "k", HitsSections: "\x80\x01"}, batch.ScreenResult{}
	for _, tt := range []struct {
		partition int
		put, want batch.ScreenResult
	}{{0, some, some}, {0, none, some}, {15, none, none}, {15, some, none}} {
		difftest.Equal(t, fmt.Sprintf("CommitScreened(%d, %+v)", tt.partition, tt.put), tt.want,
			errtest.Must(s.CommitScreened(t.Context(), b.ID, tt.partition, tt.put))(t))
	}
	got, err := s.Screened(t.Context(), b.ID)
	results := [batch.Partitions]*batch.ScreenResult{0: &some, 15: &none}
	errtest.Fatal(t, err)
	difftest.Equal(t, "Screened: results", results, got)
	if reconciled, err := s.Reconciled(t.Context(), b.ID); err != nil || reconciled[0] != nil {
		t.Errorf("a screened partition is reconciled: %v, %v", reconciled[0], err)
	}
}
