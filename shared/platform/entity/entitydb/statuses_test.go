package entitydb_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entitytest"
)

func TestEntities(t *testing.T) {
	ctx := context.Background()
	client, injected := dynamotest.StartFaulty(t)
	s := entitydb.NewStatuses(client, "test-entities")
	var ids []string
	want := map[string]entity.LifecycleStatus{}
	for i := range 301 {
		id := fmt.Sprintf("e#%d", i)
		ids = append(ids, id, id, "nobody"+id)
		want[id] = entity.Compliant
	}
	want["e#7"] = entity.ClientOffboarded
	entitytest.StoreStatuses(t, client, "tenant", want)
	difftest.Equal(t, "result", want, errtest.Must(s.Lookup(ctx, "tenant", ids))(t))
	difftest.Equal(t, "another tenant finds", 0, len(errtest.Must(s.Lookup(ctx, "tenan", ids))(t)))
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
	errtest.Is(t, "Lookup", errtest.Of(s.Lookup(ctx, "tenant", []string{"a"})), context.Canceled)
}

// UUIDs count in any case, also those that an earlier release has stored in upper case.
func TestUUIDsCountInAnyCase(t *testing.T) {
	ctx := context.Background()
	client := dynamotest.Start(t)
	s, profiles := entitydb.NewStatuses(client, "test-entities"), entitydb.NewProfiles(client, "test-records",
		"test-entities")
	const lower, earlier = "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10", "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a1f"
	entitytest.StoreStatuses(t, client, "tenant",
		entitytest.Statuses{lower: entity.Compliant, "Other": entity.Compliant,
			strings.ToUpper(earlier): entity.Unknown})
	ids := []string{lower, strings.ToUpper(lower), earlier, strings.ToUpper(earlier), "Other", "other"}
	got, err := s.Lookup(ctx, "tenant", ids)
	want := map[string]entity.LifecycleStatus{lower: entity.Compliant, strings.ToUpper(lower): entity.Compliant,
		earlier: entity.Unknown, strings.ToUpper(earlier): entity.Unknown, "Other": entity.Compliant}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v; want (-), got (+):\n%s", err, diff)
	}
	for _, id := range []string{earlier, strings.ToUpper(earlier)} {
		p, status, err := profiles.GetProfile(ctx, "tenant", id)
		if err != nil || p.ID != strings.ToUpper(earlier) || status != entity.Unknown {
			t.Errorf("%s: %s %s, %v; want the entity as it is stored", id, p.ID, status, err)
		}
	}
}
