package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// scheduledEvent is the event by which a schedule invokes a function.
const scheduledEvent = `{"detail-type":"Scheduled Event","source":"aws.events"}`

// runScheduled invokes a function as its schedule does.
func (e *Environment) runScheduled(t *testing.T, function string) {
	t.Helper()
	if failure := e.invoke(t, function, scheduledEvent, false); failure != "" {
		t.Fatalf("the function %s failed: %s", function, failure)
	}
}

// sweep runs the sweep, as the schedule of the scan function does.
func (e *Environment) sweep(t *testing.T) {
	t.Helper()
	e.runScheduled(t, "scan")
}

// invoke invokes a function. It returns how the function failed, "" if it did not or is asynchronous.
func (e *Environment) invoke(t *testing.T, function, event string, isAsynchronous bool) (failure string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		e.AWSEndpointURL+"/2015-03-31/functions/"+e.Prefix+"-"+function+"/invocations", strings.NewReader(event))
	must(t, err)
	wanted := http.StatusOK
	if isAsynchronous {
		request.Header.Set("X-Amz-Invocation-Type", "Event")
		wanted = http.StatusAccepted
	}
	sum := sha256.Sum256([]byte(event))
	must(t, v4.NewSigner().SignHTTP(t.Context(),
		aws.Credentials{AccessKeyID: e.AccessKeyID, SecretAccessKey: e.SecretAccessKey}, request,
		hex.EncodeToString(sum[:]), "lambda", e.Region, time.Now()))
	resp, err := http.DefaultClient.Do(request)
	must(t, err)
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

// tableItem is the attributes of an item of a table, or of a map in one, by their names.
type tableItem = map[string]dynamodbtypes.AttributeValue

// batchKey returns the key of a batch's row.
func batchKey(id string) tableItem {
	return tableItem{
		"id":   &dynamodbtypes.AttributeValueMemberS{Value: id},
		"part": &dynamodbtypes.AttributeValueMemberS{Value: "batch"},
	}
}

// batchRow reads the row of a batch.
func (e *Environment) batchRow(t *testing.T, id string) tableItem {
	t.Helper()
	out := ok(e.tables(t).GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(e.Prefix + "-batches"), Key: batchKey(id), ConsistentRead: aws.Bool(true),
	}))(t)
	return out.Item
}

// putBatchRow stores the row of a batch.
func (e *Environment) putBatchRow(t *testing.T, row tableItem) {
	t.Helper()
	ok(e.tables(t).PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String(e.Prefix + "-batches"), Item: row,
	}))(t)
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
	ok(e.tables(t).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
		TableName: aws.String(e.Prefix + "-batches"), Key: batchKey(id),
	}))(t)
}

// tables returns a client of the environment's DynamoDB.
func (e *Environment) tables(t *testing.T) *dynamodb.Client {
	t.Helper()
	db := ok(e.database())(t)
	return db
}

// uploadTag returns the verdict that the upload of a batch of the environment's own tenant is tagged with, "" for none.
func (e *Environment) uploadTag(t *testing.T, batchID string) string {
	t.Helper()
	return e.tagOfUpload(t, e.TenantID, batchID)
}

// tagOfUpload is uploadTag for a batch of any tenant.
func (e *Environment) tagOfUpload(t *testing.T, tenantID, batchID string) string {
	t.Helper()
	storage := operatorStorage(e)
	buckets := ok(storage.ListBuckets(t.Context(), &s3.ListBucketsInput{}))(t)
	for _, b := range buckets.Buckets {
		if !strings.HasPrefix(*b.Name, e.Prefix+"-uploads-") {
			continue
		}
		out := ok(storage.GetObjectTagging(t.Context(), &s3.GetObjectTaggingInput{
			Bucket: b.Name, Key: aws.String("uploads/" + tenantID + "/" + batchID),
		}))(t)
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
	must(t, err)
	return out.Status
}

// execution returns the ARN of the execution of a name, and a client for it.
func (e *Environment) execution(t *testing.T, machine, name string) (client *sfn.Client, arn string) {
	t.Helper()
	cfg := ok(e.awsConfig(e.AWSEndpointURL))(t)
	client = sfn.NewFromConfig(cfg)
	list := ok(client.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{}))(t)
	for _, m := range list.StateMachines {
		if *m.Name == e.Prefix+"-"+machine {
			return client, strings.Replace(*m.StateMachineArn, ":stateMachine:", ":execution:", 1) + ":" + name
		}
	}
	t.Fatalf("there is no state machine %s-%s", e.Prefix, machine)
	return nil, ""
}
