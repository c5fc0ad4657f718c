// Package objects reads and writes S3 objects: signed URLs for clients, ranged reads and streamed writes for the steps.
// It never holds a whole object in memory.
package objects

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// The outcomes of S3 that callers act on. They are matched with errors.Is.
var (
	// ErrNotFound means that there is no object with the key.
	ErrNotFound = errors.New("objects: not found")
	// ErrChanged means that the object does not have the given ETag.
	ErrChanged = errors.New("objects: changed since it was pinned")
	// ErrDenied means that the object must not be read, as a refused upload.
	ErrDenied = errors.New("objects: denied")
)

// IsGone reports whether an error means that an object does not exist: for who may not list the bucket, S3 denies
// objects that do not exist.
func IsGone(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, ErrDenied) }

// Bucket is one S3 bucket. It is safe for concurrent use.
type Bucket struct {
	name   string
	client *s3.Client
	signer *s3.PresignClient
	creds  aws.CredentialsProvider
	now    func() time.Time
}

// Options are for environments other than AWS. The zero Options are those for AWS.
type Options struct {
	// PathStyle means that URLs have the bucket in their path instead of their host name.
	PathStyle bool
	// PublicURL is the address of S3 in signed URLs; empty for the endpoint of the configuration.
	PublicURL string
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// New returns the bucket with the given name.
func New(cfg aws.Config, name string, o Options) *Bucket {
	options := func(so *s3.Options) {
		so.UsePathStyle = o.PathStyle
		// By default, the SDK adds a checksum of the empty body to signed PUT URLs, which then refuse every other body.
		so.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		so.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	}
	client := s3.NewFromConfig(cfg, options)
	public := client
	if o.PublicURL != "" {
		public = s3.NewFromConfig(cfg, options, func(so *s3.Options) { so.BaseEndpoint = &o.PublicURL })
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Bucket{name, client, s3.NewPresignClient(public), cfg.Credentials, o.Now}
}

// Find returns the bucket in the region of the configuration whose name begins with a prefix, before the account and
// the region. It returns an error unless there is exactly one.
func Find(ctx context.Context, cfg aws.Config, prefix string, o Options) (*Bucket, error) {
	out, err := New(cfg, "", o).client.ListBuckets(ctx, &s3.ListBucketsInput{Prefix: &prefix})
	if err != nil {
		return nil, fmt.Errorf("list buckets: %w", err)
	}
	var names []string
	for _, b := range out.Buckets {
		name := aws.ToString(b.Name)
		account, isRegion := strings.CutSuffix(strings.TrimPrefix(name, prefix), "-"+cfg.Region)
		if strings.HasPrefix(name, prefix) && isRegion && strings.Trim(account, "0123456789") == "" {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("there are %d buckets %sACCOUNT-%s, not one", len(names), prefix, cfg.Region)
	}
	return New(cfg, names[0], o), nil
}

// SignedURL is a URL that lets its holder make one request.
type SignedURL struct {
	URL    string
	Method string
	// Headers are the headers that the request must have, besides Host.
	Headers map[string]string
	Expires time.Time
}

// SignPutOf signs the upload of an object that must not exist yet, and has exactly the given size in bytes; 0 if it is
// not known. The request must carry If-None-Match: *.
func (b *Bucket) SignPutOf(ctx context.Context, key string, size int64, lifetime time.Duration) (SignedURL, error) {
	return b.SignPutOfContent(ctx, key, Content{Size: size}, lifetime)
}

// Content has the properties of an object that are known before it is uploaded.
type Content struct {
	// Size is in bytes; 0 if it is not known.
	Size int64
	// SHA256 is the checksum; nil if it is not known.
	SHA256 []byte
}

// SignPutOfContent is SignPutOf for an object with known properties. Storage refuses any other content.
func (b *Bucket) SignPutOfContent(ctx context.Context, key string, c Content, lifetime time.Duration) (SignedURL,
	error) {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, IfNoneMatch: aws.String("*")}
	if c.Size > 0 {
		in.ContentLength = &c.Size
	}
	if c.SHA256 != nil {
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(c.SHA256))
	}
	return b.sign(ctx, lifetime, func(o func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error) {
		return b.signer.PresignPutObject(ctx, in, o)
	})
}

// SignGet signs the download of an object. The headers of the reply follow d, not the uploader. Each call returns
// another URL, also within one second.
func (b *Bucket) SignGet(ctx context.Context, key string, d Download, lifetime time.Duration) (SignedURL, error) {
	return b.sign(ctx, lifetime, func(o func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error) {
		return b.signer.PresignGetObject(ctx, &s3.GetObjectInput{
			Bucket: &b.name, Key: &key,
			ResponseContentDisposition: aws.String(d.disposition()),
			ResponseContentType:        aws.String(cmp.Or(d.MediaType, "application/octet-stream")),
			ResponseCacheControl:       aws.String("no-store"),
		}, o, s3.WithPresignClientFromClientOptions(addNonce))
	})
}

// sign signs for the lifetime or until the signing credentials expire, whichever is shorter: a URL is not valid any
// longer than the credentials that signed it. The credentials in a Lambda function's environment do not say when they
// expire, so the lifetimes must be short (docs/operations/deploy.md).
func (b *Bucket) sign(ctx context.Context, lifetime time.Duration,
	presign func(func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error)) (SignedURL, error) {
	creds, err := b.creds.Retrieve(ctx)
	if err != nil {
		return SignedURL{}, fmt.Errorf("sign URL: %w", err)
	}
	now := b.now()
	if creds.CanExpire {
		if lifetime = min(lifetime, creds.Expires.Sub(now)).Truncate(time.Second); lifetime <= 0 {
			return SignedURL{}, errors.New("sign URL: the credentials have expired")
		}
	}
	req, err := presign(s3.WithPresignExpires(lifetime))
	if err != nil {
		return SignedURL{}, fmt.Errorf("sign URL: %w", err)
	}
	headers := map[string]string{}
	for name, values := range req.SignedHeader {
		if name != "Host" && len(values) > 0 {
			headers[name] = values[0]
		}
	}
	return SignedURL{req.URL, req.Method, headers, now.Add(lifetime).UTC().Truncate(time.Second)}, nil
}

// Open reads the bytes [from, to) of an object, or from there to its end if to is negative. With an etag, the object
// must have that ETag. It returns ErrNotFound, ErrChanged or ErrDenied.
func (b *Bucket) Open(ctx context.Context, key, etag string, from, to int64) (io.ReadCloser, error) {
	if to >= 0 && from >= to {
		return http.NoBody, nil
	}
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if etag != "" {
		in.IfMatch = &etag
	}
	if to >= 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", from, to-1))
	} else if from > 0 {
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", from))
	}
	out, err := b.client.GetObject(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("read object: %w", withOutcome(err))
	}
	return out.Body, nil
}

