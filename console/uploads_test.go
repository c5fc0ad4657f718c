package console

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/difftest"
)

// startUpload asks for the upload of a file.
func (t *filesTest) startUpload(id, options string) {
	t.Helper()
	if status := t.call("POST", "/"+id+"/upload", options, nil); status != http.StatusAccepted {
		t.Fatalf("the upload answers %d", status)
	}
}

// countRequests returns how many requests the service had whose method and path begin so.
func (t *filesTest) countRequests(prefix string) int {
	n := 0
	for _, r := range t.service.Requests() {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

const batchPath = "/tm/realtime/api/transactions/batch/"

// A file is uploaded when the page says so and not before, by one PUT or in parts, and followed to its end.
func TestUploadToTheEnd(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]int64{"one PUT": partsFrom, "parts": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newFilesTest(t, FilesConfig{})
			test.partsFrom = from
			id := test.drop("a.jsonl", lines(3))
			test.awaitState(id, stateChecked)
			difftest.Equal(t, "requests before the upload", 0, len(test.service.Requests()))
			test.startUpload(id, `{"name": "November", "metadata": {"a": "b"}, "max_rejected": "0.5%", `+
				`"on_duplicate": "accept"}`)
			r := test.awaitState(id, stateDone)
			u := r.Upload
			if !u.Uploaded || u.Status == nil || u.Status.Status != client.StatusProcessed || u.Sent != *r.Size ||
				r.Problem != nil {
				t.Errorf("the upload is %+v with the problem %v", u, r.Problem)
			}
			if s := u.Status; wire.OrZero(s.Name) != "November" || s.Metadata["a"] != "b" || s.RejectOnInvalid ||
				s.MaxRejected.Share != "0.5%" {
				t.Errorf("the batch is %+v", s)
			}
			difftest.Equal(t, "in parts", from == 1, u.InParts)
			for _, p := range test.service.Problems() {
				t.Error(p)
			}
			test.startUpload(id, `{}`) // again, as another batch
			if again := test.awaitState(id, stateDone); again.Upload.BatchID == u.BatchID {
				t.Error("the second upload has the batch of the first one")
			}
		})
	}
}

// Options that the service or the console does not accept are refused before anything is sent, and can be changed.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	id := test.drop("a", lines(1))
	test.awaitState(id, stateChecked)
	for _, options := range []string{`{"nonsense": 1}`, `[]`, `{"name": `,
		strings.Repeat(" ", maxOptionsBytes+1) + "{}"} {
		difftest.Equal(t, fmt.Sprintf("the options %.20s answer", options), http.StatusBadRequest,
			test.call("POST", "/"+id+"/upload", options, nil))
	}
	test.startUpload(id, `{"screen_unknown": {"lists": ["unknown-list"]}}`)
	r := test.await(id, "refused", func(r fileRecord) bool { return r.Problem != nil })
	if r.State != stateChecked || r.Problem.Code != "refused" || r.Upload != nil {
		t.Errorf("the file is %+v with the problem %+v", r, r.Problem)
	}
	test.startUpload(id, "")
	if r := test.awaitState(id, stateDone); r.Problem != nil {
		t.Errorf("the problem stays: %+v", r.Problem)
	}
}

// holdPart makes the service hold the PUT of a part until the request ends, and tells when it is there.
func (t *filesTest) holdPart(number string) (arrived chan struct{}, let func()) {
	arrived = make(chan struct{})
	var once sync.Once
	var released atomic.Bool
	t.service.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/"+number) && !released.Load() {
			_, _ = io.Copy(io.Discard, r.Body)
			once.Do(func() { close(arrived) })
			<-r.Context().Done()
		}
		return false
	}
	return arrived, func() { released.Store(true) }
}

// What was sent before a pause is not sent again.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	test.partsFrom = 1
	arrived, let := test.holdPart("30")
	id := test.drop("a", lines(1))
	test.awaitState(id, stateChecked)
	difftest.Equal(t, "a pause before the upload", http.StatusConflict, test.call("POST", "/"+id+"/pause", "", nil))
	test.startUpload(id, "{}")
	<-arrived
	var paused fileRecord
	if status := test.call("POST", "/"+id+"/pause", "", &paused); status != 200 || paused.State != statePaused {
		t.Fatalf("the pause: %d, %+v", status, paused)
	}
	before := test.countRequests("PUT /storage")
	let()
	var resumed fileRecord
	difftest.Equal(t, "resuming", http.StatusAccepted, test.call("POST", "/"+id+"/resume", "", &resumed))
	r := test.awaitState(id, stateDone)
	if r.Upload.BatchID != paused.Upload.BatchID || r.Upload.AlreadyStored == 0 {
		t.Errorf("the upload is %+v, want the batch %s to go on", r.Upload, paused.Upload.BatchID)
	}
	parts := int((*r.Size + 7) / 8)
	if sent := test.countRequests("PUT /storage") - before; sent >= parts || sent < 1 {
		t.Errorf("%d of %d parts were sent after the pause", sent, parts)
	}
}

