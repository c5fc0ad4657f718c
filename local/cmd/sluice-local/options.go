package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"sluice/local/cloud"
)

// errUsage has been printed, with the usage.
var errUsage = errors.New("wrong usage")

// parse reads the command line. The error is errUsage, flag.ErrHelp, or else one sentence.
func parse(args []string, getenv func(string) string, stderr io.Writer) (cloud.Options, error) {
	o := cloud.Options{Set: map[string]string{}, Output: os.Stdout}
	data := getenv("SLUICE_DATA")
	if data == "" {
		data = ".sluice"
	}
	flags := flag.NewFlagSet("sluice local", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.Data, "data", data, "`folder` for all data; kept from start to start")
	flags.StringVar(&o.ReadyFile, "ready-file", "", "`file` to write addresses and credentials to once everything answers")
	flags.StringVar(&o.Host, "listen", "127.0.0.1", "`address` to listen on; anyone who reaches it can use the local cloud")
	flags.IntVar(&o.Ports.API, "port-api", 0, "`port` of the API (default any that is free)")
	flags.IntVar(&o.Ports.S3, "port-s3", 0, "`port` of S3")
	flags.IntVar(&o.Ports.AWS, "port-aws", 0, "`port` of the endpoint for all other AWS services")
	flags.IntVar(&o.Ports.DynamoDB, "port-dynamodb", 0, "`port` of DynamoDB itself")
	flags.StringVar(&o.Project, "project", "", "`folder` of template.yaml and bin (default the one above this program)")
	flags.StringVar(&o.Functions, "functions", "", "`URL` of a Lambda endpoint that runs the functions, such as that of sam local start-lambda")
	flags.StringVar(&o.SAMFile, "sam-env", "", "`file` to write the functions' settings to, for sam local --env-vars")
	flags.BoolVar(&o.Verbose, "verbose", false, "print what the functions log")
	flags.Func("set", "parameter of the template, as `Name=Value`; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return fmt.Errorf("want Name=Value")
		}
		o.Set[name] = value
		return nil
	})
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return cloud.Options{}, err
	} else if err != nil {
		return cloud.Options{}, errUsage
	}
	if flags.NArg() > 0 {
		return cloud.Options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.Project == "" {
		project, err := above()
		if err != nil {
			return cloud.Options{}, err
		}
		o.Project = project
	}
	return o, nil
}

// above is the folder above the one that holds this program: bin/sluice-local lies in the project.
func above() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	return filepath.Dir(filepath.Dir(self)), nil
}
