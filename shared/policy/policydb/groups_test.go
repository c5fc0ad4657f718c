package policydb_test

import (
	"errors"
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
)

// group creates a data group, and moves its first version to a status.
func (h *harness) group(id string, status policy.DataGroupStatus, fields ...policy.Field) policy.DataGroup {
	h.Helper()
	g, err := h.CreateDataGroup(h.Context(), h.tenant, policy.DataGroup{ID: id, Name: "Group " + id, Fields: fields})
	h.must(err)
	return h.move(g, status)
}

// move gives a draft of a data group a status, by way of others.
func (h *harness) move(g policy.DataGroup, status policy.DataGroupStatus) policy.DataGroup {
	h.Helper()
	path := map[policy.DataGroupStatus][]policy.DataGroupStatus{
		policy.DataGroupPending:   {policy.DataGroupPending},
		policy.DataGroupRejected:  {policy.DataGroupPending, policy.DataGroupRejected},
		policy.DataGroupPublished: {policy.DataGroupPending, policy.DataGroupPublished},
		policy.DataGroupArchived:  {policy.DataGroupPending, policy.DataGroupPublished, policy.DataGroupArchived},
		policy.DataGroupDeleted:   {policy.DataGroupDeleted},
	}
	for _, next := range path[status] {
		var err error
		g, err = h.SetDataGroupStatus(h.Context(), h.tenant, g, next, "because")
		h.must(err)
	}
	return g
}

// All pairs of statuses are tried; a second list of those that are allowed is kept here.
func TestStatusesOfDataGroups(t *testing.T) {
	t.Parallel()
	h := start(t)
	all := []policy.DataGroupStatus{policy.DataGroupDraft, policy.DataGroupPending, policy.DataGroupRejected,
		policy.DataGroupPublished, policy.DataGroupArchived, policy.DataGroupDeleted}
	allowed := map[[2]policy.DataGroupStatus]bool{
		{"Draft", "Pending"}: true, {"Draft", "Deleted"}: true,
		{"Pending", "Draft"}: true, {"Pending", "Published"}: true, {"Pending", "Rejected"}: true,
		{"Rejected", "Draft"}: true, {"Rejected", "Deleted"}: true,
		{"Published", "Archived"}: true,
	}
	for i, from := range all {
		for j, to := range all {
			g := h.group(fmt.Sprint(i, "-", j), from)
			got, err := h.SetDataGroupStatus(t.Context(), h.tenant, g, to, "moved")
			switch {
			case from == to:
				errtest.Fatal(t, err)
				difftest.Equal(t, fmt.Sprintf("%s again", from), g, got)
			case allowed[[2]policy.DataGroupStatus{from, to}]:
				want := g
				want.Status, want.Reason = to, "moved"
				want.Revision++
				errtest.Fatal(t, err)
				difftest.Equal(t, fmt.Sprintf("%s to %s", from, to), want, got)
			default:
				var refused *policy.StatusError
				if !errors.As(err, &refused) || refused.From != from || refused.To != to {
					t.Errorf("%s to %s: got the error %v, want one that names both", from, to, err)
				}
			}
			g.Revision--
			for _, stale := range all {
				stored, err := h.GetDataGroup(t.Context(), h.tenant, g.ID, 1)
				h.must(err)
				_, err = h.SetDataGroupStatus(t.Context(), h.tenant, g, stale, "")
				if stale != stored.Status && !errors.Is(err, policy.ErrChanged) {
					t.Errorf("%s to %s by an old revision: got the error %v, want %v", stored.Status, stale, err,
						policy.ErrChanged)
				}
			}
		}
	}
}

