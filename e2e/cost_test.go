package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"sluice/internal/cost"
)

// A batch makes the state transitions, and its state machine the calls of functions, that 'sluice cost' says. If this
// fails because there are more than before, that costs money: change the model and docs/cost.md only if it is worth it.
func TestTransitionsAreThoseOfTheCostModel(t *testing.T) {
	// a local cloud, whose chunks have 8 KiB
	api := begin(t, functionLog)
	const lines, chunkBytes = 50, 8192
	file := jsonLines(validLines(lines)...)
	batchID := api.startBatch(true, file)
	api.expectEnd("PROCESSED", batchID)
	environment.waitForExecution(t, "SUCCEEDED", "batch", batchID)
	machines, arn := environment.execution(t, "batch", batchID)
	transitions, tasks := 0, 0
	pages := sfn.NewGetExecutionHistoryPaginator(machines, &sfn.GetExecutionHistoryInput{ExecutionArn: &arn})
	for pages.HasMorePages() {
		page := ok(pages.NextPage(t.Context()))(t)
		for _, e := range page.Events {
			switch kind := fmt.Sprint(e.Type); {
			case kind == "TaskStateEntered":
				transitions, tasks = transitions+1, tasks+1
			case strings.HasSuffix(kind, "StateEntered"):
				transitions++
			}
		}
	}
	want := cost.UsageOf(cost.Load{Lines: lines, Bytes: int64(len(file)), Batches: 1, ChunkBytes: chunkBytes})
	assert(t, float64(transitions) == want.Transitions && float64(tasks) == want.MachineRuns && want.Chunks >= 2,
		"%d transitions and %d tasks for %d chunks, and the model says %g and %g", transitions, tasks, want.Chunks,
		want.Transitions, want.MachineRuns)
}
