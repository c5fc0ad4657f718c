package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// capability is something that a test needs and not every environment has.
type capability string

const (
	otherSettings capability = "other settings"
	processes     capability = "processes"
	refused401    capability = "refused token: 401"
	responses     capability = "gateway responses"
	encodedPaths  capability = "encoded paths"
	manyRequests  capability = "many requests"
	samCLI        capability = "sam local invoke"
	functionLog   capability = "log of functions"
	eventLog      capability = "log of the event bus"
	receivers     capability = "receivers of webhooks"
	builtInCheck  capability = "built-in check"
	policies      capability = "policies"
	anyBytes      capability = "bytes that are not UTF-8"
)

// environmentNames are the environments in the order of the table in the documentation.
var environmentNames = []string{"local", "sam", "localstack", "aws"}

// capabilities are all capabilities with the environments that lack them, and why. The table in the documentation is
// generated from this one: go test ./e2e -run TestCapabilityTable -update
var capabilities = []struct {
	capability
	missingIn []string
	reason    string
}{
	{
		otherSettings, []string{"sam", "localstack", "aws"},
		"An environment with other parameters takes a second in the local " +
			"cloud and a deployment elsewhere. Lifetimes of a second, other size limits and GuardDuty's results are " +
			"tested in the local cloud only",
	},
	{processes, []string{"sam", "localstack", "aws"},
		"Restart, kill -9, the demo and the memory of functions are tested on processes of this machine"},
	{
		refused401, []string{"sam"},
		"SAM turns every error of an authorizer into a 502, \"Unauthorized\" too; the request does " +
			"not reach the function",
	},
	{responses, []string{"sam"},
		"SAM does not read GatewayResponses: an unknown path is a 403 of its own, and a 401 has no WWW-Authenticate"},
	{encodedPaths, []string{"sam"},
		"SAM decodes a path before it looks for its route: an ID that contains a slash is not found"},
	{
		manyRequests, []string{"sam"},
		"`sam local` waits up to a second for the end of a function's log, of two functions for " +
			"each request: the tests that send hundreds of requests would take longer than all others together",
	},
	{functionLog, []string{"sam", "localstack", "aws"},
		"What functions print is a file of the local cloud; elsewhere it is in CloudWatch Logs or on a terminal"},
	{eventLog, []string{"localstack", "aws"},
		"The local cloud writes what is put on the event bus into a file; elsewhere a rule would have to collect it"},
	{
		receivers, []string{"sam", "localstack", "aws"},
		"The receivers of webhooks run beside the suite, at loopback addresses, which the service calls in the local " +
			"cloud only",
	},
	{
		builtInCheck, nil,
		"GuardDuty on AWS (`malware_scan` of its FILE) need not take a document that only begins like an archive; " +
			"what is lacking then is printed like the rest",
	},
	{
		policies, []string{"sam", "localstack"},
		"Policies are not enforced there. On AWS and in the local cloud the URL of a file that was deleted or " +
			"refused gives 403, because the function that signed it may read clean files only",
	},
	{anyBytes, []string{"sam"},
		"`sam local` answers a body that is not UTF-8 with 502; API Gateway puts U+FFFD in the place of such bytes"},
	{samCLI, []string{"local", "localstack", "aws"}, "It is SAM's own command"},
}

// supports reports whether the environment has a capability. What is not checked without it is printed at the end of
// the run.
func (e *Environment) supports(c capability, test string) bool {
	for _, known := range capabilities {
		isLacking := slices.Contains(known.missingIn, e.Name) || c == builtInCheck && e.MalwareScan == "guardduty"
		if known.capability == c && isLacking {
			unsupported.add(fmt.Sprintf("%s (%s)", test, c))
			return false
		}
	}
	return true
}

// skipWithout skips a test that needs what the shared environment lacks.
func skipWithout(t *testing.T, c capability) {
	t.Helper()
	if !environment.supports(c, t.Name()) {
		t.Skipf("%s lacks %q: see %s", environment.Name, c, environmentsDocument)
	}
}

// isRefusal reports whether a status is that of a refused token.
func (e *Environment) isRefusal(status int, test string) bool {
	if e.supports(refused401, test) {
		return status == http.StatusUnauthorized
	}
	return status == http.StatusBadGateway
}

// unsupported lists what this run did not check, each with the capability that is missing.
var unsupported unsupportedTests

type unsupportedTests struct {
	mu    sync.Mutex
	lines []string
}

func (u *unsupportedTests) add(line string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.Contains(u.lines, line) {
		u.lines = append(u.lines, line)
	}
}

func (u *unsupportedTests) print() {
	for _, line := range u.lines {
		fmt.Printf("not checked on %s: %s\n", environment.Name, line)
	}
}

var update = flag.Bool("update", false, "write the generated table of capabilities into the documentation")

const (
	tableBegin = "<!-- The suite generates this table from e2e/capabilities_test.go. -->\n"
	tableEnd   = "<!-- End of the generated table. -->"
)

// The documentation has the table of capabilities that the suite acts on.
func TestCapabilityTable(t *testing.T) {
	path := "../" + environmentsDocument
	text := ok(os.ReadFile(path))(t)
	before, rest, found := strings.Cut(string(text), tableBegin)
	got, after, ended := strings.Cut(rest, tableEnd)
	require(t, found && ended, "%s has no lines %q and %q", path, tableBegin, tableEnd)
	want := capabilityTable()
	if got == want {
		return
	}
	require(t, *update,
		"the table in %s differs: run go test ./e2e -run TestCapabilityTable -update. Got\n%s\nwant\n%s", path, got,
		want)
	must(t, os.WriteFile(path, []byte(before+tableBegin+want+tableEnd+after), 0o644))
}

// capabilityTable returns the table as Markdown.
func capabilityTable() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| The suite needs | %s | Why not |\n|%s\n", strings.Join(environmentNames, " | "),
		strings.Repeat("---|", len(environmentNames)+2))
	for _, c := range capabilities {
		fmt.Fprintf(&b, "| %s |", c.capability)
		for _, name := range environmentNames {
			if slices.Contains(c.missingIn, name) {
				b.WriteString(" no |")
			} else {
				b.WriteString(" yes |")
			}
		}
		fmt.Fprintf(&b, " %s |\n", c.reason)
	}
	b.WriteString("\n")
	return b.String()
}
