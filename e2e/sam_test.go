package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	// samBuild is where `sam build` puts what it makes.
	samBuild = "../.aws-sam/build"
	// samTemplate is the built template as writeSAMTemplate writes it.
	samTemplate = samBuild + "/template.json"
)

// startSAM starts a local cloud whose functions run in containers of SAM CLI: `sam local start-api` serves the API, and
// what S3 and the state machine invoke goes to `sam local start-lambda`.
func startSAM(data string) (*Environment, error) {
	apiAddress, functionsAddress, err := freeAddresses()
	if err != nil {
		return nil, err
	}
	settings := filepath.Join(data, "sam.json")
	e, err := startUncheckedCloud(data, "--listen", "0.0.0.0", "--functions", "http://"+functionsAddress,
		"--sam-env", settings, "--set", "ChunkBytes=8192", "--set", "Issuer=http://"+apiAddress,
		// SAM may wait up to a second for the end of a function's log.
		"--set", "LogLevel=ERROR")
	if err != nil {
		return nil, err
	}
	e.Name, e.APIURL, e.TokenURL = "sam", "http://"+apiAddress, "http://"+apiAddress+tokenPath
	contract.watch(e)
	if err := writeSAMTemplate(); err != nil {
		return nil, errors.Join(err, e.stop())
	}
	for _, s := range []struct{ command, address string }{
		{"start-lambda", functionsAddress},
		{"start-api", apiAddress},
	} {
		_, port, _ := net.SplitHostPort(s.address)
		p, err := startProcess(e.samLocal(settings, s.command, "--port", port, "--warm-containers", "LAZY"))
		if err != nil {
			return nil, errors.Join(err, e.stop())
		}
		e.helpers = append(e.helpers, p)
		if err := p.waitFor(2*time.Minute, func() bool { return isAnswering("http://" + s.address) }); err != nil {
			return nil, errors.Join(err, e.stop())
		}
	}
	return e, nil
}

// samLocal returns a command of `sam local` with the settings of a local cloud.
func (e *Environment) samLocal(settings, command string, more ...string) *exec.Cmd {
	cmd := exec.Command("sam", append([]string{"local", command, "--env-vars", settings, "--template", samTemplate,
		"--region", e.Region, "--parameter-overrides", "Arch=" + templateArch(),
		"--add-host", "host.docker.internal:host-gateway"}, more...)...)
	// The containers get the keys of the person who runs SAM. SAM asks STS for the number of their account, and takes
	// one of its own if it gets none, which without a network takes ten seconds.
	cmd.Env = append(os.Environ(), "SAM_CLI_TELEMETRY=0", "AWS_ACCESS_KEY_ID="+e.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY="+e.SecretAccessKey, "AWS_ENDPOINT_URL_STS="+e.AWSEndpointURL, "AWS_MAX_ATTEMPTS=1")
	return cmd
}

// templateArch is this machine's processor as the template's parameter Arch names it.
func templateArch() string {
	if runtime.GOARCH == "arm64" {
		return "arm64"
	}
	return "x86_64"
}

// isAnswering reports whether an HTTP server answers at an address, whatever the answer.
func isAnswering(url string) bool {
	resp, err := http.Get(url)
	if err == nil {
		resp.Body.Close()
	}
	return err == nil
}

// freeAddresses returns two addresses at which nothing listens now.
func freeAddresses() (string, string, error) {
	var found [2]string
	for i := range found {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close()
		found[i] = l.Addr().String()
	}
	return found[0], found[1], nil
}

// writeSAMTemplate writes the built template once more: as JSON, which SAM reads seconds faster than YAML, and so that
// SAM finds the authorizer, since it does not resolve the GetAtt of its function.
func writeSAMTemplate() error {
	text, err := os.ReadFile(filepath.Join(samBuild, "template.yaml"))
	if err != nil {
		return fmt.Errorf("run `sam build` first: %w", err)
	}
	var template map[string]any
	if err := yaml.Unmarshal(text, &template); err != nil {
		return err
	}
	properties, ok := objectAt(template, "Resources", "Api", "Properties")
	authorizer, found := objectAt(properties, "Auth", "Authorizers", "BearerToken")
	if !ok || !found {
		return errors.New("the template's Api has no authorizer BearerToken")
	}
	authorizer["FunctionArn"] = "arn:aws:lambda:us-east-1:123456789012:function:AuthorizerFunction"
	if text, err = json.Marshal(template); err != nil {
		return err
	}
	return os.WriteFile(samTemplate, text, 0o644)
}

// objectAt returns the object that keys lead to inside another one.
func objectAt(in map[string]any, keys ...string) (map[string]any, bool) {
	ok := true
	for _, key := range keys {
		if in, ok = in[key].(map[string]any); !ok {
			return nil, false
		}
	}
	return in, ok
}
