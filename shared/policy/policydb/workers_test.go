package policydb_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/policy"
)

// Workspaces create, change, publish and discard drafts at the same time, all of the same few fields. Each finds
// exactly its acknowledged changes in its drafts and published versions, and no change is lost or in two drafts.
func TestWorkspacesDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a", "b", "c")
	h.publish(1)
	var published, locked atomic.Int64
	var calls []func() error
	for n := range 4 {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		w := &worker{harness: h, random: random, name: fmt.Sprint("worker ", n), locked: &locked}
		calls = append(calls, func() error {
			for round := range 4 {
				isPublished, err := w.round(round)
				if err != nil {
					return fmt.Errorf("%s, round %d: %w", w.name, round, err)
				}
				if isPublished {
					published.Add(1)
				}
			}
			return nil
		})
	}
	for _, err := range race(calls...) {
		h.must(err)
	}
	if published.Load() == 0 || locked.Load() == 0 {
		t.Errorf("%d drafts were published and %d changes refused", published.Load(), locked.Load())
	}
	h.wantChanges(map[string]string{})
	h.draft("last")
	h.publish(h.draft("very last").Number)
	difftest.Len(t, "changes that are left", 0, h.storedChanges())
}

// worker is one workspace among others.
type worker struct {
	*harness
	random *rand.Rand
	name   string
	locked *atomic.Int64
}

// round makes a draft, changes it, and publishes or discards it. It returns an error if it does not find its own
// changes.
func (w *worker) round(round int) (isPublished bool, err error) {
	ctx := w.Context()
	draft, own, err := w.create()
	if err != nil {
		return false, err
	}
	for i := range 5 {
		id, name := string(rune('a'+w.random.IntN(6))), fmt.Sprint(w.name, round, i)
		change, err := w.change(id, name)
		switch {
		case errors.As(err, new(*policy.LockedError)):
			w.locked.Add(1)
		case errors.Is(err, policy.ErrNotFound), errors.Is(err, policy.ErrExists):
		case err != nil:
			return false, err
		case change.Type == policy.Unchanged:
			delete(own, id)
		case change.Type == policy.Deleted:
			own[id] = "deleted"
		default:
			own[id] = name
		}
	}
	read := func() (policy.Snapshot, error) { return w.ReadContents(ctx, w.tenant, policyID, draft.Number) }
	s, err := again(read)
	if err != nil {
		return false, err
	}
	if diff := cmp.Diff(own, w.ownChanges(s.Changes)); diff != "" {
		return false, fmt.Errorf("changes of the draft (-acknowledged +got)\n%s", diff)
	}
	if w.random.IntN(3) == 0 {
		return again(func() (bool, error) { return false, w.Discard(ctx, w.tenant, policyID, draft.Number) })
	}
	if _, err := again(func() (policy.Version, error) {
		return w.Publish(ctx, w.tenant, policyID, draft.Number, policy.Publication{By: stamp(1)})
	}); err != nil {
		return false, err
	}
	if s, err = again(read); err != nil {
		return false, err
	}
	for id, name := range own {
		i := slices.IndexFunc(s.Fields, func(f policy.Field) bool { return f.ID == id })
		if (name == "deleted") != (i < 0) || i >= 0 && s.Fields[i].Name != name {
			return false, fmt.Errorf("field %s is not %q in the published version: %v", id, name, fieldsOf(s.Contents))
		}
	}
	return true, nil
}

// create makes a draft, sometimes one from the first version, and returns its changes.
func (w *worker) create() (policy.Version, map[string]string, error) {
	ctx := w.Context()
	if w.random.IntN(2) == 0 {
		v, err := again(func() (policy.Version, error) {
			return w.CreateDraftFrom(ctx, w.tenant, policyID, 1, newDraft(w.name))
		})
		if err == nil {
			s, err := again(func() (policy.Snapshot, error) {
				return w.ReadContents(ctx, w.tenant, policyID,
					v.Number)
			})
			return v, w.ownChanges(s.Changes), err
		}
		if !errors.As(err, new(*policy.LockedError)) {
			return v, nil, err
		}
		w.locked.Add(1)
	}
	v, err := again(func() (policy.Version, error) {
		return w.CreateDraft(ctx, w.tenant, policyID, newDraft(w.name))
	})
	return v, map[string]string{}, err
}

func (w *worker) change(id, name string) (policy.Change, error) {
	ctx, ws := w.Context(), w.ws(w.name)
	kind := w.random.IntN(4)
	return again(func() (policy.Change, error) {
		switch kind {
		case 0:
			return w.AddField(ctx, ws, field(id, name))
		case 1:
			return w.UpdateField(ctx, ws, field(id, name))
		case 2:
			return w.DeleteField(ctx, ws, id)
		}
		return w.RevertField(ctx, ws, id)
	})
}

func (w *worker) ownChanges(changes []policy.Change) map[string]string {
	own := map[string]string{}
	for _, c := range changes {
		switch {
		case c.WorkspaceID != w.name:
		case c.Type == policy.Deleted:
			own[c.ObjectID()] = "deleted"
		default:
			own[c.ObjectID()] = c.Field.Name
		}
	}
	return own
}
