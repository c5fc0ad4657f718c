package policydb_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
	"sluice/shared/policy/policytest"
)

const (
	tenant   = "8f14e45f-ceea-467f-a9b0-6f3d9a1c2b10"
	policyID = "018f2c5e-0000-7000-8000-000000000001"
)

var now = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

func stamp(minutes int) policy.Stamp {
	return policy.Stamp{At: now.Add(time.Duration(minutes) * time.Minute), By: fmt.Sprint("client-", minutes)}
}

func newDraft(workspaceID string) policy.NewDraft {
	return policy.NewDraft{WorkspaceID: workspaceID, Notes: "why " + workspaceID, Created: stamp(0)}
}

// field returns a field with an ID; the name tells it from others with this ID.
func field(id, name string) policy.Field {
	return policy.Field{ID: id, Name: name, DataKey: id, FieldType: "Text", Categories: []string{"Basic"}}
}

// harness is a store with a policy whose first draft is edited in the workspace "first".
type harness struct {
	*policydb.Store
	*testing.T
	db     *dynamodb.Client
	files  *policytest.Files
	tenant string
}

func (h *harness) ws(id string) policy.Workspace {
	return policy.Workspace{Tenant: h.tenant, PolicyID: policyID, ID: id}
}

func start(t *testing.T) *harness {
	t.Helper()
	db, files := dynamotest.Start(t), policytest.NewFiles()
	h := &harness{policydb.New(db, policytest.Table, files, policytest.CountIDs("id")), t, db, files, tenant}
	h.create(policyID)
	return h
}

func (h *harness) create(id string) policy.Version {
	h.Helper()
	_, v, err := h.CreatePolicy(h.Context(), policy.Policy{
		ID: id, Tenant: h.tenant, EntityType: "Company", Created: stamp(0)}, newDraft("first"))
	h.must(err)
	return v
}

func (h *harness) must(err error) {
	h.Helper()
	errtest.Fatal(h, err)
}

// want requires an error.
func (h *harness) want(err, want error) {
	h.Helper()
	if !errors.Is(err, want) {
		h.Fatalf("got the error %v, want %v", err, want)
	}
}

func (h *harness) wantLocked(err error, id, workspaceID string) {
	h.Helper()
	var locked *policy.LockedError
	if !errors.As(err, &locked) || *locked != (policy.LockedError{ID: id, WorkspaceID: workspaceID}) {
		h.Fatalf("got the error %v, want that %s is locked by %s", err, id, workspaceID)
	}
}

// add adds fields in a workspace.
func (h *harness) add(workspaceID string, ids ...string) {
	h.Helper()
	for _, id := range ids {
		_, err := h.AddField(h.Context(), h.ws(workspaceID), field(id, "1"))
		h.must(err)
	}
}

func (h *harness) draft(workspaceID string) policy.Version {
	h.Helper()
	v, err := h.CreateDraft(h.Context(), h.tenant, policyID, newDraft(workspaceID))
	h.must(err)
	return v
}

func (h *harness) publish(number int64) policy.Version {
	h.Helper()
	v, err := h.Publish(h.Context(), h.tenant, policyID, number, policy.Publication{By: stamp(int(number))})
	h.must(err)
	return v
}

// fields returns the names and versions of the fields of a version by their IDs: "1 v1".
func (h *harness) fields(number int64) map[string]string {
	h.Helper()
	s, err := h.ReadContents(h.Context(), h.tenant, policyID, number)
	h.must(err)
	return fieldsOf(s.Contents)
}

func fieldsOf(c policy.Contents) map[string]string {
	fields := map[string]string{}
	for _, f := range c.Fields {
		fields[f.ID] = fmt.Sprintf("%s v%d", f.Name, f.Version)
	}
	return fields
}

// wantFields compares the fields of a version.
func (h *harness) wantFields(number int64, want map[string]string) {
	h.Helper()
	if diff := cmp.Diff(want, h.fields(number)); diff != "" {
		h.Fatalf("fields of version %d (-want +got)\n%s", number, diff)
	}
}

