package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/linefile"
	"sluice/sampledata"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// validated is a file and what validation makes of it.
type validated struct {
	file, report, rejected []byte
	leftOut                int64
}

// validate validates lines as the service does, with no entity that exists.
func validate(t *testing.T, lines [][]byte) validated {
	t.Helper()
	v := validated{file: append(bytes.Join(lines, []byte("\n")), '\n')}
	file := errtest.Must(os.CreateTemp(t.TempDir(), ""))(t)
	defer file.Close()
	errtest.Fatal(t, errtest.Of(file.Write(v.file)))
	var report, rejected bytes.Buffer
	in := linefile.Validation{ReceivedAt: time.Now(), Entities: validation.NewDirectory(), Rejected: &rejected}
	summary := errtest.Must(in.Run(t.Context(), file, int64(len(v.file)), &report))(t)
	v.report, v.rejected, v.leftOut = report.Bytes(), rejected.Bytes(), summary.RejectedLeftOut
	return v
}

// serveReport has a service answer for any batch with a report.
func (s *fakeService) serveReport(v validated) {
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/validation-result/"):
			fmt.Fprintf(w, `{"message":"m","valid":false,`+
				`"errors_file_url":"%[1]s/storage/report?X-Amz-Signature=5555",`+
				`"rejected_file_url":"%[1]s/storage/rejected?X-Amz-Signature=5555","rejected_left_out":%d}`, s.URL,
				v.leftOut)
		case r.URL.Path == "/storage/report":
			_, _ = w.Write(v.report)
		case r.URL.Path == "/storage/rejected":
			_, _ = w.Write(v.rejected)
		}
	}
}

// count returns how often the service was asked for a path that ends so.
func (s *fakeService) count(suffix string) int {
	n := 0
	for _, r := range s.requests() {
		if strings.HasSuffix(r.URL.Path, suffix) {
			n++
		}
	}
	return n
}

// errorsOf returns a page of the errors of a batch.
func errorsOf(t *testing.T, s *Server, cookie *http.Cookie, query string) ErrorPage {
	t.Helper()
	w := ask(s, http.MethodGet, "/console/batches/"+testBatch+"/errors?"+query, nil, fromPage(cookie))
	var page ErrorPage
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s (%v)", query, w.Code, w.Body, err)
	}
	return page
}

// The errors of a batch have the excerpts that its file would give, with the caret at the same place, though only its
// rejected lines are at hand: those without lines, and errors that no line has by itself, included.
func TestErrorsOfABatch(t *testing.T) {
	lines := sampledata.Lines(3*sampledata.EveryKind(), 1, 0.9)
	long := []byte(`{"a":"` + strings.Repeat("x", 300<<10) + `"}`)
	lines = slices.Insert(lines, 10, long, []byte(`{"a":1}`), long)
	lines = append(lines, long, []byte(` { "sender" : [ ] , "sender" : 1 }`))
	v := validate(t, lines)
	if v.leftOut < 3 {
		t.Fatalf("%d lines are left out, want 3 or more", v.leftOut)
	}
	service := newFakeService(t)
	service.serveReport(v)
	s, cookie := newConsole(t, service)
	defer closeServer(t, s)
	seen, codes := int64(0), map[string]bool{}
	for next := new(int64); next != nil; {
		page := errorsOf(t, s, cookie, fmt.Sprintf("limit=500&offset=%d", *next))
		for _, got := range page.Errors {
			seen++
			codes[got.Code] = true
			if got.Code == "line_too_long" {
				difftest.Equal(t, fmt.Sprintf("line %d is too long and has the excerpt", got.Line), "", got.Excerpt)
				continue
			}
			want := got
			describeError(bytes.NewReader(v.file), &want)
			if got.Excerpt != want.Excerpt || got.Column != want.Column || got.Excerpt == "" {
				t.Errorf("line %d, %s at %s:\ngot  %q, column %d\nwant %q, column %d", got.Line, got.Code, got.Field,
					got.Excerpt, got.Column, want.Excerpt, want.Column)
			}
			if got.Hint == "" || got.Reason == "" {
				t.Errorf("%s has no hint or no reason", got.Code)
			}
		}
		if page.Total < 100 {
			t.Fatalf("there are %d errors, want hundreds", page.Total)
		}
		next = page.Next
		if next == nil && seen != page.Total {
			t.Errorf("the pages have %d errors of %d", seen, page.Total)
		}
	}
	for _, code := range []string{"duplicate_modification_id", "entity_not_found", "json_invalid", "missing",
		"extra_forbidden"} {
		if !codes[code] {
			t.Errorf("no error has the code %s; the test needs one", code)
		}
	}
	difftest.Equal(t, "times that the report was fetched", 1, service.count("/storage/report"))
}

func closeServer(t *testing.T, s *Server) {
	t.Helper()
	errtest.Fatal(t, errtest.Of(s.Close()))
}

// Pages that are asked for at the same time share one report.
func TestReportIsFetchedOnce(t *testing.T) {
	service := newFakeService(t)
	service.serveReport(validate(t, sampledata.Lines(100, 1, 0.5)))
	s, cookie := newConsole(t, service)
	defer closeServer(t, s)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { errorsOf(t, s, cookie, "limit=10") })
	}
	all.Wait()
	difftest.Equal(t, "times that the report was fetched", 1, service.count("/storage/report"))
}

