package e2e

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"sluice/internal/localcloud"
)

// startLocalStack deploys the template to the LocalStack at AWS_ENDPOINT_URL, under a prefix of its own, and creates a
// tenant and a client there by the admin commands. `sam build` must have run before.
//
// The free edition runs no authorizer. The gateway of a local cloud therefore serves what needs one, by the deployed
// authorizer and functions; tokens come from LocalStack's own API.
func startLocalStack(data string) (*Environment, error) {
	endpoint := strings.TrimSuffix(os.Getenv("AWS_ENDPOINT_URL"), "/")
	if !isAnswering(endpoint + "/_localstack/health") {
		return nil, errors.New("no LocalStack answers at AWS_ENDPOINT_URL (" + endpoint + ")")
	}
	e := &Environment{Name: "localstack", Descriptor: localcloud.Descriptor{
		AWSEndpointURL: endpoint, S3URL: endpoint, Region: "us-east-1", AccessKeyID: "test", SecretAccessKey: "test",
		Prefix: "e2e" + uuid.NewString()[:8],
	}}
	// The gateway comes first: its address is the issuer of tokens, a parameter of the stack.
	if err := e.startGateway(data); err != nil {
		return nil, err
	}
	e.cleanups = append(e.cleanups, func() error {
		return e.runSAM("delete", "--no-prompts", "--stack-name", e.Prefix, "--region", e.Region)
	})
	err := e.deploy()
	if err == nil {
		err = e.findTokenURL()
	}
	if err == nil {
		err = e.checkIgnoredResources()
	}
	if err == nil {
		err = e.createTenant()
	}
	if err != nil {
		return nil, errors.Join(err, e.stop())
	}
	return e, nil
}

// startGateway starts the local cloud whose gateway serves the API of the stack.
func (e *Environment) startGateway(data string) error {
	gateway, err := startUncheckedCloud(data, "--functions", e.AWSEndpointURL, "--set", "Prefix="+e.Prefix)
	if err != nil {
		return err
	}
	e.cleanups = append(e.cleanups, func() error { return gateway.cloud.stop(syscall.SIGINT) })
	e.APIURL = gateway.APIURL
	return nil
}

func (e *Environment) deploy() error {
	parameters := []string{"Prefix=" + e.Prefix, "Arch=" + templateArch(), "Environment=test", "MalwareScan=builtin",
		"TokenRequests=0", "AddressRequests=0", "ReservedConcurrency=no", "ChunkBytes=8192",
		"AwsEndpointUrl=" + e.AWSEndpointURL, "PublicStorageUrl=" + e.AWSEndpointURL, "Issuer=" + e.APIURL}
	deploy := exec.Command("../tools/localstack/deploy.sh", append([]string{e.Prefix}, parameters...)...)
	out, err := deploy.CombinedOutput()
	if err != nil {
		return fmt.Errorf("deploy.sh: %w:\n%s", err, out)
	}
	return nil
}

// findTokenURL reads the ID of the API from the stack. The address that the stack prints has a name that not every
// machine resolves.
func (e *Environment) findTokenURL() error {
	cmd := e.samCommand("list", "stack-outputs", "--stack-name", e.Prefix, "--region", e.Region, "--output", "json")
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("sam list: %w", err)
	}
	var outputs []struct{ OutputKey, OutputValue string }
	if err := json.Unmarshal(text, &outputs); err != nil {
		return fmt.Errorf("sam list: %w: %s", err, text)
	}
	for _, o := range outputs {
		if id, _, found := strings.Cut(strings.TrimPrefix(o.OutputValue, "https://"), "."); found &&
			o.OutputKey == "ApiUrl" {
			e.TokenURL = e.AWSEndpointURL + "/_aws/execute-api/" + id +
				o.OutputValue[strings.LastIndex(o.OutputValue, "/"):] + tokenPath
			contract.watch(e)
			return nil
		}
	}
	return fmt.Errorf("the stack has no output ApiUrl: %s", text)
}

// checkIgnoredResources returns an error unless the resources that LocalStack has ignored are of the types that the
// documentation names.
func (e *Environment) checkIgnoredResources() error {
	document, err := os.ReadFile("../" + environmentsDocument)
	if err != nil {
		return err
	}
	row := regexp.MustCompile("(?m)^\\| `(AWS::[^`]+)` \\| \\w+ \\| ignored \\|")
	documented := map[string]bool{}
	for _, found := range row.FindAllSubmatch(document, -1) {
		documented[string(found[1])] = true
	}
	resources, err := e.listResources()
	if err != nil {
		return err
	}
	var errs []error
	for _, r := range resources {
		// LocalStack gives a resource of a type that it does not know this ID.
		if isIgnored := r.PhysicalResourceID == "unknown"; isIgnored != documented[r.ResourceType] {
			errs = append(errs, fmt.Errorf("%s (%s): ignored by LocalStack is %t, want what %s says",
				r.LogicalResourceID, r.ResourceType, isIgnored, environmentsDocument))
		}
	}
	return errors.Join(errs...)
}

type stackResource struct {
	LogicalResourceID  string `xml:"LogicalResourceId"`
	PhysicalResourceID string `xml:"PhysicalResourceId"`
	ResourceType       string
}

// listResources returns the resources of the stack.
func (e *Environment) listResources() ([]stackResource, error) {
	var all []stackResource
	query := url.Values{"Action": {"ListStackResources"}, "Version": {"2010-05-15"}, "StackName": {e.Prefix}}
	for {
		req, err := http.NewRequest(http.MethodPost, e.AWSEndpointURL, strings.NewReader(query.Encode()))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+e.AccessKeyID+"/20260101/"+e.Region+
			"/cloudformation/aws4_request, SignedHeaders=host, Signature=unchecked")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		var page struct {
			Result struct {
				Resources []stackResource `xml:"StackResourceSummaries>member"`
				NextToken string
			} `xml:"ListStackResourcesResult"`
		}
		if err := errors.Join(err, xml.Unmarshal(text, &page)); err != nil || resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("ListStackResources: %d, %w: %s", resp.StatusCode, err, text)
		}
		all = append(all, page.Result.Resources...)
		if query.Set("NextToken", page.Result.NextToken); page.Result.NextToken == "" {
			return all, nil
		}
	}
}

// createTenant creates the tenant and the client of the suite.
func (e *Environment) createTenant() error {
	var tenant struct {
		ID    string `json:"tenant_id"`
		Scope string `json:"scope"`
	}
	var made clientCredentials
	var out any
	if err := e.admin(&tenant, "tenant", "create", "--set", "limits=none"); err != nil {
		return err
	}
	e.TenantID, e.Scope = tenant.ID, tenant.Scope
	if err := errors.Join(e.admin(&out, "tenant", "enable-batch", tenant.ID),
		e.admin(&made, "client", "create", "--permission", "all")); err != nil {
		return err
	}
	e.ClientID, e.ClientSecret = made.ClientID, made.ClientSecret
	return nil
}

func (e *Environment) samCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("sam", args...)
	cmd.Dir = ".." // samconfig.toml
	cmd.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0", "AWS_ACCESS_KEY_ID="+e.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY="+e.SecretAccessKey)
	return cmd
}

func (e *Environment) runSAM(args ...string) error {
	out, err := e.samCommand(args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("sam %s: %w:\n%s", args[0], err, out)
	}
	return nil
}
