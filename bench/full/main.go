// Full puts batches of full size through a local cloud and prints, for each, what every stage takes, how much memory
// every function has used, the processor time of every program, how large the report is, and how fast lines are
// ingested beside a loop that does nothing but write the same items to the same server.
//
// Times come from the history of the execution, memory (VmHWM) and processor time from the kernel. The files are made
// as they are needed and removed as soon as they are not.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"sluice/client"
	"sluice/internal/testcloud"
)

// options are the flags of the bench.
type options struct {
	scale     float64
	only      string
	dir       string
	bareItems int64
	writers   int
	// validateOnly ends the batches with their validation.
	validateOnly bool
	// set are parameters of the template for the local cloud.
	set []string
}

const (
	// maxMemory is the most resident memory, in bytes, that a function may use.
	maxMemory = 128 << 20
	// minIngestion is how fast ingestion must be, beside the bare loop.
	minIngestion = 0.8
)

func main() {
	var o options
	flag.Float64Var(&o.scale, "scale", 1, "`SHARE` of the full number of lines")
	flag.StringVar(&o.only, "cases", "", "comma-separated `NAMES` of cases (default all): "+strings.Join(caseNames(),
		", "))
	flag.StringVar(&o.dir, "dir", os.TempDir(), "`DIR` for the data, about 10 GB of each case")
	flag.Int64Var(&o.bareItems, "bare", 1_000_000, "write `N` items at most in the bare loop; 0 leaves it out")
	flag.IntVar(&o.writers, "writers", 32, "`N` calls of the bare loop at a time")
	flag.BoolVar(&o.validateOnly, "validate-only", false, "end with the validation")
	flag.Func("set", "`NAME=VALUE` of a parameter of the template; may be repeated", func(s string) error {
		o.set = append(o.set, s)
		return nil
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-2gb:", err)
		os.Exit(1)
	}
}

// run runs the cases that the options ask for. It returns an error if one of them fails or breaks a limit.
func run(ctx context.Context, out io.Writer, o options) error {
	var problems []error
	for _, c := range cases {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), c.name) {
			continue
		}
		r, err := runCase(ctx, c, o)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		r.print(out)
		for _, problem := range r.problems() {
			problems = append(problems, fmt.Errorf("%s: %s", c.name, problem))
		}
	}
	return errors.Join(problems...)
}

// runCase puts the batch of one case through a local cloud of its own.
func runCase(ctx context.Context, c testCase, o options) (r result, err error) {
	lines := max(int64(float64(c.lines)*o.scale), 1)
	dir, err := os.MkdirTemp(o.dir, "sluice-full-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := checkDisk(dir, int64(float64(c.diskBytes)*o.scale)); err != nil {
		return r, err
	}
	cloud, err := startCloud(ctx, filepath.Join(dir, "cloud"), o.set)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, cloud.Stop()) }()
	processes := watchProcesses(cloud)
	defer processes.stop()

	r.name, r.lines = c.name, lines
	batchID, err := r.upload(ctx, cloud, c, filepath.Join(dir, "batch.jsonl"), o.validateOnly)
	if err != nil {
		return r, err
	}
	if err := r.follow(ctx, cloud, batchID); err != nil {
		return r, err
	}
	processes.stop()
	r.memory = processes.peaks
	r.toVerdict, r.afterVerdict = r.processorTimes(processes)
	if r.stored > 0 && o.bareItems > 0 {
		r.bare, err = writeBare(ctx, cloud, c, lines, min(o.bareItems, lines), o.writers)
	}
	return r, err
}

// checkDisk returns an error if a folder has not as many bytes free as a case needs, and a reserve.
func checkDisk(dir string, bytes int64) error {
	const reserve = 2 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return err
	}
	if free := int64(stat.Bavail) * int64(stat.Bsize); free < bytes+reserve {
		return fmt.Errorf("%s has %.1f GB free, and %.1f are needed", dir, float64(free)/1e9,
			float64(bytes+reserve)/1e9)
	}
	return nil
}

// cloud is a running local cloud, with a client of its own tenant.
type cloud struct {
	*testcloud.Cloud
	client *client.Client
}

// startCloud starts a local cloud on a new data folder and waits until it answers.
func startCloud(ctx context.Context, data string, parameters []string) (*cloud, error) {
	running, err := testcloud.Start(ctx, data, parameters, nil)
	if err != nil {
		return nil, err
	}
	c := &cloud{Cloud: running}
	c.client, err = client.New(client.Config{APIURL: c.APIURL, TokenURL: c.TokenURL, ClientID: c.ClientID,
		ClientSecret: c.ClientSecret, Scope: c.Scope})
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// programOf returns the name of a program of the local cloud, as functionOf if it is a function; "" if it is none.
func (c *cloud) programOf(program string) string {
	if name := c.functionOf(program); name != "" || !strings.HasPrefix(program, c.Bin+"/") {
		return name
	}
	return filepath.Base(program)
}

// functionOf returns the name of the function that a program is, also if it is a published version of it; "" if it is
// none.
func (c *cloud) functionOf(program string) string {
	dir := filepath.Dir(program)
	switch {
	case dir == filepath.Join(c.Bin, "functions"):
		return filepath.Base(program)
	case filepath.Dir(dir) == filepath.Join(c.Data, "versions"):
		return strings.TrimPrefix(filepath.Base(dir), c.Prefix+"-")
	}
	return ""
}

// aws returns the settings of clients that may do anything in the local cloud.
func (c *cloud) aws() aws.Config {
	return aws.Config{Region: c.Region, BaseEndpoint: aws.String(c.AWSEndpointURL),
		Credentials: credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey, "")}
}
