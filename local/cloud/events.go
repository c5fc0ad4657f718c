package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"sluice/local/guardduty"
	"sluice/local/template"
)

// publish is the event bus: it hands an event to the functions of every rule that asks for it.
func (c *Cloud) publish(event []byte) error {
	var decoded map[string]any
	if err := json.Unmarshal(event, &decoded); err != nil {
		return err
	}
	var errs []error
	for _, r := range c.template.Rules {
		if r.Matches(decoded) {
			errs = append(errs, c.invokeAll(r, event))
		}
	}
	return errors.Join(errs...)
}

func (c *Cloud) invokeAll(r template.Rule, event []byte) error {
	var errs []error
	for _, f := range r.Functions {
		_, err := c.lambda.InvokeAsync(c.functionName(f), event)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// clock runs the rules that have a schedule.
type clock struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

func (c *Cloud) startClock(ctx context.Context) *clock {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k := &clock{cancel: cancel}
	for _, r := range c.template.Rules {
		if r.Every == 0 {
			continue
		}
		k.ended.Add(1)
		go func() {
			defer k.ended.Done()
			tick := time.NewTicker(r.Every)
			defer tick.Stop()
			for {
				select {
				case at := <-tick.C:
					_ = c.invokeAll(r, scheduled(r, at)) // the next tick comes all the same
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return k
}

func (k *clock) close() {
	k.cancel()
	k.ended.Wait()
}

// scheduled is the event that EventBridge sends by itself.
func scheduled(r template.Rule, at time.Time) []byte {
	text, _ := json.Marshal(map[string]any{
		"version": "0", "id": newID(), "detail-type": "Scheduled Event", "source": "aws.events", "account": account, "region": region,
		"time": at.UTC().Format(time.RFC3339), "resources": []string{"arn:aws:events:" + region + ":" + account + ":rule/" + r.Name},
		"detail": map[string]any{},
	})
	return text
}

// open reads an object for the malware scan.
func (c *Cloud) open(ctx context.Context, bucket, key string) (io.ReadCloser, guardduty.Object, error) {
	client := s3.New(s3.Options{
		Region: region, BaseEndpoint: aws.String("http://" + c.listenOn(c.self.S3URL)), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(c.self.AccessKeyID, c.self.SecretAccessKey, ""),
	})
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, guardduty.Object{}, err
	}
	return out.Body, guardduty.Object{ETag: aws.ToString(out.ETag), Version: aws.ToString(out.VersionId)}, nil
}
