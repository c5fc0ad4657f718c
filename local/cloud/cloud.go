// Package cloud assembles the local cloud: it starts what the template describes on one data folder, and stops it.
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

	"sluice/internal/localcloud"
	"sluice/local/database"
	"sluice/local/eventbridge"
	"sluice/local/faults"
	"sluice/local/guardduty"
	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/states"
	"sluice/local/storage"
	"sluice/local/template"
	"sluice/shared/access/auth/fakekms"
)

// The region and the account of the local cloud.
const (
	region  = "us-east-1"
	account = "000000000000"
)

// Options are the choices of the user.
type Options struct {
	// Project is the folder with template.yaml and bin.
	Project string
	// Data is the folder in which everything is stored.
	Data string
	// ReadyFile receives the descriptor once everything answers, and is removed at the end; "" for none.
	ReadyFile string
	// Host is the address to listen on.
	Host  string
	Ports Ports
	// Set holds parameters of the template.
	Set map[string]string
	// Functions is the URL of a Lambda endpoint that runs the functions; "" to run them here.
	Functions string
	// SAMFile receives the functions' settings for `sam local --env-vars`; "" for none.
	SAMFile string
	// Kills are rules for killing functions, as package faults reads them; nil kills none, and takes no plans of
	// faults.
	Kills []string
	// Limits are the limits of AWS that the cloud enforces.
	Limits Limits
	// Pace is the factor by which the waits of state machines and of asynchronous requests are shortened; 0 means 1.
	Pace float64
	// Metrics is the address, host:port, at which figures are served for Prometheus; "" for none.
	Metrics string
	// Verbose copies the functions' logs to Output.
	Verbose bool
	Output  io.Writer
}

// Ports are the ports that clients use. 0 means the port used last, or any free one.
type Ports struct{ API, S3, AWS, DynamoDB int }

// Cloud is a running local cloud.
type Cloud struct {
	options    Options
	descriptor localcloud.Descriptor
	template   *template.Template
	// lock is the file whose lock keeps other local clouds from using the data folder.
	lock *os.File
	log  *functionLog
	iam  *iam.Service

	// storageLog receives what the S3 server prints.
	storageLog *os.File

	database  *database.Server
	storage   *storage.Server
	kms       *fakekms.Server
	lambda    *lambda.Service
	states    *states.Service
	guardduty *guardduty.Service
	bus       *eventbridge.Bus
	// faults is nil unless Options.Kills are given.
	faults *faults.Injector
	// events is the file that receives what is put on the bus, journal the one that receives the faults of plans.
	events, journal *os.File

	// listeners are those of the four addresses, and that for metrics.
	listeners struct{ api, s3, aws, dynamoDB, metrics net.Listener }
	// servers are those of the API and the AWS endpoint.
	servers []*http.Server
	// failed receives the error of a server that has ended.
	failed chan error
	// functionsReady is closed once functions can be invoked.
	functionsReady chan struct{}
	// functionKeys holds the access key of each function by its name.
	functionKeys map[string]iam.Key
	// planKeys holds the access key of each malware protection plan by its ID.
	planKeys map[string]iam.Key
}

// Run runs a local cloud until the context ends, and returns nil then. Any error is one sentence that a user can act
// on; it is a StartError if the cloud could not be started.
func Run(ctx context.Context, o Options) error {
	c, err := start(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil // interrupted while starting
		}
		return &StartError{err}
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

// StartError is the error of a local cloud that could not be started.
type StartError struct{ Err error }

// Error returns the text of the cause.
func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// start runs all steps of starting, in order, and undoes them if one fails.
func start(ctx context.Context, o Options) (*Cloud, error) {
	c := &Cloud{options: o, failed: make(chan error, 1), functionsReady: make(chan struct{})}
	if err := c.makePathsAbsolute(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		c.openDataFolder, c.chooseAddresses, c.readTemplate, c.startMetrics, c.checkLimits, c.readPolicies,
		c.startStores, c.createKeys,
		c.writeSAMSettings, c.startFunctions, c.serve, c.provision, c.writeDescriptor,
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

// makePathsAbsolute makes all paths in the options absolute, because the storage server changes the working directory.
func (c *Cloud) makePathsAbsolute() error {
	for _, path := range []*string{&c.options.Project, &c.options.Data, &c.options.ReadyFile, &c.options.SAMFile} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	return nil
}

// path returns a path in the data folder.
func (c *Cloud) path(parts ...string) string {
	return filepath.Join(append([]string{c.options.Data}, parts...)...)
}

// close stops everything that has been started, callers before the services that they call.
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
	for _, l := range []net.Listener{c.listeners.api, c.listeners.aws, c.listeners.dynamoDB, c.listeners.metrics} {
		if l != nil {
			_ = l.Close() // closed already if its server was started
		}
	}
	if c.guardduty != nil {
		c.guardduty.Close()
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
	if c.listeners.s3 != nil {
		_ = c.listeners.s3.Close() // closed already if the S3 server could not be started
	}
	if c.storage != nil {
		c.storage.Close()
	}
	if c.storageLog != nil {
		_ = c.storageLog.Close()
	}
	if c.database != nil {
		c.database.Close()
	}
	for _, f := range []*os.File{c.events, c.journal} {
		if f != nil {
			_ = f.Close()
		}
	}
	if c.log != nil {
		c.log.close()
	}
	if c.lock != nil {
		_ = os.RemoveAll(c.path("tmp"))
		_ = c.lock.Close() // releases the lock
	}
}