// changes returns the changes of the policy's drafts by the IDs of the objects: "Updated by second".
func (h *harness) changes() map[string]string {
	h.Helper()
	changes, err := h.ReadChanges(h.Context(), h.tenant, policyID)
	h.must(err)
	byID := map[string]string{}
	for _, c := range changes {
		byID[c.ObjectID()] = fmt.Sprintf("%s by %s", c.Type, c.WorkspaceID)
	}
	return byID
}

func (h *harness) wantChanges(want map[string]string) {
	h.Helper()
	if diff := cmp.Diff(want, h.changes()); diff != "" {
		h.Fatalf("changes (-want +got)\n%s", diff)
	}
}

func TestLifeOfAPolicy(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	h.add("first", "a", "b", "c")
	errtest.Fatal(t, errtest.Of(h.AddJurisdiction(ctx, h.ws("first"), policy.Jurisdiction{ID: "j", Name: "Lux"})))
	h.wantFields(1, map[string]string{"a": "1 v1", "b": "1 v1", "c": "1 v1"})
	v := h.publish(1)
	if v.Status != policy.Published || v.Published != stamp(1) || v.Digest == "" || v.WorkspaceID != "first" {
		t.Errorf("published version: %+v", v)
	}
	h.wantChanges(map[string]string{})

	h.draft("second")
	_, err := h.UpdateField(ctx, h.ws("second"), field("a", "2"))
	h.must(err)
	_, err = h.DeleteField(ctx, h.ws("second"), "b")
	h.must(err)
	h.add("second", "d")
	h.wantFields(2, map[string]string{"a": "2 v2", "c": "1 v1", "d": "1 v1"})
	h.wantChanges(map[string]string{"a": "Updated by second", "b": "Deleted by second", "d": "Added by second"})

	h.draft("third")
	h.wantFields(3, map[string]string{"a": "1 v1", "b": "1 v1", "c": "1 v1"})
	_, err = h.UpdateField(ctx, h.ws("third"), field("a", "3"))
	h.wantLocked(err, "a", "second")
	_, err = h.DeleteField(ctx, h.ws("third"), "b")
	h.wantLocked(err, "b", "second")
	_, err = h.UpdateField(ctx, h.ws("third"), field("c", "3"))
	h.must(err)
	h.publish(3)
	h.wantFields(2, map[string]string{"a": "2 v2", "c": "3 v2", "d": "1 v1"})
	h.publish(2)
	h.wantFields(1, map[string]string{"a": "1 v1", "b": "1 v1", "c": "1 v1"})
	h.wantFields(2, map[string]string{"a": "2 v2", "c": "3 v2", "d": "1 v1"})
	h.wantFields(3, map[string]string{"a": "1 v1", "b": "1 v1", "c": "3 v2"})

	p, err := h.GetPolicy(ctx, h.tenant, policyID)
	h.must(err)
	want := policy.Policy{ID: policyID, Tenant: tenant, EntityType: "Company", NewestVersion: 3, PublishedVersion: 2,
		BaseVersion: 2, LastPublishedAt: stamp(2).At, Created: stamp(0), Revision: p.Revision}
	difftest.Equal(t, "policy", want, p)
	s, err := h.ReadContents(ctx, h.tenant, policyID, 2)
	h.must(err)
	difftest.Equal(t, "jurisdictions", []policy.Jurisdiction{{ID: "j", Name: "Lux"}}, s.Jurisdictions)
}

func textOf(v types.AttributeValue) string { return v.(*types.AttributeValueMemberS).Value }

