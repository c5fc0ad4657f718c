package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// fullDisk is a disk with room for some bytes.
type fullDisk struct {
	to   io.Writer
	left *int
}

func (d fullDisk) Write(p []byte) (int, error) {
	if *d.left -= len(p); *d.left < 0 {
		return 0, &os.PathError{Op: "write", Path: "spool", Err: syscall.ENOSPC}
	}
	return d.to.Write(p)
}

// A disk that is full is said to be, whether the file itself or what is unpacked of it does not fit.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	content := pack(t, lines(10))
	for name, room := range map[string]int{"received": 10, "unpacked": len(content) + 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newFilesTest(t, FilesConfig{})
			test.writer = func(to io.Writer) io.Writer { return fullDisk{to, &room} }
			var p problem
			status := test.call("POST", "?name=x", content, &p)
			if name == "received" && (status != http.StatusInsufficientStorage || p.ErrorCode != "disk_full") {
				t.Errorf("the answer is %d, %+v", status, p)
			}
			var all struct {
				Files []fileRecord
				Held  int64
			}
			test.call("GET", "", "", &all)
			r := test.awaitState(all.Files[0].ID, stateFailed)
			if r.Problem.Code != "disk_full" || !strings.Contains(r.Problem.Detail, test.config.Folder) {
				t.Errorf("the problem is %+v", r.Problem)
			}
			if test.call("GET", "", "", &all); all.Held != 0 {
				t.Errorf("the console holds %d bytes", all.Held)
			}
		})
	}
}

// begin sends the beginning of a file and waits until it has arrived.
func (t *filesTest) begin(content string) (id string, rest *io.PipeWriter, ended chan struct{}) {
	t.Helper()
	body, rest := io.Pipe()
	ended = make(chan struct{})
	request := errtest.Must(http.NewRequest("POST", t.url+"?name=x&key=k", body))(t)
	go func() {
		defer close(ended)
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
		}
	}()
	errtest.Fatal(t, errtest.Of(rest.Write([]byte(content))))
	for id == "" {
		var all struct{ Files []fileRecord }
		if t.call("GET", "", "", &all); len(all.Files) > 0 {
			if id = all.Files[0].ID; all.Files[0].State != stateReceiving || all.Files[0].Key != "k" {
				t.Fatalf("the file is %+v", all.Files[0])
			}
		}
	}
	return id, rest, ended
}

// A file of which the rest does not come is a problem with a name.
func TestInterruptedFile(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	id, rest, ended := test.begin(strings.Repeat("x", 100))
	_ = rest.CloseWithError(io.ErrUnexpectedEOF)
	<-ended
	if r := test.awaitState(id, stateFailed); r.Problem.Code != "interrupted" {
		t.Errorf("the problem is %+v", r.Problem)
	}
	if test.call("DELETE", "/"+id, "", nil); test.call("GET", "/"+id, "", nil) != http.StatusNotFound {
		t.Error("the file is not removed")
	}
}

// A file can be removed while it arrives, and the console can end.
func TestRemovedWhileItArrives(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*filesTest, string){
		"removed": func(t *filesTest, id string) { t.call("DELETE", "/"+id, "", nil) },
		"closed":  func(t *filesTest, _ string) { _ = t.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newFilesTest(t, FilesConfig{})
			id, rest, ended := test.begin(strings.Repeat("x", 100))
			end(test, id)
			_ = rest.CloseWithError(io.ErrUnexpectedEOF)
			<-ended
			difftest.Equal(t, "bytes of the console", int64(0), test.held)
		})
	}
}

// A file that is removed while its check waits leaves the place to the next one.
func TestRemovedWhileItsCheckWaits(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	test.checks <- struct{}{}
	first, second := test.drop("a", lines(1)), test.drop("b", lines(2))
	if r := test.awaitState(first, stateChecking); !r.Check.Waiting {
		t.Errorf("the check is %+v, want it to wait", r.Check)
	}
	difftest.Equal(t, "removing answers", http.StatusNoContent, test.call("DELETE", "/"+first, "", nil))
	<-test.checks
	test.awaitState(second, stateChecked)
}

// A file that is removed is not uploaded by a request that came at the same time.
func TestRemovedFileIsNotUploaded(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	id := test.drop("a", lines(1))
	test.awaitState(id, stateChecked)
	found := test.files[0]
	difftest.Equal(t, "removing answers", http.StatusNoContent, test.call("DELETE", "/"+id, "", nil))
	answer := httptest.NewRecorder()
	test.Files.startUpload(answer, httptest.NewRequest("POST", "/", strings.NewReader("{}")), found)
	if answer.Code != http.StatusNotFound || found.job != nil {
		t.Errorf("the upload of a removed file answers %d: %s", answer.Code, answer.Body)
	}
	difftest.Len(t, "the service was asked", 0, test.service.Requests())
}

// A system that clears its folder for temporary files does not end the spool.
func TestSpoolIsMadeAgain(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	first := test.drop("a", lines(1))
	test.awaitState(first, stateChecked)
	errtest.Fatal(t, os.RemoveAll(test.spool))
	second := test.drop("b", lines(2))
	for _, id := range []string{first, second} {
		test.awaitState(id, stateChecked)
		test.startUpload(id, "{}")
		test.awaitState(id, stateDone)
	}
}
