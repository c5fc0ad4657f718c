package documentdb_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document"
	"sluice/shared/platform/document/documentdb"
)

func paper(id, file string) document.Document {
	return document.Document{
		ID: id, Tenant: "t", EntityType: document.Entity, EntityID: "e", JourneyID: "j", FileName: "a.pdf",
		FileID: file,
		State:  document.State{Status: document.Processing}, CreatedAt: at, UpdatedAt: at, Version: 1,
		Metadata: map[string]string{"k": "v"},
	}
}

func TestDocumentLife(t *testing.T) {
	ctx := context.Background()
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	d := paper("1", "f")
	if _, _, err := s.Get(ctx, "t", "1"); !errors.Is(err, document.ErrNotFound) {
		t.Errorf("before it is there: %v", err)
	}
	errtest.Is(t, "a change before it is there", errtest.Of(s.Save(ctx, d)), document.ErrNotFound)
	errtest.Fatal(t, s.Create(ctx, d, false))
	errtest.Is(t, "twice", s.Create(ctx, d, false), document.ErrExists)
	if _, _, err := s.Get(ctx, "other", "1"); !errors.Is(err, document.ErrNotFound) {
		t.Errorf("another tenant: %v", err)
	}
	got, file, err := s.Get(ctx, "t", "1")
	if diff := cmp.Diff(d, got); err != nil || diff != "" || file.Documents != 1 ||
		got.EffectiveState(file).Status != document.Processing {
		t.Errorf("%v %+v %s", err, file, diff)
	}
	got.FriendlyName = "x"
	saved := errtest.Must(s.Save(ctx, got))(t)
	difftest.Equal(t, "Version", int64(2), saved.Version)
	errtest.Is(t, "a stale change", errtest.Of(s.Save(ctx, got)), document.ErrChanged)
	saved.Metadata = map[string]string{"k": strings.Repeat("x", 400_000)}
	if _, err := s.Save(ctx, saved); fault.As(err).Kind != fault.TooLarge {
		t.Errorf("too large: %v", err)
	}
	clean := document.State{Status: document.Completed}
	errtest.Is(t, "an unknown file", s.RecordScan(ctx, "t", "none", clean), document.ErrNotFound)
	for _, tt := range []struct {
		state document.State
		want  error
	}{{clean, nil}, {clean, nil}, {document.State{Status: document.Infected}, document.ErrScanRecorded}} {
		errtest.Is(t, fmt.Sprintf("%+v", tt.state), s.RecordScan(ctx, "t", "f", tt.state), tt.want)
	}
	if got, file, err = s.Get(ctx, "t", "1"); err != nil || got.EffectiveState(file) != clean {
		t.Errorf("a later outcome counts: %v %+v", err, file)
	}
}

// A file goes with its last document, and once that is decided nobody can share it.
func TestSharedFile(t *testing.T) {
	ctx := context.Background()
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	errtest.Is(t, "a share of no file", s.Create(ctx, paper("0", "nothing"), true), document.ErrNotFound)
	first, second := paper("1", "f"), paper("2", "f")
	errtest.Fatal(t, errors.Join(s.Create(ctx, first, false), s.Create(ctx, second, true)))
	if last, err := s.ReleaseFile(ctx, first); last || err != nil {
		t.Errorf("one of two: %v %v", last, err)
	}
	errtest.Fatal(t, s.Delete(ctx, first, false))
	errtest.Is(t, "twice", s.Delete(ctx, first, false), document.ErrChanged)
	errtest.Is(t, "the last without release", s.Delete(ctx, second, false), document.ErrChanged)
	for range 2 {
		if last, err := s.ReleaseFile(ctx, second); !last || err != nil {
			t.Errorf("the last: %v %v", last, err)
		}
	}
	errtest.Is(t, "a share of a file that goes", s.Create(ctx, paper("3", "f"), true), document.ErrNotFound)
	errtest.Fatal(t, s.Delete(ctx, second, true))
	if found, _, err := s.List(ctx, "t", document.Scope{EntityID: "e"}, "", 100); err != nil || len(found) != 0 {
		t.Errorf("left over: %v %v", found, err)
	}
}

