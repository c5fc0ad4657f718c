package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/shared/connect/event"
)

// tenantClient is the command line as a client of a tenant of its own.
type tenantClient struct {
	t *testing.T
	clientCredentials
	*session
}

// newTenantClient makes a tenant with the batch feature.
func newTenantClient(t *testing.T) *tenantClient {
	t.Helper()
	credentials := newClient(t, environment, newTenant(t, environment))
	c := &tenantClient{t, credentials, loginAs(t, environment, credentials)}
	c.enableBatches()
	return c
}

// beginTenantClient begins a test by newTenantClient.
func beginTenantClient(t *testing.T, needs ...capability) *tenantClient {
	t.Helper()
	beginParallel(t, needs...)
	return newTenantClient(t)
}

// connection returns the flags that lead to the service.
func (c *tenantClient) connection() []string {
	return connectionOf(environment, c.clientCredentials)
}

// run runs a command that must end with a code, and returns what it prints.
func (c *tenantClient) run(want int, args ...string) string {
	c.t.Helper()
	stdout, stderr, code, err := environment.runSluice(append(args, c.connection()...)...)
	if err != nil || code != want {
		c.t.Fatalf("sluice %v: exit code %d, %v, want %d: %s%s", args, code, err, want, stdout, stderr)
	}
	return stdout
}

// The commands walk through the life of a webhook.
func TestWebhookCommands(t *testing.T) {
	c := beginTenantClient(t, receivers)
	secret := writeFile(t, "secret", "a secret of the tenant\n")
	var w webhookView
	created := c.run(0, "webhooks", "create", "https://receiver.invalid/events", "--name", "events", "--secret-file",
		secret,
		"--event", "batchtransaction:ingestionFailed", "--event", "batchtransaction:ingestionValidation_failed",
		"--json")
	if err := json.Unmarshal([]byte(created), &w); err != nil || w.Secret != "" || len(w.EventTypes) != 2 {
		t.Fatalf("created %s, %v; want two types of events and no secret", created, err)
	}
	c.run(2, "webhooks", "create", "http://receiver.invalid")
	if list := c.run(0, "webhooks", "list"); !strings.Contains(list,
		w.ID+"  enabled  https://receiver.invalid/events") {
		t.Errorf("list: %s", list)
	}
	if failed := c.run(1, "webhooks", "test", w.ID); !strings.Contains(failed, "could not be looked up") {
		t.Errorf("test of a name that does not exist: %s", failed)
	}
	r := c.newReceiver()
	updated := c.run(0, "webhooks", "update", w.ID, "--url", r.URL, "--type", "Single", "--disable")
	if !strings.Contains(updated, "disabled") || !strings.Contains(updated, "ingestionFailed") ||
		!strings.Contains(updated, "events") {
		t.Errorf("updated: %s, want the rest as it was", updated)
	}
	c.run(2, "webhooks", "update", w.ID, "--enable", "--disable")
	c.run(0, "webhooks", "update", w.ID, "--enable")
	if passed := c.run(0, "webhooks", "test", w.ID); !strings.Contains(passed, "Successful") {
		t.Errorf("test: %s", passed)
	}
	list := c.run(0, "webhooks", "deliveries", w.ID, "--outcome", "Failed", "--json")
	var failed deliveryView
	if err := json.Unmarshal([]byte(list), &failed); err != nil || failed.summary() != "Failed name_not_found" {
		t.Errorf("failed deliveries: %s, %v; want one", list, err)
	}
	if shown := c.run(0, "webhooks", "deliveries", w.ID, failed.ID); !strings.Contains(shown,
		`"eventType": "webhook:test"`) {
		t.Errorf("one delivery: %s, want its payload", shown)
	}
	c.run(0, "webhooks", "resend", w.ID, failed.ID)
	if d := c.ended(w, failed.ID); d.summary() != "Successful -" {
		t.Errorf("sent again: %s", d.summary())
	}
	if sent := c.run(0, "webhooks", "resend", w.ID, "--since", "1h", "--outcome",
		"Successful"); sent != "2 sent again\n" {
		t.Errorf("sent again since an hour: %q, want 2", sent)
	}
	c.run(2, "webhooks", "resend", w.ID)
	c.run(2, "webhooks", "resend", w.ID, "--since", "yesterday")
	c.run(0, "webhooks", "delete", w.ID)
	c.run(2, "webhooks", "get", w.ID)
}

