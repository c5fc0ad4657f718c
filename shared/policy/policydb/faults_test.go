package policydb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/policy"
	"sluice/shared/policy/policydb"
	"sluice/shared/policy/policytest"
)

var errDead = errors.New("the process has died")

// process is a process that dies at one of its writes: before or after it is stored. Nothing that it does afterwards
// has an effect.
type process struct {
	files *policytest.Files
	// diesAt is the number of the write, from 1; 0 for a process that does not die.
	diesAt int64
	// stores means that the last write is stored.
	stores bool
	writes atomic.Int64
	reads  atomic.Int64
	isDead atomic.Bool
	// onWrite is called before each write with its number, if it is not nil.
	onWrite func(n int64)
	// onRead is called before each read with its number, if it is not nil.
	onRead func(n int64)
}

// newProcess returns a store that belongs to a process of its own.
func (h *harness) newProcess(p *process) *policydb.Store {
	p.files = h.files
	options := h.db.Options()
	options.HTTPClient = p
	options.RetryMaxAttempts = 1
	return policydb.New(dynamodb.New(options), policytest.Table, p, policytest.CountIDs(fmt.Sprintf("%p", p)))
}

// write does a write.
func (p *process) write(do func() error) error {
	n := p.writes.Add(1)
	if p.onWrite != nil {
		p.onWrite(n)
	}
	if n == p.diesAt {
		p.isDead.Store(true)
		if p.stores {
			return errors.Join(do(), errDead)
		}
	}
	if p.isDead.Load() {
		return errDead
	}
	return do()
}

// read is called before each read.
func (p *process) read() error {
	n := p.reads.Add(1)
	if p.onRead != nil {
		p.onRead(n)
	}
	if p.isDead.Load() {
		return errDead
	}
	return nil
}

