package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallAccount are the limit of a new account of AWS and slots for it (docs/first-day.md); of validation
// there is one, so that the order in which batches get it can be seen.
var smallAccount = []string{
	"--limit", "concurrency=10", "--set", "ValidationSlots=1", "--set", "ValidationSlotsPerTenant=1",
	"--set", "ValidateConcurrency=2", "--set", "SettleConcurrency=2", "--set", "ReconcileConcurrency=1",
	"--set", "IngestionSlots=2", "--set", "IngestionSlotsPerTenant=1", "--set", "IngestConcurrency=1",
	"--set", "SweepAge=1",
}

// A local cloud in an account with ten executions is restarted on the same data while batches of three tenants wait,
// and then killed. What was stored is there after the restart, for the same tenant and client; the batches that waited
// are processed; and nothing keeps running after the kill.
func TestRestart(t *testing.T) {
	beginParallel(t, processes)
	data := t.TempDir()
	first := ok(startLocalCloud(data, smallAccount...))(t)
	onboardEntities(t, first)
	l := validLine()
	last := login(t, first).expectProcess("PROCESSED", jsonLines(l))
	tenantOf := first.startWaitingBatches(t)
	must(t, first.stop())
	second := ok(startLocalCloud(data, smallAccount...))(t)
	second.killsFunctions = true // the first one may have been stopped between an event and its record
	assert(t, second.ClientID == first.ClientID && second.ClientSecret == first.ClientSecret &&
		second.TenantID == first.TenantID,
		"after the restart: tenant %s and client %s, want %s and %s with the same secret", second.TenantID,
		second.ClientID, first.TenantID, first.ClientID)
	if _, waiting := second.slots(t, "validation"); waiting != len(tenantOf) {
		t.Errorf("after the restart %d batches wait, want %d", waiting, len(tenantOf))
	}
	api := login(t, second)
	api.expectStored(l, last.BatchID, 1)
	second.expectTurns(t, tenantOf)
	api.expectProcess("PROCESSED", jsonLines(validLine()))
	info := ok(os.Stat(filepath.Join(data, "local.json")))(t)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("local.json, which holds a secret, has the mode %v, want 0600", got)
	}
	must(t, second.checkRun())
	second.expectNothingLeftByKill(t)
}

// startWaitingBatches has one tenant upload four batches, and then two others two each. All wait for validation.
func (e *Environment) startWaitingBatches(t *testing.T) (tenantOf map[string]int) {
	t.Helper()
	e.holdSlot(t, "validation")
	tenantOf = map[string]int{}
	for tenant, batches := range []int{4, 2, 2} {
		api := login(t, e)
		if tenant > 0 {
			api = loginBatchTenant(t, e)
		}
		for range batches {
			tenantOf[api.startBatch(true, jsonLines(validLine()))] = tenant
		}
	}
	e.waitForTickets(t, "validation", len(tenantOf))
	return tenantOf
}

// expectTurns has waiting batches processed. The tenants take turns, although one has uploaded most of its batches
// before the others.
func (e *Environment) expectTurns(t *testing.T, tenantOf map[string]int) {
	t.Helper()
	reached := func(status string) []string {
		return slices.DeleteFunc(e.reached(t, status), func(id string) bool {
			_, isWaiting := tenantOf[id]
			return !isWaiting
		})
	}
	e.sweep(t) // takes the slot from the batch that does not exist
	eventually(t, "the end of all batches", func() bool { return len(reached("PROCESSED")) == len(tenantOf) })
	var turns []int
	for _, id := range reached("VALIDATION_STARTED") {
		turns = append(turns, tenantOf[id])
	}
	for round := range 2 {
		if three := slices.Sorted(slices.Values(turns[3*round : 3*round+3])); !slices.Equal(three, []int{0, 1, 2}) {
			t.Errorf("the validated batches are, in their order, of the tenants %v, want all three in turn", turns)
		}
	}
	e.waitForFreeSlots(t)
}

// reached returns the batches that have reached a status, in the order in which they did.
func (e *Environment) reached(t *testing.T, status string) []string {
	t.Helper()
	var ids []string
	must(t, eachLine(e.logFile("functions.log"), func(line []byte) error {
		var r struct{ Record, Batch, To string }
		if i := bytes.IndexByte(line, '{'); i < 0 || json.Unmarshal(line[i:], &r) != nil {
			return nil
		}
		if r.Record == "transition" && r.Batch != "" && r.To == status && !slices.Contains(ids, r.Batch) {
			ids = append(ids, r.Batch)
		}
		return nil
	}))
	return ids
}

// expectNothingLeftByKill kills the local cloud, after which none of its processes may run.
func (e *Environment) expectNothingLeftByKill(t *testing.T) {
	t.Helper()
	require(t, len(processesNaming(t, e.Data)) != 0, "found no process of the local cloud")
	must(t, e.cloud.Process.Kill())
	<-e.cloud.exited
	eventually(t, "the end of all processes after kill -9", func() bool {
		left := processesNaming(t, e.Data)
		if len(left) > 0 {
			t.Log(left)
		}
		return len(left) == 0
	})
}

// processesNaming returns the processes whose command line or environment names a folder.
func processesNaming(t *testing.T, folder string) (found []string) {
	t.Helper()
	for _, process := range ok(filepath.Glob("/proc/[0-9]*"))(t) { // empty where there is no /proc
		commandLine, err := os.ReadFile(filepath.Join(process, "cmdline"))
		if err != nil {
			continue // has ended
		}
		variables, err := os.ReadFile(filepath.Join(process, "environ"))
		if err != nil {
			continue // has ended
		}
		if strings.Contains(string(commandLine)+string(variables), folder) {
			found = append(found, process+" "+strings.ReplaceAll(string(commandLine), "\x00", " "))
		}
	}
	return found
}

// The command that starts a local cloud ends as the program of the local cloud does, whose own tests know all reasons
// for which it cannot start.
func TestImpossibleStart(t *testing.T) {
	beginParallel(t, processes)
	stdout, stderr, code, err := environment.runSluice("local", "--data", environment.Data)
	if want := "another local cloud runs on the data folder " + environment.Data; err != nil || code != 2 ||
		stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %v, stdout %q, stderr %q; want 2 and one line with %q", code, err, stdout, stderr, want)
	}
}
