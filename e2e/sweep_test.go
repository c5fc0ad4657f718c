package e2e

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/kit/dynamo"
)

// technicalFailure is a part of the message of every batch that ended for a technical reason.
const technicalFailure = "Processing failed for a technical reason"

// A batch whose execution is stopped ends in ERROR, although the execution did not reach the state that says so.
func TestStoppedExecutionEndsItsBatch(t *testing.T) {
	api := begin(t)
	id := api.startBatch(true, jsonLines(validLines(3000)...))
	stopExecution(t, environment, "batch", id)
	last := api.expectEnd("ERROR", id)
	if r := api.result(id); !strings.Contains(last.ErrorMessage, technicalFailure) || r.Valid != nil ||
		r.ErrorsFileURL != "" || r.Message != last.ErrorMessage {
		t.Errorf("the status says %q, the validation result is %+v, want %q, valid null, no URL and the same message",
			last.ErrorMessage, r, technicalFailure)
	}
	// Nothing that a step does after the end of its batch changes the batch, and neither does a second stop.
	stopExecution(t, environment, "batch", id)
	if again := api.expectEnd("ERROR", id); !again.UpdatedAt.Equal(last.UpdatedAt) {
		t.Errorf("later the status is of %v, want %v", again.UpdatedAt, last.UpdatedAt)
	}
}

// The sweep ends or moves on what nothing else moves. It sweeps for all cases at once, each with a batch of its own.
func TestSweep(t *testing.T) {
	s := killingCloud.begin(t)
	for name, test := range map[string]func(*session){
		"never uploaded": (*session).testLateUpload, "lost event": (*session).testLostEvent,
		"no execution": (*session).testNoExecution, "interrupted scan": (*session).testInterruptedScan,
		"earlier release": (*session).testEarlierRelease,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(s.in(t))
		})
	}
}

// expectSwept sweeps until a batch has ended with a status and a message, of which a part is given.
func (s *session) expectSwept(id, status, message string) {
	s.t.Helper()
	var last client.Status
	eventually(s.t, "the end of the batch", func() bool {
		s.environment.sweep(s.t)
		last = ok(s.client.Status(s.t.Context(), id))(s.t)
		return last.Status == status
	})
	assert(s.t, strings.Contains(last.ErrorMessage, message), "the message is %q, want one with %q", last.ErrorMessage,
		message)
}

// testLateUpload has a batch ended whose upload does not come. A slow PUT begins while the upload is waited for, and
// ends after the batch.
func (s *session) testLateUpload() {
	const late = "The upload did not arrive in time."
	upload := s.newUpload(true)
	// The first half is larger than what the client buffers, so that the request is sent at once.
	half := bytes.Repeat(jsonLines(validLine()), 100)
	rest, status := beginUpload(s.t, upload.URL, int64(2*len(half)))
	ok(rest.Write(half))(s.t)
	s.environment.expectNoUpload(s.t, upload.BatchID)
	s.expectSwept(upload.BatchID, "ERROR", late)
	r := s.result(upload.BatchID)
	assert(s.t, r.Valid == nil && r.Message == late, "the validation result is %+v, want valid null and the message", r)
	ok(rest.Write(half))(s.t)
	rest.Close()
	got := <-status
	require(s.t, got == http.StatusOK, "the late upload was answered with %d, want 200", got)
	eventually(s.t, "the tag of the late upload", func() bool { return s.uploadTag(upload.BatchID) == "refused" })
	row := s.environment.batchRow(s.t, upload.BatchID)
	assert(s.t, row["expires"] != nil, "the row is %v, want an attribute expires", row)
}

