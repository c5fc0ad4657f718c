package storage

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	versity "github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3api/middlewares"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"

	"sluice/local/iam"
)

// backend wraps the gateway's own. It refuses bodies that end early, denies what only the object itself can decide, and tells of
// new ones.
type backend struct {
	versity.Backend
	iam     *iam.Service
	created func(Created) error
	now     func() time.Time
}

// Created is an object that has just become readable.
type Created struct {
	Bucket, Key string
	Size        int64
	ETag        string // without quotes
	VersionID   string // empty in a bucket without versions
	Event       string // such as ObjectCreated:Put
	Time        time.Time
}

func (b *backend) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	in.Body = whole(in.Body, in.ContentLength)
	out, err := b.Backend.PutObject(ctx, in)
	if err != nil || strings.HasSuffix(value(in.Key), "/") {
		return out, incomplete(in.Body, err)
	}
	return out, b.tell(Created{Bucket: value(in.Bucket), Key: value(in.Key), Size: value(in.ContentLength), ETag: out.ETag,
		VersionID: out.VersionID, Event: "ObjectCreated:Put"})
}

func (b *backend) UploadPart(ctx context.Context, in *s3.UploadPartInput) (*s3.UploadPartOutput, error) {
	in.Body = whole(in.Body, in.ContentLength)
	out, err := b.Backend.UploadPart(ctx, in)
	return out, incomplete(in.Body, err)
}

func (b *backend) CompleteMultipartUpload(ctx context.Context, in *s3.CompleteMultipartUploadInput) (s3response.CompleteMultipartUploadResult, string, error) {
	out, version, err := b.Backend.CompleteMultipartUpload(ctx, in)
	if err != nil {
		return out, version, err
	}
	// The size of all parts together is only known now.
	head, err := b.Backend.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: in.Key})
	if err != nil {
		return out, version, err
	}
	return out, version, b.tell(Created{Bucket: value(in.Bucket), Key: value(in.Key), Size: value(head.ContentLength),
		ETag: value(out.ETag), VersionID: version, Event: "ObjectCreated:CompleteMultipartUpload"})
}

func (b *backend) CopyObject(ctx context.Context, in s3response.CopyObjectInput) (s3response.CopyObjectOutput, error) {
	if err := b.checkSource(ctx, value(in.CopySource)); err != nil {
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
	return out, b.tell(Created{Bucket: value(in.Bucket), Key: value(in.Key), Size: value(head.ContentLength),
		ETag: value(head.ETag), VersionID: value(out.VersionId), Event: "ObjectCreated:Copy"})
}

func (b *backend) tell(c Created) error {
	// The gateway's texts lie in a buffer that the next request overwrites.
	c.Bucket, c.Key, c.VersionID = strings.Clone(c.Bucket), strings.Clone(c.Key), strings.Clone(c.VersionID)
	c.ETag = strings.Clone(strings.Trim(c.ETag, `"`))
	c.Time = b.now()
	return b.created(c)
}

// SelectObjectContent would read past the checks above.
func (b *backend) SelectObjectContent(ctx context.Context, in *s3.SelectObjectContentInput) func(*bufio.Writer) {
	return versity.BackendUnsupported{}.SelectObjectContent(ctx, in)
}

func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// wholeReader fails when a body ends before its declared length. The gateway takes the unexpected end of a body that
// carries no checksum for its end, would store the torso, and the client's next try would find the key taken.
//
// It is a ChecksumReader because the gateway looks for that in the body; without an algorithm it counts as none.
type wholeReader struct {
	io.Reader
	left  int64
	short bool
}

func whole(body io.Reader, length *int64) io.Reader {
	if length == nil || body == nil {
		return body
	}
	return &wholeReader{Reader: body, left: *length}
}

func (r *wholeReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.left -= int64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if r.left > 0 {
			r.short = true
			return n, s3err.GetAPIError(s3err.ErrIncompleteBody)
		}
	}
	return n, err
}

func (r *wholeReader) Algorithm() string {
	if c, ok := r.Reader.(middlewares.ChecksumReader); ok {
		return c.Algorithm()
	}
	return ""
}

func (r *wholeReader) Checksum() string {
	if c, ok := r.Reader.(middlewares.ChecksumReader); ok {
		return c.Checksum()
	}
	return ""
}

// incomplete names the true cause of a failure.
func incomplete(body io.Reader, err error) error {
	if r, ok := body.(*wholeReader); ok && err != nil && r.short {
		return s3err.GetAPIError(s3err.ErrIncompleteBody)
	}
	return err
}