// A browser that leaves ends the fetch of a report for which nobody else waits; the next one begins anew.
func TestLeavingEndsTheFetch(t *testing.T) {
	service := newFakeService(t)
	service.serveReport(validate(t, sampledata.Lines(100, 1, 0.5)))
	serve := service.answer
	began, ended := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	first.Store(true)
	service.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/storage/report" && first.Swap(false) {
			close(began)
			<-r.Context().Done()
			close(ended)
			return
		}
		serve(w, r)
	}
	s, cookie := newConsole(t, service)
	defer closeServer(t, s)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-began
		leave()
	}()
	ask(s, http.MethodGet, "/console/batches/"+testBatch+"/errors", nil, fromPage(cookie),
		func(r *http.Request) { *r = *r.WithContext(ctx) })
	<-ended
	if page := errorsOf(t, s, cookie, ""); page.Total == 0 {
		t.Error("the next request has no errors")
	}
}

// What cannot be fetched is tried again by the next request, and a batch that is not validated has no errors yet.
func TestErrorsThatCannotBeHad(t *testing.T) {
	service := newFakeService(t)
	s, cookie := newConsole(t, service)
	defer closeServer(t, s)
	get := func() (int, problem) {
		t.Helper()
		w := ask(s, http.MethodGet, "/console/batches/"+testBatch+"/errors", nil, fromPage(cookie))
		return w.Code, problemOf(t, w)
	}
	for want, answer := range map[int]http.HandlerFunc{
		http.StatusConflict: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"message":"Batch not yet validated.","valid":null}`)
		},
		http.StatusNotFound: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"Batch not found."}`)
		},
		http.StatusBadGateway: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/storage/report" {
				w.WriteHeader(http.StatusForbidden)
			}
			fmt.Fprintf(w, `{"message":"m","valid":false,"errors_file_url":"%s/storage/report?X-Amz-Signature=5555"}`,
				service.URL)
		},
	} {
		service.answer = answer
		if status, p := get(); status != want || strings.Contains(p.Detail, "5555") {
			t.Errorf("got %d %+v, want %d", status, p, want)
		}
	}
	service.answer = func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"message":"m","valid":true}`) }
	if page := errorsOf(t, s, cookie, ""); page.Total != 0 || page.Errors == nil || page.Next != nil {
		t.Errorf("a batch without errors has the page %+v", page)
	}
	w := ask(s, http.MethodGet, "/console/batches/x/errors", nil, fromPage(cookie))
	difftest.Equal(t, "what is not the ID of a batch answers", http.StatusNotFound, w.Code)
}

// Reports are dropped when nobody has read them for a while, and the oldest ones when there are too many.
func TestReportsAreDropped(t *testing.T) {
	service := newFakeService(t)
	service.serveReport(validate(t, sampledata.Lines(100, 1, 0.5)))
	s, _ := newConsole(t, service)
	defer closeServer(t, s)
	r := s.reports
	now := time.Now()
	r.now = func() time.Time { return now }
	read := func(id string) *batchReport {
		t.Helper()
		b, release, err := r.get(t.Context(), id)
		errtest.Fatal(t, err)
		release()
		return b
	}
	held := func() (ids []string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for id := range r.byBatch {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(a, b) })
		return ids
	}
	used, release, err := r.get(t.Context(), "used")
	errtest.Fatal(t, err)
	var all []*batchReport
	for i := range maxReports + 2 {
		now = now.Add(time.Second)
		all = append(all, read(fmt.Sprint("b", i)))
	}
	difftest.Equal(t, "held", []string{"b3", "b4", "b5", "b6", "b7", "b8", "b9", "used"}, held())
	now = now.Add(reportPatience)
	read("last")
	difftest.Equal(t, "held", []string{"last", "used"}, held())
	errtest.Is(t, "a report that is read was dropped",
		errtest.Of(used.index.Page(t.Context(), ErrorQuery{Limit: 1}, nil)), nil)
	for i, b := range all {
		errtest.Fails(t, fmt.Sprintf("the file of report %d is open", i), errtest.Of(b.index.file.Stat()))
	}
	release()
}

func TestValueOffset(t *testing.T) {
	for _, test := range []struct {
		line, pointer string
		want          int64
	}{
		{`{"a":1,"b":{"c":[true, "x"]}}`, "/a", 5},
		{`{"a":1,"b":{"c":[true, "x"]}}`, "/b", 11},
		{`{"a":1,"b":{"c":[true, "x"]}}`, "/b/c", 16},
		{`{"a":1,"b":{"c":[true, "x"]}}`, "/b/c/1", 23},
		{`{"a":1,"b":{"c":[true, "x"]}}`, "/none", 0},
		{`{"a":1,"b":{"c":[true, "x"]}}`, "", 0},
		{` { "a" : 1 , "b~/c" : { } } `, "/b~0~1c", 22},
		{`{"a":1,`, "/b", 0},
		{`{"é":{"a":1}}`, "/é/a", 11},
		{`[[],{"a":[]}]`, "/1/a", 9},
		{``, "/a", 0},
	} {
		difftest.Equal(t, test.pointer+" in "+test.line+" is at", test.want,
			valueOffset([]byte(test.line), test.pointer))
	}
}

// FuzzValueOffset requires that a place is in the line, whatever that is.
func FuzzValueOffset(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`), "/a/1/b")
	f.Add([]byte("{\"\xff\":\"\\u0000\"}"), "/\uFFFD")
	f.Fuzz(func(t *testing.T, line []byte, pointer string) {
		if got := valueOffset(line, pointer); got < 0 || got > int64(len(line)) {
			t.Errorf("%q in %q is at %d", pointer, line, got)
		}
	})
}