// An upload whose connection breaks goes on by itself, says why it waits, and goes on at once if it is asked to.
func TestBrokenConnection(t *testing.T) {
	t.Parallel()
	var pauses []time.Duration
	asked := make(chan struct{}, 100)
	test := newFilesTest(t, FilesConfig{Pause: func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		asked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	test.partsFrom = 1
	var broken atomic.Bool
	test.service.Before = func(_ http.ResponseWriter, r *http.Request) bool {
		if broken.Load() && r.URL.Path != "/oauth2/token" {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	id := test.drop("a", lines(1))
	test.awaitState(id, stateChecked)
	broken.Store(true)
	test.startUpload(id, "{}")
	for range 2 {
		<-asked
		r := test.await(id, "waiting", func(r fileRecord) bool { return r.Upload.Retry != nil })
		if r.State != stateUploading || r.Upload.Retry.Reason == "" || r.Problem != nil {
			t.Errorf("the file is %+v, %+v", r, r.Upload.Retry)
		}
		if len(pauses) == 2 {
			broken.Store(false)
		}
		test.call("POST", "/"+id+"/resume", "", nil)
	}
	if r := test.awaitState(id, stateDone); r.Upload.Status.Status != client.StatusProcessed {
		t.Errorf("the upload is %+v", r.Upload)
	}
	if len(pauses) != 2 || pauses[0] != firstRetryPause || pauses[1] != 2*firstRetryPause {
		t.Errorf("the pauses are %v", pauses)
	}
}

// A service that answers that it is busy is told apart from one that does not answer, also while a batch is followed.
func TestBusyService(t *testing.T) {
	t.Parallel()
	for during, state := range map[string]string{
		"generate-upload-url": stateUploading, "status/": stateFollowing,
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			test := newFilesTest(t, FilesConfig{Pause: func(ctx context.Context, _ time.Duration) error {
				<-ctx.Done()
				return ctx.Err()
			}})
			var busy atomic.Bool
			busy.Store(true)
			test.service.Before = func(w http.ResponseWriter, r *http.Request) bool {
				isBusy := busy.Load() && strings.HasPrefix(r.URL.Path, batchPath+during)
				if isBusy {
					w.WriteHeader(http.StatusInternalServerError)
				}
				return isBusy
			}
			id := test.drop("a", lines(1))
			test.awaitState(id, stateChecked)
			test.startUpload(id, "{}")
			r := test.await(id, "waiting", func(r fileRecord) bool { return r.Upload != nil && r.Upload.Retry != nil })
			if !r.Upload.Retry.Answered || r.State != state {
				t.Errorf("the file is %s, %+v; want %s and that the service has answered", r.State, r.Upload.Retry,
					state)
			}
			busy.Store(false)
			test.call("POST", "/"+id+"/resume", "", nil)
			test.awaitState(id, stateDone)
		})
	}
}

// If the answer that completes an upload is lost, the service has the file, and nothing is sent again.
func TestLostCompletion(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	test.partsFrom = 1
	lost := 0
	test.service.After = func(r *http.Request) bool {
		isCompletion := strings.Contains(r.URL.Path, "/complete-upload/")
		if isCompletion {
			lost++
		}
		return isCompletion && lost <= 4 // every attempt of the client
	}
	id := test.drop("a", lines(1))
	test.awaitState(id, stateChecked)
	test.startUpload(id, "{}")
	r := test.awaitState(id, stateDone)
	if parts := int((*r.Size + 7) / 8); test.countRequests("PUT /storage") != parts || lost != 4 {
		t.Errorf("%d parts were sent of %d, and %d answers lost", test.countRequests("PUT /storage"), parts, lost)
	}
}

// An upload can be given up, and begun again; a batch can be cancelled while that is possible.
func TestCancelledUploads(t *testing.T) {
	t.Parallel()
	test := newFilesTest(t, FilesConfig{})
	test.partsFrom = 1
	arrived, let := test.holdPart("2")
	id := test.drop("a", lines(1))
	test.awaitState(id, stateChecked)
	test.startUpload(id, "{}")
	<-arrived
	var r fileRecord
	if status := test.call("POST", "/"+id+"/cancel", "", &r); status != 200 || r.State != stateChecked ||
		r.Upload != nil {
		t.Errorf("cancelling: %d, %+v", status, r)
	}
	difftest.Equal(t, "times that the upload was given up", 1,
		test.countRequests("DELETE "+batchPath+"upload-parts/"))
	let()
	test.startUpload(id, "{}")
	test.awaitState(id, stateDone)
	var p problem
	if status := test.call("POST", "/"+id+"/cancel", "", &p); status != http.StatusConflict ||
		p.ErrorCode != "wrong_state" {
		t.Errorf("cancelling at the end: %d, %+v", status, p)
	}
}

// A batch that is followed is cancelled by the service until its lines are stored, and the console shows how it ended.
func TestCancelledBatch(t *testing.T) {
	t.Parallel()
	// The service shows UPLOADED, VALIDATION_STARTED, PENDING_INGESTION, INITIALIZED, IN_PROGRESS at the readings of
	// the status.
	for reading, want := range map[int32]int{2: http.StatusOK, 6: http.StatusConflict} {
		test := newFilesTest(t, FilesConfig{})
		arrived, let := make(chan struct{}), make(chan struct{})
		var readings atomic.Int32
		test.service.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, batchPath+"status/") && readings.Add(1) == reading {
				close(arrived)
				<-let
			}
			return false
		}
		id := test.drop("a", lines(1))
		test.awaitState(id, stateChecked)
		test.startUpload(id, "{}")
		<-arrived
		difftest.Equal(t, fmt.Sprintf("cancelling at reading %d answers", reading), want,
			test.call("POST", "/"+id+"/cancel", "", nil))
		close(let)
		r := test.awaitState(id, stateDone)
		if isCancelled := r.Upload.Status.Status == client.StatusError; isCancelled != (want == http.StatusOK) {
			t.Errorf("the batch is %+v", r.Upload.Status)
		}
	}
}
