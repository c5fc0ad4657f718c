package documentdb_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
)

// shelf is a tenant's documents with the bytes of their files, on which actors take steps.
type shelf struct {
	t      *testing.T
	store  *documentdb.Store
	tenant string
	bytes  map[string]bool // files that lie in the bucket
	trace  string
}

// actor is a request that is under way: its steps, to be taken in order. A step that returns false ends it.
type actor struct {
	name  string
	begin func(*shelf) []func() bool
}

func (s *shelf) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("%s: %s", s.trace, fmt.Sprintf(format, args...))
}

// get reads the document that an actor begins with. One that is gone ends the actor.
func (s *shelf) get(id string, into *document.Document) func() bool {
	return func() bool {
		var err error
		if *into, _, err = s.store.Get(context.Background(), s.tenant, id); err != nil &&
			!errors.Is(err, document.ErrNotFound) {
			s.fail("get: %v", err)
		}
		return err == nil
	}
}

// release is the two steps by which a document gives up its file.
func (s *shelf) release(d *document.Document, last *bool) (mark, remove func() bool) {
	return func() bool {
			var err error
			if *last, err = s.store.ReleaseFile(context.Background(), *d); err != nil {
				s.fail("release: %v", err)
			}
			return err == nil
		}, func() bool {
			if *last {
				delete(s.bytes, d.FileID)
			}
			return true
		}
}

// outcome ends an actor's last step. One that met another's change begins again, as the handlers do.
func (s *shelf) outcome(err error, a actor) bool {
	switch {
	case errors.Is(err, document.ErrChanged):
		s.trace += " again:" + a.name
		s.finish(a)
	case err != nil:
		s.fail("%s: %v", a.name, err)
	}
	return true
}

func (s *shelf) finish(a actor) {
	for _, step := range a.begin(s) {
		if !step() {
			return
		}
	}
}

func deletion(id string) actor {
	a := actor{name: "delete " + id}
	a.begin = func(s *shelf) []func() bool {
		var d document.Document
		var last bool
		mark, remove := s.release(&d, &last)
		return []func() bool{s.get(id, &d), mark, remove, func() bool {
			return s.outcome(s.store.Delete(context.Background(), d, last), a)
		}}
	}
	return a
}

func replacement(id string) actor {
	a := actor{name: "replace " + id}
	a.begin = func(s *shelf) []func() bool {
		var d document.Document
		var last bool
		mark, remove := s.release(&d, &last)
		return []func() bool{s.get(id, &d), mark, remove, func() bool {
			had := d.FileID
			d.ExpectFile("new of "+id, "b.pdf", 0)
			_, err := s.store.ReplaceFile(context.Background(), d, had, last)
			return s.outcome(err, a)
		}}
	}
	return a
}

func cloning(id, as string) actor {
	return actor{"clone " + id, func(s *shelf) []func() bool {
		var d document.Document
		return []func() bool{s.get(id, &d), func() bool {
			err := s.store.Create(context.Background(), d.Clone(as, "c", at), true)
			if err != nil && !errors.Is(err, document.ErrNotFound) {
				s.fail("clone: %v", err)
			}
			return true
		}}
	}}
}

// uploading is a PUT by a signed URL and, some time later, its event.
func uploading(file string) actor {
	return actor{"upload", func(s *shelf) []func() bool {
		return []func() bool{func() bool {
			s.bytes[file] = true
			return true
		}, func() bool {
			err := s.store.RecordScan(context.Background(), s.tenant, file, document.State{Status: document.Completed})
			if errors.Is(err, document.ErrNotFound) {
				delete(s.bytes, file)
			} else if err != nil {
				s.fail("settle: %v", err)
			}
			return true
		}}
	}}
}