// A draft from a version has all of its changes at once, however many, and is read in few requests.
func TestDraftWithManyChanges(t *testing.T) {
	t.Parallel()
	const differences = 600
	h := start(t)
	ctx := t.Context()
	h.add("first", "a")
	h.publish(1)
	h.publish(h.draft("second").Number)
	h.setContents(1, policy.Contents{EntityType: "Company", Fields: manyFields("old", differences)})
	h.draft("third")
	h.add("third", "b")

	p := &process{}
	var looks atomic.Int64
	p.onWrite = func(n int64) {
		if n%200 != 0 {
			return
		}
		looks.Add(1)
		if versions, _, err := h.ListVersions(ctx, h.tenant, policyID, "", 100); err != nil || len(versions) != 3 {
			t.Errorf("before write %d there are %d versions, %v", n, len(versions), err)
		}
		if changes, err := h.ReadChanges(ctx, h.tenant, policyID); err != nil || len(changes) != 1 {
			t.Errorf("before write %d there are %d changes, %v", n, len(changes), err)
		}
	}
	v, err := h.newProcess(p).CreateDraftFrom(ctx, h.tenant, policyID, 1, newDraft("fourth"))
	h.must(err)
	// One write for each difference, the deletion of a included, and the one that lists the draft.
	if writes := p.writes.Load(); writes != differences+2 || looks.Load() != 3 {
		t.Errorf("%d writes, %d looks at the policy meanwhile", writes, looks.Load())
	}
	p = &process{}
	s, err := h.newProcess(p).ReadContents(ctx, h.tenant, policyID, v.Number)
	h.must(err)
	difftest.Equal(t, "result", []any{differences, differences + 2}, []any{len(s.Fields), len(s.Changes)})
	// The rows of the policy and the draft, twice, the contents of the base, and one query.
	if reads := p.reads.Load(); reads > 4 {
		t.Errorf("%d reads of a draft with %d changes", reads, len(s.Changes))
	}
	_, err = h.UpdateField(ctx, h.ws("third"), field("old0000", "2"))
	h.wantLocked(err, "old0000", "fourth")
	h.publish(v.Number)
	if got := h.storedChanges(); len(got) != 1 || got[0] != "change#field#b" {
		t.Errorf("%d changes are left", len(got))
	}
}

func TestDraftsFromVersions(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	from := func(number int64, workspaceID string) error {
		return errorOf(h.CreateDraftFrom(ctx, h.tenant, policyID, number, newDraft(workspaceID)))
	}
	h.add("first", "a", "b")
	h.want(from(1, "second"), policy.ErrIsDraft)
	h.want(from(2, "second"), policy.ErrNotFound)
	h.must(errorOf(h.AddJurisdiction(ctx, h.ws("first"), policy.Jurisdiction{ID: "j", Name: "1"})))
	h.publish(1)
	h.must(from(1, "second"))
	h.wantChanges(map[string]string{})
	h.want(from(1, "second"), policy.ErrExists)
	h.must(errorOf(h.UpdateField(ctx, h.ws("second"), field("a", "2"))))
	h.must(errorOf(h.DeleteJurisdiction(ctx, h.ws("second"), "j")))
	h.publish(2)
	h.must(errorOf(h.Archive(ctx, h.tenant, policyID, 2, "", stamp(3))))
	// Drafts go on from the archived version, and can be made from it.
	h.must(from(2, "third"))
	h.wantChanges(map[string]string{})
	h.must(from(1, "fourth"))
	h.wantChanges(map[string]string{"a": "Updated by fourth", "j": "Added by fourth"})
	h.wantFields(4, map[string]string{"a": "1 v3", "b": "1 v1"})
	h.want(errorOf(h.AddJurisdiction(ctx, h.ws("fourth"), policy.Jurisdiction{ID: "j"})), policy.ErrExists)
	h.wantLocked(errorOf(h.AddJurisdiction(ctx, h.ws("third"), policy.Jurisdiction{ID: "j"})), "j", "fourth")
	h.wantLocked(from(1, "fifth"), "a", "fourth")
	difftest.Len(t, "stored changes", 2, h.storedChanges())
	h.want(errorOf(h.CreateDraftFrom(ctx, h.tenant, "missing", 1, newDraft("x"))), policy.ErrNotFound)
}
