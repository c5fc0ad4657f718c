package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/client"
	"sluice/internal/testcloud"
	"sluice/shared/kit/errtest"
)

// tenant is a tenant of the local cloud, with a client that has all permissions.
type tenant struct {
	testing.TB
	id, clientID, clientSecret string
	// apiURL and tokenURL are the addresses at which its commands find the service.
	apiURL, tokenURL string
	// api calls the service as the client.
	api *client.Client
	// home is the home folder of the commands that run for this tenant.
	home string
	// hasProfile means that the connection is the default profile of that folder, and not in the environment.
	hasProfile bool
	// token is what the line of the page for a token gives; "" until it was run.
	token string
}

// newTenant creates a tenant, which may use batches, and a client of it.
func newTenant(t testing.TB) *tenant {
	t.Helper()
	n := &tenant{TB: t, home: t.TempDir(), apiURL: suite.cloud.APIURL, tokenURL: suite.cloud.TokenURL}
	var created struct {
		TenantID string `json:"tenant_id"`
	}
	n.admin(&created, "tenant", "create")
	n.id = created.TenantID
	n.admin(nil, "tenant", "enable-batch", n.id)
	var c struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	n.admin(&c, "client", "create", "--tenant", n.id, "--permission", "all")
	n.clientID, n.clientSecret = c.ClientID, c.ClientSecret
	var err error
	n.api, err = client.New(client.Config{APIURL: suite.cloud.APIURL, TokenURL: suite.cloud.TokenURL,
		ClientID: n.clientID, ClientSecret: n.clientSecret, Scope: n.scope()})
	errtest.Fatal(t, err)
	return n
}

func (n *tenant) scope() string { return "tenant/" + n.id }

// admin runs a command of `sluice admin` and decodes what it prints into out, if that is not nil.
func (n *tenant) admin(out any, args ...string) {
	n.Helper()
	errtest.Fatal(n, suite.cloud.Admin(n.Context(), out, args...))
}

// generate writes a file of generated lines, of which a share is invalid, has its entities onboarded and returns its
// path.
func (n *tenant) generate(lines int, bad float64) string {
	n.Helper()
	path := filepath.Join(n.TempDir(), "lines.jsonl")
	n.sluice("generate", "--lines", strconv.Itoa(lines), "--bad", strconv.FormatFloat(bad, 'f', -1, 64), "-o", path)
	n.admin(nil, "entities", "import", "--tenant", n.id, path+".entities")
	return path
}

// file writes a file into a folder that is removed after the test and returns its path.
func (n *tenant) file(name, content string) string {
	n.Helper()
	path := filepath.Join(n.TempDir(), name)
	errtest.Fatal(n, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// logIn stores the connection as the default profile, which the tenant's commands have from then on.
func (n *tenant) logIn() {
	n.Helper()
	n.sluice("login")
	n.hasProfile = true
}

// environment returns the environment of a command that is connected to the service as the client.
func (n *tenant) environment() []string {
	base := append(os.Environ(), "HOME="+n.home, "XDG_CONFIG_HOME="+n.home, "SLUICE_DATA=", "SLUICE_PROFILE=",
		"PATH="+suite.cloud.Bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if n.hasProfile {
		return base
	}
	return append(base, "SLUICE_API_URL="+n.apiURL, "SLUICE_TOKEN_URL="+n.tokenURL, "SLUICE_CLIENT_ID="+n.clientID,
		"SLUICE_CLIENT_SECRET="+n.clientSecret, "SLUICE_SCOPE="+n.scope())
}

// sluice runs a command as the client and returns what it prints. The test fails if its exit code is not 0.
func (n *tenant) sluice(args ...string) string {
	n.Helper()
	out, code := n.sluiceCode(args...)
	if code != 0 {
		n.Fatalf("sluice %q: exit code %d: %s", args, code, out)
	}
	return out
}

// sluiceCode runs a command as the client and returns what it prints, also to standard error if it fails, and its exit
// code.
func (n *tenant) sluiceCode(args ...string) (out string, code int) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), *patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(suite.cloud.Bin, "sluice"), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = n.environment(), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		n.Fatal(err)
	}
	if err != nil {
		return stdout.String() + stderr.String(), cmd.ProcessState.ExitCode()
	}
	return stdout.String(), 0
}

