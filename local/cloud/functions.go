package cloud

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"sluice/local/faults"
	"sluice/local/lambda"
	"sluice/local/states"
	"sluice/local/template"
)

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

// startFaults reads the rules by which functions are killed. It returns the function that starts the proxies between a
// process and AWS, which is nil if there are no rules.
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
		Timeout: time.Duration(f.Timeout) * time.Second, MaxEventAge: time.Duration(f.MaxEventAge) * time.Second,
		MemoryMB: f.MemoryMB, Concurrency: concurrency, Reserved: f.Concurrency, Retries: f.Retries,
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
