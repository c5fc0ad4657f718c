package e2e

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/client"
)

// technicalFailure is a part of the message of every batch that ended for a technical reason.
const technicalFailure = "Processing failed for a technical reason"

// A batch whose execution is stopped ends in ERROR, although the execution did not reach the state that says so.
func TestStoppedExecutionEndsItsBatch(t *testing.T) {
	api := begin(t)
	id := api.startBatch(true, jsonLines(validLines(3000)...))
	stopExecution(t, environment, "batch", id)
	last, _ := api.follow(id)
	if last.Status != "ERROR" || !strings.Contains(last.ErrorMessage, technicalFailure) {
		t.Fatalf("the batch ended with %s (%q), want ERROR with %q", last.Status, last.ErrorMessage, technicalFailure)
	}
	if r := api.result(id); r.Valid != nil || r.ErrorsFileURL != "" || r.Message != last.ErrorMessage {
		t.Errorf("the validation result is %+v, want valid null, no URL and the message of the status", r)
	}
	// Nothing that a step does after the end of its batch changes the batch, and neither does a second stop.
	stopExecution(t, environment, "batch", id)
	if again, _ := api.follow(id); again.Status != "ERROR" || !again.UpdatedAt.Equal(last.UpdatedAt) {
		t.Errorf("later the status is %s of %v, want ERROR of %v", again.Status, again.UpdatedAt, last.UpdatedAt)
	}
}

// The sweep ends or moves on what nothing else moves.
func TestSweep(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "SweepAge=1")
	onboardEntities(t, cloud)
	s := sweptSession{login(t, cloud)}
	// A batch of its own for each case; all wait together, because every sweep looks at all of them.
	for name, test := range map[string]func(*testing.T){
		"never uploaded": s.testLateUpload, "lost event": s.testLostEvent, "no execution": s.testNoExecution,
		"interrupted scan": s.testInterruptedScan,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// sweptSession is a session in a local cloud whose sweep looks at all batches.
type sweptSession struct{ *session }

// expectEnd sweeps until a batch has ended with a status and a message, of which a part is given.
func (s sweptSession) expectEnd(t *testing.T, id, status, message string) {
	t.Helper()
	var last client.Status
	eventually(t, "the end of the batch", func() bool {
		s.environment.sweep(t)
		var err error
		if last, err = s.client.Status(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return last.Status == status
	})
	if !strings.Contains(last.ErrorMessage, message) {
		t.Errorf("the message is %q, want one with %q", last.ErrorMessage, message)
	}
}

// testLateUpload has a batch ended whose upload does not come. A slow PUT begins while the upload is waited for, and
// ends after the batch.
func (s sweptSession) testLateUpload(t *testing.T) {
	upload := s.newUpload(true)
	// The first half is larger than what the client buffers, so that the request is sent at once.
	half := bytes.Repeat(jsonLines(validLine()), 100)
	rest, status := beginUpload(t, upload.URL, int64(2*len(half)))
	ok(rest.Write(half))(t)
	s.environment.expectNoUpload(t, upload.BatchID)
	s.expectEnd(t, upload.BatchID, "ERROR", "The upload did not arrive in time.")
	if r := s.result(upload.BatchID); r.Valid != nil || r.Message != "The upload did not arrive in time." {
		t.Errorf("the validation result is %+v, want valid null and the message", r)
	}
	ok(rest.Write(half))(t)
	rest.Close()
	if got := <-status; got != http.StatusOK {
		t.Fatalf("the late upload was answered with %d, want 200", got)
	}
	eventually(t, "the tag of the late upload", func() bool {
		return s.environment.uploadTag(t, upload.BatchID) == "refused"
	})
	row := s.environment.batchRow(t, upload.BatchID)
	if _, expires := row["expires"]; !expires {
		t.Errorf("the row is %v, want an attribute expires", row)
	}
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
func (s sweptSession) uploadUnnoticed(t *testing.T, file []byte) (upload client.Upload, row tableItem) {
	t.Helper()
	upload = s.newUpload(true)
	row = s.environment.batchRow(t, upload.BatchID)
	s.environment.deleteBatchRow(t, upload.BatchID)
	must(t, s.client.UploadFile(t.Context(), upload, bytes.NewReader(file), int64(len(file)), nil))
	return upload, row
}

// testLostEvent has an upload scanned whose event was lost.
func (s sweptSession) testLostEvent(t *testing.T) {
	upload, row := s.uploadUnnoticed(t, jsonLines(validLine()))
	eventually(t, "the end of the event", func() bool {
		waiting, err := filepath.Glob(filepath.Join(s.environment.Data, "events", "*.json"))
		return err == nil && len(waiting) == 0
	})
	s.environment.putBatchRow(t, row)
	s.expectEnd(t, upload.BatchID, "PROCESSED", "")
}

// testNoExecution has a batch ended that is in the middle of its steps, without an execution that would run them.
func (s sweptSession) testNoExecution(t *testing.T) {
	id := s.newUpload(true).BatchID
	row := s.environment.batchRow(t, id)
	row["status"] = &dynamodbtypes.AttributeValueMemberS{Value: "IN_PROGRESS"}
	s.environment.putBatchRow(t, row)
	s.expectEnd(t, id, "ERROR", technicalFailure)
}

// testInterruptedScan has an upload scanned again whose scan has pinned it and then come to no end.
func (s sweptSession) testInterruptedScan(t *testing.T) {
	file := jsonLines(validLine())
	upload, row := s.uploadUnnoticed(t, file)
	text := func(s string) dynamodbtypes.AttributeValue { return &dynamodbtypes.AttributeValueMemberS{Value: s} }
	sum := md5.Sum(file)
	row["status"] = text("UPLOADED")
	row["received_at"] = text(time.Now().UTC().Format(time.RFC3339Nano))
	row["updated_at"] = row["received_at"]
	row["object"] = &dynamodbtypes.AttributeValueMemberM{Value: tableItem{
		"key":  text("uploads/" + s.environment.TenantID + "/" + upload.BatchID),
		"etag": text(`"` + hex.EncodeToString(sum[:]) + `"`),
		"size": &dynamodbtypes.AttributeValueMemberN{Value: strconv.Itoa(len(file))},
	}}
	s.environment.putBatchRow(t, row)
	s.expectEnd(t, upload.BatchID, "PROCESSED", "")
}

// A batch that an earlier release left behind, without the attributes by which the sweep finds batches, is found.
func TestSweepFindsBatchesOfEarlierReleases(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "SweepAge=1")
	api := login(t, cloud)
	upload := api.newUpload(true)
	cloud.expectNoUpload(t, upload.BatchID)
	row := cloud.batchRow(t, upload.BatchID)
	delete(row, "unfinished")
	delete(row, "look_at")
	cloud.putBatchRow(t, row)
	id := upload.BatchID
	eventually(t, "the end of the batch", func() bool {
		cloud.sweep(t)
		now, err := api.client.Status(t.Context(), id)
		return err == nil && now.Status == "ERROR"
	})
}
