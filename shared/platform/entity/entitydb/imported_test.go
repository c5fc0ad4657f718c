package entitydb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	gocmp "github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/property"
	"sluice/shared/platform/property/propertytest"
)

// places says where the profile of an entity is stored: "status", "row", both of them or "".
func places(t *testing.T, db *dynamodb.Client, id string) string {
	t.Helper()
	get := func(table string, key dynamo.Item) dynamo.Item {
		out := errtest.Must(db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key,
			ConsistentRead: aws.Bool(true)}))(t)
		return out.Item
	}
	var found []string
	if get("test-entities", dynamo.Item{"entity": dynamo.String("tenant#" + id)})["profile"] != nil {
		found = append(found, "status")
	}
	if get("test-records", dynamo.Item{
		"owner": dynamo.String("tenant#entity#" + id), "part": dynamo.String("entity")}) != nil {
		found = append(found, "row")
	}
	return strings.Join(found, ", ")
}

// checkEntity compares what every way of reading an entity says about it, and where its profile is stored.
func checkEntity(t *testing.T, s *entitydb.Profiles, db *dynamodb.Client, id, place, name string,
	status entity.LifecycleStatus, version int64) {
	t.Helper()
	type view struct {
		Place, Name         string
		Status, InList      entity.LifecycleStatus
		Version, ListedWith int64
	}
	p, current, err := s.GetProfile(t.Context(), "tenant", id)
	errtest.Fatal(t, err)
	got := view{Place: places(t, db, id), Name: entity.DisplayName(p.Properties), Status: current, Version: p.Version}
	many, err := s.GetProfiles(t.Context(), "tenant", []string{"nobody", id, id})
	if diff := gocmp.Diff([]entity.Profile{p}, many); err != nil || diff != "" {
		t.Errorf("%v; GetProfile (-), GetProfiles (+):\n%s", err, diff)
	}
	for _, ref := range listAll(t, s, "", 100) {
		if ref.ID == id {
			got.InList, got.ListedWith = ref.Status, ref.Version
			difftest.Equal(t, "the list calls "+id, name, ref.Name)
		}
	}
	difftest.Equal(t, id, view{place, name, status, status, version, version}, got)
}

// A profile is stored with the status until something changes it, and reads the same in both places.
func TestProfileMovesWhenItChanges(t *testing.T) {
	s, db := records(t)
	entries := []entity.Import{
		{ID: "renamed", Status: entity.Compliant, Properties: named("Acme")},
		{ID: "drafted", Status: entity.Compliant, Properties: named("Bcme")},
	}
	outcomes(t, s, entity.ImportOptions{}, entries...)
	checkEntity(t, s, db, "renamed", "status", "Acme", entity.Compliant, 1)
	for i := range entries {
		entries[i].Status = entity.ClientOffboarded
	}
	outcomes(t, s, entity.ImportOptions{}, entries...)
	checkEntity(t, s, db, "renamed", "status", "Acme", entity.ClientOffboarded, 1)

	entries[0].Properties = named("Zcme")
	outcomes(t, s, entity.ImportOptions{}, entries[0])
	checkEntity(t, s, db, "renamed", "row", "Zcme", entity.ClientOffboarded, 2)
	entries[0].Status = entity.Compliant
	outcomes(t, s, entity.ImportOptions{}, entries[0])
	checkEntity(t, s, db, "renamed", "row", "Zcme", entity.Compliant, 2)

	p, status, err := s.GetProfile(t.Context(), "tenant", "drafted")
	errtest.Fatal(t, err)
	difftest.Equal(t, "base status", entity.ClientOffboarded, p.BaseStatus)
	update := entity.BeginDraft(p, status, draftOf("d", at))
	errtest.Fatal(t, s.ApplyUpdate(t.Context(), "tenant", update))
	checkEntity(t, s, db, "drafted", "row", "Bcme", update.Status, 1)
	errtest.Is(t, "the same step again", s.ApplyUpdate(t.Context(), "tenant", update), entity.ErrChanged)
}

// Profiles of up to 3,000 bytes are stored with the status.
func TestLargeImportedProfilesHaveARow(t *testing.T) {
	s, db := records(t)
	imported := func(id string, size int) {
		outcomes(t, s, entity.ImportOptions{}, entity.Import{ID: id, Status: entity.Compliant,
			Properties: map[string]property.Property{"p": {Type: property.Single,
				Value: aws.String(strings.Repeat("x", size))}}})
	}
	imported("0000", 0)
	const limit = 3000
	out := errtest.Must(db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("test-entities"),
		Key: dynamo.Item{"entity": dynamo.String("tenant#0000")}}))(t)
	rest := limit - len(dynamo.BinaryAttribute(out.Item, "profile"))
	for i, want := range []string{"status", "status", "row"} {
		id := fmt.Sprint("000", i+1)
		if imported(id, rest-1+i); places(t, db, id) != want {
			t.Errorf("a profile of %d bytes is stored in %q, want %q", limit-1+i, places(t, db, id), want)
		}
		checkEntity(t, s, db, id, want, "", entity.Compliant, 1)
	}
}