// check holds when nothing is under way: every file of a document is counted, its bytes are there if a reader is told
// so, and no bytes are left that belong to no document.
func (s *shelf) check() {
	s.t.Helper()
	found, _, err := s.store.List(context.Background(), s.tenant, document.Scope{EntityID: "e"}, "", 100)
	errtest.Fatal(s.t, err)
	shared := map[string]int64{}
	for _, d := range found {
		shared[d.FileID]++
	}
	for _, d := range found {
		if d.StoredFile.ID != d.FileID || d.StoredFile.Documents != shared[d.FileID] {
			s.fail("document %s: file %q says that %d documents share it, not %d", d.ID, d.FileID,
				d.StoredFile.Documents, shared[d.FileID])
		}
		if d.IsReadable(d.StoredFile) && !s.bytes[d.FileID] {
			s.fail("document %s: readable, and the bytes are gone", d.ID)
		}
	}
	for file := range s.bytes {
		if shared[file] == 0 {
			s.fail("bytes of %s are left over", file)
		}
	}
}

// orders visits all ways to take n[i] steps of each i.
func orders(n []int, taken []int, visit func([]int)) {
	done := true
	for i := range n {
		if n[i] > 0 {
			done = false
			n[i]--
			orders(n, append(taken, i), visit)
			n[i]++
		}
	}
	if done {
		visit(taken)
	}
}

// mostOrders keeps the test short: of more, those at equal distances are tried.
const mostOrders = 50

// In any order of their steps, requests for one file and its upload leave whole documents behind.
func TestAnyOrderOfSteps(t *testing.T) {
	ctx := context.Background()
	store := documentdb.New(dynamotest.Start(t), "test-documents")
	for name, tt := range map[string]struct {
		uploaded bool // before
		copies   int  // of document 0, before
		actors   []actor
		steps    []int
	}{
		"clone while delete":  {true, 0, []actor{cloning("0", "x"), deletion("0")}, []int{2, 4}},
		"upload while delete": {false, 0, []actor{uploading("f"), deletion("0")}, []int{2, 4}},
		"upload while the last two go": {false, 1, []actor{uploading("f"), deletion("0"), deletion("1")},
			[]int{2, 4, 4}},
		"original and copy go": {true, 1, []actor{deletion("0"), deletion("1")}, []int{4, 4}},
		"the same goes twice":  {true, 0, []actor{deletion("0"), deletion("0")}, []int{4, 4}},
		"clone and upload while delete": {false, 0, []actor{cloning("0", "x"), uploading("f"), deletion("0")},
			[]int{2, 2, 4}},
		"two clones":                          {true, 0, []actor{cloning("0", "x"), cloning("0", "y")}, []int{2, 2}},
		"upload while replace":                {false, 0, []actor{uploading("f"), replacement("0")}, []int{2, 4}},
		"clone while replace":                 {true, 0, []actor{cloning("0", "x"), replacement("0")}, []int{2, 4}},
		"replace while delete":                {true, 0, []actor{replacement("0"), deletion("0")}, []int{4, 4}},
		"the original is replaced, copy goes": {true, 1, []actor{replacement("0"), deletion("1")}, []int{4, 4}},
	} {
		run, all := 0, 0
		orders(tt.steps, nil, func([]int) { all++ })
		orders(tt.steps, nil, func(order []int) {
			if run++; run%(all/mostOrders+1) != 0 {
				return
			}
			s := &shelf{t: t, store: store, tenant: fmt.Sprint(name, run), bytes: map[string]bool{},
				trace: fmt.Sprint(name, " ", order)}
			d := paper("0", "f")
			d.Tenant = s.tenant
			errtest.Fatal(t, store.Create(ctx, d, false))
			for i := range tt.copies {
				errtest.Fatal(t, store.Create(ctx, d.Clone(fmt.Sprint(i+1), "c", at), true))
			}
			if tt.uploaded {
				s.finish(uploading("f"))
			}
			var left [][]func() bool
			for _, a := range tt.actors {
				left = append(left, a.begin(s))
			}
			for _, i := range order {
				if len(left[i]) == 0 {
					continue
				}
				if left[i][0]() {
					left[i] = left[i][1:]
				} else {
					left[i] = nil
				}
			}
			s.check()
		})
	}
}
