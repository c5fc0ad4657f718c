package policydb_test

import (
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
)

// pages reads a whole list in pages of a size, and returns the IDs in each.
func pages[R any](t *testing.T, size int, idOf func(R) string,
	read func(after string, limit int) ([]R, string, error)) [][]string {
	t.Helper()
	var all [][]string
	for after := ""; ; {
		page, next, err := read(after, size)
		errtest.Fatal(t, err)
		var ids []string
		for _, r := range page {
			ids = append(ids, idOf(r))
		}
		all = append(all, ids)
		if next == "" {
			return all
		}
		after = next
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.tenant = "of pages"
	want := []string{}
	for i := range 5 {
		id := fmt.Sprint("policy#", i)
		h.create(id)
		want = append(want, id)
	}
	h.create(policyID)
	want = append([]string{policyID}, want...)
	policies := func(after string, limit int) ([]policy.Policy, string, error) {
		return h.ListPolicies(t.Context(), h.tenant, after, limit)
	}
	got := pages(t, 2, func(p policy.Policy) string { return p.ID }, policies)
	// The list ends with its last page, also if that is full.
	difftest.Equal(t, "policies in pages of 2", [][]string{want[:2], want[2:4], want[4:]}, got)
	got = pages(t, 100, func(p policy.Policy) string { return p.ID }, policies)
	difftest.Equal(t, "policies in one page", [][]string{want}, got)

	for i := range 10 {
		h.draft(fmt.Sprint("workspace ", i))
	}
	h.must(h.Discard(t.Context(), h.tenant, policyID, 4))
	gotVersions := pages(t, 3, func(v policy.Version) string { return fmt.Sprint(v.Number) },
		func(after string, limit int) ([]policy.Version, string, error) {
			return h.ListVersions(t.Context(), h.tenant, policyID, after, limit)
		})
	difftest.Equal(t, "versions", [][]string{{"11", "10", "9"}, {"8", "7", "6"}, {"5", "3", "2"}, {"1"}}, gotVersions)
	if _, _, err := h.ListVersions(t.Context(), h.tenant, policyID, "x", 3); err == nil {
		t.Error("a position that is none is accepted")
	}
	versions, err := h.GetVersions(t.Context(), h.tenant, []policy.VersionRef{
		{PolicyID: want[3], Number: 1}, {PolicyID: policyID, Number: 4}, {PolicyID: policyID, Number: 11},
		{PolicyID: "missing", Number: 1}})
	if err != nil || len(versions) != 2 || versions[0].PolicyID != want[3] || versions[1].Number != 11 {
		t.Errorf("versions %v, %v", versions, err)
	}
}

// The newest version is one that exists, also after others were discarded.
func TestNewestVersion(t *testing.T) {
	t.Parallel()
	h := start(t)
	newest := func(want int64) {
		t.Helper()
		p, err := h.GetPolicy(t.Context(), h.tenant, policyID)
		h.must(err)
		difftest.Equal(t, "the newest version", want, p.NewestVersion)
	}
	h.draft("second")
	h.draft("third")
	h.must(h.Discard(t.Context(), h.tenant, policyID, 2))
	newest(3)
	h.must(h.Discard(t.Context(), h.tenant, policyID, 3))
	newest(1)
	h.must(h.Discard(t.Context(), h.tenant, policyID, 1))
	newest(0)
	h.want(h.Discard(t.Context(), h.tenant, policyID, 1), policy.ErrNotFound)
	if v := h.draft("first"); v.Number != 4 {
		t.Errorf("the next version is %d, want 4", v.Number)
	}
	newest(4)
}
