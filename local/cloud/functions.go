package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"sluice/local/iam"
	"sluice/local/lambda"
	"sluice/local/template"
)

// readTemplate reads the template for this place and checks that all the programs it needs are there.
func (c *Cloud) readTemplate(context.Context) error {
	arch := "x86_64"
	if runtime.GOARCH == "arm64" {
		arch = "arm64"
	}
	scan := "builtin"
	if c.options.Set["ClamdAddress"] != "" {
		scan = "clamd"
	}
	var err error
	if c.template, err = template.Load(filepath.Join(c.options.Project, "template.yaml"), template.Place{
		Region: region, Account: account, Stack: "sluice",
		Parameters: map[string]string{
			"Environment": "test", "MalwareScan": scan, "Arch": arch, "Issuer": c.self.APIURL, "AwsEndpointUrl": c.self.AWSEndpointURL, "StorageEndpointUrl": c.self.S3URL,
			"PublicStorageUrl": c.self.S3URL,
		},
	}, c.options.Set); err != nil {
		return err
	}
	c.self.Prefix = c.template.Parameters["Prefix"]
	programs := []string{c.tool("dynoxide")}
	c.functionKeys = map[string]iam.Key{}
	for i := range c.template.Functions {
		f := &c.template.Functions[i]
		if c.options.Functions == "" {
			programs = append(programs, c.program(*f))
		}
		id, secret := accessKey()
		c.functionKeys[f.Name] = iam.Key{ID: id, Secret: secret}
		f.Environment["AWS_ACCESS_KEY_ID"], f.Environment["AWS_SECRET_ACCESS_KEY"] = id, secret
	}
	for _, path := range programs {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is missing: run `make build`", path)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (c *Cloud) tool(name string) string { return filepath.Join(c.options.Project, "bin", name) }

func (c *Cloud) program(f template.Function) string {
	return filepath.Join(c.options.Project, "bin", "functions", f.Binary)
}

// function is a function of the template as Lambda runs it.
func (c *Cloud) function(f template.Function) lambda.Function {
	// More processes than this would only get in each other's way on one machine.
	concurrency := 2 * runtime.NumCPU()
	if f.Concurrency > 0 {
		concurrency = min(concurrency, f.Concurrency)
	}
	if c.options.Functions != "" {
		concurrency = 1 // as many as the one container that SAM has for a function can take
	}
	return lambda.Function{
		Name: f.Name, ARN: f.ARN, Program: c.program(f), Endpoint: c.options.Functions, Environment: f.Environment,
		Timeout: time.Duration(f.Timeout) * time.Second, MemoryMB: f.MemoryMB, Concurrency: concurrency, Retries: f.Retries,
	}
}