// Changes by others between the reading and the writing of an import, or of a draft, are not lost.
func TestProfileMovesBesideAnImport(t *testing.T) {
	imported := entity.Import{ID: "e", Status: entity.Compliant, Properties: named("Acme")}
	offboarded, renamed := imported, imported
	offboarded.Status, renamed.Properties = entity.ClientOffboarded, named("Zcme")
	for name, c := range map[string]struct {
		between, then entity.Import
		name          string
		status        entity.LifecycleStatus
		version       int64
	}{
		"status, then name": {offboarded, renamed, "Zcme", entity.Compliant, 2},
		"name, then status": {renamed, entity.Import{ID: "e", Status: entity.ClientOffboarded}, "Zcme",
			entity.ClientOffboarded, 2},
		"name, then name": {renamed, entity.Import{ID: "e", Status: entity.Compliant, Properties: named("Ycme")},
			"Ycme", entity.Compliant, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s, db := records(t)
			outcomes(t, s, entity.ImportOptions{}, imported)
			meddled := entitydb.NewProfiles(beforeFirstTransaction(db, func() {
				outcomes(t, s, entity.ImportOptions{}, c.between)
			}), "test-records", "test-entities")
			outcomes(t, meddled, entity.ImportOptions{}, c.then)
			checkEntity(t, s, db, "e", "row", c.name, c.status, c.version)
		})
	}
	t.Run("name, then a draft", func(t *testing.T) {
		s, _ := records(t)
		outcomes(t, s, entity.ImportOptions{}, imported)
		p, status, err := s.GetProfile(t.Context(), "tenant", "e")
		errtest.Fatal(t, err)
		outcomes(t, s, entity.ImportOptions{}, renamed)
		err = s.ApplyUpdate(t.Context(), "tenant", entity.BeginDraft(p, status, draftOf("d", at)))
		errtest.Is(t, "error", err, entity.ErrChanged)
	})
}

// A profile that moves between the reads of GetProfiles is found where it is then.
func TestGetProfilesWhileOneMoves(t *testing.T) {
	s, db := records(t)
	outcomes(t, s, entity.ImportOptions{}, entity.Import{ID: "e", Status: entity.Compliant, Properties: named("Acme")})
	reads := 0
	options := db.Options()
	options.APIOptions = append(slices.Clone(options.APIOptions), beforeCalls(func(in any) {
		if _, isRead := in.(*dynamodb.BatchGetItemInput); isRead {
			if reads++; reads == 2 {
				outcomes(t, s, entity.ImportOptions{}, entity.Import{ID: "e", Status: entity.Compliant,
					Properties: named("Zcme")})
			}
		}
	}))
	meddled := entitydb.NewProfiles(dynamodb.New(options), "test-records", "test-entities")
	got, err := meddled.GetProfiles(t.Context(), "tenant", []string{"e"})
	if err != nil || len(got) != 1 || entity.DisplayName(got[0].Properties) != "Zcme" || reads != 3 {
		t.Errorf("got %+v, %v after %d reads; want the profile as it is now after 3", got, err, reads)
	}
}

// beforeFirstTransaction returns a client that calls meddle once, before its first transaction.
func beforeFirstTransaction(db *dynamodb.Client, meddle func()) *dynamodb.Client {
	meddle = sync.OnceFunc(meddle)
	options := db.Options()
	options.APIOptions = append(slices.Clone(options.APIOptions), beforeCalls(func(in any) {
		if _, isWrite := in.(*dynamodb.TransactWriteItemsInput); isWrite {
			meddle()
		}
	}))
	return dynamodb.New(options)
}

// beforeCalls calls meddle with the parameters of each call before it is made.
func beforeCalls(meddle func(in any)) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("meddle", func(ctx context.Context,
			in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput,
			middleware.Metadata, error) {
			meddle(in.Parameters)
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	}
}

// TestStoredImportedEntity pins the stored items of an imported entity, as TestStoredEntities does for the other rows.
func TestStoredImportedEntity(t *testing.T) {
	s, client := records(t)
	e := entity.Import{ID: "imported", Status: entity.Compliant, Type: "Company", Role: "Related Party",
		Properties: propertytest.EveryKind()}
	errtest.Fatal(t, errtest.Of(s.Import(t.Context(), storedTenant, []entity.Import{e}, entity.ImportOptions{At: at})))
	want, _, err := s.GetProfile(t.Context(), storedTenant, "imported")
	errtest.Fatal(t, err)
	dynamotest.CompareStored(t, client, "test-entities", "entities-imported")
	dynamotest.CompareStored(t, client, "test-records", "records-imported")

	s, _ = startStored(t, "-imported")
	got, status, err := s.GetProfile(t.Context(), storedTenant, "imported")
	if diff := gocmp.Diff(want, got); err != nil || diff != "" || status != entity.Compliant ||
		got.Type != "Company" || got.Role != "Related Party" || !got.Created.Equal(at) ||
		got.Version != 1 || !got.IsImported() || len(got.Properties) != 3 {
		t.Errorf("status %s, %v, %+v (-want +got)\n%s", status, err, got, diff)
	}
}