func TestDocumentLists(t *testing.T) {
	ctx := context.Background()
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	const n = 101 // one more than a page of the store
	for i := range n {
		d := paper(fmt.Sprint(i), fmt.Sprintf("f%d", i))
		d.CreatedAt = at.Add(time.Duration(i) * time.Second)
		if i == 0 {
			d.JourneyID = ""
		}
		errtest.Fatal(t, s.Create(ctx, d, false))
	}
	for g, want := range map[document.Scope]int{
		{EntityID: "e"}: n, {JourneyID: "j"}: n - 1, {EntityID: "e", JourneyID: "j"}: n - 1,
		{EntityID: "ej"}: 0, {JourneyID: "ej"}: 0, {EntityID: "E"}: 0,
	} {
		found, next, err := s.List(ctx, "t", g, "", 60)
		if err != nil || len(found) != min(want, 60) || (next != "") != (want > 60) {
			t.Fatalf("%+v: %d documents, next %q, %v", g, len(found), next, err)
		}
		if next == "" {
			continue
		}
		found, next, err = s.List(ctx, "t", g, found[49].Position, 60)
		if err != nil || len(found) != want-50 || next != "" {
			t.Errorf("%+v behind the 50th: %d documents, next %q, %v", g, len(found), next, err)
		}
	}
	for _, size := range []int{1, 99, 100, 101, 500} {
		var ids []string
		for after, first := "", true; first || after != ""; first = false {
			found, next, err := s.List(ctx, "t", document.Scope{EntityID: "e"}, after, size)
			if err != nil || len(found) > size {
				t.Fatalf("%d: %d documents, %v", size, len(found), err)
			}
			for _, f := range found {
				ids = append(ids, f.ID)
			}
			after = next
		}
		if len(ids) != n || ids[0] != "0" || ids[n-1] != "100" {
			t.Errorf("pages of %d: %d documents: %v", size, len(ids), ids)
		}
	}
}

// A document that gets another file leaves the one it had to those that share it.
func TestReplaceFile(t *testing.T) {
	ctx := context.Background()
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	first, second := paper("1", "f"), paper("2", "f")
	errtest.Fatal(t, errors.Join(s.Create(ctx, first, false), s.Create(ctx, second, true)))
	first.ExpectFile("g", "b.pdf", 0)
	got, err := s.ReplaceFile(ctx, first, "f", false)
	if err != nil || got.Version != 2 {
		t.Fatalf("%v %+v", err, got)
	}
	for id, want := range map[string]string{"1": "g", "2": "f"} {
		if d, file, err := s.Get(ctx, "t", id); err != nil || d.FileID != want || file.ID != want ||
			file.Documents != 1 {
			t.Errorf("document %s: %v %+v", id, err, file)
		}
	}
	errtest.Is(t, "of an old version", errtest.Of(s.ReplaceFile(ctx, first, "f", false)), document.ErrChanged)
	moved := second
	moved.ExpectFile("h", "c.pdf", 0)
	errtest.Is(t, "without release", errtest.Of(s.ReplaceFile(ctx, moved, "f", false)), document.ErrChanged)
	if last, err := s.ReleaseFile(ctx, second); !last || err != nil {
		t.Fatal(last, err)
	}
	errtest.Is(t, "an upload to a file that goes",
		s.RecordScan(ctx, "t", "f", document.State{Status: document.Completed}), document.ErrNotFound)
	errtest.Fatal(t, errtest.Of(s.ReplaceFile(ctx, moved, "f", true)))
	errtest.Is(t, "an upload to a file that is gone",
		s.RecordScan(ctx, "t", "f", document.State{Status: document.Completed}), document.ErrNotFound)
	errtest.Is(t, "of no document", errtest.Of(s.ReplaceFile(ctx, paper("3", "i"), "f", false)), document.ErrChanged)
}

// Each condition of a write refuses it by itself, where all others hold.
func TestStaleWrites(t *testing.T) {
	ctx := t.Context()
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	first, second, alone := paper("1", "f"), paper("2", "f"), paper("3", "g")
	errtest.Fatal(t, errors.Join(s.Create(ctx, first, false), s.Create(ctx, second, true),
		s.Create(ctx, alone, false)))
	stale := first
	first.FriendlyName = "x"
	first = errtest.Must(s.Save(ctx, first))(t)
	replaced := stale
	replaced.ExpectFile("h", "b.pdf", 0)
	errtest.Is(t, "replacing the shared file of an old version", errtest.Of(s.ReplaceFile(ctx, replaced, "f", false)),
		document.ErrChanged)
	errtest.Is(t, "deleting an old version with a shared file", s.Delete(ctx, stale, false), document.ErrChanged)
	errtest.Is(t, "deleting with a file that was not released", s.Delete(ctx, alone, true), document.ErrChanged)
	errtest.Fails(t, "a document with a new file that exists was created", s.Create(ctx, paper("4", "g"), false))
	for id, want := range map[string]document.Document{"1": first, "2": second, "3": alone} {
		got, file, err := s.Get(ctx, "t", id)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || file.ID != want.FileID {
			t.Errorf("document %s after refused writes: %v, file %+v (-want +got)\n%s", id, err, file, diff)
		}
	}
}

