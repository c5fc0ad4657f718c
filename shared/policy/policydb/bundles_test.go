package policydb_test

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
	"sluice/shared/policy/policytest"
)

// The same contents are one object, independently of their publisher and their history.
func TestObjectsAreNamedByTheirContents(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	h.add("first", "b", "a")
	first := h.publish(1)
	h.must(errorOf(h.UpdateField(ctx, h.ws(h.draft("second").WorkspaceID), field("a", "2"))))
	second := h.publish(2)
	h.must(errorOf(h.CreateDraftFrom(ctx, h.tenant, policyID, 1, newDraft("third"))))
	third := h.publish(3)
	h.draft("fourth")
	fourth := h.publish(4)
	// The third has the fields of the first, but a is newer.
	if first.Digest == second.Digest || first.Digest == third.Digest || third.Digest != fourth.Digest {
		t.Errorf("digests %.8s %.8s %.8s %.8s", first.Digest, second.Digest, third.Digest, fourth.Digest)
	}
	if keys := h.files.Keys(); len(keys) != 3 || !strings.HasPrefix(keys[0], policydb.KeyPrefix+h.tenant+"/") {
		t.Errorf("objects %q", keys)
	}
}

func TestDamagedObjects(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	digest := h.publish(1).Digest
	key := "policies/" + h.tenant + "/" + digest + ".json.gz"
	good := h.files.Get(key)
	cases := map[string][]byte{
		"no gzip":              []byte("{}"),
		"empty":                {},
		"cut off":              good[:len(good)-9],
		"other contents":       pack([]byte(`{"entityType":"Company","fields":[]}`)),
		"other contents added": append(bytes.Clone(good), pack([]byte("{}"))...),
	}
	for name, object := range cases {
		h.files.Put(key, object)
		// A store of its own has nothing in memory.
		store := h.newProcess(&process{})
		if s, err := store.ReadContents(t.Context(), h.tenant, policyID, 1); err == nil {
			t.Errorf("%s: read %v", name, s.Contents)
		} else if errors.Is(err, policy.ErrNotFound) {
			t.Errorf("%s: got the error %v, want another one than for a missing version", name, err)
		}
	}
	h.files.Put(key, good)
	errtest.Fatal(t, errtest.Of(h.newProcess(&process{}).ReadContents(t.Context(), h.tenant, policyID, 1)))
}

func TestMissingObject(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.publish(1)
	store := policydb.New(h.db, policytest.Table, policytest.NewFiles(), policytest.CountIDs("x"))
	_, err := store.ReadContents(t.Context(), h.tenant, policyID, 1)
	h.want(err, fs.ErrNotExist)
	if errors.Is(err, policy.ErrNotFound) {
		t.Errorf("got %v, want another error than for a missing version", err)
	}
}

func TestCheckOfContents(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	wrong := errors.New("wrong")
	var seen policy.Contents
	_, err := h.Publish(t.Context(), h.tenant, policyID, 1, policy.Publication{
		By: stamp(1), Check: func(c policy.Contents) error {
			seen = c
			return wrong
		}})
	if err != wrong || len(seen.Fields) != 1 || seen.EntityType != "Company" {
		t.Errorf("got the error %v after a check of %v", err, seen)
	}
	difftest.Len(t, "objects", 0, h.files.Keys())
	h.add("first", "b")
}
