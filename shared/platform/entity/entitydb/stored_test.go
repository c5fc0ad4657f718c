package entitydb_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/property"
	"sluice/shared/platform/property/propertytest"
)

const storedTenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"

func storedLayers() access.Layers {
	return access.Layers{Geographic: []string{"Europe"}, BusinessRelated: []string{"Retail"}}
}

// startStored returns a store with the golden items whose files end with the suffix, as if an earlier release had
// written them.
func startStored(t *testing.T, suffix string) (*entitydb.Profiles, *dynamodb.Client) {
	t.Helper()
	s, client := records(t)
	dynamotest.LoadStored(t, client, "test-records", "records"+suffix)
	dynamotest.LoadStored(t, client, "test-entities", "entities"+suffix)
	return s, client
}

// TestStoredEntities pins the stored items: one golden item for each kind of row, with every attribute set. It writes
// through the store and compares the items, and it reads the golden items through the store and compares the values.
// Renaming a Go field so that a stored name changes fails both.
func TestStoredEntities(t *testing.T) {
	ctx := t.Context()
	s, client := records(t)
	r := entity.Profile{
		ID: "entity", Type: "Company", Role: "Client", AlternateID: "alternate", Properties: propertytest.EveryKind(),
		Jurisdictions: []string{"NL"}, Category: []string{"bank"}, Layers: storedLayers(), Created: at, Version: 1,
		Revision:      1,
		LastChangedIn: map[string]int64{"single": 1}, BaseStatus: entity.Compliant, OpenDrafts: 0, Imported: true,
	}
	errtest.Fatal(t, s.Create(ctx, storedTenant, r))
	c := entity.BeginDraft(r, entity.Compliant, entity.Draft{ID: "draft", ParentID: "parent",
		Authors: []string{"client"}, JourneyID: "journey", Created: at,
		Changes: property.Changes{"single": {Type: property.Single, Value: new("other")}}})
	errtest.Fatal(t, s.ApplyUpdate(ctx, storedTenant, c))
	errtest.Fatal(t, errtest.Of(s.PagingKey(ctx, []byte("0123456789abcdef0123456789abcdef"))))
	dynamotest.CompareStored(t, client, "test-records", "records")
	dynamotest.CompareStored(t, client, "test-entities", "entities")

	s, _ = startStored(t, "")
	got, status, err := s.GetProfile(ctx, storedTenant, "entity")
	c.Profile.ListedAs = "\tentity"
	if diff := cmp.Diff(c.Profile, got); err != nil || diff != "" || status != entity.MaintenanceInProgress {
		t.Errorf("entity: status %s, %v, (-want +got)\n%s", status, err, diff)
	}
	difftest.Equal(t, "draft", c.Draft, errtest.Must(s.GetDraft(ctx, storedTenant, "draft"))(t))
	members, _, err := s.ListDrafts(ctx, storedTenant, entity.DraftPage{JourneyID: "journey", Limit: 10})
	errtest.Fatal(t, err)
	difftest.Equal(t, "members", 1, len(members))
	member := entity.DraftRef{DraftID: "draft", EntityID: "entity", Layers: storedLayers(),
		Position: members[0].Position}
	difftest.Equal(t, "member", member, members[0])
	key, err := s.PagingKey(ctx, []byte("another candidate"))
	if err != nil || string(key) != "0123456789abcdef0123456789abcdef" {
		t.Errorf("paging key: %q, %v", key, err)
	}
}
