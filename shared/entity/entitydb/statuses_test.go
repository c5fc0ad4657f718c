package entitydb_test

import (
	"context"
	"fmt"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/entity/entitydb"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEntities(t *testing.T) {
	ctx := context.Background()
	client, injected := dynamotest.StartFaulty(t)
	s := entitydb.NewStatuses(client, "test-entities")
	var entities []entity.StatusEntry
	var ids []string
	want := map[string]entity.LifecycleStatus{}
	for i := range 301 {
		e := entity.StatusEntry{ID: fmt.Sprintf("e#%d", i), LifecycleStatus: entity.Compliant}
		entities, ids = append(entities, e), append(ids, e.ID, e.ID, "nobody"+e.ID)
		want[e.ID] = e.LifecycleStatus
	}
	entities = append(entities, entity.StatusEntry{ID: "e#7", LifecycleStatus: entity.ClientOffboarded}) // the last one counts
	want["e#7"] = entity.ClientOffboarded
	if err := s.Import(ctx, "tenant", entities); err != nil {
		t.Fatal(err)
	}
	got, err := s.Lookup(ctx, "tenant", ids)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := s.Lookup(ctx, "tenan", ids); err != nil || len(got) != 0 {
		t.Errorf("another tenant finds %d, %v", len(got), err)
	}
	if injected.Load() == 0 {
		t.Error("no fault was injected")
	}
}

// A caller whose time is up gets its context's error, however busy the table is.
func TestThrottlingEndsWithTheContext(t *testing.T) {
	client, _ := dynamotest.StartFaulty(t)
	s := entitydb.NewStatuses(client, "test-entities")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Import(ctx, "tenant", []entity.StatusEntry{{ID: "a", LifecycleStatus: entity.Compliant}}); err == nil {
		t.Error("no error")
	}
}
