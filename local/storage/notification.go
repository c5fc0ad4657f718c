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

// CreatedObject is an object that has just become readable.
type CreatedObject struct {
	Bucket, Key string
	// Size is the length in bytes.
	Size int64
	// ETag has no quotes.
	ETag string
	// VersionID is empty in a bucket without versions.
	VersionID string
	// Event is the name of the event, such as ObjectCreated:Put.
	Event string
	// Time is when the object was complete.
	Time time.Time
}

// Matches reports whether a notification of the object's bucket asks for the object.
func (o CreatedObject) Matches(n template.Notification) bool {
	if !strings.HasPrefix(o.Key, n.Prefix) || !strings.HasSuffix(o.Key, n.Suffix) {
		return false
	}
	for _, pattern := range n.Events {
		// Patterns have at most one *, at their end.
		if ok, err := path.Match(strings.TrimPrefix(pattern, "s3:"), o.Event); ok && err == nil {
			return true
		}
	}
	return false
}

// Notification returns the event that S3 sends to a function: the key is URL-encoded, the ETag has no quotes, and the
// time is the time of the object's creation.
func (o CreatedObject) Notification(region, requestID string) ([]byte, error) {
	return json.Marshal(events.S3Event{Records: []events.S3EventRecord{{
		EventVersion: "2.1", EventSource: "aws:s3", AWSRegion: region, EventName: o.Event,
		EventTime:         o.Time.UTC().Truncate(time.Millisecond),
		PrincipalID:       events.S3UserIdentity{PrincipalID: "AWS:LOCAL"},
		RequestParameters: events.S3RequestParameters{SourceIPAddress: "127.0.0.1"},
		ResponseElements:  map[string]string{"x-amz-request-id": requestID, "x-amz-id-2": requestID},
		S3: events.S3Entity{
			SchemaVersion: "1.0", ConfigurationID: "local",
			Bucket: events.S3Bucket{Name: o.Bucket, Arn: "arn:aws:s3:::" + o.Bucket,
				OwnerIdentity: events.S3UserIdentity{PrincipalID: "LOCAL"}},
			Object: events.S3Object{
				Key: strings.ReplaceAll(url.QueryEscape(o.Key), "%2F",
					"/"), Size: o.Size, ETag: o.ETag, VersionID: o.VersionID,
				Sequencer: fmt.Sprintf("%018X", o.Time.UnixNano()),
			},
		},
	}}})
}
