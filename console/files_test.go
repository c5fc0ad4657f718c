package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"sluice/client"
	"sluice/client/clienttest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// filesTest is a Files behind a server, and the service that it uploads to.
type filesTest struct {
	*testing.T
	*Files
	service *clienttest.Server
	url     string
}

// newFilesTest starts a Files that waits between attempts as pause does; nil means not at all.
func newFilesTest(t *testing.T, c FilesConfig) *filesTest {
	t.Helper()
	service := clienttest.New()
	t.Cleanup(service.Close)
	config := service.Config()
	config.Pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	c.Client = errtest.Must(client.New(config))(t)
	c.Folder = t.TempDir()
	if c.Pause == nil {
		c.Pause = config.Pause
	}
	f := NewFiles(c)
	mux := http.NewServeMux()
	f.Register(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		_ = f.Close()
		server.Close()
		if left, _ := os.ReadDir(c.Folder); len(left) > 0 {
			t.Errorf("%d entries are left of the spool", len(left))
		}
	})
	return &filesTest{T: t, Files: f, service: service, url: server.URL + "/console/files"}
}

// call sends a request and decodes the answer into out, unless that is nil.
func (t *filesTest) call(method, path, body string, out any) int {
	t.Helper()
	request := errtest.Must(http.NewRequest(method, t.url+path, strings.NewReader(body)))(t)
	answer := errtest.Must(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	text := errtest.Must(io.ReadAll(answer.Body))(t)
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("%s %s: %v in %q", method, path, err, text)
		}
	}
	return answer.StatusCode
}

// drop sends a file and returns its ID.
func (t *filesTest) drop(name, content string) string {
	t.Helper()
	var out struct{ ID string }
	if status := t.call("POST", "?name="+url.QueryEscape(name), content, &out); status != http.StatusCreated {
		t.Fatalf("dropping %q answers %d", name, status)
	}
	return out.ID
}

// await reads a file until a condition holds.
func (t *filesTest) await(id, what string, is func(fileRecord) bool) fileRecord {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		var r fileRecord
		t.call("GET", "/"+id, "", &r)
		if is(r) {
			return r
		}
		if time.Now().After(deadline) {
			text, _ := json.Marshal(r)
			t.Fatalf("the file is not %s but %s", what, text)
		}
		runtime.Gosched()
	}
}

// awaitState reads a file until it is in a state.
func (t *filesTest) awaitState(id, state string) fileRecord {
	t.Helper()
	return t.await(id, state, func(r fileRecord) bool { return r.State == state })
}

const (
	validLine = `{"request_uuid": "1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e1%d", "payment_external_id": "p", ` +
		`"transaction_external_id": "t%[1]d", "sender": {"by_external_id": "c"}, "receiver": ` +
		`{"external_entity_type": "unknown", "unknown": {"external_id": "s", "full_name": "Librairie"}}, ` +
		`"modification": {"external_id": "m%[1]d", "type": "settlement", "amount": 48.90, "currency": "EUR", ` +
		`"created_at": "2025-11-25T14:03:21.512Z"}}` + "\n"
	badLine = `{"request_uuid": "x", "oops": 1}` + "\n"
)

// lines returns valid lines, up to ten.
func lines(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, validLine, i)
	}
	return out.String()
}

