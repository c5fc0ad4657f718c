package objects

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// The outcomes of S3 for an object that a client uploads in parts. They are matched with errors.Is.
var (
	// ErrNoUpload means that there is no such upload in parts: it was or is being completed, or was aborted, or has
	// expired.
	ErrNoUpload = errors.New("objects: no such upload in parts")
	// ErrPartsDiffer means that the parts of an upload are not those that it was to be completed with.
	ErrPartsDiffer = errors.New("objects: the parts differ")
)

// MaxParts is the largest number of parts of one object.
const MaxParts = 10_000

// MinPartSize is the size in bytes below which S3 refuses a part that is not the last one.
const MinPartSize = 5 << 20

// Part is a part of an object that is uploaded in parts.
type Part struct {
	// Number is from 1 to MaxParts.
	Number int32
	// Size is in bytes.
	Size int64
	// ETag has its quotes.
	ETag string
	// SHA256 is the checksum in base64; empty if the upload has no checksums.
	SHA256 string
}

// StartParts starts the upload of an object in parts and returns its ID. With checksums, every part must be sent with
// its SHA-256, which S3 keeps; otherwise none may be.
func (b *Bucket) StartParts(ctx context.Context, key string, withChecksums bool) (uploadID string, err error) {
	in := &s3.CreateMultipartUploadInput{Bucket: &b.name, Key: &key}
	if withChecksums {
		in.ChecksumAlgorithm = types.ChecksumAlgorithmSha256
	}
	out, err := b.client.CreateMultipartUpload(ctx, in)
	if err != nil {
		return "", fmt.Errorf("start upload in parts: %w", withOutcome(err))
	}
	return aws.ToString(out.UploadId), nil
}

// SignPart signs the upload of a part that has exactly the given size and, if it is not empty, the given SHA-256. A
// part that is sent again takes the place of the one before.
func (b *Bucket) SignPart(ctx context.Context, key, uploadID string, p Part, lifetime time.Duration) (SignedURL,
	error) {
	in := &s3.UploadPartInput{
		Bucket: &b.name, Key: &key, UploadId: &uploadID, PartNumber: &p.Number, ContentLength: &p.Size,
	}
	if p.SHA256 != "" {
		in.ChecksumSHA256 = &p.SHA256
	}
	return b.sign(ctx, lifetime, func(o func(*s3.PresignOptions)) (*v4.PresignedHTTPRequest, error) {
		return b.signer.PresignUploadPart(ctx, in, o)
	})
}

// ListParts returns the parts that are stored, in the order of their numbers. It returns ErrNoUpload.
func (b *Bucket) ListParts(ctx context.Context, key, uploadID string) ([]Part, error) {
	var parts []Part
	pages := s3.NewListPartsPaginator(b.client, &s3.ListPartsInput{Bucket: &b.name, Key: &key, UploadId: &uploadID})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list parts: %w", withPartsOutcome(err))
		}
		for _, p := range page.Parts {
			parts = append(parts, Part{Number: aws.ToInt32(p.PartNumber), Size: aws.ToInt64(p.Size),
				ETag: `"` + strings.Trim(aws.ToString(p.ETag), `"`) + `"`, SHA256: aws.ToString(p.ChecksumSHA256)})
		}
	}
	return parts, nil
}

// CompleteParts makes an object of parts, which must be those that are stored, in the order of their numbers. There
// must be no object with the key. It returns ErrNoUpload or ErrPartsDiffer, and ErrChanged if there is such an object;
// after any other error, the object may exist.
func (b *Bucket) CompleteParts(ctx context.Context, key, uploadID string, parts []Part) error {
	completed := make([]types.CompletedPart, len(parts))
	for i, p := range parts {
		completed[i] = types.CompletedPart{PartNumber: &p.Number, ETag: &p.ETag}
		if p.SHA256 != "" {
			completed[i].ChecksumSHA256 = &p.SHA256
		}
	}
	_, err := b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &b.name, Key: &key, UploadId: &uploadID, IfNoneMatch: aws.String("*"),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: completed},
	})
	if err != nil {
		return fmt.Errorf("complete upload in parts: %w", withPartsOutcome(err))
	}
	return nil
}

// AbortParts ends an upload in parts and removes its parts. Repeating it is success, and so is aborting an upload that
// was completed: the object stays.
func (b *Bucket) AbortParts(ctx context.Context, key, uploadID string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &b.name, Key: &key, UploadId: &uploadID,
	})
	if err = withPartsOutcome(err); err != nil && !errors.Is(err, ErrNoUpload) {
		return fmt.Errorf("abort upload in parts: %w", err)
	}
	return nil
}

// withPartsOutcome is withOutcome for requests about uploads in parts.
func withPartsOutcome(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		switch api.ErrorCode() {
		case "NoSuchUpload", "NoSuchKey": // the latter while another request completes the upload
			return errors.Join(ErrNoUpload, err)
		case "InvalidPart", "InvalidPartOrder", "EntityTooSmall":
			return errors.Join(ErrPartsDiffer, err)
		case "ConditionalRequestConflict": // another request has just stored the object
			return errors.Join(ErrChanged, err)
		}
	}
	return withOutcome(err)
}
