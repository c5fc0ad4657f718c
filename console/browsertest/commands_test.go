package browsertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commandsOf returns the commands of a kind that the page offers, whether their boxes are open or not: "command",
// "curl line" or "line for $TOKEN".
func (p *tab) commandsOf(kind string) []string {
	p.Helper()
	return evaluate[[]string](p, `[...document.querySelectorAll(".command pre")].
		filter(e => e.getAttribute("aria-label") === `+quoted(kind)+`).map(e => e.textContent)`)
}

// shell runs what a person pastes into a terminal, in a folder with the file of the upload, and returns what it prints.
func (n *tenant) shell(folder, script string, environment ...string) (out string, code int) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), *patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	var printed bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = folder, append(n.environment(), environment...), &printed, &printed
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		n.Fatal(err)
	}
	return printed.String(), cmd.ProcessState.ExitCode()
}

// pasteCommands runs every command that the page offers: those of sluice must not be refused as wrong or fail to run,
// requests by curl must be answered with success.
func (n *tenant) pasteCommands(p *tab, folder string) {
	n.Helper()
	for _, text := range p.commandsOf("command") {
		lines := strings.Split(text, "\n")
		if strings.Contains(text, "<<") {
			lines = []string{text}
		}
		for _, line := range lines {
			if strings.Contains(line, "sluice listen") || strings.Contains(line, "--watch") {
				continue // they do not end
			}
			if out, code := n.shell(folder, line); code == 2 || code > 3 {
				n.Errorf("%s: pasting %q ends with %d: %s", p.address(), line, code, out)
			}
			n.checkConnection(p, folder, line)
		}
	}
	for _, text := range p.commandsOf("curl line") {
		if n.token == "" {
			n.token, _ = n.shell(folder, p.commandsOf("line for $TOKEN")[0]+"\nprintf '%s' \"$TOKEN\"",
				"SLUICE_CLIENT_SECRET="+n.clientSecret)
		}
		script := "set -e\ncurl() { command curl -sS --fail-with-body \"$@\"; }\n" + text
		if out, code := n.shell(folder, script, "TOKEN="+n.token); code != 0 {
			n.Errorf("%s: pasting %q ends with %d: %s", p.address(), text, code, out)
		}
	}
}

// commandName matches the name of a command of sluice, which has one or two words, at the beginning of a line.
var commandName = regexp.MustCompile(`^sluice [a-z]+( [a-z]+( |$))?`)

// checkConnection fails the test if a line calls the service, as the help of its command says, and does not name the
// connection of the page: in another terminal it would call another service.
func (n *tenant) checkConnection(p *tab, folder, line string) {
	n.Helper()
	help, _ := n.shell(folder, commandName.FindString(line)+" --help")
	isOffline := strings.HasPrefix(line, "sluice screen") && !strings.Contains(line, "--service")
	if strings.Contains(help, "--api-url") && !isOffline && !strings.Contains(line, "--profile default") {
		n.Errorf("%s: the command %q does not name the connection", p.address(), line)
	}
}

// The commands that are shown beside the actions of a page work when they are pasted into any terminal: they name the
// connection and do what the action does.
func TestCommandsWorkWhenPasted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl")
	}
	tenant := newTenant(t)
	file := tenant.generate(60, 0.05)
	batch := tenant.upload(file, "--name", "it's monday", "--max-rejected", "100%")
	var webhook struct{ ID string }
	tenant.call("POST", "/v1/webhooks",
		`{"url":"https://receiver.invalid/","eventTypes":["batchtransaction:ingestionFailed"]}`, &webhook)
	for _, name := range []string{"Legal name", "Name"} { // two versions
		text := strings.Replace(smallPolicy, "Legal name", name, 1)
		tenant.sluice("policy", "import", tenant.file("policy.yaml", text), "--publish")
	}
	var policies struct {
		Data struct {
			Items []struct{ EntityPolicyID string }
		}
	}
	tenant.call("GET", "/policyquery/api/v4/policies", "", &policies)
	policy := policies.Data.Items[0].EntityPolicyID
	var entity struct{ ID string }
	tenant.call("POST", "/entitydatacommand/api/v2/entity", `{"data":{"type":"Company","targetEntity":"Client",
		"properties":{"legalEntityName":{"type":"Single","value":"Acme"}}}}`, &struct{ Data any }{&entity})
	tenant.importList("own", listed{id: "1", name: "Ivan Petrov"})
	tenant.admin(nil, "entities", "import", "--tenant", tenant.id,
		tenant.file("entities.jsonl", `{"id":"customer 1","status":"Compliant"}`))
	tenant.sendTransaction("a", "authorised", "12.50", "Invoice 1")
	tenant.logIn()
	folder := t.TempDir()
	dropped := filepath.Join(folder, "a file.jsonl")
	if out, code := tenant.shell(folder, "sluice generate --lines 20 -o 'a file.jsonl'"); code != 0 {
		t.Fatal(out)
	}
	p := tenant.open("/")
	for path, offered := range map[string]int{
		"/": 1,
		"/batches?status=PROCESSED&search=it%27s&metadata=a%3Db": 2,
		"/batches/" + batch:       4,
		"/webhooks":               3,
		"/webhooks/" + webhook.ID: 2,
		"/policies":               2,
		"/policies/" + policy:     2,
		"/policies/" + policy + "?view=differences": 2,
		"/policies/" + policy + "?view=evaluate":    2,
		"/entities":                                 1,
		"/entities/" + entity.ID:                    1,
		"/screening/name":                           2,
		"/transactions/tx%201%2F2":                  2,
	} {
		p.goTo(path)
		p.eventually("commands on "+path, func() (bool, string) {
			found := len(p.commandsOf("command")) + len(p.commandsOf("curl line"))
			return found >= offered, fmt.Sprintf("%d are there, want %d", found, offered)
		})
		tenant.pasteCommands(p, folder)
	}
	p.goTo("/upload")
	p.dropFiles("region", "Files to upload", dropped)
	p.waitFor("button", "Upload (")
	tenant.pasteCommands(p, folder)
	want := "sluice upload --profile default 'a file.jsonl'"
	if got := p.commandsOf("command"); !slices.Contains(got, want) {
		t.Errorf("the commands are %q, want %q", got, want)
	}
}
