package storage

import (
	"context"
	"encoding/xml"

	"github.com/versity/versitygw/auth"
	versity "github.com/versity/versitygw/backend"
	"github.com/versity/versitygw/s3err"
)

// GetBucketCors returns the CORS rules that the template gives a bucket. The gateway asks for them at each request of a
// web page of another origin, and acts on them.
func (b *backend) GetBucketCors(_ context.Context, bucket string) ([]byte, error) {
	var all auth.CORSConfiguration
	for _, r := range b.cors[bucket] {
		rule := auth.CORSRule{
			AllowedOrigins: convert[auth.CORSOrigin](r.Origins),
			AllowedMethods: convert[auth.CORSHTTPMethod](r.Methods),
			AllowedHeaders: convert[auth.CORSHeader](r.Headers), ExposeHeaders: convert[auth.CORSHeader](r.Exposed),
		}
		if r.ID != "" {
			rule.ID = &r.ID
		}
		if r.MaxAge != 0 {
			seconds := int32(min(r.MaxAge, 1<<30))
			rule.MaxAgeSeconds = &seconds
		}
		all.Rules = append(all.Rules, rule)
	}
	if len(all.Rules) == 0 {
		return nil, s3err.GetBucketErr(s3err.ErrNoSuchCORSConfiguration, bucket)
	}
	return xml.Marshal(all)
}

// PutBucketCors is not supported: the rules are those of the template.
func (b *backend) PutBucketCors(ctx context.Context, bucket string, rules []byte) error {
	return versity.BackendUnsupported{}.PutBucketCors(ctx, bucket, rules)
}

// DeleteBucketCors is not supported, as PutBucketCors.
func (b *backend) DeleteBucketCors(ctx context.Context, bucket string) error {
	return versity.BackendUnsupported{}.DeleteBucketCors(ctx, bucket)
}

// convert returns texts as those of a type of the gateway.
func convert[T ~string](texts []string) []T {
	var out []T
	for _, t := range texts {
		out = append(out, T(t))
	}
	return out
}