// listen prints what arrives, forwards it, and leaves nothing when it ends.
func TestListen(t *testing.T) {
	c := beginTenantClient(t, receivers)
	program := ok(builtProgram("sluice"))(t)
	r := c.newReceiver()
	forward := r.Config.Handler // the same receiver without TLS
	plain := servePlainly(t, forward)
	var stdout outputBuffer
	cmd := exec.Command(program, append([]string{"listen", "--json", "--forward", plain,
		"--event", "batchtransaction:ingestionValidation_failed"}, c.connection()...)...)
	cmd.Env = append(os.Environ(), "SLUICE_DATA=")
	cmd.Stdout = &stdout
	p := ok(startProcess(cmd))(t)
	t.Cleanup(func() { _ = p.Process.Kill() })
	webhooks := func() []webhookView {
		var list struct{ WebHooks []webhookView }
		c.mustSend("GET", webhooksPath, "", &list)
		return list.WebHooks
	}
	if err := p.waitFor(patience, func() bool { return len(webhooks()) == 1 }); err != nil {
		t.Fatalf("listen has no webhook: %v", err)
	}
	id := c.startBatch(true, nil)
	if err := p.waitFor(patience, func() bool { return strings.Contains(stdout.String(), "\n") }); err != nil {
		t.Fatalf("listen has printed no event: %v", err)
	}
	var m event.Message
	decodeStrictly(t, []byte(stdout.String()), &m)
	if m.CausationID != id || m.Type != event.BatchRejected {
		t.Errorf("printed %s, want the end of batch %s", stdout.String(), id)
	}
	if got := r.requests(); len(got) != 1 || string(got[0].body)+"\n" != stdout.String() ||
		got[0].header.Get("x-sluice-signature") == "" {
		t.Errorf("forwarded %+v, want what was printed, with its headers", got)
	}
	if err := p.stop(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	want := "listening to batchtransaction:ingestionValidation_failed at "
	if !strings.HasPrefix(p.output.String(), want) {
		t.Errorf("printed %q on standard error, want %q", p.output, want)
	}
	var configurations []externalAuthView
	c.mustCall("GET", externalAuthQueries+"/getAll", "", &configurations)
	if left := webhooks(); len(left) != 0 || len(configurations) != 1 { // that of the receiver
		t.Errorf("%d webhooks and %d configurations are left, want none and one", len(left), len(configurations))
	}
}

// The commands of docs/webhooks.md work as they are.
func TestWebhookGuide(t *testing.T) {
	t.Parallel()
	requires(t, receivers)
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	page, err := os.ReadFile("../docs/webhooks.md")
	must(t, err)
	c := newTenantClient(t)
	r := c.newReceiver()
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		script.WriteString(block[1])
	}
	ctx := t.Context()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script.String())
	cmd.Env = append(os.Environ(), "API_URL="+environment.APIURL, "RECEIVER="+r.URL+"/events",
		"CLIENT_ID="+c.ClientID, "CLIENT_SECRET="+c.ClientSecret, "SCOPE=tenant/"+c.TenantID,
		"TOKEN_URL="+environment.TokenURL)
	started := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("after %v: %v\n%s", time.Since(started), err, out)
	}
	for _, want := range []string{`"outcome": "Successful"`, `"eventType": "webhook:test"`, `"resent": 1`,
		`"previousSecretUntil": "2`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands print no %s:\n%s", want, out)
		}
	}
	eventually(t, "the deliveries", func() bool { return len(r.requests()) >= 2 })
}

// servePlainly serves a handler without TLS and returns its address.
func servePlainly(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