// beginUpload sends a PUT of a size to a signed URL. Its bytes are what is written; the status of the answer, 0 without
// one, follows once all of them are.
func beginUpload(t *testing.T, url string, size int64) (body *io.PipeWriter, status <-chan int) {
	t.Helper()
	sent, body := io.Pipe()
	request := ok(http.NewRequestWithContext(t.Context(), http.MethodPut, url, sent))(t)
	request.ContentLength = size
	request.Header.Set("If-None-Match", "*")
	answered := make(chan int, 1)
	go func() {
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	return body, answered
}

// uploadUnnoticed creates a batch and uploads its file without the scan: without the batch's row, the event of the
// upload is ignored. It returns the row as it was.
func (s *session) uploadUnnoticed(file []byte) (upload client.Upload, row dynamo.Item) {
	s.t.Helper()
	upload = s.newUpload(true)
	row = s.environment.batchRow(s.t, upload.BatchID)
	s.environment.deleteItem(s.t, "batches", batchKey(upload.BatchID))
	must(s.t, s.client.UploadFile(s.t.Context(), upload, bytes.NewReader(file), int64(len(file)), nil))
	return upload, row
}

// testLostEvent has an upload scanned whose event was lost.
func (s *session) testLostEvent() {
	upload, row := s.uploadUnnoticed(jsonLines(validLine()))
	eventually(s.t, "the end of the event", func() bool {
		for _, path := range ok(filepath.Glob(filepath.Join(s.environment.Data, "events", "*.json")))(s.t) {
			text, err := os.ReadFile(path)
			if err == nil && bytes.Contains(text, []byte(upload.BatchID)) {
				return false
			}
		}
		return true
	})
	s.environment.putItem(s.t, "batches", row)
	s.expectSwept(upload.BatchID, "PROCESSED", "")
}

// testNoExecution has a batch ended that is in the middle of its steps, without an execution that would run them.
func (s *session) testNoExecution() {
	id := s.newUpload(true).BatchID
	row := s.environment.batchRow(s.t, id)
	row["status"] = dynamo.String("IN_PROGRESS")
	s.environment.putItem(s.t, "batches", row)
	s.expectSwept(id, "ERROR", technicalFailure)
}

// testInterruptedScan has an upload scanned again whose scan has pinned it and then come to no end.
func (s *session) testInterruptedScan() {
	file := jsonLines(validLine())
	upload, row := s.uploadUnnoticed(file)
	sum := md5.Sum(file)
	row["status"] = dynamo.String("UPLOADED")
	row["received_at"] = dynamo.String(time.Now().UTC().Format(time.RFC3339Nano))
	row["updated_at"] = row["received_at"]
	row["object"] = &types.AttributeValueMemberM{Value: dynamo.Item{
		"key":  dynamo.String("uploads/" + s.tenantID + "/" + upload.BatchID),
		"etag": dynamo.String(`"` + hex.EncodeToString(sum[:]) + `"`), "size": dynamo.Number(int64(len(file))),
	}}
	s.environment.putItem(s.t, "batches", row)
	s.expectSwept(upload.BatchID, "PROCESSED", "")
}

// testEarlierRelease has a batch ended that an earlier release left behind, without the attributes by which the sweep
// finds batches. The sweep looks for such batches until it has looked at all of them.
func (s *session) testEarlierRelease() {
	id := s.newUpload(true).BatchID
	row := s.environment.expectNoUpload(s.t, id)
	delete(row, "unfinished")
	delete(row, "look_at")
	s.environment.putItem(s.t, "batches", row)
	adoption := dynamo.Item{"id": dynamo.String("sweep"), "part": dynamo.String("adoption")}
	eventually(s.t, "the end of the batch", func() bool {
		s.environment.deleteItem(s.t, "batches", adoption) // other tests have swept
		s.environment.sweep(s.t)
		now, err := s.client.Status(s.t.Context(), id)
		return err == nil && now.Status == "ERROR"
	})
}

// The sweep brings the file of a document to an outcome: one whose scan was lost or interrupted is scanned, and one
// that does not come is not waited for.
func TestSweepOfDocuments(t *testing.T) {
	api := killingCloud.begin(t)
	scanned, status := api.uploadDocument("e", "clean")
	require(t, status == "Completed", "got %s, want Completed", status)
	eventually(t, "the document without an outcome", func() bool { // the sweep of another test may be faster
		api.forgetScan(scanned.SignedURLToUpload, time.Now().Add(-time.Minute))
		return api.readDocument(scanned.ID).Status == "Processing"
	})
	missing := api.createDocument("a.pdf", "e", "")
	api.forgetScan(missing.SignedURLToUpload, time.Now().Add(-30*time.Hour))
	expected := api.createDocument("a.pdf", "e", "")
	eventually(t, "the outcomes", func() bool {
		api.environment.sweep(t)
		return api.readDocument(scanned.ID).Status == "Completed" && api.readDocument(missing.ID).Status == "Error"
	})
	const message = "The file did not arrive in time. Give the document another one."
	d := api.readDocument(missing.ID)
	assert(t, wire.OrZero(d.ErrorMessage) == message && wire.OrZero(d.ErrorCode) == "CLIENT_SIDE_ERROR",
		"got %+v, want the reason of the error", d)
	api.expectDocument(expected.ID, "Processing")
	replaced := callFor[createdDocument](api, "PUT", documentCommands+"/updateFile",
		`{"data":{"id":"`+missing.ID+`","fileName":"b.txt"}}`)
	expectPut(t, 200, replaced.upload(), []byte("clean"))
	eventually(t, "the scan of the other file", func() bool {
		return api.readDocument(missing.ID).Status == "Completed"
	})
}

// forgetScan makes the file of an upload URL one that is expected since a time and whose scan has had no outcome.
func (s *session) forgetScan(uploadURL string, since time.Time) {
	s.t.Helper()
	key := dynamo.Item{
		"owner": dynamo.String(s.tenantID + "#file#" + path.Base(ok(url.Parse(uploadURL))(s.t).Path)),
		"part":  dynamo.String("file"),
	}
	item := s.environment.item(s.t, "documents", key)
	require(s.t, item != nil, "there is no file %v", key)
	delete(item, "outcome")
	item["waiting"], item["since"] = dynamo.String("0"),
		dynamo.String(since.UTC().Format("2006-01-02T15:04:05.000000000Z"))
	item["look_at"] = item["since"]
	s.environment.putItem(s.t, "documents", item)
}
