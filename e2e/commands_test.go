package e2e

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// connection returns the flags by which a command acts as the session's client.
func (s *session) connection() []string {
	return []string{"--api-url", s.environment.APIURL, "--token-url", s.environment.TokenURL, "--client-id", s.ClientID,
		"--client-secret", s.ClientSecret, "--scope", "tenant/" + s.TenantID}
}

// command runs a command as the session's client and returns what it printed and its exit code.
func (s *session) command(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	stdout, stderr, code, err := s.environment.runSluice(append(args, s.connection()...)...)
	must(s.t, err)
	return stdout, stderr, code
}

// run runs a command that must end with a code, and returns what it prints on standard output.
func (s *session) run(code int, args ...string) string {
	s.t.Helper()
	stdout, stderr, got := s.command(args...)
	require(s.t, got == code, "sluice %v: exit code %d, want %d: %s%s", args, got, code, stdout, stderr)
	return stdout
}

// runFor runs a command that must end with a code and print texts, and returns all that it prints.
func (s *session) runFor(code int, wanted []string, args ...string) string {
	s.t.Helper()
	stdout, stderr, got := s.command(args...)
	expectTexts(s.t, stdout+stderr, wanted...)
	require(s.t, got == code, "sluice %v: exit code %d, want %d: %s%s", args, got, code, stdout, stderr)
	return stdout + stderr
}

// startCommand starts a command as the session's client, which ends with the test. Variables are NAME=VALUE. Standard
// output goes to stdout unless that is nil, and the rest to the output of the process.
func (s *session) startCommand(variables []string, stdout io.Writer, args ...string) *process {
	s.t.Helper()
	cmd := exec.Command(ok(builtProgram("sluice"))(s.t), append(args, s.connection()...)...)
	cmd.Env, cmd.Stdout = append(append(os.Environ(), "SLUICE_DATA="), variables...), stdout
	p := ok(startProcess(cmd))(s.t)
	s.t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// expectTexts checks that something that was printed has texts.
func expectTexts(t testing.TB, printed string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		assert(t, strings.Contains(printed, want), "nothing prints %q:\n%s", want, printed)
	}
}

// runGuide runs the blocks of commands of a page, which takes its client from the environment, and checks that they
// print texts. Other variables are given as NAME=VALUE.
func (s *session) runGuide(path string, variables []string, wanted ...string) {
	s.t.Helper()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			s.t.Skipf("%s is not installed", tool)
		}
	}
	var script strings.Builder
	page := ok(os.ReadFile("../" + path))(s.t)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1) {
		script.Write(block[1])
	}
	cmd := exec.CommandContext(s.t.Context(), "bash", "-euo", "pipefail", "-c", script.String())
	cmd.Dir = s.t.TempDir()
	cmd.Env = append(os.Environ(), "API_URL="+s.environment.APIURL, "TOKEN_URL="+s.environment.TokenURL,
		"CLIENT_ID="+s.ClientID, "CLIENT_SECRET="+s.ClientSecret, "TENANT="+s.TenantID, "SCOPE=tenant/"+s.TenantID)
	cmd.Env = append(cmd.Env, variables...)
	out, err := cmd.CombinedOutput()
	require(s.t, err == nil && script.Len() != 0, "the commands of %s: %v\n%s", path, err, out)
	expectTexts(s.t, string(out), wanted...)
}
