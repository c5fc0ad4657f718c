package e2e

import (
	"net/url"
	"path"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The sweep brings the file of a document to an outcome: one whose scan was lost or interrupted is scanned, and one
// that does not come is not waited for.
func TestSweepOfDocuments(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "SweepAge=1")
	api := login(t, cloud)
	scanned, status := api.uploadDocument("e", "clean")
	if status != "Completed" {
		t.Fatalf("got %s, want Completed", status)
	}
	cloud.forgetScan(t, scanned.SignedURLToUpload, time.Now().Add(-time.Minute))
	api.expectDocument(scanned.ID, "Processing")
	missing := api.createDocument("a.pdf", "e", "")
	cloud.forgetScan(t, missing.SignedURLToUpload, time.Now().Add(-30*time.Hour))
	expected := api.createDocument("a.pdf", "e", "")
	eventually(t, "the outcomes", func() bool {
		cloud.sweep(t)
		return api.readDocument(scanned.ID).Status == "Completed" && api.readDocument(missing.ID).Status == "Error"
	})
	const message = "The file did not arrive in time. Give the document another one."
	if d := api.readDocument(missing.ID); valueOrEmpty(d.ErrorMessage) != message ||
		valueOrEmpty(d.ErrorCode) != "CLIENT_SIDE_ERROR" {
		t.Errorf("got %+v, want the reason of the error", d)
	}
	api.expectDocument(expected.ID, "Processing")
	var replaced createdDocument
	api.mustCall("PUT", documentCommands+"/updateFile", `{"data":{"id":"`+missing.ID+`","fileName":"b.txt"}}`,
		&replaced)
	expectPut(t, 200, replaced.upload(), []byte("clean"))
	eventually(t, "the scan of the other file", func() bool {
		return api.readDocument(missing.ID).Status == "Completed"
	})
}

// forgetScan makes the file of an upload URL one that is expected since a time and whose scan has had no outcome.
func (e *Environment) forgetScan(t *testing.T, uploadURL string, since time.Time) {
	t.Helper()
	u := ok(url.Parse(uploadURL))(t)
	file := path.Base(u.Path)
	text := func(s string) dynamodbtypes.AttributeValue { return &dynamodbtypes.AttributeValueMemberS{Value: s} }
	ok(e.tables(t).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(e.Prefix + "-documents"),
		Key: tableItem{
			"owner": text(e.TenantID + "#file#" + file), "part": text("file"),
		},
		UpdateExpression:    aws.String("SET waiting = :waiting, since = :since, look_at = :since REMOVE outcome"),
		ConditionExpression: aws.String("attribute_exists(part)"),
		ExpressionAttributeValues: tableItem{
			":waiting": text("0"), ":since": text(since.UTC().Format("2006-01-02T15:04:05.000000000Z")),
		},
	}))(t)
}