func pack(t *testing.T, content string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(content)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A file is checked as it arrives, packed or not, and what is wrong with its lines is shown with the place in the line.
func TestDroppedFileIsChecked(t *testing.T) {
	t.Parallel()
	content := lines(2) + badLine + "\n" + `{"a": "` + "\xff" + `"}` + "\n"
	for name, sent := range map[string]string{"plain.jsonl": content, "packed.jsonl.gz": pack(t, content)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newFilesTest(t, FilesConfig{})
			id := test.drop(name, sent)
			r := test.awaitState(id, stateChecked)
			if r.Name != name || *r.Size != int64(len(sent)) || r.Received != *r.Size || r.Problem != nil {
				t.Errorf("the file is %+v", r)
			}
			c := r.Check
			if c.Lines != 4 || c.Valid != 2 || c.Invalid != 2 || c.Progress != 1 || c.Bytes != int64(len(content)) {
				t.Errorf("%d lines, %d valid, %d invalid, progress %v, %d bytes", c.Lines, c.Valid, c.Invalid,
					c.Progress, c.Bytes)
			}
			if len(c.Suspicions) != 1 || c.Suspicions[0].Code != "not_utf8" {
				t.Errorf("the suspicions are %+v, want not_utf8", c.Suspicions)
			}
			var page ErrorPage
			test.call("GET", "/"+id+"/errors?code=extra_forbidden", "", &page)
			if len(page.Errors) != 1 || page.Total != 1 || page.Next != nil {
				t.Fatalf("the page is %+v", page)
			}
			e := page.Errors[0]
			if at := e.Excerpt[e.Column:]; e.Line != 3 || e.Field != "/oops" || e.Hint == "" ||
				!strings.HasPrefix(at, `"oops"`) {
				t.Errorf("the error is %+v, at %q", e, at)
			}
			difftest.Equal(t, "a wrong limit answers", http.StatusBadRequest,
				test.call("GET", "/"+id+"/errors?limit=x", "", nil))
		})
	}
}

// What no batch can be made of is refused with its reason, and takes no room any more.
func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	for code, c := range map[string]struct{ content, command string }{
		"empty":     {"", ""},
		"not_lines": {"[{\"a\":1},{\"a\":2}]", "jq -c '.[]' 'it'\\''s a <b>.json' > converted.jsonl"},
		"damaged":   {pack(t, lines(3))[:100], ""},
	} {
		r := test.awaitState(test.drop("it's a <b>.json", c.content), stateFailed)
		if r.Problem == nil || r.Problem.Code != code || r.Problem.Title == "" || r.Problem.Command != c.command {
			t.Errorf("the problem is %+v, want %s with the command %q", r.Problem, code, c.command)
		}
		difftest.Equal(t, "the errors of a failed file", http.StatusConflict,
			test.call("GET", "/"+r.ID+"/errors", "", nil))
		difftest.Equal(t, "the upload of a failed file", http.StatusConflict,
			test.call("POST", "/"+r.ID+"/upload", "{}", nil))
	}
	difftest.Equal(t, "bytes of files that failed of the console", int64(0), test.held)
	r := test.awaitState(test.drop("blank", " \n\n"), stateChecked)
	if len(r.Check.Suspicions) != 1 || r.Check.Suspicions[0].Code != "no_lines" {
		t.Errorf("the suspicions of a blank file are %+v", r.Check.Suspicions)
	}
}

// The same file twice is noticed, whatever its names are; names are made printable.
func TestSameFileTwice(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	first := test.awaitState(test.drop("a\x1b[31m\u202Etxt.<img src=x>", lines(1)), stateChecked)
	difftest.Equal(t, "the name", "a␛[31m·txt.<img src=x>", first.Name)
	second := test.awaitState(test.drop(strings.Repeat("é", maxNameBytes), lines(1)), stateChecked)
	if len(second.Check.Suspicions) != 1 || second.Check.Suspicions[0].Code != "same_file" ||
		len(second.Name) > maxNameBytes {
		t.Errorf("the second is %+v", second)
	}
	difftest.Equal(t, "a file without a name", http.StatusBadRequest, test.call("POST", "?name=", "x", nil))
}

func TestFileLimits(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{MaxFiles: 2, MaxBytes: 1000})
	var p problem
	if status := test.call("POST", "?name=x", strings.Repeat("x", 1001), &p); status != 507 ||
		p.ErrorCode != "spool_full" {
		t.Errorf("a file above the limit of all: %d, %+v", status, p)
	}
	for range 2 {
		test.drop("x", "{}")
	}
	if status := test.call("POST", "?name=x", "{}", &p); status != 409 || p.ErrorCode != "too_many_files" {
		t.Errorf("a file too many: %d, %+v", status, p)
	}
	request := httptest.NewRequest("POST", "/console/files?name=x", http.NoBody)
	request.ContentLength = maxFileBytes + 1
	answer := httptest.NewRecorder()
	test.receive(answer, request)
	difftest.Equal(t, "a file above the limit of the service", http.StatusRequestEntityTooLarge, answer.Code)
}
