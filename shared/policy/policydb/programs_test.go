package policydb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
)

// program is a compiled version, as these tests need it: the names of its fields.
type program map[string]string

// loader is a loader of programs in a process whose reads are counted.
type loader struct {
	*policydb.Programs[program]
	process  *process
	compiled atomic.Int64
	// err is the error of compiling.
	err error
}

func (h *harness) newLoader(maxBytes int64) *loader {
	l := &loader{process: &process{}}
	l.Programs = policydb.NewPrograms(h.newProcess(l.process), func(c policy.Contents) (program, error) {
		l.compiled.Add(1)
		return fieldsOf(c), l.err
	}, maxBytes)
	return l
}

// wantLoad loads a version that has a field "a" of a name, with a number of reads and compilations.
func (h *harness) wantLoad(l *loader, number int64, name string, reads, compilations int64) {
	h.Helper()
	readsBefore, compiledBefore := l.process.reads.Load(), l.compiled.Load()
	p, err := l.Load(h.Context(), h.tenant, policyID, number)
	h.must(err)
	if p["a"] != name {
		h.Fatalf("version %d has the field %q, want %q", number, p["a"], name)
	}
	gotReads, gotCompilations := l.process.reads.Load()-readsBefore, l.compiled.Load()-compiledBefore
	if gotReads != reads || gotCompilations != compilations {
		h.Fatalf("version %d took %d reads and was compiled %d times, want %d and %d", number, gotReads,
			gotCompilations, reads, compilations)
	}
}

// Nothing is read for a published version whose program is held, and one thing for a draft.
func TestPrograms(t *testing.T) {
	t.Parallel()
	h := start(t)
	ctx := t.Context()
	h.add("first", "a")
	h.publish(1)
	l := h.newLoader(0)
	h.wantLoad(l, 1, "1 v1", 2, 1) // the rows, the object
	h.wantLoad(l, 1, "1 v1", 0, 0)
	h.draft("second")
	h.must(errorOf(h.UpdateField(ctx, h.ws("second"), field("a", "2"))))
	h.wantLoad(l, 2, "2 v2", 4, 1) // the rows, the object of the base, the changes, the rows again
	h.wantLoad(l, 2, "2 v2", 1, 0)
	h.must(errorOf(h.UpdateField(ctx, h.ws("second"), field("a", "3"))))
	h.wantLoad(l, 2, "3 v2", 4, 1)
	// Another version is published: the draft goes on from that.
	h.publish(h.draft("third").Number)
	h.wantLoad(l, 2, "3 v2", 4, 1)
	// A data group is published: the draft may refer to it.
	h.group("g", policy.DataGroupPublished)
	h.wantLoad(l, 2, "3 v2", 4, 1)
	h.wantLoad(l, 2, "3 v2", 1, 0)
	h.publish(2)
	h.wantLoad(l, 2, "3 v2", 2, 1)
	h.wantLoad(l, 2, "3 v2", 0, 0)
	h.must(errorOf(h.Archive(ctx, h.tenant, policyID, 2, "", stamp(1))))
	h.wantLoad(l, 2, "3 v2", 0, 0)
	h.wantLoad(l, 1, "1 v1", 0, 0)

	_, err := l.Load(ctx, h.tenant, policyID, 4)
	h.want(err, policy.ErrNotFound)
	_, err = l.Load(ctx, "another tenant", policyID, 1)
	h.want(err, policy.ErrNotFound)
	_, err = l.Load(ctx, h.tenant, "another policy", 1)
	h.want(err, policy.ErrNotFound)
	discarded := h.draft("fourth").Number
	h.wantLoad(l, discarded, "3 v2", 4, 1)
	h.must(h.Discard(ctx, h.tenant, policyID, discarded))
	_, err = l.Load(ctx, h.tenant, policyID, discarded)
	h.want(err, policy.ErrNotFound)
}

// A version that cannot be compiled is not compiled again until it changes; one that could not be read is read again.
func TestProgramsThatFail(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	l := h.newLoader(0)
	l.err = errors.New("not a policy")
	for range 2 {
		if _, err := l.Load(t.Context(), h.tenant, policyID, 1); err != l.err {
			t.Fatalf("got the error %v, want %v", err, l.err)
		}
	}
	difftest.Equal(t, "times compiled", int64(1), l.compiled.Load())
	l.err = nil
	h.add("first", "b")
	h.wantLoad(l, 1, "1 v1", 3, 1)

	h.publish(1)
	l.process.isDead.Store(true)
	errtest.Is(t, "error", errtest.Of(l.Load(t.Context(), h.tenant, policyID, 1)), errDead)
	l.process.isDead.Store(false)
	h.wantLoad(l, 1, "1 v1", 2, 1)
}

// Calls at the same time make a program once. One that gives up does not disturb the others.
func TestProgramsAreMadeOnce(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	h.publish(1)
	l := h.newLoader(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := []func() error{func() error {
		if err := errorOf(l.Load(ctx, h.tenant, policyID, 1)); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("got the error %w, want that the caller gave up", err)
		}
		return nil
	}}
	for range 8 {
		calls = append(calls, func() error { return errorOf(l.Load(t.Context(), h.tenant, policyID, 1)) })
	}
	for _, err := range race(calls...) {
		h.must(err)
	}
	difftest.Equal(t, "times compiled", int64(1), l.compiled.Load())
}

// The programs that were used last are held, as far as there is room.
func TestRoomForPrograms(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	h.publish(1)
	for number := int64(2); number <= 3; number++ {
		h.draft(fmt.Sprint(number))
		h.publish(number)
	}
	l := h.newLoader(10_000) // two programs of 4 KB and a little
	h.wantLoad(l, 1, "1 v1", 2, 1)
	h.wantLoad(l, 2, "1 v1", 2, 1)
	h.wantLoad(l, 1, "1 v1", 0, 0)
	h.wantLoad(l, 3, "1 v1", 2, 1)
	h.wantLoad(l, 1, "1 v1", 0, 0)
	h.wantLoad(l, 3, "1 v1", 0, 0)
	h.wantLoad(l, 2, "1 v1", 2, 1)
	none := h.newLoader(1) // one that is too large for all of it is used, and not held
	h.wantLoad(none, 1, "1 v1", 2, 1)
	h.wantLoad(none, 1, "1 v1", 2, 1)
}

// A version is as large as its program: a data group takes room for each field that refers to it.
func TestRoomForProgramsOfDataGroups(t *testing.T) {
	t.Parallel()
	h := start(t)
	h.add("first", "a")
	h.group("g", policy.DataGroupPublished, field("inner", strings.Repeat("x", 500)))
	l := h.newLoader(10_000)
	for i := range 12 {
		f := field(fmt.Sprintf("f%d", i), "refers")
		f.FieldType, f.FieldTypeID = policy.TypeCustom, "g"
		h.must(errorOf(h.AddField(t.Context(), h.ws("first"), f)))
		if i == 0 {
			h.wantLoad(l, 1, "1 v1", 4, 1)
			h.wantLoad(l, 1, "1 v1", 1, 0)
		}
	}
	h.publish(1)
	h.wantLoad(l, 1, "1 v1", 2, 1)
	h.wantLoad(l, 1, "1 v1", 2, 1)
}
