package cloud

import (
	"context"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"sluice/local/eventbridge"
	"sluice/local/guardduty"
	"sluice/local/template"
)

// startEvents starts the event bus and GuardDuty, which tells by it what it found.
func (c *Cloud) startEvents(ctx context.Context) {
	c.bus = eventbridge.New(ctx, eventbridge.Config{
		Rules: c.template.Rules, Region: region, Account: account, NewID: newID,
		Invoke: func(rule template.Rule, function string, event []byte) error {
			name := c.functionName(function)
			err := c.iam.Invocable("events.amazonaws.com", rule.ARN, arn("lambda", "function:"+name))
			if err == nil {
				_, err = c.lambda.InvokeAsync(name, event)
			}
			return err
		},
	})
	objects := s3.New(s3.Options{
		Region: region, BaseEndpoint: aws.String("http://" + c.listenOn(c.self.S3URL)), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(c.self.AccessKeyID, c.self.SecretAccessKey, ""),
	})
	c.malware = guardduty.New(ctx, guardduty.Config{
		Plans: c.template.Plans, Region: region, Account: account, Publish: c.bus.Publish, NewID: newID, Now: time.Now,
		Open: func(ctx context.Context, bucket, key string) (io.ReadCloser, guardduty.Object, error) {
			out, err := objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
			if err != nil {
				return nil, guardduty.Object{}, err
			}
			return out.Body, guardduty.Object{ETag: aws.ToString(out.ETag), Version: aws.ToString(out.VersionId)}, nil
		},
	})
}
