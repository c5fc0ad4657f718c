package storage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	versity "github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"

	"sluice/local/iam"
	"sluice/local/template"
)

// backend wraps the gateway's own backend. In addition it rejects bodies that end before their declared length,
// evaluates conditions on the tags of objects, takes the CORS rules from the template, and reports new objects.
type backend struct {
	versity.Backend
	iam       *iam.Service
	cors      map[string][]template.CORSRule
	onCreated func(CreatedObject) error
	now       func() time.Time
}

// PutObject stores an object and reports it.
func (b *backend) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	if err := requireOneAuth(ctx); err != nil {
		return s3response.PutObjectOutput{}, err
	}
	in.Body = rejectShort(in.Body, in.ContentLength)
	out, err := b.Backend.PutObject(ctx, in)
	if err != nil || strings.HasSuffix(deref(in.Key), "/") {
		return out, shortBodyError(in.Body, err)
	}
	return out, b.report(
		CreatedObject{Bucket: deref(in.Bucket), Key: deref(in.Key), Size: deref(in.ContentLength), ETag: out.ETag,
			VersionID: out.VersionID, Event: "ObjectCreated:Put"},
	)
}

// UploadPart stores a part of an object.
func (b *backend) UploadPart(ctx context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	if err := requireOneAuth(ctx); err != nil {
		return nil, err
	}
	in.Body = rejectShort(in.Body, in.ContentLength)
	out, err := b.Backend.UploadPart(ctx, in)
	return out, shortBodyError(in.Body, err)
}

// CompleteMultipartUpload puts the parts of an object together and reports the object.
func (b *backend) CompleteMultipartUpload(
	ctx context.Context, in *s3.CompleteMultipartUploadInput,
) (s3response.CompleteMultipartUploadResult, string, error) {
	out, version, err := b.Backend.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return out, version, err
	}
	// The size of the whole object becomes known only with the last part.
	head, err := b.Backend.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: in.Key})
	if err != nil {
		return out, version, err
	}
	return out, version, b.report(
		CreatedObject{Bucket: deref(in.Bucket), Key: deref(in.Key), Size: deref(head.ContentLength),
			ETag: deref(out.ETag), VersionID: version, Event: "ObjectCreated:CompleteMultipartUpload"},
	)
}

// CopyObject copies an object unless its source may not be read, and reports the copy.
func (b *backend) CopyObject(ctx context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	if err := b.authorizeCopySource(ctx, deref(in.CopySource)); err != nil {
		return s3response.CopyObjectOutput{}, err
	}
	out, err := b.Backend.CopyObject(ctx, in)
	if err != nil || out.CopyObjectResult == nil {
		return out, err
	}
	head, err := b.Backend.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: in.Key})
	if err != nil {
		return out, err
	}
	return out, b.report(CreatedObject{Bucket: deref(in.Bucket), Key: deref(in.Key), Size: deref(head.ContentLength),
		ETag: deref(head.ETag), VersionID: deref(out.VersionId), Event: "ObjectCreated:Copy"})
}

// report completes the description of a new object and passes it to onCreated.
func (b *backend) report(o CreatedObject) error {
	// The gateway's strings are stored in a buffer that the next request overwrites.
	o.Bucket, o.Key, o.VersionID = strings.Clone(o.Bucket), strings.Clone(o.Key), strings.Clone(o.VersionID)
	o.ETag = strings.Clone(strings.Trim(o.ETag, `"`))
	o.Time = b.now()
	return b.onCreated(o)
}

// SelectObjectContent is not supported: it would read objects without the checks of GetObject.
func (b *backend) SelectObjectContent(ctx context.Context, in *s3.SelectObjectContentInput) func(*bufio.Writer) {
	return versity.BackendUnsupported{}.SelectObjectContent(ctx, in)
}

// deref returns the value that p points to, and the zero value for nil.
func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// shortBodyReader returns an error if a body ends before its declared length. The gateway by itself takes the early end
// of a body without a checksum for the end of the object: it would store a truncated object, and the client's next
// attempt would find the key in use.
//
// The type implements middlewares.ChecksumReader because the gateway looks for that interface in the body; without an
// algorithm it counts as a body without a checksum.
type shortBodyReader struct {
	io.Reader
	// remaining is the number of bytes still to come.
	remaining int64
	// short is set once the body has ended early.
	short bool
}

// rejectShort wraps body in a shortBodyReader if its length is declared.
func rejectShort(body io.Reader, length *int64) io.Reader {
	if length == nil || body == nil {
		return body
	}
	return &shortBodyReader{Reader: body, remaining: *length}
}

// Read reads from the body and replaces an early end by ErrIncompleteBody.
func (r *shortBodyReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.remaining -= int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if r.remaining > 0 {
			r.short = true
			return n, s3err.GetAPIError(s3err.ErrIncompleteBody)
		}
	}
	return n, err
}

// Algorithm returns the checksum algorithm of the body, and "" for a body without a checksum.
func (r *shortBodyReader) Algorithm() string {
	if c, ok := r.Reader.(middlewares.ChecksumReader); ok {
		return c.Algorithm()
	}
	return ""
}

// Checksum returns the checksum of the body, and "" for a body without one.
func (r *shortBodyReader) Checksum() string {
	if c, ok := r.Reader.(middlewares.ChecksumReader); ok {
		return c.Checksum()
	}
	return ""
}

// shortBodyError returns ErrIncompleteBody if err was caused by a body that ended early, and err otherwise.
func shortBodyError(body io.Reader, err error) error {
	if r, ok := body.(*shortBodyReader); ok && err != nil && r.short {
		return s3err.GetAPIError(s3err.ErrIncompleteBody)
	}
	return err
}

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
