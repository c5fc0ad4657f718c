package entitydb_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entitytest"
)

// Entities that earlier releases wrote come into the list in each of their forms: only the status, or a profile without
// a row in the list. Entities that are in it stay as they are, and those whose row is out of date get a new one.
func TestReindex(t *testing.T) {
	s, db := records(t)
	earlier := entitytest.Statuses{}
	for i := range 100 {
		earlier[fmt.Sprintf("earlier#%d", i)] = entity.Compliant
	}
	entitytest.StoreStatuses(t, db, "tenant", earlier)
	entitytest.StoreStatuses(t, db, "tenant2", earlier)
	dynamotest.LoadStored(t, db, "test-entities", "entities-upper-case")
	dynamotest.LoadStored(t, db, "test-records", "records-upper-case")
	outcomes(t, s, entity.ImportOptions{}, entity.Import{ID: "listed", Status: entity.Compliant,
		Properties: named("Listed")}, entity.Import{ID: "outdated", Status: entity.Compliant},
		entity.Import{ID: "lost", Status: entity.Compliant})
	entitytest.StoreStatuses(t, db, "tenant", entitytest.Statuses{"outdated": entity.ClientOffboarded})
	for _, ref := range listAll(t, s, "", 10) {
		if ref.ID == "lost" {
			deleteListRow(t, db, ref)
		}
	}
	run := func(tenant string) (counts entity.Reindexed) {
		t.Helper()
		for after := ""; ; {
			part, next, err := s.Reindex(t.Context(), tenant, after, entity.ImportOptions{At: at})
			errtest.Fatal(t, err)
			if counts.Add(part); next == "" {
				return counts
			}
			after = next
		}
	}
	for i, want := range []entity.Reindexed{{Inspected: 103, Listed: 102}, {Inspected: 103}} {
		difftest.Equal(t, fmt.Sprintf("run %d", i+1), want, run("tenant"))
	}
	statuses := map[string]entity.LifecycleStatus{}
	for _, ref := range listAll(t, s, "", 50) {
		statuses[ref.ID] = ref.Status
	}
	if len(statuses) != 103 || statuses["earlier#7"] != entity.Compliant ||
		statuses["outdated"] != entity.ClientOffboarded || statuses["listed"] != entity.Compliant ||
		statuses["lost"] != entity.Compliant {
		t.Errorf("the list has %d entities: %v; want 103 with their statuses", len(statuses), statuses)
	}
	p, status, err := s.GetProfile(t.Context(), "tenant", "earlier#7")
	if err != nil || status != entity.Compliant || p.Type != entity.DefaultType || !p.IsImported() {
		t.Errorf("got %+v, %s, %v; want the profile of an import", p, status, err)
	}
	difftest.Equal(t, "an upper-case UUID of an earlier release", entity.Reindexed{Inspected: 1, Listed: 1},
		run(storedTenant))
}

func deleteListRow(t *testing.T, db *dynamodb.Client, ref entity.Ref) {
	t.Helper()
	for shard := range 16 {
		_, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("test-records"),
			Key: dynamo.Item{
				"owner": dynamo.String(fmt.Sprintf("tenant#list#%02d", shard)), "part": dynamo.String(ref.Position),
			}})
		errtest.Fatal(t, err)
	}
}

// An entity that changes between being read and being written is read again.
func TestReindexBesideAnImport(t *testing.T) {
	s, db := records(t)
	entitytest.StoreStatuses(t, db, "tenant", entitytest.Statuses{"e": entity.Compliant})
	meddled := entitydb.NewProfiles(beforeFirstTransaction(db, func() {
		outcomes(t, s, entity.ImportOptions{}, entity.Import{ID: "e", Status: entity.ClientOffboarded})
	}), "test-records", "test-entities")
	counts, next, err := meddled.Reindex(t.Context(), "tenant", "", entity.ImportOptions{At: at})
	if want := (entity.Reindexed{Inspected: 1}); err != nil || counts != want || next != "" {
		t.Errorf("reindex: %+v, next %q, %v; want %+v: the import has listed it", counts, next, err, want)
	}
	if refs := listAll(t, s, "", 10); len(refs) != 1 || refs[0].Status != entity.ClientOffboarded {
		t.Errorf("the list has %+v, want the entity as the import left it", refs)
	}
}
