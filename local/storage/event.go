package storage

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"sluice/local/template"
)

// Matches tells whether a notification of a bucket asks for an object.
func (c Created) Matches(n template.Notification) bool {
	if !strings.HasPrefix(c.Key, n.Prefix) || !strings.HasSuffix(c.Key, n.Suffix) {
		return false
	}
	for _, pattern := range n.Events {
		// Patterns have at most one * and it is at the end.
		if ok, err := path.Match(strings.TrimPrefix(pattern, "s3:"), c.Event); ok && err == nil {
			return true
		}
	}
	return false
}

// Notification is the event that a function gets, in the shape that S3 gives it: the key is URL-encoded, the ETag has no
// quotes, the time is when the request was finished.
func (c Created) Notification(region, requestID string) ([]byte, error) {
	return json.Marshal(events.S3Event{Records: []events.S3EventRecord{{
		EventVersion: "2.1", EventSource: "aws:s3", AWSRegion: region, EventName: c.Event,
		EventTime:         c.Time.UTC().Truncate(time.Millisecond),
		PrincipalID:       events.S3UserIdentity{PrincipalID: "AWS:LOCAL"},
		RequestParameters: events.S3RequestParameters{SourceIPAddress: "127.0.0.1"},
		ResponseElements:  map[string]string{"x-amz-request-id": requestID, "x-amz-id-2": requestID},
		S3: events.S3Entity{
			SchemaVersion: "1.0", ConfigurationID: "local",
			Bucket: events.S3Bucket{Name: c.Bucket, Arn: "arn:aws:s3:::" + c.Bucket,
				OwnerIdentity: events.S3UserIdentity{PrincipalID: "LOCAL"}},
			Object: events.S3Object{
				Key: strings.ReplaceAll(url.QueryEscape(c.Key), "%2F", "/"), Size: c.Size, ETag: c.ETag, VersionID: c.VersionID,
				Sequencer: fmt.Sprintf("%018X", c.Time.UnixNano()),
			},
		},
	}}})
}
