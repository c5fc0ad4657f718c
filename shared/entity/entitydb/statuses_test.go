package entitydb_test

import (
	"context"
	"fmt"
	"sluice/shared/dynamo"
	"sluice/shared/dynamo/dynamotest"
	"sluice/shared/entity"
	"sluice/shared/entity/entitydb"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

// UUIDs count in any case, also those that an earlier release has stored in upper case.
func TestUUIDsCountInAnyCase(t *testing.T) {
	ctx := context.Background()
	client := dynamotest.Start(t)
	s, profiles := entitydb.NewStatuses(client, "test-entities"), entitydb.NewProfiles(client, "test-records", "test-entities")
	const lower, earlier = "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a10", "0b7b1f0e-5d0f-4a58-9d8a-3d1a2e1c7a1f"
	if err := s.Import(ctx, "tenant", []entity.StatusEntry{
		{ID: strings.ToUpper(lower), LifecycleStatus: entity.Compliant}, {ID: "Other", LifecycleStatus: entity.Compliant},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("test-entities"), Item: dynamo.Item{
		"entity": dynamo.String("tenant#" + strings.ToUpper(earlier)), "lifecycle_status": dynamo.String("Unknown"),
	}}); err != nil {
		t.Fatal(err)
	}
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
