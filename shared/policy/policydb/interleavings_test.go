package policydb_test

import (
	"sync"
	"testing"

	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
)

// before returns a store that calls others before its write of a number, from 1.
func (h *harness) before(write int64, others func()) *policydb.Store {
	return h.newProcess(&process{onWrite: func(n int64) {
		if n == write {
			others()
		}
	}})
}

// Others write between the reads and the writes of an operation: it is tried again.
func TestInterleavings(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	// published prepares a published version with the fields a and b, and drafts in two workspaces.
	published := func(h *harness) {
		h.add("first", "a", "b")
		h.publish(1)
		h.draft("second")
		h.draft("third")
	}
	publish := func(h *harness, s *policydb.Store, number int64) error {
		return errorOf(s.Publish(ctx, h.tenant, policyID, number, policy.Publication{By: stamp(1)}))
	}
	cases := map[string]func(*harness){
		"the field is deleted, and that is published": func(h *harness) {
			s := h.before(1, func() {
				h.must(errorOf(h.DeleteField(ctx, h.ws("third"), "a")))
				h.publish(3)
			})
			h.want(errorOf(s.UpdateField(ctx, h.ws("second"), field("a", "2"))), policy.ErrNotFound)
			h.wantChanges(map[string]string{})
		},
		"the field is deleted in the same workspace": func(h *harness) {
			h.must(errorOf(h.UpdateField(ctx, h.ws("second"), field("a", "2"))))
			h.setVersion(2, "fields", int64(policy.MaxFields-2))
			s := h.before(1, func() { h.must(errorOf(h.DeleteField(ctx, h.ws("second"), "a"))) })
			h.want(errorOf(s.DeleteField(ctx, h.ws("second"), "a")), policy.ErrNotFound)
			// There is room for one field, not for two.
			h.add("second", "c")
			h.want(errorOf(h.AddField(ctx, h.ws("second"), field("d", "1"))), policy.ErrTooMany)
		},
		"the field is deleted in the same workspace before its change is reverted": func(h *harness) {
			h.must(errorOf(h.UpdateField(ctx, h.ws("second"), field("a", "2"))))
			h.setVersion(2, "fields", int64(policy.MaxFields-3))
			s := h.before(1, func() { h.must(errorOf(h.DeleteField(ctx, h.ws("second"), "a"))) })
			h.must(errorOf(s.RevertField(ctx, h.ws("second"), "a")))
			h.wantChanges(map[string]string{})
			// The reverted deletion counts again: there is room for one field, not for two.
			h.add("second", "c")
			h.want(errorOf(h.AddField(ctx, h.ws("second"), field("d", "1"))), policy.ErrTooMany)
		},
		"another workspace changes the field": func(h *harness) {
			s := h.before(1, func() { h.must(errorOf(h.UpdateField(ctx, h.ws("third"), field("a", "3")))) })
			h.wantLocked(errorOf(s.UpdateField(ctx, h.ws("second"), field("a", "2"))), "a", "third")
		},
		"the workspace is locked": func(h *harness) {
			s := h.before(1, func() { h.must(errorOf(h.SetLocked(ctx, h.ws("second"), true))) })
			h.want(errorOf(s.UpdateField(ctx, h.ws("second"), field("a", "2"))), policy.ErrWorkspaceLocked)
		},
		"the client that publishes changes the draft": func(h *harness) {
			own := h.ws("second")
			own.Client = "publisher"
			s := h.before(1, func() { h.must(errorOf(h.UpdateField(ctx, own, field("a", "2")))) })
			p := policy.Publication{By: stamp(1), CheckAuthor: func(client string) error {
				if client == own.Client {
					return policy.ErrNotLastPublished
				}
				return nil
			}}
			h.want(errorOf(s.Publish(ctx, h.tenant, policyID, 2, p)), policy.ErrNotLastPublished)
		},
		"the draft is discarded": func(h *harness) {
			s := h.before(1, func() { h.must(h.Discard(ctx, h.tenant, policyID, 2)) })
			h.want(errorOf(s.UpdateField(ctx, h.ws("second"), field("a", "2"))), policy.ErrNoDraft)
			h.want(errorOf(h.GetVersion(ctx, h.tenant, policyID, 2)), policy.ErrNotFound)
		},
		"the draft is discarded, and another one made in the workspace": func(h *harness) {
			s := h.before(1, func() {
				h.must(h.Discard(ctx, h.tenant, policyID, 2))
				h.draft("second")
			})
			h.must(errorOf(s.UpdateField(ctx, h.ws("second"), field("a", "2"))))
			h.wantFields(4, map[string]string{"a": "2 v2", "b": "1 v1"})
		},
		"the draft that is published gets another field": func(h *harness) {
			h.must(publish(h, h.before(2, func() { h.add("second", "c") }), 2))
			h.wantFields(2, map[string]string{"a": "1 v1", "b": "1 v1", "c": "1 v1"})
		},
		"the draft that is published is discarded": func(h *harness) {
			s := h.before(2, func() { h.must(h.Discard(ctx, h.tenant, policyID, 2)) })
			h.want(publish(h, s, 2), policy.ErrNotFound)
		},
		"the draft that is discarded is published": func(h *harness) {
			s := h.before(1, func() { h.publish(2) })
			h.want(s.Discard(ctx, h.tenant, policyID, 2), policy.ErrNotDraft)
		},
		"another draft is published before this one": func(h *harness) {
			h.add("second", "c")
			h.add("third", "d")
			h.must(publish(h, h.before(2, func() { h.publish(3) }), 2))
			h.wantFields(2, map[string]string{"a": "1 v1", "b": "1 v1", "c": "1 v1", "d": "1 v1"})
		},
		"a change that is about to be removed is overwritten": func(h *harness) {
			h.must(errorOf(h.UpdateField(ctx, h.ws("second"), field("a", "2"))))
			// The writes are the object, the version, the policy's revision, and the removal.
			s := h.before(4, func() { h.must(errorOf(h.UpdateField(ctx, h.ws("third"), field("a", "3")))) })
			h.must(publish(h, s, 2))
			h.wantChanges(map[string]string{"a": "Updated by third"})
			h.wantFields(3, map[string]string{"a": "3 v3", "b": "1 v1"})
		},
		"the version that is archived is followed by another one": func(h *harness) {
			s := h.before(1, func() { h.publish(2) })
			h.want(errorOf(s.Archive(ctx, h.tenant, policyID, 1, "", stamp(1))), policy.ErrNotLastPublished)
		},
		"another version of the data group that is archived is published": func(h *harness) {
			first := h.group("g", policy.DataGroupPublished, field("x", "1"))
			second, err := h.AddDataGroupVersion(ctx, h.tenant, first)
			h.must(err)
			ofGroup := field("a", "2")
			ofGroup.FieldType, ofGroup.FieldTypeID = policy.TypeCollection, "g"
			h.must(errorOf(h.UpdateField(ctx, h.ws("second"), ofGroup)))
			s := h.before(1, func() { h.move(second, policy.DataGroupPublished) })
			h.must(errorOf(s.SetDataGroupStatus(ctx, h.tenant, first, policy.DataGroupArchived, "")))
			contents, err := h.ReadContents(ctx, h.tenant, policyID, 2)
			if h.must(err); len(contents.DataGroups) != 1 || contents.DataGroups[0].Version != 2 {
				h.Errorf("the draft has the data groups %+v, want version 2 of g", contents.DataGroups)
			}
		},
		"the draft that is locked is published": func(h *harness) {
			s := h.before(1, func() { h.publish(2) })
			h.want(errorOf(s.SetLocked(ctx, h.ws("second"), true)), policy.ErrNoDraft)
		},
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			h := &harness{h.Store, t, h.db, h.files, ""}
			h.inTenant(name, published)
			do(h)
		})
	}
}

