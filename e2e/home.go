// Package e2e drives Sluice through its front doors only: HTTP, signed URLs, the command line. It knows its home (a local
// cloud, SAM, LocalStack, AWS) by addresses and credentials.
package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/internal/localcloud"
	"sluice/shared/setup"
)

// Home is where Sluice runs: the content of a ready file.
type Home struct {
	localcloud.Descriptor // its keys may administer it; empty ones are looked for where every AWS tool looks

	Issuer string `json:"issuer"` // of tokens; "" for the address of the API

	Name string   `json:"-"` // as in docs/homes.md
	Data string   `json:"-"` // data folder of a local cloud; "" for none
	cmd  *program // of a local cloud
	more []*program
	done []func() error // what else is to be done at the end
}

func (h *Home) issuer() string {
	if h.Issuer != "" {
		return h.Issuer
	}
	return h.APIURL
}

// database is the home's DynamoDB, for tests that put there what would take too long through the front door.
func (h *Home) database(ctx context.Context) (*dynamodb.Client, error) {
	cfg, err := setup.AWS(ctx)
	if h.AWSEndpointURL != "" {
		cfg.BaseEndpoint, cfg.Region = &h.AWSEndpointURL, h.Region
		cfg.Credentials = credentials.NewStaticCredentialsProvider(h.AccessKeyID, h.SecretAccessKey, "")
	}
	return dynamodb.NewFromConfig(cfg), err
}

// readHome reads a home that is there already, such as a stack on AWS.
func readHome(path string) (*Home, error) {
	h := &Home{Name: "aws"}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, h)
	}
	api.watch(h)
	return h, err
}

// stop ends what was started for the home, the last first.
func (h *Home) stop() error {
	var errs []error
	for _, p := range slices.Backward(h.more) {
		errs = append(errs, p.end(syscall.SIGTERM))
	}
	for _, f := range slices.Backward(h.done) {
		errs = append(errs, f())
	}
	if h.cmd != nil {
		errs = append(errs, h.gather(), h.cmd.end(syscall.SIGINT))
	}
	return errors.Join(errs...)
}

// sluice runs the command line against the home and returns what it printed and its exit code.
func (h *Home) sluice(args ...string) (stdout, stderr string, code int, err error) {
	program, err := binary("sluice")
	if err != nil {
		return "", "", 0, err
	}
	var out, errs tail
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "SLUICE_DATA=")
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": h.AWSEndpointURL, "AWS_REGION": h.Region,
		"AWS_ACCESS_KEY_ID": h.AccessKeyID, "AWS_SECRET_ACCESS_KEY": h.SecretAccessKey,
	} {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode(), err
}

// admin runs an admin command, for the home's tenant if it names none, and decodes what it prints.
func (h *Home) admin(out any, args ...string) error {
	stdout, stderr, code, err := h.sluice(append([]string{"admin", "--prefix", h.Prefix, "--tenant", h.TenantID}, args...)...)
	if err != nil || code != 0 {
		return fmt.Errorf("admin %v: exit %d, %v: %s", args, code, err, stderr)
	}
	return json.Unmarshal([]byte(stdout), out)
}

// importEntities onboards entities, given as JSON Lines.
func (h *Home) importEntities(lines []string) error {
	f, err := os.CreateTemp("", "entities-*.jsonl")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	var out any
	return h.admin(&out, "entities", "import", f.Name())
}

var _ io.Writer = (*tail)(nil)