func TestDataGroups(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	draft := h.group("b", policy.DataGroupDraft, field("x", "1"))
	_, err := h.CreateDataGroup(ctx, h.tenant, policy.DataGroup{ID: "b"})
	h.want(err, policy.ErrExists)
	_, err = h.AddDataGroupVersion(ctx, h.tenant, policy.DataGroup{ID: "missing"})
	h.want(err, policy.ErrNotFound)
	_, err = h.GetNewestDataGroup(ctx, h.tenant, "missing")
	h.want(err, policy.ErrNotFound)
	_, err = h.GetDataGroup(ctx, h.tenant, "b", 2)
	h.want(err, policy.ErrNotFound)
	_, err = h.SetDataGroupStatus(ctx, h.tenant, policy.DataGroup{ID: "b", Version: 2}, policy.DataGroupPending, "")
	h.want(err, policy.ErrNotFound)

	draft.Name = "Changed"
	saved, err := h.SaveDataGroup(ctx, h.tenant, draft)
	h.must(err)
	_, err = h.SaveDataGroup(ctx, h.tenant, draft)
	h.want(err, policy.ErrChanged)
	pending := h.move(saved, policy.DataGroupPending)
	_, err = h.SaveDataGroup(ctx, h.tenant, pending)
	h.want(err, policy.ErrNotDraft)

	second, err := h.AddDataGroupVersion(ctx, h.tenant, pending)
	h.must(err)
	if second.Version != 2 || second.Status != policy.DataGroupDraft || second.Revision != 1 {
		t.Errorf("second version: %+v", second)
	}
	h.group("a", policy.DataGroupDeleted)
	page, next, err := h.ListDataGroups(ctx, h.tenant, "", 1)
	h.must(err)
	rest, end, err := h.ListDataGroups(ctx, h.tenant, next, 2)
	h.must(err)
	if len(page) != 1 || page[0].ID != "a" || len(rest) != 1 || rest[0].ID != "b" || rest[0].Version != 2 || end != "" {
		t.Errorf("groups: %v, then %v, then %q", page, rest, end)
	}
	versions, next, err := h.ListDataGroupVersions(ctx, h.tenant, "b", "", 1)
	h.must(err)
	older, _, err := h.ListDataGroupVersions(ctx, h.tenant, "b", next, 1)
	h.must(err)
	if len(versions) != 1 || versions[0].Version != 2 || len(older) != 1 || older[0].Version != 1 || next != "2" {
		t.Errorf("versions: %v, after %q: %v", versions, next, older)
	}
}

// A draft has the data groups that are published now, a published version the ones of the moment of its publication.
func TestPinnedDataGroups(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	group := func(id, fieldType string) policy.Field {
		f := field("of-"+id, "1")
		f.FieldType, f.FieldTypeID = fieldType, id
		return f
	}
	versions := func(number int64) map[string]int64 {
		s, err := h.ReadContents(ctx, h.tenant, policyID, number)
		h.must(err)
		of := map[string]int64{}
		for _, g := range s.DataGroups {
			of[g.ID] = g.Version
		}
		return of
	}
	wantVersions := func(number int64, want map[string]int64) {
		t.Helper()
		difftest.Equal(t, fmt.Sprintf("data groups of version %d", number), want, versions(number))
	}
	inner := h.group("inner", policy.DataGroupPublished, field("x", "1"))
	// A group inside itself, and one that is not published.
	h.group("outer", policy.DataGroupPublished, group("inner", policy.TypeCustom), group("outer", policy.TypeCustom),
		group("unpublished", policy.TypeCustom))
	h.group("unpublished", policy.DataGroupPending)
	h.group("unused", policy.DataGroupPublished)
	_, err := h.AddField(ctx, h.ws("first"), group("outer", policy.TypeCollection))
	h.must(err)
	other := field("text", "1")
	other.FieldTypeID = "unused" // of a single value: not a data group
	_, err = h.AddField(ctx, h.ws("first"), other)
	h.must(err)
	wantVersions(1, map[string]int64{"inner": 1, "outer": 1})
	h.publish(1)

	second, err := h.AddDataGroupVersion(ctx, h.tenant, inner)
	h.must(err)
	second = h.move(second, policy.DataGroupPublished)
	h.draft("second")
	wantVersions(1, map[string]int64{"inner": 1, "outer": 1})
	wantVersions(2, map[string]int64{"inner": 2, "outer": 1})
	// The older version remains Published, and archiving it changes nothing.
	old, err := h.GetDataGroup(ctx, h.tenant, "inner", 1)
	h.must(err)
	if old.Status != policy.DataGroupPublished {
		t.Errorf("the older version is %s", old.Status)
	}
	h.must(errorOf(h.SetDataGroupStatus(ctx, h.tenant, old, policy.DataGroupArchived, "")))
	wantVersions(2, map[string]int64{"inner": 2, "outer": 1})
	h.must(errorOf(h.SetDataGroupStatus(ctx, h.tenant, second, policy.DataGroupArchived, "")))
	wantVersions(2, map[string]int64{"outer": 1})
	wantVersions(1, map[string]int64{"inner": 1, "outer": 1})
}
