package e2e

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/client"
	"sluice/shared/setup"
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

// sweep invokes the scan function as its schedule does.
func (e *Environment) sweep(t *testing.T) {
	t.Helper()
	if failure := e.invoke(t, "scan", `{"detail-type":"Scheduled Event","source":"aws.events"}`, false); failure != "" {
		t.Fatalf("the sweep failed: %s", failure)
	}
}

// invoke invokes a function. It returns how the function failed, "" if it did not or is asynchronous.
func (e *Environment) invoke(t *testing.T, function, event string, isAsynchronous bool) (failure string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		e.AWSEndpointURL+"/2015-03-31/functions/"+e.Prefix+"-"+function+"/invocations", strings.NewReader(event))
	if err != nil {
		t.Fatal(err)
	}
	wanted := http.StatusOK
	if isAsynchronous {
		request.Header.Set("X-Amz-Invocation-Type", "Event")
		wanted = http.StatusAccepted
	}
	sum := sha256.Sum256([]byte(event))
	if err := v4.NewSigner().SignHTTP(t.Context(),
		aws.Credentials{AccessKeyID: e.AccessKeyID, SecretAccessKey: e.SecretAccessKey}, request,
		hex.EncodeToString(sum[:]), "lambda", e.Region, time.Now()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != wanted {
		t.Fatalf("the invocation of %s was answered with %s: %s, %v", function, resp.Status, text, err)
	}
	if resp.Header.Get("X-Amz-Function-Error") != "" {
		return string(text)
	}
	return ""
}

// batchKey returns the key of a batch's row.
func batchKey(id string) map[string]dynamodbtypes.AttributeValue {
	return map[string]dynamodbtypes.AttributeValue{
		"id":   &dynamodbtypes.AttributeValueMemberS{Value: id},
		"part": &dynamodbtypes.AttributeValueMemberS{Value: "batch"},
	}
}

// batchRow reads the row of a batch.
func (e *Environment) batchRow(t *testing.T, id string) map[string]dynamodbtypes.AttributeValue {
	t.Helper()
	out, err := e.batches(t).GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(e.Prefix + "-batches"), Key: batchKey(id), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// putBatchRow stores the row of a batch.
func (e *Environment) putBatchRow(t *testing.T, row map[string]dynamodbtypes.AttributeValue) {
	t.Helper()
	if _, err := e.batches(t).PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(e.Prefix + "-batches"), Item: row,
	}); err != nil {
		t.Fatal(err)
	}
}

// expectNoUpload makes a batch one whose upload is not waited for any more, since long ago.
func (e *Environment) expectNoUpload(t *testing.T, id string) {
	t.Helper()
	row := e.batchRow(t, id)
	longAgo := time.Now().AddDate(0, 0, -3).UTC().Format(time.RFC3339Nano)
	row["upload_by"] = &dynamodbtypes.AttributeValueMemberS{Value: longAgo}
	row["look_at"] = row["upload_by"]
	e.putBatchRow(t, row)
}

// deleteBatchRow deletes the row of a batch.
func (e *Environment) deleteBatchRow(t *testing.T, id string) {
	t.Helper()
	if _, err := e.batches(t).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(e.Prefix + "-batches"), Key: batchKey(id),
	}); err != nil {
		t.Fatal(err)
	}
}

func (e *Environment) batches(t *testing.T) *dynamodb.Client {
	t.Helper()
	db, err := e.database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// uploadTag returns the verdict that the upload of a batch of the environment's own tenant is tagged with, "" for none.
func (e *Environment) uploadTag(t *testing.T, batchID string) string {
	t.Helper()
	return e.tagOfUpload(t, e.TenantID, batchID)
}

func (e *Environment) tagOfUpload(t *testing.T, tenantID, batchID string) string {
	t.Helper()
	storage := s3.New(s3.Options{
		Region: e.Region, BaseEndpoint: &e.S3URL, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(e.AccessKeyID, e.SecretAccessKey, ""),
	})
	buckets, err := storage.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range buckets.Buckets {
		if !strings.HasPrefix(*b.Name, e.Prefix+"-uploads-") {
			continue
		}
		out, err := storage.GetObjectTagging(t.Context(), &s3.GetObjectTaggingInput{
			Bucket: b.Name, Key: aws.String("uploads/" + tenantID + "/" + batchID),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range out.TagSet {
			if *tag.Key == "sluice-verdict" {
				return *tag.Value
			}
		}
	}
	return ""
}

// stopExecution stops the execution of a name as soon as there is one. The machine is batch, delivery or screening.
func stopExecution(t *testing.T, e *Environment, machine, name string) {
	t.Helper()
	machines, arn := e.execution(t, machine, name)
	eventually(t, "an execution to stop", func() bool {
		_, err := machines.StopExecution(t.Context(), &sfn.StopExecutionInput{ExecutionArn: &arn})
		var missing *types.ExecutionDoesNotExist
		if err != nil && !errors.As(err, &missing) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// executionStatus returns the status of an execution, "" if there is none.
func (e *Environment) executionStatus(t *testing.T, machine, name string) types.ExecutionStatus {
	t.Helper()
	machines, arn := e.execution(t, machine, name)
	out, err := machines.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	var missing *types.ExecutionDoesNotExist
	if errors.As(err, &missing) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Status
}

// execution returns the ARN of the execution of a name, and a client for it.
func (e *Environment) execution(t *testing.T, machine, name string) (client *sfn.Client, arn string) {
	t.Helper()
	cfg, err := setup.LoadAWS(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.AWSEndpointURL != "" {
		cfg.BaseEndpoint, cfg.Region = &e.AWSEndpointURL, e.Region
		cfg.Credentials = credentials.NewStaticCredentialsProvider(e.AccessKeyID, e.SecretAccessKey, "")
	}
	client = sfn.NewFromConfig(cfg)
	list, err := client.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list.StateMachines {
		if *m.Name == e.Prefix+"-"+machine {
			return client, strings.Replace(*m.StateMachineArn, ":stateMachine:", ":execution:", 1) + ":" + name
		}
	}
	t.Fatalf("there is no state machine %s-%s", e.Prefix, machine)
	return nil, ""
}
