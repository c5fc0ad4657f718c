package e2e

import (
	"bytes"
	"context"
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
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"sluice/shared/kit/dynamo"
)

// The tests reach behind the API as an operator may: functions, tables, storage and executions of an environment.

// scheduledEvent is the event by which a schedule invokes a function.
const scheduledEvent = `{"detail-type":"Scheduled Event","source":"aws.events"}`

// runScheduled invokes a function as its schedule does.
func (e *Environment) runScheduled(t *testing.T, function string) {
	t.Helper()
	failure := e.invoke(t, function, scheduledEvent, false)
	require(t, failure == "", "the function %s failed: %s", function, failure)
}

// sweep runs the sweep, as the schedule of the scan function does.
func (e *Environment) sweep(t *testing.T) {
	t.Helper()
	e.runScheduled(t, "scan")
}

// invoke invokes a function. It returns how the function failed, "" if it did not or is asynchronous.
func (e *Environment) invoke(t *testing.T, function, event string, isAsynchronous bool) (failure string) {
	t.Helper()
	header, wanted := http.Header{}, http.StatusOK
	if isAsynchronous {
		header.Set("X-Amz-Invocation-Type", "Event")
		wanted = http.StatusAccepted
	}
	path := "/2015-03-31/functions/" + e.Prefix + "-" + function + "/invocations"
	resp := ok(e.callSigned(t.Context(), "POST", "lambda", path, header, []byte(event)))(t)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require(t, err == nil && resp.StatusCode == wanted, "the invocation of %s was answered with %s: %s, %v", function,
		resp.Status, text, err)
	if resp.Header.Get("X-Amz-Function-Error") != "" {
		return string(text)
	}
	return ""
}

// callSigned sends a request to the AWS endpoint, signed by the administrator for a service.
func (e *Environment) callSigned(
	ctx context.Context, method, service, path string, header http.Header, body []byte,
) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, e.AWSEndpointURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	sum := sha256.Sum256(body)
	keys := aws.Credentials{AccessKeyID: e.AccessKeyID, SecretAccessKey: e.SecretAccessKey}
	if err := v4.NewSigner().SignHTTP(ctx, keys, request, hex.EncodeToString(sum[:]), service, e.Region,
		time.Now()); err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// tables returns a client of the environment's DynamoDB.
func (e *Environment) tables(t *testing.T) *dynamodb.Client {
	t.Helper()
	return ok(e.database())(t)
}

// table returns the name of a table.
func (e *Environment) table(name string) *string { return aws.String(e.Prefix + "-" + name) }

// item reads an item of a table, nil if there is none.
func (e *Environment) item(t *testing.T, table string, key dynamo.Item) dynamo.Item {
	t.Helper()
	return ok(e.tables(t).GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: e.table(table), Key: key, ConsistentRead: aws.Bool(true)}))(t).Item
}

// putItem stores an item of a table.
func (e *Environment) putItem(t *testing.T, table string, item dynamo.Item) {
	t.Helper()
	ok(e.tables(t).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: e.table(table), Item: item}))(t)
}

// deleteItem deletes an item of a table.
func (e *Environment) deleteItem(t *testing.T, table string, key dynamo.Item) {
	t.Helper()
	ok(e.tables(t).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: e.table(table), Key: key}))(t)
}

// items reads the items of a table that have a partition key.
func (e *Environment) items(t *testing.T, table, attribute, value string) []dynamo.Item {
	t.Helper()
	return ok(e.tables(t).Query(t.Context(), &dynamodb.QueryInput{
		TableName: e.table(table), KeyConditionExpression: aws.String("#a = :v"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeNames:  map[string]string{"#a": attribute},
		ExpressionAttributeValues: dynamo.Item{":v": dynamo.String(value)},
	}))(t).Items
}

// batchKey returns the key of a batch's row.
func batchKey(id string) dynamo.Item {
	return dynamo.Item{"id": dynamo.String(id), "part": dynamo.String("batch")}
}

// batchRow reads the row of a batch.
func (e *Environment) batchRow(t *testing.T, id string) dynamo.Item {
	t.Helper()
	return e.item(t, "batches", batchKey(id))
}

// expectNoUpload makes a batch one whose upload is not waited for any more, since long ago, and returns its row.
func (e *Environment) expectNoUpload(t *testing.T, id string) dynamo.Item {
	t.Helper()
	row := e.batchRow(t, id)
	row["upload_by"] = dynamo.String(time.Now().AddDate(0, 0, -3).UTC().Format(time.RFC3339Nano))
	row["look_at"] = row["upload_by"]
	e.putItem(t, "batches", row)
	return row
}

// operatorStorage returns a client of storage with the operator's keys.
func operatorStorage(e *Environment) *s3.Client {
	return s3.New(s3.Options{
		Region: e.Region, BaseEndpoint: &e.S3URL, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(e.AccessKeyID, e.SecretAccessKey, ""),
	})
}

// uploadTag returns the verdict that the upload of a batch of the session's tenant is tagged with, "" for none.
func (s *session) uploadTag(batchID string) string {
	s.t.Helper()
	storage := operatorStorage(s.environment)
	for _, b := range ok(storage.ListBuckets(s.t.Context(), &s3.ListBucketsInput{}))(s.t).Buckets {
		if !strings.HasPrefix(*b.Name, s.environment.Prefix+"-uploads-") {
			continue
		}
		out := ok(storage.GetObjectTagging(s.t.Context(), &s3.GetObjectTaggingInput{
			Bucket: b.Name, Key: aws.String("uploads/" + s.tenantID + "/" + batchID),
		}))(s.t)
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
		if errors.As(err, new(*types.ExecutionDoesNotExist)) {
			return false
		}
		must(t, err)
		return true
	})
}

// waitForExecution waits until an execution has a status.
func (e *Environment) waitForExecution(t *testing.T, want types.ExecutionStatus, machine, name string) {
	t.Helper()
	machines, arn := e.execution(t, machine, name)
	eventually(t, "the execution "+name+" to be "+string(want), func() bool {
		out, err := machines.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
		if errors.As(err, new(*types.ExecutionDoesNotExist)) {
			return false
		}
		must(t, err)
		return out.Status == want
	})
}

// execution returns the ARN of the execution of a name, and a client for it.
func (e *Environment) execution(t *testing.T, machine, name string) (client *sfn.Client, arn string) {
	t.Helper()
	client = sfn.NewFromConfig(ok(e.awsConfig(e.AWSEndpointURL))(t))
	for _, m := range ok(client.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{}))(t).StateMachines {
		if *m.Name == e.Prefix+"-"+machine {
			return client, strings.Replace(*m.StateMachineArn, ":stateMachine:", ":execution:", 1) + ":" + name
		}
	}
	t.Fatalf("there is no state machine %s-%s", e.Prefix, machine)
	return nil, ""
}
