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
	t.Parallel()
	onboardEntities(t, environment)
	api := login(t, environment)
	var file bytes.Buffer
	for range 3000 {
		file.Write(jsonLines(validLine()))
	}
	id := api.startBatch(true, file.Bytes())
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
	api := login(t, cloud)
	// A batch of its own for each case; all wait together, because every sweep looks at all of them.
	expectEnd := func(t *testing.T, id, status, message string) {
		t.Helper()
		var last client.Status
		eventually(t, "the end of the batch", func() bool {
			cloud.sweep(t)
			var err error
			if last, err = api.client.Status(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			return last.Status == status
		})
		if !strings.Contains(last.ErrorMessage, message) {
			t.Errorf("the message is %q, want one with %q", last.ErrorMessage, message)
		}
	}
	t.Run("never uploaded", func(t *testing.T) {
		t.Parallel()
		upload := api.newUpload(true)
		// A slow PUT begins while the upload is waited for, and ends after the batch.
		body, rest := io.Pipe()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, upload.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		// The first half is larger than what the client buffers, so that the request is sent at once.
		half := bytes.Repeat(jsonLines(validLine()), 100)
		text := append(half, half...)
		request.ContentLength = int64(len(text))
		request.Header.Set("If-None-Match", "*")
		status := make(chan int, 1)
		go func() {
			resp, err := http.DefaultClient.Do(request)
			if err != nil {
				status <- 0
				return
			}
			resp.Body.Close()
			status <- resp.StatusCode
		}()
		if _, err := rest.Write(half); err != nil {
			t.Fatal(err)
		}
		cloud.expectNoUpload(t, upload.BatchID)
		expectEnd(t, upload.BatchID, "ERROR", "The upload did not arrive in time.")
		if r := api.result(upload.BatchID); r.Valid != nil || r.Message != "The upload did not arrive in time." {
			t.Errorf("the validation result is %+v, want valid null and the message", r)
		}
		if _, err := rest.Write(half); err != nil {
			t.Fatal(err)
		}
		rest.Close()
		if got := <-status; got != http.StatusOK {
			t.Fatalf("the late upload was answered with %d, want 200", got)
		}
		eventually(t, "the tag of the late upload", func() bool {
			return cloud.uploadTag(t, upload.BatchID) == "refused"
		})
		row := cloud.batchRow(t, upload.BatchID)
		if _, expires := row["expires"]; !expires {
			t.Errorf("the row is %v, want an attribute expires", row)
		}
	})
	t.Run("lost event", func(t *testing.T) {
		t.Parallel()
		upload := api.newUpload(true)
		// Without its row, the event of the upload is ignored.
		row := cloud.batchRow(t, upload.BatchID)
		cloud.deleteBatchRow(t, upload.BatchID)
		file := jsonLines(validLine())
		if err := api.client.UploadFile(t.Context(), upload, bytes.NewReader(file), int64(len(file)), nil); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the end of the event", func() bool {
			waiting, err := filepath.Glob(filepath.Join(cloud.Data, "events", "*.json"))
			return err == nil && len(waiting) == 0
		})
		cloud.putBatchRow(t, row)
		expectEnd(t, upload.BatchID, "PROCESSED", "")
	})
	t.Run("no execution", func(t *testing.T) {
		t.Parallel()
		row := cloud.batchRow(t, api.newUpload(true).BatchID)
		row["status"] = &dynamodbtypes.AttributeValueMemberS{Value: "IN_PROGRESS"}
		cloud.putBatchRow(t, row)
		expectEnd(t, row["id"].(*dynamodbtypes.AttributeValueMemberS).Value, "ERROR", technicalFailure)
	})
	t.Run("interrupted scan", func(t *testing.T) {
		t.Parallel()
		// The scan pinned the upload, and then came to no end.
		upload := api.newUpload(true)
		row := cloud.batchRow(t, upload.BatchID)
		cloud.deleteBatchRow(t, upload.BatchID)
		file := jsonLines(validLine())
		if err := api.client.UploadFile(t.Context(), upload, bytes.NewReader(file), int64(len(file)), nil); err != nil {
			t.Fatal(err)
		}
		text := func(s string) dynamodbtypes.AttributeValue { return &dynamodbtypes.AttributeValueMemberS{Value: s} }
		sum := md5.Sum(file)
		row["status"] = text("UPLOADED")
		row["received_at"] = text(time.Now().UTC().Format(time.RFC3339Nano))
		row["updated_at"] = row["received_at"]
		row["object"] = &dynamodbtypes.AttributeValueMemberM{Value: map[string]dynamodbtypes.AttributeValue{
			"key":  text("uploads/" + cloud.TenantID + "/" + upload.BatchID),
			"etag": text(`"` + hex.EncodeToString(sum[:]) + `"`),
			"size": &dynamodbtypes.AttributeValueMemberN{Value: strconv.Itoa(len(file))},
		}}
		cloud.putBatchRow(t, row)
		expectEnd(t, upload.BatchID, "PROCESSED", "")
	})
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
	id := row["id"].(*dynamodbtypes.AttributeValueMemberS).Value
	eventually(t, "the end of the batch", func() bool {
		cloud.sweep(t)
		now, err := api.client.Status(t.Context(), id)
		return err == nil && now.Status == "ERROR"
	})
}
