package entitydb_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/access"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/entity/entitydb"
	"sluice/shared/platform/entity/entitytest"
	"sluice/shared/platform/property"
)

func records(t *testing.T) (*entitydb.Profiles, *dynamodb.Client) {
	t.Helper()
	client := dynamotest.Start(t)
	return entitydb.NewProfiles(client, "test-records", "test-entities"), client
}

func fresh(id string) entity.Profile {
	return entity.Profile{
		ID: id, Type: "Company", Role: "Client", Created: at, Version: 1, Revision: 1, BaseStatus: entity.Unknown,
		Properties: map[string]property.Property{"a": {Type: property.Single}}, Layers: access.Layers{}.OrDefault(),
	}
}

func draftOf(id string, created time.Time) entity.Draft {
	return entity.Draft{ID: id, JourneyID: "j", Created: created}
}

// Batch validation sees a change of an entity at once.
func TestRecordsAndDirectoryAgree(t *testing.T) {
	ctx := t.Context()
	s, db := records(t)
	directory := entitydb.NewStatuses(db, "test-entities")
	errtest.Fatal(t, s.Create(ctx, "tenant", fresh("e")))
	errtest.Is(t, "created twice", s.Create(ctx, "tenant", fresh("e")), entity.ErrChanged)
	agree := func(want entity.LifecycleStatus) (entity.Profile, entity.LifecycleStatus) {
		t.Helper()
		r, status, err := s.GetProfile(ctx, "tenant", "e")
		found, err2 := directory.Lookup(ctx, "tenant", []string{"e"})
		if err != nil || err2 != nil || status != want || found["e"] != want {
			t.Fatalf("%s, %s, want %s; %v %v", status, found["e"], want, err, err2)
		}
		return r, status
	}
	r, status := agree(entity.Unknown)
	want := fresh("e")
	want.ListedAs = "\te"
	difftest.Equal(t, "r", want, r)
	begin := entity.BeginDraft(r, status, draftOf("d", at))
	errtest.Fatal(t, s.ApplyUpdate(ctx, "tenant", begin))
	errtest.Is(t, "applied twice", s.ApplyUpdate(ctx, "tenant", begin), entity.ErrChanged)
	r, status = agree(entity.OnboardingInProgress)
	d := errtest.Must(s.GetDraft(ctx, "tenant", "d"))(t)
	difftest.Equal(t, "d", begin.Draft, d)
	changed, _ := d.WithProperties(property.Changes{"b": {Type: property.Single}})
	errtest.Fatal(t, s.UpdateDraft(ctx, "tenant", changed))
	errtest.Is(t, "updated twice", s.UpdateDraft(ctx, "tenant", changed), entity.ErrChanged)
	stale, _ := entity.VerifyDraft(r, status, d, nil)
	errtest.Is(t, "verified an old version", s.ApplyUpdate(ctx, "tenant", stale), entity.ErrChanged)
	agree(entity.OnboardingInProgress)
	verify, _ := entity.VerifyDraft(r, status, changed, nil)
	errtest.Fatal(t, s.ApplyUpdate(ctx, "tenant", verify))
	if r, _ = agree(entity.Compliant); len(r.Properties) != 2 || r.Version != 2 {
		t.Errorf("%+v", r)
	}
	for _, tenant := range []string{"other", ""} {
		_, _, err1 := s.GetProfile(ctx, tenant, "e")
		_, err2 := s.GetDraft(ctx, tenant, "d")
		if !errors.Is(err1, entity.ErrNotFound) || !errors.Is(err2, entity.ErrNotFound) {
			t.Errorf("tenant %q: %v %v", tenant, err1, err2)
		}
	}
}

// An entity that was imported has a life cycle like any other, and an import in between counts.
func TestImportedEntities(t *testing.T) {
	ctx := t.Context()
	s, db := records(t)
	load := func(status entity.LifecycleStatus) {
		t.Helper()
		entitytest.StoreStatuses(t, db, "tenant", entitytest.Statuses{"i#1": status})
	}
	load(entity.Compliant)
	r, status, err := s.GetProfile(ctx, "tenant", "i#1")
	if err != nil || status != entity.Compliant || r.ID != "i#1" || r.Version != 0 {
		t.Fatalf("%+v %s %v", r, status, err)
	}
	c := entity.BeginDraft(r, status, draftOf("d", at))
	load(entity.ClientOffboarded)
	errtest.Is(t, "an import was overlooked", s.ApplyUpdate(ctx, "tenant", c), entity.ErrChanged)
	r, status, _ = s.GetProfile(ctx, "tenant", "i#1")
	errtest.Fatal(t, s.ApplyUpdate(ctx, "tenant", entity.BeginDraft(r, status, draftOf("d", at))))
	if _, status, _ := s.GetProfile(ctx, "tenant", "i#1"); status != entity.OnboardingInProgress {
		t.Error(status)
	}
}

