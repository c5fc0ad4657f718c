// Sluice-local runs Sluice on this machine: the template's functions, tables, buckets and state machine, without Docker
// and without an AWS account. The command `sluice local` starts it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"sluice/internal/command"
	"sluice/internal/localcloud"
	"sluice/local/cloud"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// exitStopped is the exit code of a local cloud that was running and has ended because of an error.
const exitStopped = 1

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once, and its children with it
	os.Exit(command.Main(ctx, newCommand(os.Getenv, runCloud), os.Args[1:], os.Stdout, os.Stderr))
}

// runCloud runs a local cloud until the context ends.
func runCloud(ctx context.Context, o cloud.Options) error {
	err := cloud.Run(ctx, o)
	if err == nil || errors.As(err, new(*cloud.StartError)) {
		return err
	}
	fmt.Fprintln(os.Stderr, "sluice local:", err)
	return command.ExitCode(exitStopped)
}

// newCommand returns the program's only command, which passes the options of its command line to run.
func newCommand(getenv func(string) string, run func(context.Context, cloud.Options) error) *cobra.Command {
	o := cloud.Options{Set: map[string]string{}}
	c := &cobra.Command{
		Use:         "sluice-local",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "sluice local"},
		Short:       "run the local cloud: the whole service on this machine",
		Long:        "It runs until Ctrl-C. Addresses, credentials and data are kept from start to start.",
		Example:     "sluice local\nsluice local --data ./trial --port-api 8080 --set ChunkBytes=8192",
		RunE: command.Run(func(ctx context.Context, _ []string, stdout io.Writer) error {
			o.Output = stdout
			if o.Project == "" {
				var err error
				if o.Project, err = defaultProject(); err != nil {
					return err
				}
			}
			return run(ctx, o)
		}),
	}
	declareFlags(c.Flags(), &o, getenv)
	return c
}

// declareFlags declares the options of the program.
func declareFlags(flags *pflag.FlagSet, o *cloud.Options, getenv func(string) string) {
	data := getenv("SLUICE_DATA")
	if data == "" {
		data = localcloud.DefaultDataDir
	}
	flags.StringVar(&o.Data, "data", data, "`DIR` for all data; $SLUICE_DATA sets the default")
	flags.StringVar(&o.ReadyFile, "ready-file", "",
		"`FILE` to which addresses and credentials are written once everything answers")
	flags.StringVar(&o.Host, "listen", "127.0.0.1",
		"`ADDRESS` to listen on; anyone who can reach it can use the local cloud")
	flags.IntVar(&o.Ports.API, "port-api", 0, "`PORT` of the API (default the last one used, or any)")
	flags.IntVar(&o.Ports.S3, "port-s3", 0, "`PORT` of S3 (default as above)")
	flags.IntVar(&o.Ports.AWS, "port-aws", 0, "`PORT` of the endpoint of all other AWS services (default as above)")
	flags.IntVar(&o.Ports.DynamoDB, "port-dynamodb", 0,
		"`PORT` of DynamoDB, a second one of the AWS endpoint, on this machine only (default as above)")
	flags.StringVar(&o.Project, "project", "",
		"`DIR` with template.yaml and bin (default the parent of this program's folder)")
	flags.StringVar(&o.Functions, "functions", "",
		"`URL` of a Lambda endpoint that runs the functions, such as that of sam local start-lambda")
	flags.StringVar(&o.SAMFile, "sam-env", "",
		"`FILE` to which the functions' settings are written, for sam local --env-vars")
	flags.StringVar(&o.Metrics, "metrics", "",
		"`ADDRESS`, such as 127.0.0.1:9464, at which /metrics has figures for Prometheus (see also 'sluice metrics')")
	flags.BoolVar(&o.Verbose, "verbose", false, "print what the functions log")
	flags.Func("kill", "`RULE` by which functions are killed at their calls to AWS, for tests (local/README.md); may "+
		"be repeated",
		func(s string) error {
			o.Kills = append(o.Kills, s)
			return nil
		})
	flags.Func("limit", "`LIMIT` that AWS has, too: concurrency=N, writes=TABLE:UNITS, "+
		"partition=UNITS or api (local/README.md); may "+
		"be repeated",
		o.Limits.Add)
	flags.Float64Var(&o.Pace, "pace", 1,
		"`FACTOR` by which the pauses of state machines and before retries are shortened, for tests")
	flags.Func("set", "`NAME=VALUE` of a parameter of the template; can be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return errors.New("want NAME=VALUE")
		}
		o.Set[name] = value
		return nil
	})
}

// defaultProject returns the parent of the folder that holds this program, which `make build` writes to bin.
func defaultProject() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(self)), nil
}
