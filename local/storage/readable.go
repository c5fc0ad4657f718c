package storage

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/auth"
	"github.com/versity/versitygw/s3api/utils"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"

	"sluice/local/iam"
	"sluice/local/policy"
)

const bucketARN = "arn:aws:s3:::"

// reader is who reads, as the gateway has found out.
func (b *backend) reader(ctx context.Context) (*iam.Principal, bool) {
	account, _ := ctx.Value(string(utils.ContextKeyAccount)).(auth.Account)
	return b.iam.ByKey(account.Access)
}

// readable holds the tags of an object against the policy of its bucket: the gateway knows no conditions on tags.
func (b *backend) readable(ctx context.Context, bucket, key, version string) error {
	denied := s3err.GetAPIError(s3err.ErrAccessDenied)
	who, ok := b.reader(ctx)
	if !ok {
		return denied
	}
	tags, err := b.Backend.GetObjectTagging(ctx, bucket, key, version)
	if err != nil || len(tags) == 0 {
		return nil // an object that is not there is the gateway's to report
	}
	action := "s3:GetObject"
	if version != "" {
		action = "s3:GetObjectVersion"
	}
	if who.Forbidden(policy.Request{Action: action, Resource: bucketARN + bucket + "/" + key, Value: func(name string) []string {
		if asked, ok := strings.CutPrefix(name, "s3:existingobjecttag/"); ok {
			for tag, value := range tags {
				if strings.EqualFold(tag, asked) {
					return []string{value}
				}
			}
		}
		return values(nil)(name)
	}}) != nil {
		return denied
	}
	return nil
}

// missing hides that an object is not there from one who may not list its bucket, as S3 does.
func (b *backend) missing(ctx context.Context, bucket string, err error) error {
	if !errors.Is(err, s3err.GetAPIError(s3err.ErrNoSuchKey)) {
		return err
	}
	who, ok := b.reader(ctx)
	if ok && who.May(policy.Request{Action: "s3:ListBucket", Resource: bucketARN + bucket}) {
		return err
	}
	return s3err.GetAPIError(s3err.ErrAccessDenied)
}

func (b *backend) checkSource(ctx context.Context, source string) error {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(source, "/"), "/")
	key, version, _ := strings.Cut(key, "?versionId=")
	return b.readable(ctx, bucket, key, version)
}

func (b *backend) GetObject(ctx context.Context, in *s3.GetObjectInput) (*s3.GetObjectOutput, error) {
	if err := b.readable(ctx, value(in.Bucket), value(in.Key), value(in.VersionId)); err != nil {
		return nil, err
	}
	out, err := b.Backend.GetObject(ctx, in)
	return out, b.missing(ctx, value(in.Bucket), err)
}

func (b *backend) HeadObject(ctx context.Context, in *s3.HeadObjectInput) (*s3.HeadObjectOutput, error) {
	if err := b.readable(ctx, value(in.Bucket), value(in.Key), value(in.VersionId)); err != nil {
		return nil, err
	}
	out, err := b.Backend.HeadObject(ctx, in)
	return out, b.missing(ctx, value(in.Bucket), err)
}

func (b *backend) UploadPartCopy(ctx context.Context, in *s3.UploadPartCopyInput) (s3response.CopyPartResult, error) {
	if err := b.checkSource(ctx, value(in.CopySource)); err != nil {
		return s3response.CopyPartResult{}, err
	}
	return b.Backend.UploadPartCopy(ctx, in)
}
