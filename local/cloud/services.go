package cloud

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"sluice/local/capacity"
	"sluice/local/database"
	"sluice/local/endpoint"
	"sluice/local/eventbridge"
	"sluice/local/faults"
	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/states"
	"sluice/local/storage"
	"sluice/local/template"
	"sluice/shared/auth/fakekms"
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

// functionName returns the name of the function with a logical ID. An alias that follows the ID follows the name.
func (c *Cloud) functionName(logicalID string) string {
	id, alias, isAlias := strings.Cut(logicalID, ":")
	for _, f := range c.template.Functions {
		switch {
		case f.ID == id && isAlias:
			return f.Name + ":" + alias
		case f.ID == id:
			return f.Name
		}
	}
	return ""
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

// startFunctions starts Lambda, the event sources and Step Functions. Requests and executions that an earlier run left
// unfinished are resumed at once.
func (c *Cloud) startFunctions(ctx context.Context) error {
	if err := os.RemoveAll(c.path("tmp")); err != nil {
		return err
	}
	var all []lambda.Function
	for _, f := range c.template.Functions {
		function, err := c.lambdaFunction(f)
		if err != nil {
			return err
		}
		all = append(all, function)
	}
	interpose, err := c.startFaults()
	if err != nil {
		return err
	}
	var deliveries func(string, []byte) []time.Duration
	if c.faults != nil {
		deliveries = c.faults.Deliveries
	}
	if c.lambda, err = lambda.New(ctx, lambda.Config{
		Functions: all, AccountConcurrency: c.options.Limits.Concurrency, Region: region, NewID: newID, Log: c.log,
		TempDir:       c.path("tmp"),
		JournalDir:    c.path("events"),
		DeadLetterDir: c.path("dead-letters"), AuthorizeDeadLetter: c.authorizeDeadLetter,
		Interpose: interpose, Deliveries: deliveries, RetryDelay: c.paced(time.Second),
	}); err != nil {
		return err
	}
	if c.events, err = os.OpenFile(c.path("logs", "events.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND,
		0o600); err != nil {
		return err
	}
	c.startEventSources(ctx)
	close(c.functionsReady)
	var machines []states.Machine
	for _, m := range c.template.Machines {
		machines = append(machines, states.Machine{Name: m.Name, ARN: m.ARN, Definition: m.Definition})
	}
	var functions states.Functions = c.lambda
	if c.faults != nil {
		functions = faults.Functions{Injector: c.faults, Functions: c.lambda}
	}
	c.states, err = states.New(ctx, states.Config{
		Machines: machines, Functions: functions, Authorize: c.authorizeTask, Dir: c.path("executions"), Region: region,
		NewID: newID, Now: time.Now, OnEnded: c.publishEnd, Sleep: c.sleep,
	})
	if err != nil {
		return err
	}
	return c.pruneVersions()
}

// paced returns how long a wait takes that on AWS takes d.
func (c *Cloud) paced(d time.Duration) time.Duration {
	if c.options.Pace == 0 {
		return d
	}
	return time.Duration(float64(d) * c.options.Pace)
}

// sleep waits for a state machine. It returns the context's error if the context ends first.
func (c *Cloud) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(c.paced(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startFaults reads the rules by which functions are killed, and returns what puts itself between functions and AWS;
// nil if there are none.
func (c *Cloud) startFaults() (func(*lambda.Process) ([]string, func(), error), error) {
	var err error
	if c.faults, err = faults.New(c.options.Kills); err != nil || c.faults == nil {
		return nil, err
	}
	if c.journal, err = os.OpenFile(c.path("logs", "faults.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND,
		0o600); err != nil {
		return nil, err
	}
	c.faults.Journal(c.journal)
	c.faults.OnStop(c.stopBatch)
	addresses := map[string]string{
		"AWS_ENDPOINT_URL": c.descriptor.AWSEndpointURL, "AWS_ENDPOINT_URL_S3": c.descriptor.S3URL,
	}
	return func(p *lambda.Process) ([]string, func(), error) { return c.faults.Interpose(p, addresses) }, nil
}

// stopBatch stops the execution of a batch, if there is one, as somebody with the permission could.
func (c *Cloud) stopBatch(id string) {
	for _, m := range c.template.Machines {
		if strings.HasSuffix(m.Name, "-batch") {
			_, _ = c.states.Stop(strings.Replace(m.ARN, ":stateMachine:", ":execution:", 1)+":"+id, "Fault",
				"An injected fault.")
		}
	}
}

// publishEnd publishes the event that an execution has ended. If that fails, the sweep will find its batch.
func (c *Cloud) publishEnd(e states.Execution) {
	if err := c.bus.Publish(e.EndEvent(newID(), region, account)); err != nil {
		c.log.WriteLine(e.Name, e.ARN, fmt.Appendf(nil, "publish the end of an execution: %v", err))
	}
}

// lambdaFunction describes a function of the template for Lambda.
func (c *Cloud) lambdaFunction(f template.Function) (lambda.Function, error) {
	// More processes than this would only compete for the processors of one machine.
	concurrency := 2 * runtime.NumCPU()
	if f.Concurrency > 0 {
		concurrency = min(concurrency, f.Concurrency)
	}
	if c.options.Functions != "" {
		concurrency = 1 // SAM has one container for each function, which handles one request at a time
	}
	out := lambda.Function{
		Name: f.Name, ARN: f.ARN, Program: c.program(f), Endpoint: c.options.Functions, Environment: f.Environment,
		Timeout: time.Duration(
			f.Timeout,
		) * time.Second, MemoryMB: f.MemoryMB, Concurrency: concurrency, Reserved: f.Concurrency, Retries: f.Retries,
		MaxEventAge: time.Duration(f.MaxEventAge) * time.Second,
	}
	if f.Alias == "" {
		return out, nil
	}
	out.Aliases = map[string]string{f.Alias: f.Version}
	if c.options.Functions != "" {
		out.Versions = map[string]string{f.Version: out.Program}
		return out, nil
	}
	var err error
	out.Versions, err = c.versions().Programs(f.Name)
	return out, err
}

// tool returns the path of a program in the project's bin folder.
func (c *Cloud) tool(name string) string { return filepath.Join(c.options.Project, "bin", name) }

// program returns the path of a function's executable.
func (c *Cloud) program(f template.Function) string {
	return filepath.Join(c.options.Project, "bin", "functions", f.Binary)
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
