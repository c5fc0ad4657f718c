package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/google/uuid"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/batch/batchdb"
	"sluice/shared/kit/dynamo"
)

// holdSlot gives a slot of a stage to a batch that does not exist, as if it had been admitted long ago.
func (e *Environment) holdSlot(t *testing.T, stage string) {
	t.Helper()
	longAgo := dynamo.String("2026-01-01T00:00:00Z")
	e.putItem(t, "admission", dynamo.Item{
		"stage": dynamo.String(stage), "place": dynamo.String("#gate"), "version": dynamo.Number(1),
		"turn": dynamo.String(""),
		"holders": &types.AttributeValueMemberM{Value: dynamo.Item{
			uuid.NewString(): &types.AttributeValueMemberM{Value: dynamo.Item{
				"tenant": dynamo.String(uuid.NewString()), "received_at": longAgo, "since": longAgo, "look_at": longAgo,
			}},
		}},
	})
}

// slots returns how many batches have a slot of a stage, and how many wait for one.
func (e *Environment) slots(t *testing.T, stage string) (held, waiting int) {
	t.Helper()
	hasGate := false
	for _, item := range e.items(t, "admission", "stage", stage) {
		if dynamo.StringAttribute(item, "place") > "#gate" {
			waiting++
		} else if holders, isMap := item["holders"].(*types.AttributeValueMemberM); isMap {
			held, hasGate = len(holders.Value), true
		}
	}
	require(t, hasGate, "the stage %s has no gate with holders", stage)
	return held, waiting
}

// waitForTickets waits until a number of batches wait for a slot.
func (e *Environment) waitForTickets(t *testing.T, stage string, want int) {
	t.Helper()
	eventually(t, "the tickets of all batches for "+stage, func() bool {
		_, waiting := e.slots(t, stage)
		return waiting == want
	})
}

// waitForFreeSlots waits until no batch has a slot of a stage or waits for one.
func (e *Environment) waitForFreeSlots(t *testing.T) {
	t.Helper()
	for _, stage := range []string{"validation", "ingestion"} {
		eventually(t, "the end of all waiting for "+stage, func() bool {
			held, waiting := e.slots(t, stage)
			return held+waiting == 0
		})
	}
}

// With one slot for all, the batches of several tenants are processed one after the other, and all of them are; those
// that are cancelled while they wait leave at once.
func TestBatchesWaitForSlots(t *testing.T) {
	first := slotCloud.begin(t)
	cloud := first.environment
	// The only slot of validation is held by a batch that does not exist: everyone waits until the sweep takes it back.
	cloud.holdSlot(t, "validation")
	started := map[string]*session{}
	for range 3 {
		started[first.startBatch(true, jsonLines(validLine()))] = first
	}
	other := loginBatchTenant(t, cloud)
	for range 2 {
		started[other.startBatch(false, jsonLines(validLine()))] = other
	}
	started[other.startBatch(true, []byte("nonsense\n"))] = other
	cloud.waitForTickets(t, "validation", len(started))
	positions := map[int64]bool{}
	for id, api := range started {
		status, err := api.client.Status(t.Context(), id)
		require(t, err == nil && status.Status == "" && status.QueuePosition != nil,
			"the status of a batch that waits is %+v, error %v, want one with a position", status, err)
		positions[*status.QueuePosition] = true
	}
	assert(t, len(positions) == len(started) && positions[1] && positions[int64(len(started))],
		"the positions are %v, want 1 to %d", positions, len(started))
	small, _ := other.follow(other.startBatch(true, []byte("{}")))
	equal(t, "a small batch does not wait", "VALIDATION_FAILED", small.Status)
	cloud.waitForTickets(t, "validation", len(started))
	cloud.sweep(t)
	for id, api := range started {
		last, _ := api.follow(id)
		assert(t, last.Status == "PROCESSED" || api != first && last.Status == "VALIDATION_FAILED",
			"batch %s ended with %s (%q)", id, last.Status, last.ErrorMessage)
	}
	cloud.waitForFreeSlots(t)
	first.cancelWhileWaiting(t)
}

// cancelWhileWaiting cancels batches that wait for the only slot of a stage: each leaves at once, its execution ends,
// and the others go on. If nobody asks for that, because the function was killed after its write, the sweep does it.
func (s *session) cancelWhileWaiting(t *testing.T) {
	cloud := s.environment
	for _, stage := range []string{"validation", "ingestion"} {
		cloud.holdSlot(t, stage)
		start := func() string { return s.startBatch(true, jsonLines(validLine())) }
		asked, forgotten, last := start(), start(), start()
		cloud.waitForTickets(t, stage, 3)
		if status := s.expectCancelled(asked); status.QueuePosition != nil {
			t.Errorf("the position of a cancelled batch is %d, want none", *status.QueuePosition)
		}
		cloud.waitForExecution(t, sfntypes.ExecutionStatusFailed, "batch", asked)
		_, waiting := cloud.slots(t, stage)
		assert(t, waiting == 2, "%d wait for %s after a cancel, want two", waiting, stage)
		store := batchdb.New(cloud.tables(t), *cloud.table("batches"))
		ok(batch.Cancel(t.Context(), store, batch.ID(forgotten), time.Now))(t)
		cloud.sweep(t)
		cloud.waitForExecution(t, sfntypes.ExecutionStatusFailed, "batch", forgotten)
		cloud.sweep(t) // takes the slot from the batch that does not exist
		s.expectEnd("PROCESSED", last)
		cloud.waitForFreeSlots(t)
	}
}

// smallAccount are the limit of a new account of AWS and slots for it (docs/first-day.md); of validation there is one,
// so that the order in which batches get it can be seen. A line has several chunks, so that batches wait for ingestion.
var smallAccount = []string{
	"--limit", "concurrency=10", "--set", "ValidationSlots=1", "--set", "ValidationSlotsPerTenant=1",
	"--set", "ValidateConcurrency=2", "--set", "SettleConcurrency=2", "--set", "ReconcileConcurrency=1",
	"--set", "IngestionSlots=2", "--set", "IngestionSlotsPerTenant=1", "--set", "IngestConcurrency=1",
	"--set", "SmallBatchBytes=0", "--set", "ChunkBytes=500", "--set", "SweepAge=1",
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
	_, waiting := second.slots(t, "validation")
	assert(t, waiting == len(tenantOf), "after the restart %d batches wait, want %d", waiting, len(tenantOf))
	api := login(t, second)
	api.expectStored(l, last.BatchID, 1)
	second.expectTurns(t, tenantOf)
	api.expectProcess("PROCESSED", jsonLines(validLine()))
	info := ok(os.Stat(filepath.Join(data, "local.json")))(t)
	got := info.Mode().Perm()
	assert(t, got == 0o600, "local.json, which holds a secret, has the mode %v, want 0600", got)
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
