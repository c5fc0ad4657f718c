package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/internal/localcloud"
	"sluice/shared/kit/awsconfig"
	"sluice/shared/kit/errtest"
)

// Environment is a place where the service runs, with a tenant and a client of it. It is decoded from a descriptor
// file.
type Environment struct {
	// The keys of the descriptor may administer the environment; empty ones are looked for where every AWS tool looks.
	localcloud.Descriptor

	// MalwareScan is the scanner of uploads, as the template's parameter names it; "" for the built-in check.
	MalwareScan string `json:"malware_scan"`

	// Name is the name in docs/environments.md.
	Name string `json:"-"`
	// Data is the data folder of a local cloud, "" in other environments.
	Data string `json:"-"`

	// cloud is the process of a local cloud, nil in other environments.
	cloud *process
	// killsFunctions is set if functions are killed on purpose or by a restart, so that the end of a batch may be
	// announced twice.
	killsFunctions bool
	// killsFunctionsOf has the tenants of which this is true in a cloud where functions are killed by rules.
	killsFunctionsOf sync.Map
	// helpers are processes that run beside it, in the order of their start.
	helpers []*process
	// cleanups run when the environment stops, the last one first.
	cleanups []func() error

	onboardOnce sync.Once
	onboardErr  error
}

const tokenPath = "/oauth2/token"

// readEnvironment reads the descriptor of an environment that runs already, such as a stack on AWS.
func readEnvironment(path string) (*Environment, error) {
	e := &Environment{Name: "aws"}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, e)
	}
	contract.watch(e)
	return e, err
}

// stop ends everything that was started for the environment.
func (e *Environment) stop() error {
	var errs []error
	for _, p := range slices.Backward(e.helpers) {
		errs = append(errs, p.stop(syscall.SIGTERM))
	}
	for _, cleanup := range slices.Backward(e.cleanups) {
		errs = append(errs, cleanup())
	}
	if e.cloud != nil {
		errs = append(errs, e.checkRun(), e.cloud.stop(syscall.SIGINT), e.checkLogs(), e.checkMetrics())
	}
	contract.unwatch(e)
	return errors.Join(errs...)
}

// checkRun checks what a local cloud that still runs has done, and ends the check of its replies.
func (e *Environment) checkRun() error {
	contract.unwatch(e)
	return errors.Join(e.checkAnnounced(), grants.collect(e))
}

// logFile returns the path of a log of a local cloud.
func (e *Environment) logFile(name string) string { return filepath.Join(e.Data, "logs", name) }

// loadAWS returns the AWS settings of whoever runs the suite, and newAWS those that all addresses of environments have
// in common. All clients made of one of them share their connections.
var (
	loadAWS = sync.OnceValues(func() (aws.Config, error) { return awsconfig.Load(context.Background(), 0) })
	newAWS  = sync.OnceValue(func() aws.Config { return awsconfig.At("", "", nil) })
)

// awsConfig returns the settings of clients that act as the environment's administrator at an address of the
// environment; "" stands for the address on AWS.
func (e *Environment) awsConfig(endpoint string) (aws.Config, error) {
	if endpoint == "" {
		return loadAWS()
	}
	cfg := newAWS()
	cfg.BaseEndpoint, cfg.Region = &endpoint, e.Region
	cfg.Credentials = credentials.NewStaticCredentialsProvider(e.AccessKeyID, e.SecretAccessKey, "")
	return cfg, nil
}

// database returns a client of the environment's DynamoDB, for tests that store what would take too long by HTTP.
func (e *Environment) database() (*dynamodb.Client, error) {
	cfg, err := e.awsConfig(cmp.Or(e.DynamoDBURL, e.AWSEndpointURL))
	return dynamodb.NewFromConfig(cfg), err
}

// runSluice runs the command line against the environment and returns what it printed and its exit code.
func (e *Environment) runSluice(args ...string) (stdout, stderr string, code int, err error) {
	program, err := builtProgram("sluice")
	if err != nil {
		return "", "", 0, err
	}
	var out, errs outputBuffer
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SLUICE_DATA=")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": e.AWSEndpointURL, "AWS_ENDPOINT_URL_S3": e.S3URL, "AWS_REGION": e.Region,
		"AWS_ACCESS_KEY_ID": e.AccessKeyID, "AWS_SECRET_ACCESS_KEY": e.SecretAccessKey,
	} {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := startWithSuite(cmd); err != nil {
		return "", "", 0, err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode(), err
}

// admin runs an admin command, for the environment's own tenant unless args name one, and decodes what it prints into
// out, which may be nil.
func (e *Environment) admin(out any, args ...string) error {
	stdout, stderr, code, err := e.runSluice(
		append([]string{"admin", "--prefix", e.Prefix, "--tenant", e.TenantID}, args...)...)
	if err != nil || code != 0 {
		return fmt.Errorf("admin %v: exit %d, %v: %s", args, code, err, stderr)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal([]byte(stdout), out)
}

// importEntities imports entities, given as JSON Lines, for the environment's own tenant.
func (e *Environment) importEntities(lines ...string) error {
	f, err := os.CreateTemp("", "entities-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return e.admin(nil, "entities", "import", f.Name())
}

// IDs of the entities that every environment of the suite has.
const (
	senderID       = "e2e-sender"
	receiverID     = "e2e-receiver"
	notOnboardedID = "e2e-not-onboarded"
)

// onboardEntities imports the entities that validLine and others name, once for each environment.
func onboardEntities(t *testing.T, e *Environment) {
	t.Helper()
	e.onboardOnce.Do(func() {
		e.onboardErr = e.importEntities(`{"id":"`+senderID+`","lifecycleStatus":"Compliant"}`,
			`{"id":"`+receiverID+`","lifecycleStatus":"ReviewInProgress"}`,
			`{"id":"`+notOnboardedID+`","lifecycleStatus":"OnboardingInProgress"}`)
	})
	errtest.Fatal(t, e.onboardErr)
}
