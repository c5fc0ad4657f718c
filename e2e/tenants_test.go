package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
)

// smallAccount are the limit of a new account of AWS and slots for it (docs/operations/deploy.md, Slots); of validation
// there is one, so that the order in which batches get it can be seen.
var smallAccount = []string{
	"--limit", "concurrency=10", "--set", "ValidationSlots=1", "--set", "ValidationSlotsPerTenant=1",
	"--set", "ValidateConcurrency=2", "--set", "SettleConcurrency=2", "--set", "ReconcileConcurrency=1",
	"--set", "IngestionSlots=2", "--set", "IngestionSlotsPerTenant=1", "--set", "IngestConcurrency=1",
	"--set", "SweepAge=1",
}

// In an account with ten executions, three tenants have waiting batches when the local cloud is restarted. All of them
// are processed after that, and the tenants take turns, although one has uploaded most of its batches before the
// others.
func TestTenantsTakeTurnsAfterARestart(t *testing.T) {
	requires(t, processes)
	t.Parallel()
	data := t.TempDir()
	cloud, err := startLocalCloud(data, smallAccount...)
	must(t, err)
	onboardEntities(t, cloud)
	cloud.holdSlot(t, "validation", uuid.NewString())
	tenantOf := map[string]int{}
	for tenant, batches := range []int{4, 2, 2} {
		api := login(t, cloud)
		if tenant > 0 {
			api = loginBatchTenant(t, cloud)
		}
		for range batches {
			tenantOf[api.startBatch(true, jsonLines(validLine()))] = tenant
		}
	}
	allWait := func() bool { return len(cloud.tickets(t, "validation")) == len(tenantOf) }
	eventually(t, "the tickets of all batches", allWait)
	must(t, cloud.stop())
	if cloud, err = startLocalCloud(data, smallAccount...); err != nil {
		t.Fatal(err)
	}
	cloud.killsFunctions = true // the first one may have been stopped between an event and its record
	stopAtEnd(t, cloud)
	if !allWait() {
		t.Errorf("after the restart these batches wait: %q, want all %d", cloud.tickets(t, "validation"), len(tenantOf))
	}
	cloud.sweep(t) // takes the slot from the batch that does not exist
	eventually(t, "the end of all batches", func() bool { return len(cloud.reached(t, "PROCESSED")) == len(tenantOf) })
	var turns []int
	for _, id := range cloud.reached(t, "VALIDATION_STARTED") {
		turns = append(turns, tenantOf[id])
	}
	for round := range 2 {
		if three := slices.Sorted(slices.Values(turns[3*round : 3*round+3])); !slices.Equal(three, []int{0, 1, 2}) {
			t.Errorf("the validated batches are, in their order, of the tenants %v, want all three in turn", turns)
		}
	}
	for _, stage := range []string{"validation", "ingestion"} {
		eventually(t, "the end of all waiting", func() bool {
			return len(cloud.tickets(t, stage)) == 0 && len(cloud.gate(t, stage)) == 0
		})
	}
}

// reached returns the batches that have reached a status, in the order in which they did.
func (e *Environment) reached(t *testing.T, status string) []string {
	t.Helper()
	text := ok(os.ReadFile(filepath.Join(e.Data, "logs", "functions.log")))(t)
	var ids []string
	for line := range bytes.Lines(text) {
		var r struct{ Record, Batch, To string }
		if i := bytes.IndexByte(line, '{'); i < 0 || json.Unmarshal(line[i:], &r) != nil {
			continue
		}
		if r.Record == "transition" && r.Batch != "" && r.To == status && !slices.Contains(ids, r.Batch) {
			ids = append(ids, r.Batch)
		}
	}
	return ids
}
