package policydb_test

import (
	"sync/atomic"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
)

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
	if len(s.Fields) != differences || len(s.Changes) != differences+2 {
		t.Errorf("%d fields, %d changes", len(s.Fields), len(s.Changes))
	}
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