// Nothing new takes the place of an item stored under its ID: not an entity that of an import, not a draft that of
// another entity.
func TestNewRecordsReplaceNothing(t *testing.T) {
	ctx := t.Context()
	s, db := records(t)
	entitytest.StoreStatuses(t, db, "tenant", entitytest.Statuses{"imported": entity.Compliant})
	errtest.Is(t, "an imported entity was created", s.Create(ctx, "tenant", fresh("imported")), entity.ErrChanged)
	if _, status, err := s.GetProfile(ctx, "tenant", "imported"); err != nil || status != entity.Compliant {
		t.Errorf("the imported entity is %s, %v; want %s", status, err, entity.Compliant)
	}
	for i, id := range []string{"e1", "e2"} {
		errtest.Fatal(t, s.Create(ctx, "tenant", fresh(id)))
		u := entity.BeginDraft(fresh(id), entity.Unknown, draftOf("d", at))
		u.Profile.Revision = 2
		if err := s.ApplyUpdate(ctx, "tenant", u); errors.Is(err, entity.ErrChanged) != (i == 1) {
			t.Errorf("a draft of %s: %v; want a conflict for the second entity only", id, err)
		}
	}
	difftest.Equal(t, "the draft is that of", "e1", errtest.Must(s.GetDraft(ctx, "tenant", "d"))(t).EntityID)
}

// Pages of any size give every draft of a journey once, in order of creation time, then id; other journeys' are not
// among them.
func TestMembers(t *testing.T) {
	ctx := t.Context()
	s, _ := records(t)
	var want []string
	for i := range 12 {
		e, id := fmt.Sprint("e", i), fmt.Sprintf("d%02d", i)
		errtest.Fatal(t, s.Create(ctx, "tenant", fresh(e)))
		c := entity.BeginDraft(fresh(e), entity.Unknown, draftOf(id, at.Add(time.Duration(i/2)*time.Second)))
		if i == 5 {
			c.Draft.JourneyID = "jj"
		} else {
			want = append(want, id)
		}
		errtest.Fatal(t, s.ApplyUpdate(ctx, "tenant", c))
	}
	walk := func(tenant string, size int, descending bool) []string {
		var got []string
		for after := ""; ; {
			members, next, err := s.ListDrafts(ctx, tenant, entity.DraftPage{JourneyID: "j", After: after, Limit: size,
				Descending: descending})
			if err != nil || len(members) > size {
				t.Fatal(len(members), err)
			}
			for _, m := range members {
				if m.Layers.Geographic[0] != "Global" || m.EntityID[1:] != strings.TrimLeft(m.DraftID[1:2],
					"0")+m.DraftID[2:] {
					t.Errorf("%+v", m)
				}
				got = append(got, m.DraftID)
			}
			if after = next; after == "" {
				return got
			}
		}
	}
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	for _, size := range []int{1, 2, 10, 11, 12} {
		difftest.Equal(t, fmt.Sprintf("%d at a time", size), want, walk("tenant", size, false))
		difftest.Equal(t, fmt.Sprintf("%d at a time, backwards", size), backwards, walk("tenant", size, true))
	}
	if got := walk("other", 5, false); got != nil {
		t.Errorf("another tenant's: %v", got)
	}
	drafts, err := s.GetDrafts(ctx, "tenant", []string{"d03", "none", "d01", "d03"})
	if err != nil || len(drafts) != 2 || drafts[0].ID != "d03" || drafts[1].ID != "d01" {
		t.Errorf("%+v %v", drafts, err)
	}
}

func TestLargeRecords(t *testing.T) {
	s, _ := records(t)
	for size, fits := range map[int]bool{380_000: true, 390_001: false} {
		r, value := fresh(fmt.Sprint(size)), strings.Repeat("x", size)
		r.Properties["a"] = property.Property{Type: property.Single, Value: &value}
		err := s.Create(t.Context(), "tenant", r)
		if fits != (err == nil) || !fits && fault.As(err).Kind != fault.TooLarge {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestPagingKey(t *testing.T) {
	s, _ := records(t)
	first, err1 := s.PagingKey(t.Context(), []byte("first"))
	second, err2 := s.PagingKey(t.Context(), []byte("second"))
	if err1 != nil || err2 != nil || string(first) != "first" || string(second) != "first" {
		t.Errorf("keys %q and %q, want the first candidate twice; %v, %v", first, second, err1, err2)
	}
}

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)