// Do implements aws.HTTPClient.
func (p *process) Do(r *http.Request) (response *http.Response, err error) {
	operation := r.Header.Get("X-Amz-Target")
	if strings.HasSuffix(operation, "Get") || strings.HasSuffix(operation, "GetItem") ||
		strings.HasSuffix(operation, "Query") {
		if err := p.read(); err != nil {
			return nil, err
		}
		return http.DefaultClient.Do(r)
	}
	err = p.write(func() error {
		response, err = http.DefaultClient.Do(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// Open implements policydb.Files.
func (p *process) Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	return p.files.Open(ctx, key, etag, from, to)
}

// WriteObject implements policydb.Files.
func (p *process) WriteObject(ctx context.Context, key string, write func(io.Writer) error) error {
	return p.write(func() error { return p.files.WriteObject(ctx, key, write) })
}

// deadlyCase is an operation on a policy that may end half way.
type deadlyCase struct {
	name    string
	prepare func(h *harness)
	do      func(ctx context.Context, h *harness, s *policydb.Store) error
	// again is the error of doing it a second time.
	again error
}

// draftFrom makes a draft that adds the fields a, b and c, and deletes e and f.
var draftFrom = deadlyCase{"create a draft from a version", func(h *harness) {
	h.add("first", "a", "b", "c", "d")
	h.publish(1)
	h.draft("second")
	for _, id := range []string{"a", "b", "c"} {
		_, err := h.DeleteField(h.Context(), h.ws("second"), id)
		h.must(err)
	}
	h.add("second", "e", "f")
	h.publish(2)
}, func(ctx context.Context, h *harness, s *policydb.Store) error {
	_, err := s.CreateDraftFrom(ctx, h.tenant, policyID, 1, newDraft("third"))
	return err
}, policy.ErrExists}

var deadlyCases = []deadlyCase{
	{"create a draft", func(h *harness) {}, func(ctx context.Context, h *harness, s *policydb.Store) error {
		_, err := s.CreateDraft(ctx, h.tenant, policyID, newDraft("second"))
		return err
	}, policy.ErrExists},
	{"add a field", func(h *harness) {}, func(ctx context.Context, h *harness, s *policydb.Store) error {
		_, err := s.AddField(ctx, h.ws("first"), field("a", "1"))
		return err
	}, policy.ErrExists},
	{"delete a field", func(h *harness) { h.add("first", "a") },
		func(ctx context.Context, h *harness, s *policydb.Store) error {
			_, err := s.DeleteField(ctx, h.ws("first"), "a")
			return err
		}, policy.ErrNotFound},
	{"lock", func(h *harness) {}, func(ctx context.Context, h *harness, s *policydb.Store) error {
		_, err := s.SetLocked(ctx, h.ws("first"), true)
		return err
	}, nil},
	{"publish", func(h *harness) { h.add("first", "a", "b") },
		func(ctx context.Context, h *harness, s *policydb.Store) error {
			_, err := s.Publish(ctx, h.tenant, policyID, 1, policy.Publication{By: stamp(1)})
			return err
		}, nil},
	{"discard", func(h *harness) { h.add("first", "a", "b") },
		func(ctx context.Context, h *harness, s *policydb.Store) error {
			return s.Discard(ctx, h.tenant, policyID, 1)
		}, policy.ErrNotFound},
	{"archive", func(h *harness) { h.publish(1) }, func(ctx context.Context, h *harness, s *policydb.Store) error {
		_, err := s.Archive(ctx, h.tenant, policyID, 1, "why", stamp(2))
		return err
	}, nil},
	draftFrom,
	{"publish a data group", func(h *harness) { h.group("g", policy.DataGroupPending, field("x", "1")) },
		func(ctx context.Context, h *harness, s *policydb.Store) error {
			g, err := s.GetDataGroup(ctx, h.tenant, "g", 1)
			if err == nil {
				_, err = s.SetDataGroupStatus(ctx, h.tenant, g, policy.DataGroupPublished, "")
			}
			return err
		}, nil},
}

// A process dies at each of its writes, before or after it is stored: readers see its whole operation, or nothing, and
// the next attempt completes it.
func TestDeathAtEachWrite(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, c := range deadlyCases {
		h.inTenant(c.name+", undisturbed", c.prepare)
		before := h.everything()
		whole := &process{}
		h.must(c.do(t.Context(), h, h.newProcess(whole)))
		after := h.everything()
		h.dieAndTryAgain(c, &process{diesAt: 1}, before, after)
		// Dying after a write is stored leaves what dying before the next one leaves.
		for n := range whole.writes.Load() {
			h.dieAndTryAgain(c, &process{diesAt: n + 1, stores: true}, before, after)
		}
	}
}

// dieAndTryAgain does something in a process that dies, and then again.
func (h *harness) dieAndTryAgain(c deadlyCase, p *process, before, after []string) {
	h.Helper()
	name := fmt.Sprintf("%s, dying at write %d, which is stored: %t", c.name, p.diesAt, p.stores)
	h.inTenant(name, c.prepare)
	err := c.do(h.Context(), h, h.newProcess(p))
	if !p.isDead.Load() {
		h.Fatalf("%s: no process died", name)
	}
	got := h.everything()
	isDone := cmp.Equal(got, after)
	if !isDone && (err == nil || !cmp.Equal(got, before)) {
		h.Fatalf("%s: the error %v and the state\n%q\nwant\n%q\nor\n%q", name, err, got, before, after)
	}
	err = c.do(h.Context(), h, h.Store)
	if isDone && !errors.Is(err, c.again) || !isDone && err != nil {
		h.Fatalf("%s: the next attempt returns the error %v", name, err)
	}
	if diff := cmp.Diff(after, h.everything()); diff != "" {
		h.Fatalf("%s: after the next attempt (-want +got)\n%s", name, diff)
	}
}

// inTenant makes the policy of a tenant of that name, and prepares it.
func (h *harness) inTenant(name string, prepare func(*harness)) {
	h.Helper()
	h.tenant = name
	h.create(policyID)
	prepare(h)
}

// everything returns the policy and the data group "g" as readers see them.
func (h *harness) everything() []string {
	h.Helper()
	state := h.state(1, 3)
	g, err := h.GetDataGroup(h.Context(), h.tenant, "g", 1)
	if !errors.Is(err, policy.ErrNotFound) {
		h.must(err)
	}
	return append(state, string(g.Status))
}

// The writes of a process that died while it made a draft lock nothing.
func TestDeadDraftLocksNothing(t *testing.T) {
	t.Parallel()
	h := start(t)
	for n := int64(1); n <= 6; n++ {
		h.inTenant(fmt.Sprint(n), draftFrom.prepare)
		if err := draftFrom.do(t.Context(), h, h.newProcess(&process{diesAt: n, stores: true})); err == nil {
			t.Fatalf("the process did not die at write %d", n)
		}
		h.draft("fourth")
		if n == 6 {
			h.wantChanges(map[string]string{"a": "Added by third", "b": "Added by third", "c": "Added by third",
				"e": "Deleted by third", "f": "Deleted by third"})
			return // the last write is that which lists the draft
		}
		h.add("fourth", "a", "b", "c")
		_, err := h.DeleteField(t.Context(), h.ws("fourth"), "e")
		h.must(err)
		_, err = h.UpdateField(t.Context(), h.ws("fourth"), field("f", "4"))
		h.must(err)
		h.wantChanges(map[string]string{"a": "Added by fourth", "b": "Added by fourth", "c": "Added by fourth",
			"e": "Deleted by fourth", "f": "Updated by fourth"})
		_, err = h.CreateDraftFrom(t.Context(), h.tenant, policyID, 1, newDraft("third"))
		h.wantLocked(err, "a", "fourth")
		h.publish(3)
		if rows := h.storedChanges(); len(rows) != 0 {
			t.Fatalf("changes that are left: %v", rows)
		}
	}
}

// storedChanges returns the parts of all rows of changes, dead ones included.
func (h *harness) storedChanges() []string {
	h.Helper()
	var parts []string
	pages := dynamodb.NewScanPaginator(h.db, &dynamodb.ScanInput{TableName: aws.String(policytest.Table)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(h.Context())
		h.must(err)
		for _, item := range page.Items {
			owner, part := textOf(item["owner"]), textOf(item["part"])
			if strings.HasPrefix(owner, h.tenant+"#") && strings.HasPrefix(part, "change#") {
				parts = append(parts, part)
			}
		}
	}
	return parts
}
