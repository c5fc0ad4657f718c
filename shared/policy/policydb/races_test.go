package policydb_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
)

// again repeats a call while it returns policy.ErrChanged, as callers of the store do, at most a hundred times: how
// often that happens depends on the load of the machine.
func again[R any](call func() (R, error)) (result R, err error) {
	for range 100 {
		if result, err = call(); !errors.Is(err, policy.ErrChanged) {
			break
		}
	}
	return result, err
}

// race makes calls at the same time, by way of again, and returns their errors in their order.
func race(calls ...func() error) []error {
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, call := range calls {
		all.Go(func() {
			<-begin
			_, errs[i] = again(func() (struct{}, error) { return struct{}{}, call() })
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// names returns n names that begin with a prefix.
func names(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%02d", prefix, i)
	}
	return names
}

func TestOneWorkspaceWinsTheRaceForAField(t *testing.T) {
	t.Parallel()
	h := start(t)
	ids := names("f", 12)
	h.add("first", ids...)
	h.publish(1)
	workspaces := []string{"second", "third", "fourth"}
	for _, w := range workspaces {
		h.draft(w)
	}
	for _, id := range ids {
		errs := race(
			func() error {
				_, err := h.UpdateField(t.Context(), h.ws("second"), field(id, "second"))
				return err
			},
			func() error {
				_, err := h.DeleteField(t.Context(), h.ws("third"), id)
				return err
			},
			func() error {
				_, err := h.UpdateField(t.Context(), h.ws("fourth"), field(id, "fourth"))
				return err
			})
		winner := slices.Index(errs, nil)
		if winner < 0 {
			t.Fatalf("nobody wins the race for %s: %v", id, errs)
		}
		for i, err := range errs {
			if i != winner {
				h.wantLocked(err, id, workspaces[winner])
			}
		}
	}
	for i := range workspaces {
		h.publish(int64(i) + 2)
	}
}

// A change that races with the publication of its draft is in the version, or it is refused.
func TestChangesRaceWithPublish(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "base")
	h.publish(1)
	for round := range 5 {
		w := fmt.Sprint("workspace ", round)
		number := h.draft(w).Number
		want := map[string]bool{"base": true}
		calls := []func() error{func() error {
			_, err := h.Publish(t.Context(), h.tenant, policyID, number, policy.Publication{By: stamp(1)})
			return err
		}}
		ids := names(fmt.Sprint("r", round, "-"), 4)
		for _, id := range ids {
			calls = append(calls, func() error {
				_, err := h.AddField(t.Context(), h.ws(w), field(id, "1"))
				return err
			})
		}
		errs := race(calls...)
		h.must(errs[0])
		for i, id := range ids {
			if errs[i+1] == nil {
				want[id] = true
			} else {
				h.want(errs[i+1], policy.ErrNoDraft)
			}
		}
		got := map[string]bool{}
		for id := range h.fields(number) {
			got[id] = true
		}
		for id := range h.fields(max(1, number-1)) {
			want[id] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("published fields (-acknowledged +got)\n%s", diff)
		}
	}
}

func TestPublishTwiceIsOnce(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	versions := make([]policy.Version, 4)
	var calls []func() error
	for i := range versions {
		calls = append(calls, func() (err error) {
			versions[i], err = h.Publish(t.Context(), h.tenant, policyID, 1, policy.Publication{By: stamp(i)})
			return err
		})
	}
	for _, err := range race(calls...) {
		h.must(err)
	}
	for _, v := range versions {
		difftest.Equal(t, "two calls return different versions", versions[0], v)
	}
	p, err := h.GetPolicy(t.Context(), h.tenant, policyID)
	h.must(err)
	// One revision of publishing it, at most one of each sweep.
	if p.Revision > 2+int64(len(calls)) || len(h.files.Keys()) != 1 {
		t.Errorf("revision %d, objects %q", p.Revision, h.files.Keys())
	}
}

// Drafts of different workspaces that are published at the same time are all published, one upon the other.
func TestPublicationsRace(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "base")
	h.publish(1)
	want := map[string]string{"base": "1 v1"}
	var calls []func() error
	for _, w := range names("w", 4) {
		number := h.draft(w).Number
		h.add(w, "of-"+w)
		want["of-"+w] = "1 v1"
		calls = append(calls, func() error {
			_, err := h.Publish(t.Context(), h.tenant, policyID, number, policy.Publication{By: stamp(1)})
			return err
		})
	}
	for _, err := range race(calls...) {
		h.must(err)
	}
	p, err := h.GetPolicy(t.Context(), h.tenant, policyID)
	h.must(err)
	h.wantFields(p.PublishedVersion, want)
}

// Changes of different fields in one workspace do not refuse each other.
func TestChangesInOneWorkspace(t *testing.T) {
	t.Parallel()
	h := start(t)
	var calls []func() error
	want := map[string]string{}
	for _, id := range names("f", 16) {
		want[id] = "1 v1"
		calls = append(calls, func() error {
			_, err := h.AddField(t.Context(), h.ws("first"), field(id, "1"))
			return err
		})
	}
	for _, err := range race(calls...) {
		h.must(err)
	}
	h.wantFields(1, want)
	v, err := h.FindDraft(t.Context(), h.ws("first"))
	h.must(err)
	difftest.Equal(t, "revision", int64(17), v.Revision)
}

func TestDraftsRace(t *testing.T) {
	t.Parallel()
	h := start(t)
	var calls []func() error
	for range 4 {
		calls = append(calls, func() error {
			_, err := h.CreateDraft(t.Context(), h.tenant, policyID, newDraft("second"))
			return err
		})
	}
	created := 0
	for _, err := range race(calls...) {
		if err == nil {
			created++
		} else {
			h.want(err, policy.ErrExists)
		}
	}
	if created != 1 {
		t.Errorf("the workspace got %d drafts", created)
	}
}

// Of two drafts from a version that differ from the base in the same fields, one is made, and the other one is refused
// as locked.
func TestDraftsFromVersionsRace(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", names("f", 20)...)
	h.publish(1)
	h.draft("second")
	for _, id := range names("f", 20) {
		_, err := h.DeleteField(t.Context(), h.ws("second"), id)
		h.must(err)
	}
	h.publish(2)
	for round := range 3 {
		numbers := map[string]int64{}
		var mu sync.Mutex
		var calls []func() error
		for _, w := range []string{"third", "fourth", "fifth"} {
			calls = append(calls, func() error {
				v, err := h.CreateDraftFrom(t.Context(), h.tenant, policyID, 1, newDraft(w))
				if err == nil {
					mu.Lock()
					numbers[w] = v.Number
					mu.Unlock()
				}
				return err
			})
		}
		errs := race(calls...)
		if len(numbers) != 1 {
			t.Fatalf("round %d: drafts %v, errors %v", round, numbers, errs)
		}
		winner := slices.Collect(maps.Keys(numbers))[0]
		for _, err := range errs {
			if err != nil {
				h.wantLocked(err, "f00", winner)
			}
		}
		s, err := h.ReadContents(t.Context(), h.tenant, policyID, numbers[winner])
		h.must(err)
		if len(s.Fields) != 20 || len(s.Changes) != 20 {
			t.Fatalf("round %d: the draft has %d fields and %d changes", round, len(s.Fields), len(s.Changes))
		}
		h.must(h.Discard(t.Context(), h.tenant, policyID, numbers[winner]))
	}
}
