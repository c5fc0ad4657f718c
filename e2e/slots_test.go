package e2e

import (
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
		if _, waiting := cloud.slots(t, stage); waiting != 2 {
			t.Errorf("%d wait for %s after a cancel, want two", waiting, stage)
		}
		store := batchdb.New(cloud.tables(t), *cloud.table("batches"))
		ok(batch.Cancel(t.Context(), store, batch.ID(forgotten), time.Now))(t)
		cloud.sweep(t)
		cloud.waitForExecution(t, sfntypes.ExecutionStatusFailed, "batch", forgotten)
		cloud.sweep(t) // takes the slot from the batch that does not exist
		s.expectEnd("PROCESSED", last)
		cloud.waitForFreeSlots(t)
	}
}