// upload uploads a file, waits for the end of its batch, however that is, and returns the batch's ID.
func (n *tenant) upload(file string, options ...string) (id string) {
	n.Helper()
	out, code := n.sluiceCode(append([]string{"upload", file, "--quiet"}, options...)...)
	if id = strings.TrimSpace(out); code > 1 || len(id) != len("00000000-0000-0000-0000-000000000000") {
		n.Fatalf("sluice upload: exit code %d: %s", code, out)
	}
	return id
}

// call sends a request to the service as the client, with a body of JSON or "" for none, and decodes the reply into
// out, if that is not nil.
func (n *tenant) call(method, path, body string, out any) {
	n.Helper()
	request, err := http.NewRequestWithContext(n.Context(), method, suite.cloud.APIURL+path, strings.NewReader(body))
	errtest.Fatal(n, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("X-Tenant-Id", n.id)
	reply, err := n.api.Transport().RoundTrip(request)
	if err != nil {
		n.Fatalf("%s %s: %v", method, path, err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode/100 != 2 {
		err = errors.New(reply.Status)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		n.Fatalf("%s %s: %v: %.1000s", method, path, err, text)
	}
}

// open starts a console for the tenant, opens it in a new browser context by its first address, and goes to a page of
// it. Options are those of `sluice console`.
func (n *tenant) open(path string, options ...string) *tab {
	n.Helper()
	c := n.startConsole(options...)
	p := suite.browser.newTab(n.TB, c.origin)
	p.console = c
	p.goTo(c.firstPath)
	if path != "/" {
		p.goTo(path)
	}
	return p
}

// console is a running `sluice console`.
type console struct {
	cmd *exec.Cmd
	// origin is its address, without a slash at the end, and firstPath the path that opens a session.
	origin, firstPath string

	exited chan error
	output *outputBuffer
}

// firstAddress matches the address that the command prints.
var firstAddress = regexp.MustCompile(`(http://[0-9.a-z]+:\d+)(/open/\S+)`)

// startConsole starts a console for the tenant, which ends with the test.
func (n *tenant) startConsole(options ...string) *console {
	n.Helper()
	c := &console{exited: make(chan error, 1), output: &outputBuffer{}}
	args := append([]string{"console", "--no-open", "--address", "127.0.0.1:0"}, options...)
	c.cmd = exec.Command(filepath.Join(suite.cloud.Bin, "sluice"), args...)
	c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = n.environment(), c.output, c.output
	errtest.Fatal(n, testcloud.StartProgram(c.cmd))
	go func() { c.exited <- c.cmd.Wait() }()
	n.Cleanup(func() { c.stop(n.TB) })
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for deadline := time.Now().Add(*patience); c.origin == ""; {
		select {
		case err := <-c.exited:
			c.exited <- err
			n.Fatalf("the console ended: %v: %s", err, c.output)
		case <-tick.C:
		}
		if found := firstAddress.FindStringSubmatch(c.output.String()); found != nil {
			c.origin, c.firstPath = found[1], found[2]
		} else if time.Now().After(deadline) {
			n.Fatalf("the console does not print its address: %s", c.output)
		}
	}
	return c
}

// stop ends the console as Ctrl-C does. It does nothing if the console has ended.
func (c *console) stop(t testing.TB) {
	t.Helper()
	if c.cmd.ProcessState != nil {
		return
	}
	_ = c.cmd.Process.Signal(syscall.SIGCONT) // a test may have stopped it
	_ = c.cmd.Process.Signal(syscall.SIGINT)  // an error says that it has ended
	select {
	case err := <-c.exited:
		c.exited <- err
	case <-time.After(*patience):
		t.Errorf("the console does not end: %v: %s", c.cmd.Process.Kill(), c.output)
	}
}

// outputBuffer keeps what a program prints. It may be read while the program runs.
type outputBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *outputBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *outputBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
