package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"sluice/shared/connect/event"
)

// The commands walk through the life of a webhook.
func TestWebhookCommands(t *testing.T) {
	c := beginTenant(t, receivers)
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
	assert(t, strings.Contains(updated, "disabled") && strings.Contains(updated, "ingestionFailed") &&
		strings.Contains(updated, "events"), "updated: %s, want the rest as it was", updated)
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
	c := beginTenant(t, receivers)
	c.enableBatches()
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
		list := sendFor[struct{ WebHooks []webhookView }](c, "GET", webhooksPath, "")
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
	assert(t, m.CausationID == id && m.Type == event.BatchRejected, "printed %s, want the end of batch %s",
		stdout.String(), id)
	if got := r.requests(); len(got) != 1 || string(got[0].body)+"\n" != stdout.String() ||
		got[0].header.Get("x-sluice-signature") == "" {
		t.Errorf("forwarded %+v, want what was printed, with its headers", got)
	}
	if err := p.stop(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	want := "listening to batchtransaction:ingestionValidation_failed at "
	assert(t, strings.HasPrefix(p.output.String(), want), "printed %q on standard error, want %q", p.output, want)
	configurations := callFor[[]externalAuthView](c, "GET", externalAuthQueries+"/getAll", "")
	if left := webhooks(); len(left) != 0 || len(configurations) != 1 { // that of the receiver
		t.Errorf("%d webhooks and %d configurations are left, want none and one", len(left), len(configurations))
	}
}

// The commands of docs/webhooks.md work as they are.
func TestWebhookGuide(t *testing.T) {
	t.Parallel()
	skipWithout(t, receivers)
	c := loginNewTenant(t)
	r := c.newReceiver()
	c.runGuide("docs/webhooks.md", []string{"RECEIVER=" + r.URL + "/events"}, `"outcome": "Successful"`,
		`"eventType": "webhook:test"`, `"resent": 1`, `"previousSecretUntil": "2`)
	eventually(t, "the deliveries", func() bool { return len(r.requests()) >= 2 })
}

// servePlainly serves a handler without TLS and returns its address.
func servePlainly(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