// held is a server on which every second write meets a transaction of someone else.
type held struct{ writes, met atomic.Int64 }

func (h *held) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	prefix := `{"__type":"com.amazonaws.dynamodb.v20120810#`
	switch operation {
	case "TransactWriteItems", "PutItem", "UpdateItem":
		if h.writes.Add(1)%2 == 0 {
			break
		}
		h.met.Add(1)
		if operation == "TransactWriteItems" {
			return dynamotest.Respond(http.StatusBadRequest,
				prefix+`TransactionCanceledException","CancellationReasons":[{"Code":"None"},`+
					`{"Code":"TransactionConflict"}]}`), nil
		}
		return dynamotest.Respond(http.StatusBadRequest, prefix+`TransactionConflictException"}`), nil
	}
	return http.DefaultClient.Do(r)
}

func TestWritesWaitForTransactionsOfOthers(t *testing.T) {
	ctx := context.Background()
	h := &held{}
	options := dynamotest.Start(t).Options()
	options.HTTPClient = h
	s := documentdb.New(dynamodb.New(options), "test-documents")
	d := paper("1", "f")
	errtest.Fatal(t, errors.Join(s.Create(ctx, d, false), s.Create(ctx, paper("2", "f"), true),
		s.RecordScan(ctx, "t", "f", document.State{Status: document.Completed})))
	d = errtest.Must(s.Save(ctx, d))(t)
	if last, err := s.ReleaseFile(ctx, d); last || err != nil {
		t.Error(last, err)
	}
	errtest.Fatal(t, s.Delete(ctx, d, false))
	difftest.Equal(t, "met", int64(6), h.met.Load())
	short, cancel := context.WithCancel(ctx)
	cancel()
	errtest.Is(t, "past its time", s.Create(short, paper("3", "g"), false), context.Canceled)
}

var at = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

func TestPagingKey(t *testing.T) {
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	first, err1 := s.PagingKey(t.Context(), []byte("first"))
	second, err2 := s.PagingKey(t.Context(), []byte("second"))
	if err1 != nil || err2 != nil || string(first) != "first" || string(second) != "first" {
		t.Errorf("keys %q and %q, want the first candidate twice; %v, %v", first, second, err1, err2)
	}
}

// A file waits from its creation on until its scan has an outcome, or it is about to be deleted.
func TestWaitingFiles(t *testing.T) {
	ctx := t.Context()
	s := documentdb.New(dynamotest.Start(t), "test-documents")
	for i := range 40 {
		errtest.Fatal(t, s.Create(ctx, paper(fmt.Sprint(i), fmt.Sprintf("f%d", i)), false))
	}
	waiting := func(before time.Time) map[string]bool {
		t.Helper()
		found := map[string]bool{}
		err := s.EachWaiting(ctx, before, func(f document.WaitingFile) error {
			if f.Tenant != "t" || !f.Since.Equal(at) || found[f.ID] {
				t.Errorf("got %+v, want each file of the tenant once, since %v", f, at)
			}
			found[f.ID] = true
			return nil
		})
		errtest.Fatal(t, err)
		return found
	}
	difftest.Equal(t, "files are looked at before their time", 0, len(waiting(at)))
	difftest.Equal(t, "files wait", 40, len(waiting(at.Add(time.Second))))
	errtest.Fatal(t, s.RecordScan(ctx, "t", "f1", document.State{Status: document.Completed}))
	if last, err := s.ReleaseFile(ctx, paper("2", "f2")); err != nil || !last {
		t.Fatalf("last %t, %v", last, err)
	}
	replaced := paper("3", "new")
	replaced.UpdatedAt = at.Add(time.Hour)
	errtest.Fatal(t, errtest.Of(s.ReleaseFile(ctx, paper("3", "f3"))))
	errtest.Fatal(t, errtest.Of(s.ReplaceFile(ctx, replaced, "f3", true)))
	for _, id := range []string{"f1", "f4", "gone"} {
		errtest.Fatal(t, s.Postpone(ctx, document.WaitingFile{Tenant: "t", ID: id}, at.Add(time.Minute)))
	}
	found := waiting(at.Add(time.Second))
	if len(found) != 36 || found["f1"] || found["f2"] || found["f3"] || found["f4"] || found["new"] {
		t.Errorf("%d files wait: %v; want 36 without f1 to f4 and the new one", len(found), found)
	}
	if !waiting(at.Add(2 * time.Minute))["f4"] {
		t.Error("the postponed file is not looked at later")
	}
	stop := errors.New("stop")
	errtest.Is(t, "EachWaiting",
		s.EachWaiting(ctx, at.Add(time.Second), func(document.WaitingFile) error { return stop }), stop)
}