// Info describes a stored object.
type Info struct {
	// ETag has its quotes, as If-Match takes it.
	ETag string
	// Version is empty if the bucket keeps no versions.
	Version string
	// Size is in bytes.
	Size int64
	// Modified is when the object was stored, in whole seconds.
	Modified time.Time
}

// Head describes an object without reading it. It returns ErrNotFound or ErrDenied; for who may not list the bucket, S3
// denies objects that do not exist.
func (b *Bucket) Head(ctx context.Context, key string) (Info, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return Info{}, fmt.Errorf("look for object: %w", withOutcome(err))
	}
	return Info{
		ETag: aws.ToString(out.ETag), Version: versionOf(out.VersionId), Size: aws.ToInt64(out.ContentLength),
		Modified: aws.ToTime(out.LastModified),
	}, nil
}

// versionOf returns "" for an object in a bucket without versions.
func versionOf(id *string) string {
	if version := aws.ToString(id); version != "null" {
		return version
	}
	return ""
}

// Ranges is a file that is read by ranges. It is safe for concurrent use.
type Ranges = interface {
	// Open opens the bytes [from, to) for reading, where 0 <= from < to <= size.
	Open(ctx context.Context, from, to int64) (io.ReadCloser, error)
}

// Source returns an object as a file that is read by ranges. With an etag, each range is read as by Open.
func (b *Bucket) Source(key, etag string) Ranges { return source{b, key, etag} }

type source struct {
	bucket    *Bucket
	key, etag string
}

func (s source) Open(ctx context.Context, from, to int64) (io.ReadCloser, error) {
	return s.bucket.Open(ctx, s.key, s.etag, from, to)
}

// Tag replaces all tags of an object by one. Repeating it is success. It returns ErrNotFound.
func (b *Bucket) Tag(ctx context.Context, key, name, value string) error {
	_, err := b.client.PutObjectTagging(ctx, &s3.PutObjectTaggingInput{
		Bucket: &b.name, Key: &key,
		Tagging: &types.Tagging{TagSet: []types.Tag{{Key: &name, Value: &value}}},
	})
	if err != nil {
		return fmt.Errorf("tag object: %w", withOutcome(err))
	}
	return nil
}

// Empty puts an object without bytes and tags in the place of an object, or of none. The key stays in use: a URL of
// SignPut, which requires that there is no object, is refused. Repeating it is success.
func (b *Bucket) Empty(ctx context.Context, key string) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(nil)})
	if err != nil {
		return fmt.Errorf("empty object: %w", withOutcome(err))
	}
	return nil
}

// Remove removes an object. Removing one that does not exist is success.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}); err != nil {
		return fmt.Errorf("remove object: %w", withOutcome(err))
	}
	return nil
}

// withOutcome joins err with the outcome that callers act on, if it is one.
func withOutcome(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "NoSuchKey", "NotFound":
			return errors.Join(ErrNotFound, err)
		case "PreconditionFailed":
			return errors.Join(ErrChanged, err)
		case "AccessDenied", "Forbidden": // the reply to HEAD has no body with the code
			return errors.Join(ErrDenied, err)
		}
	}
	return err
}
