package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was stored is there after a restart on the same data, for the same tenant and client.
func TestRestart(t *testing.T) {
	requires(t, processes)
	t.Parallel()
	data := t.TempDir()
	first := ok(startLocalCloud(data))(t)
	onboardEntities(t, first)
	l := validLine()
	last := login(t, first).expectProcess("PROCESSED", jsonLines(l))
	must(t, first.stop())
	second := ok(startLocalCloud(data))(t)
	// The first one may have been stopped between the event and its record.
	second.killsFunctions = true
	stopAtEnd(t, second)
	if second.ClientID != first.ClientID || second.ClientSecret != first.ClientSecret ||
		second.TenantID != first.TenantID {
		t.Errorf("after the restart: tenant %s and client %s, want %s and %s with the same secret",
			second.TenantID, second.ClientID, first.TenantID, first.ClientID)
	}
	api := login(t, second)
	api.expectStored(l, last.BatchID, 1)
	api.expectProcess("PROCESSED", jsonLines(validLine()))
	info := ok(os.Stat(filepath.Join(data, "local.json")))(t)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("local.json, which holds a secret, has the mode %v, want 0600", got)
	}
}

// The command that starts a local cloud ends as the program of the local cloud does, whose own tests know all reasons
// for which it cannot start.
func TestImpossibleStart(t *testing.T) {
	requires(t, processes)
	t.Parallel()
	stdout, stderr, code, err := environment.runSluice("local", "--data", environment.Data)
	if want := "another local cloud runs on the data folder " + environment.Data; err != nil || code != 2 ||
		stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %v, stdout %q, stderr %q; want 2 and one line with %q", code, err, stdout, stderr, want)
	}
}

// Nothing keeps running when the local cloud is killed.
func TestKilledCloudLeavesNoProcesses(t *testing.T) {
	requires(t, processes)
	t.Parallel()
	cloud := ok(startLocalCloud(t.TempDir()))(t)
	onboardEntities(t, cloud)
	login(t, cloud).expectProcess("PROCESSED", jsonLines(validLine()))
	if len(processesOf(t, cloud)) == 0 {
		t.Fatal("found no process of the local cloud")
	}
	must(t, cloud.cloud.Process.Kill())
	<-cloud.cloud.exited
	eventually(t, "the end of all processes after kill -9", func() bool {
		left := processesOf(t, cloud)
		if len(left) > 0 {
			t.Log(left)
		}
		return len(left) == 0
	})
}

// processesOf returns the processes whose command line or environment names a local cloud's data folder.
func processesOf(t *testing.T, e *Environment) []string {
	t.Helper()
	folders := ok(filepath.Glob("/proc/[0-9]*"))(t)
	var found []string
	for _, folder := range folders {
		commandLine, err := os.ReadFile(filepath.Join(folder, "cmdline"))
		if err != nil {
			continue // has ended
		}
		variables, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil {
			continue // has ended
		}
		if strings.Contains(string(commandLine)+string(variables), e.Data) {
			found = append(found, folder+" "+strings.ReplaceAll(string(commandLine), "\x00", " "))
		}
	}
	return found
}
