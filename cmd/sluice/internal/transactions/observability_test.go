package transactions

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/cmd/sluice/internal/batches"
	"sluice/cmd/sluice/internal/commandtest"
	"sluice/internal/command"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// uploadLines uploads a batch that drops invalid lines, and waits for its end.
func uploadLines(t *testing.T, s *clienttest.Server, lines string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "batch.jsonl")
	errtest.Fatal(t, os.WriteFile(path, []byte(lines), 0o600))
	code, _, stderr := commandtest.RunWithServer(t.Context(), t, batches.Commands(), s, "upload", path,
		"--max-rejected",
		"100%", "--quiet")
	if code != 1 {
		t.Fatalf("upload: exit code %d, %s; want 1", code, stderr)
	}
}

// The summary and the failed modifications of a day are read to their last page; days without transactions are left out
// of the JSON.
func TestSummaryAndFailedReadAllPages(t *testing.T) {
	s := clienttest.New()
	defer s.Close()
	s.ReceivedAt = time.Now()
	for i := range 2 {
		uploadLines(t, s, fmt.Sprintf(`{"modification":{"external_id":"a%d"}}
{"modification":{"external_id":"b%d"}}
{"modification":{"external_id":"b%d"}}
`, i, i, i))
	}
	day := s.ReceivedAt.UTC().Format(time.DateOnly)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"summary", "--days", "31", "--json"}, `{"date":"` + day +
			`","succeeded_request_count":2,"failed_request_count":4,` +
			`"links":{"batches":"/batches","failed_modifications":"/failed"}}` + "\n"},
		{[]string{"failed", day}, "b1\nb1\nb0\nb0\n"},
		{[]string{"failed", day, "--json"}, strings.Repeat(`{"modification_external_id":"b1"}`+"\n", 2) +
			strings.Repeat(`{"modification_external_id":"b0"}`+"\n", 2)},
	} {
		code, stdout, stderr := commandtest.RunWithServer(t.Context(), t, Commands(), s, c.args...)
		if diff := cmp.Diff(c.want, stdout); code != 0 || stderr != "" || diff != "" {
			t.Errorf("%v: exit code %d, stderr %q (-want +got):\n%s", c.args, code, stderr, diff)
		}
	}
}

// The days of a summary end with the last one, and their numbers are aligned.
func TestPrintDays(t *testing.T) {
	last := time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
	days := listDays(map[string]client.DaySummary{
		"2026-03-01": {SucceededRequestCount: 1000, FailedRequestCount: 2},
		"2026-02-27": {SucceededRequestCount: 9, FailedRequestCount: 10},
		"2026-02-26": {SucceededRequestCount: 7},
	}, last, 3)
	var out strings.Builder
	errtest.Fatal(t, printDays(&out, days))
	const want = `2026-03-01  1,000 stored   2 not stored
2026-02-28      0 stored   0 not stored
2026-02-27      9 stored  10 not stored
total       1,009 stored  12 not stored
`
	difftest.Equal(t, "the result", want, out.String())
}

// Requests for events have at most 100 IDs, in which one with commas counts as several, and short addresses. An event
// of a part of such an ID is none of the ID's.
func TestEventsAskInGroups(t *testing.T) {
	numbered := func(n int, suffix string) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf("m%d%s", i, suffix))
		}
		return ids
	}
	for name, c := range map[string]struct {
		ids  []string
		want []int // IDs of each group
	}{
		"one":                             {numbered(1, ""), []int{1}},
		"a full one":                      {numbered(100, ""), []int{100}},
		"one more":                        {numbered(101, ""), []int{100, 1}},
		"with commas":                     {append(numbered(99, ""), "a,b", "c"), []int{99, 2}},
		"long":                            {numbered(30, strings.Repeat("x", 248)), []int{14, 14, 2}},
		"too many commas for any request": {[]string{"a", strings.Repeat(",", 200), "b"}, []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			var all []string
			for _, group := range splitIDs(c.ids) {
				got, all = append(got, len(group)), append(all, group...)
			}
			if !slices.Equal(got, c.want) || !slices.Equal(all, c.ids) {
				t.Errorf("got groups of %v IDs, want %v, and all IDs in their order", got, c.want)
			}
		})
	}

	s := clienttest.New()
	defer s.Close()
	s.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/transactions/events") {
			return false
		}
		_, _ = fmt.Fprint(w, `{"metadata":{"count":2,"next":null},"data":[{"status":"succeeded",`+
			`"modification_external_id":"a"},{"status":"failed","modification_external_id":"a,b"}]}`)
		return true
	}
	code, stdout, _ := commandtest.RunWithServer(t.Context(), t, Commands(), s, "events", "a,b")
	if code != 1 || strings.Count(stdout, "\n") != 1 || !strings.Contains(stdout, "  failed  0  a,b  ") {
		t.Errorf("exit code %d, %q; want 1 and the event of a,b alone", code, stdout)
	}
}

// A refusal of the service is an error, and Ctrl-C between two pages ends the command.
func TestObservabilityCannot(t *testing.T) {
	for name, args := range map[string][]string{
		"summary": {"summary"}, "failed": {"failed", "2026-01-31"}, "events": {"events", "m"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clienttest.New()
			defer s.Close()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					w.WriteHeader(http.StatusForbidden)
					_, _ = fmt.Fprint(w, `{"message":"The client lacks the permission TransactionRead."}`)
				}
				return r.Method == http.MethodGet
			}
			const refused = "sluice: the service answers 403: The client lacks the permission TransactionRead.\n"
			if code, stdout, stderr := commandtest.RunWithServer(ctx, t, Commands(), s, args...); code != 2 ||
				stdout != "" ||
				stderr != refused {
				t.Errorf("without the permission: exit code %d, %q, %q; want 2 and %q", code, stdout, stderr, refused)
			}
			s.SetBefore(func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case r.Method != http.MethodGet:
					return false
				case r.URL.Query().Has("next"):
					interrupt()
					<-r.Context().Done()
					return true
				}
				data := `[]`
				if name == "summary" {
					data = `{}`
				}
				_, _ = fmt.Fprintf(w, `{"metadata":{"count":0,"next":"1"},"data":%s}`, data)
				return true
			})
			if code, stdout, stderr := commandtest.RunWithServer(ctx, t, Commands(), s,
				args...); code != command.ExitInterrupted ||
				stdout != "" || stderr != "sluice: interrupted\n" {
				t.Errorf("interrupted: exit code %d, %q, %q; want 130", code, stdout, stderr)
			}
		})
	}
}