// A draft from a version has six writes: the changes of five fields, and the one that lists it. Others overwrite a
// change before the last one: the draft is not listed without it.
func TestOverwrittenBeforeItIsListed(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.inTenant("overwritten", draftFrom.prepare)
	h.draft("fourth")
	s := h.before(6, func() { h.add("fourth", "a") })
	h.wantLocked(draftFrom.do(t.Context(), h, s), "a", "fourth")
	h.wantChanges(map[string]string{"a": "Added by fourth"})
}

// A field is added and published before any change of the draft is written, so that the change which adds it is not
// wanted any more at the second attempt. A workspace overwrites it before that attempt removes it: its change stays.
func TestOverwrittenBeforeItIsRemoved(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.inTenant("removed", draftFrom.prepare)
	h.draft("fourth")
	var publish, overwrite sync.Once
	s := h.newProcess(&process{onWrite: func(n int64) {
		// The first attempt has six writes. Once lets none of an attempt go on before its function has returned.
		if n <= 6 {
			publish.Do(func() {
				h.add("fourth", "a")
				h.publish(3)
				h.draft("fifth")
			})
			return
		}
		overwrite.Do(func() { h.must(errorOf(h.UpdateField(t.Context(), h.ws("fifth"), field("a", "5")))) })
	}})
	h.must(draftFrom.do(t.Context(), h, s))
	h.wantChanges(map[string]string{"a": "Updated by fifth", "b": "Added by third", "c": "Added by third",
		"e": "Deleted by third", "f": "Deleted by third"})
}

// A workspace has read a change that does not count, and the draft of that change is listed before it overwrites it.
func TestListedBeforeItIsOverwritten(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.inTenant("listed", draftFrom.prepare)
	h.draft("fourth")
	isWritten, list, isListed := make(chan bool), make(chan bool), make(chan error)
	listing := h.before(6, func() {
		isWritten <- true
		<-list
	})
	go func() { isListed <- draftFrom.do(h.Context(), h, listing) }()
	<-isWritten
	s := h.before(1, func() {
		list <- true
		h.must(<-isListed)
	})
	_, err := s.AddField(t.Context(), h.ws("fourth"), field("a", "1"))
	h.wantLocked(err, "a", "third")
	h.wantChanges(map[string]string{"a": "Added by third", "b": "Added by third", "c": "Added by third",
		"e": "Deleted by third", "f": "Deleted by third"})
}

// Contents are of one moment, even if a version is published, and the draft changed, while the draft is read.
func TestContentsOfOneMoment(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	h.publish(1)
	h.draft("second")
	h.draft("third")
	h.add("third", "c")
	reads := int64(0)
	p := &process{}
	p.onRead = func(n int64) {
		reads++
		// The third read is the read of the changes.
		if n == 3 {
			h.add("second", "b")
			h.publish(3)
		}
	}
	s, err := h.newProcess(p).ReadContents(t.Context(), h.tenant, policyID, 2)
	h.must(err)
	if got := fieldsOf(s.Contents); len(got) != 3 || s.Revision != 2 || reads <= 4 {
		t.Errorf("fields %v of the revision %d, after %d reads", got, s.Revision, reads)
	}
}
