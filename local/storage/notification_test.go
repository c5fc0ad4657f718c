package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"sluice/local/template"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

func TestMultipartUploadAndCopyAreReported(t *testing.T) {
	c := client("function", "function-secret")
	key, copied := uniqueKey("parts"), uniqueKey("copied")
	upload := errtest.Must(c.CreateMultipartUpload(t.Context(),
		&s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: &key}))(t)
	var parts []types.CompletedPart
	for i, size := range []int{5 << 20, 7} {
		n := int32(i + 1)
		part := errtest.Must(c.UploadPart(
			t.Context(),
			&s3.UploadPartInput{Bucket: aws.String(bucket), Key: &key, UploadId: upload.UploadId,
				PartNumber: &n, Body: bytes.NewReader(make([]byte, size))},
		))(t)
		parts = append(parts, types.CompletedPart{ETag: part.ETag, PartNumber: &n})
	}
	errtest.Fatal(t,
		errtest.Of(c.CompleteMultipartUpload(t.Context(),
			&s3.CompleteMultipartUploadInput{Bucket: aws.String(bucket), Key: &key, UploadId: upload.UploadId,
				MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}})))
	errtest.Fatal(t, errtest.Of(c.CopyObject(t.Context(), &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: &copied,
		CopySource: aws.String(bucket + "/" + key)})))
	for key, event := range map[string]string{key: "ObjectCreated:CompleteMultipartUpload",
		copied: "ObjectCreated:Copy"} {
		got := createdWithKey(key)
		if len(got) != 1 || got[0].Event != event || got[0].Size != 5<<20+7 || got[0].ETag == "" ||
			strings.Contains(got[0].ETag, `"`) {
			t.Errorf("%s: events %+v, want one %s of %d bytes", key, got, event, 5<<20+7)
		}
	}
}

func TestNotification(t *testing.T) {
	o := CreatedObject{
		Bucket:    "b",
		Key:       "uploads/a b+c/é",
		Size:      7,
		ETag:      "e",
		VersionID: "v",
		Event:     "ObjectCreated:Put",
		Time:      now,
	}
	text := errtest.Must(o.Notification("eu-west-1", "r"))(t)
	var raw struct{ Records []map[string]any }
	errtest.Fatal(t, json.Unmarshal(text, &raw))
	want := map[string]any{
		"eventVersion":      "2.1",
		"eventSource":       "aws:s3",
		"awsRegion":         "eu-west-1",
		"eventName":         "ObjectCreated:Put",
		"eventTime":         "2026-01-02T03:04:05.678Z",
		"userIdentity":      map[string]any{"principalId": "AWS:LOCAL"},
		"requestParameters": map[string]any{"sourceIPAddress": "127.0.0.1"},
		"responseElements":  map[string]any{"x-amz-request-id": "r", "x-amz-id-2": "r"},
		"s3": map[string]any{"s3SchemaVersion": "1.0", "configurationId": "local",
			"bucket": map[string]any{
				"name":          "b",
				"arn":           "arn:aws:s3:::b",
				"ownerIdentity": map[string]any{"principalId": "LOCAL"},
			},
			"object": map[string]any{"key": "uploads/a+b%2Bc/%C3%A9", "size": 7.0, "eTag": "e", "versionId": "v",
				"sequencer": fmt.Sprintf("%018X", now.UnixNano()), "urlDecodedKey": ""}},
	}
	difftest.Equal(t, "Records", want, raw.Records[0])
	var e events.S3Event
	if err := json.Unmarshal(text, &e); err != nil || e.Records[0].S3.Object.URLDecodedKey != o.Key {
		t.Errorf("decoded key %q, %v, want %q", e.Records[0].S3.Object.URLDecodedKey, err, o.Key)
	}
	all := template.Notification{Events: []string{"s3:ObjectCreated:*"}, Prefix: "uploads/"}
	for _, test := range []struct {
		change func(*CreatedObject, *template.Notification)
		want   bool
	}{
		{func(*CreatedObject, *template.Notification) {}, true},
		{func(o *CreatedObject, _ *template.Notification) { o.Key = "upload" }, false},
		{func(_ *CreatedObject, n *template.Notification) { n.Suffix = "é" }, true},
		{func(_ *CreatedObject, n *template.Notification) { n.Suffix = "e" }, false},
		{func(_ *CreatedObject, n *template.Notification) { n.Events = []string{"s3:ObjectCreated:Put"} }, true},
		{func(_ *CreatedObject, n *template.Notification) { n.Events = []string{"s3:ObjectCreated:Copy"} }, false},
		{func(_ *CreatedObject, n *template.Notification) { n.Events = []string{"s3:ObjectRemoved:*"} }, false},
	} {
		o, n := o, all
		test.change(&o, &n)
		difftest.Equal(t, fmt.Sprintf("Matches of %+v with %+v", o, n), test.want, o.Matches(n))
	}
}
