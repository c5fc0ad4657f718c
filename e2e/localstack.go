package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"sluice/internal/localcloud"
)

// startLocalStack deploys the template to the LocalStack at AWS_ENDPOINT_URL, under a prefix of its own, and makes a tenant and a
// client there by the admin commands. What `sam build` made must lie in .aws-sam.
//
// The free edition runs no authorizer. So the gateway of a local cloud stands in front of what needs one, and runs the deployed
// authorizer and functions; tokens and keys come from LocalStack's own API.
func startLocalStack(data string) (*Home, error) {
	endpoint := strings.TrimSuffix(os.Getenv("AWS_ENDPOINT_URL"), "/")
	if !answers(endpoint + "/_localstack/health") {
		return nil, errors.New("no LocalStack answers at AWS_ENDPOINT_URL (" + endpoint + ")")
	}
	h := &Home{Name: "localstack", Descriptor: localcloud.Descriptor{AWSEndpointURL: endpoint, S3URL: endpoint, Prefix: "e2e" + uuid.NewString()[:8],
		Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test"}}
	// The API has its address only once it is there, and puts it into tokens: so the second time it is told.
	for range 2 {
		if err := h.deploy(endpoint); err != nil {
			return nil, err
		}
		if err := h.findAPI(endpoint); err != nil {
			return nil, err
		}
	}
	h.done = append(h.done, func() error { return h.samDo("delete", "--no-prompts", "--stack-name", h.Prefix, "--region", h.Region) })
	err := h.seed()
	if err == nil {
		err = h.front(data)
	}
	if err != nil {
		return nil, errors.Join(err, h.stop())
	}
	return h, nil
}

func (h *Home) front(data string) error {
	front, err := startCloud(data, "--functions", h.AWSEndpointURL, "--set", "Prefix="+h.Prefix)
	if err != nil {
		return err
	}
	h.done = append(h.done, func() error { return front.cmd.end(syscall.SIGINT) })
	h.Issuer, h.APIURL = h.APIURL, front.APIURL
	api.watch(h)
	return nil
}

func (h *Home) deploy(endpoint string) error {
	parameters := []string{"Prefix=" + h.Prefix, "Arch=" + machine(), "Environment=test", "MalwareScan=builtin", "ChunkBytes=8192",
		"AwsEndpointUrl=" + endpoint, "PublicStorageUrl=" + endpoint}
	if h.APIURL != "" {
		parameters = append(parameters, "Issuer="+h.APIURL)
	}
	return h.samDo("deploy", "--config-env", "localstack", "--stack-name", h.Prefix, "--region", h.Region,
		"--parameter-overrides", strings.Join(parameters, " "))
}

// findAPI takes the id of the API from the stack: its own address there needs a name that not every machine resolves.
func (h *Home) findAPI(endpoint string) error {
	cmd := h.samCommand("list", "stack-outputs", "--stack-name", h.Prefix, "--region", h.Region, "--output", "json")
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("sam list: %w", err)
	}
	var outputs []struct{ OutputKey, OutputValue string }
	if err := json.Unmarshal(text, &outputs); err != nil {
		return fmt.Errorf("sam list: %w: %s", err, text)
	}
	for _, o := range outputs {
		if id, _, found := strings.Cut(strings.TrimPrefix(o.OutputValue, "https://"), "."); found && o.OutputKey == "ApiUrl" {
			h.APIURL = endpoint + "/_aws/execute-api/" + id + o.OutputValue[strings.LastIndex(o.OutputValue, "/"):]
			h.TokenURL = h.APIURL + "/oauth2/token"
			return nil
		}
	}
	return fmt.Errorf("the stack has no output ApiUrl: %s", text)
}

// seed makes the tenant and the client of the suite.
func (h *Home) seed() error {
	var tenant struct {
		ID    string `json:"tenant_id"`
		Scope string `json:"scope"`
	}
	var made clientOf
	var out any
	if err := h.admin(&tenant, "tenant", "create"); err != nil {
		return err
	}
	h.TenantID, h.Scope = tenant.ID, tenant.Scope
	if err := errors.Join(h.admin(&out, "tenant", "enable-batch", tenant.ID), h.admin(&made, "client", "create")); err != nil {
		return err
	}
	h.ClientID, h.ClientSecret = made.ClientID, made.ClientSecret
	return nil
}

func (h *Home) samCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("sam", args...)
	cmd.Dir = ".." // samconfig.toml
	cmd.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0", "AWS_ACCESS_KEY_ID="+h.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+h.SecretAccessKey)
	return cmd
}

func (h *Home) samDo(args ...string) error {
	out, err := h.samCommand(args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("sam %s: %w:\n%s", args[0], err, out)
	}
	return nil
}
