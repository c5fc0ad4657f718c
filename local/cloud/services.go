package cloud

import (
	"context"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"sluice/local/capacity"
	"sluice/local/database"
	"sluice/local/endpoint"
	"sluice/local/eventbridge"
	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/storage"
	"sluice/local/template"
	"sluice/shared/access/auth/fakekms"
)

// startStores starts DynamoDB and S3, which depend on no other service.
func (c *Cloud) startStores(ctx context.Context) error {
	log, err := os.OpenFile(c.path("logs", "dynamodb.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if c.database, err = database.Start(ctx, database.Config{
		Program: c.tool("dynoxide"), Host: databaseHost(), File: c.path("dynamodb.db"), Log: log,
		Tables: c.template.Tables,
	}); err != nil {
		return err
	}
	if c.storageLog, err = os.OpenFile(c.path("logs", "s3.log"),
		os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	var buckets []string
	cors := map[string][]template.CORSRule{}
	for _, b := range c.template.Buckets {
		buckets, cors[b.Name] = append(buckets, b.Name), b.CORS
	}
	c.storage, err = storage.Start(ctx, storage.Config{
		Listener: c.listeners.s3, Address: c.listenAddress(c.descriptor.S3URL), Dir: c.path("s3"),
		SocketDir: c.path("sockets"), Region: region, Buckets: buckets, CORS: cors,
		IAM: c.iam, OnCreated: c.notify, Now: time.Now, Log: c.storageLog,
	})
	return err
}

// notify passes a new object to GuardDuty and to the functions that subscribe to its bucket. The events are stored in
// the journal before the client receives the response to its upload.
func (c *Cloud) notify(object storage.CreatedObject) error {
	<-c.functionsReady
	c.guardduty.ScanCreated(object.Bucket, object.Key)
	for _, b := range c.template.Buckets {
		if b.Name != object.Bucket {
			continue
		}
		for _, n := range b.Notifications {
			if !object.Matches(n) {
				continue
			}
			payload, err := object.Notification(region, newID())
			if err != nil {
				return err
			}
			if _, err := c.lambda.InvokeAsync(c.functionName(n.Function), payload); err != nil {
				return err
			}
		}
	}
	return nil
}

// createKeys creates the keys that do not exist yet.
func (c *Cloud) createKeys(context.Context) error {
	var err error
	if c.kms, err = fakekms.New(c.path("kms")); err != nil {
		return err
	}
	for _, k := range c.template.Keys {
		ensure := c.kms.Ensure
		if k.Spec == template.KeySpecSymmetric {
			ensure = c.kms.EnsureSymmetric
		}
		if err := ensure(k.ID); err != nil {
			return err
		}
	}
	return nil
}

// startEventSources starts the event bus, and GuardDuty, which publishes its results there.
func (c *Cloud) startEventSources(ctx context.Context) {
	c.bus = eventbridge.New(ctx, eventbridge.Config{
		Rules: c.template.Rules, Region: region, Account: account, NewID: newID, Log: c.events,
		Invoke: func(rule template.Rule, function string, event []byte) error {
			name := c.functionName(function)
			err := c.iam.AuthorizeInvocation("events.amazonaws.com", rule.ARN, arn("lambda", "function:"+name))
			if err == nil {
				_, err = c.lambda.InvokeAsync(name, event)
			}
			return err
		},
	})
	c.guardduty = guardduty.New(ctx, guardduty.Config{
		Plans: c.template.Plans, Region: region, Account: account, Publish: c.bus.Publish, NewID: newID, Now: time.Now,
		Open: c.openForScan,
	})
}

// openForScan opens an object in the role of the plan that protects its bucket.
func (c *Cloud) openForScan(ctx context.Context, bucket, key string) (io.ReadCloser, guardduty.Object, error) {
	var role iam.Key
	for _, p := range c.template.Plans {
		if p.Bucket == bucket {
			role = c.planKeys[p.ID]
		}
	}
	objects := s3.New(s3.Options{
		Region: region, BaseEndpoint: aws.String("http://" + c.listenAddress(c.descriptor.S3URL)), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(role.ID, role.Secret, ""),
	})
	out, err := objects.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, guardduty.Object{}, err
	}
	return out.Body, guardduty.Object{ETag: aws.ToString(out.ETag), Version: aws.ToString(out.VersionId)}, nil
}

// operatorCredentials returns the access key with which the local cloud itself sends requests.
func (c *Cloud) operatorCredentials() aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(c.descriptor.AccessKeyID, c.descriptor.SecretAccessKey, "")
}

// endpointServices describes the services of the AWS endpoint.
func (c *Cloud) endpointServices() endpoint.Services {
	s := endpoint.Services{
		IAM: c.iam, Now: time.Now, ARN: arn,
		DynamoDB: &url.URL{Scheme: "http", Host: c.database.Address()}, States: c.states, KMS: c.kms, Lambda: c.lambda,
		Events:    c.bus,
		GuardDuty: c.guardduty, Logs: c.log,
		MachineOfToken: c.states.MachineOfToken, TagOfKey: c.kms.TagOf, PartitionKeys: map[string]string{},
	}
	if c.faults != nil {
		s.Faults = c.faults
	}
	if tables := c.limitedTables(); len(tables) > 0 {
		s.LimitWrites = capacity.New(time.Now, c.logThrottled, tables...).Limit
	}
	for _, t := range c.template.Tables {
		s.PartitionKeys[t.Name] = t.PartitionKey()
	}
	return s
}
