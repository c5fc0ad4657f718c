// Package cloud puts the parts of the local cloud together: it starts what the template names on one data folder, and ends it.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice/local/database"
	"sluice/local/eventbridge"
	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/states"
	"sluice/local/storage"
	"sluice/local/template"
	"sluice/shared/auth/fakekms"
)

// The place that the local cloud stands for.
const (
	region  = "us-east-1"
	account = "000000000000"
)

// Options are what a user can choose.
type Options struct {
	Project   string            // folder with template.yaml and bin
	Data      string            // folder in which everything is kept
	ReadyFile string            // written when everything answers, removed at the end; "" for none
	Host      string            // address to listen on
	Ports     Ports             // 0 for the one used last, or any that is free
	Set       map[string]string // parameters of the template
	Functions string            // a Lambda endpoint that runs the functions, a URL; "" to run them here
	SAMFile   string            // written for `sam local --env-vars`; "" for none
	Verbose   bool              // the functions' logs go to Output, too
	Output    io.Writer
}

// Ports are the ports that clients use.
type Ports struct{ API, S3, AWS, DynamoDB int }

// Cloud is a running local cloud.
type Cloud struct {
	options   Options
	self      Self
	template  *template.Template
	lock      *os.File
	iam       *iam.Service
	keys      *fakekms.Server
	log       *functionLog
	database  *database.Server
	storage   *storage.Server
	lambda    *lambda.Service
	states    *states.Service
	malware   *guardduty.Service
	bus       *eventbridge.Bus
	listeners []net.Listener // of the API and the AWS endpoint
	servers   []*http.Server
	failed    chan error
	invoking  chan struct{} // closed once functions can be invoked

	functionKeys map[string]iam.Key // by name
}

// Run runs a local cloud until the context ends. The error is one sentence that a user can act on; Unstarted tells whether
// the cloud came up at all.
func Run(ctx context.Context, o Options) error {
	c, err := start(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil // somebody asked for the end before the start was over
		}
		return &Unstarted{err}
	}
	defer c.close(ctx)
	c.announce()
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(o.Output, "Stopping.")
		return nil
	case err := <-c.failed:
		return err
	case <-c.storage.Ended():
		return errors.New("the storage server has ended")
	case <-c.database.Ended():
		return fmt.Errorf("the DynamoDB server has ended; see %s", c.path("logs", "dynamodb.log"))
	}
}

// Unstarted is the error of a cloud that could not start.
type Unstarted struct{ Err error }

func (u *Unstarted) Error() string { return u.Err.Error() }
func (u *Unstarted) Unwrap() error { return u.Err }

func start(ctx context.Context, o Options) (*Cloud, error) {
	c := &Cloud{options: o, failed: make(chan error, 1), invoking: make(chan struct{})}
	if err := c.absolute(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		c.takeFolder, c.takeAddresses, c.readTemplate, c.readPolicies, c.startStores, c.makeKeys, c.listen, c.tellSAM, c.startFunctions, c.serve, c.provision, c.tell,
	} {
		err := step(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			c.close(ctx)
			return nil, err
		}
	}
	return c, nil
}

// absolute makes all paths so: the storage server changes the working directory.
func (c *Cloud) absolute() error {
	for _, path := range []*string{&c.options.Project, &c.options.Data, &c.options.ReadyFile, &c.options.SAMFile} {
		if *path == "" {
			continue
		}
		whole, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = whole
	}
	return nil
}

func (c *Cloud) path(parts ...string) string {
	return filepath.Join(append([]string{c.options.Data}, parts...)...)
}

// close ends everything, in an order in which nothing is asked for what has ended already. It may be called on a cloud that
// is started in part.
func (c *Cloud) close(ctx context.Context) {
	if c.options.ReadyFile != "" && c.lock != nil {
		_ = os.Remove(c.options.ReadyFile)
	}
	for _, s := range c.servers {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
		if s.Shutdown(grace) != nil {
			_ = s.Close()
		}
		cancel()
	}
	for _, l := range c.listeners {
		_ = l.Close() // most were closed with their servers
	}
	if c.malware != nil {
		c.malware.Close()
	}
	if c.bus != nil {
		c.bus.Close()
	}
	if c.states != nil {
		c.states.Close()
	}
	if c.lambda != nil {
		c.lambda.Close()
	}
	if c.storage != nil {
		c.storage.Close()
	}
	if c.database != nil {
		c.database.Close()
	}
	if c.log != nil {
		c.log.close()
	}
	if c.lock != nil {
		_ = os.RemoveAll(c.path("tmp"))
		_ = c.lock.Close() // and with it the lock
	}
}

// startStores starts the databases, which need nothing else.
func (c *Cloud) startStores(ctx context.Context) error {
	log, err := os.OpenFile(c.path("logs", "dynamodb.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if c.database, err = database.Start(ctx, database.Config{
		Program: c.tool("dynoxide"), Address: address(c.self.DynamoDBURL), File: c.path("dynamodb.db"), Log: log,
		Tables: c.template.Tables,
	}); err != nil {
		return err
	}
	var buckets []string
	for _, b := range c.template.Buckets {
		buckets = append(buckets, b.Name)
	}
	c.storage, err = storage.Start(ctx, storage.Config{
		Address: c.listenOn(c.self.S3URL), Dir: c.path("s3"), Region: region, Buckets: buckets, Now: time.Now, Created: c.created,
		IAM: c.iam,
	})
	return err
}

// created hands a new object to the functions that asked for it. They are journaled before the client hears that its upload
// has succeeded.
func (c *Cloud) created(object storage.Created) error {
	<-c.invoking
	c.malware.Created(object.Bucket, object.Key)
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

func (c *Cloud) functionName(logicalID string) string {
	for _, f := range c.template.Functions {
		if f.ID == logicalID {
			return f.Name
		}
	}
	return ""
}

// startFunctions starts what runs the functions: Lambda and Step Functions. What an earlier run left undone begins at once.
func (c *Cloud) startFunctions(ctx context.Context) error {
	if err := os.RemoveAll(c.path("tmp")); err != nil {
		return err
	}
	var functions []lambda.Function
	for _, f := range c.template.Functions {
		functions = append(functions, c.function(f))
	}
	var err error
	if c.lambda, err = lambda.New(ctx, lambda.Config{
		Functions: functions, Region: region, NewID: newID, Log: c.log,
		TempDir: c.path("tmp"), JournalDir: c.path("events"), DeadDir: c.path("dead-letters"), DeadLetter: c.deadLetter,
	}); err != nil {
		return err
	}
	c.startEvents(ctx)
	close(c.invoking)
	var machines []states.Machine
	for _, m := range c.template.Machines {
		machines = append(machines, states.Machine{Name: m.Name, ARN: m.ARN, Definition: m.Definition})
	}
	c.states, err = states.New(ctx, states.Config{
		Machines: machines, Functions: c.lambda, Allowed: c.invocable, Dir: c.path("executions"), Region: region, NewID: newID, Now: time.Now,
	})
	return err
}

// makeKeys makes the signing keys.
func (c *Cloud) makeKeys(context.Context) error {
	var err error
	if c.keys, err = fakekms.New(c.path("kms")); err != nil {
		return err
	}
	for _, k := range c.template.Keys {
		if k.Spec != "ECC_NIST_P256" {
			return fmt.Errorf("%s has the KeySpec %s, which the local cloud does not know", k.LogicalID, k.Spec)
		}
		if err := c.keys.Ensure(k.ID); err != nil {
			return err
		}
	}
	return nil
}
