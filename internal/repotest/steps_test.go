package repotest

import (
	"strings"
	"testing"

	"sluice/shared/ingest/admission"
)

// maxAlarmMetrics is how many metrics the expression of one alarm may have, a limit of CloudWatch.
const maxAlarmMetrics = 10

// Every function that the state machine of batches invokes records what it does, and is one of those whose failures
// raise an alarm and are in the dashboard.
func TestStepsOfBatchesAreWatched(t *testing.T) {
	named, alarmed := map[string]bool{}, map[string]int{}
	for _, m := range namedMetrics(t) {
		if m.namespace == "AWS/Lambda" {
			named[m.place+" "+m.dimensions["FunctionName"]] = true
		}
		if m.place == "StepsFailing" || m.place == "ChunksFailing" {
			named["alarms "+m.dimensions["FunctionName"]] = true
			if alarmed[m.place]++; alarmed[m.place] == maxAlarmMetrics {
				t.Errorf("the alarm %s has no room for another metric, and CloudWatch allows %d: divide it", m.place,
					maxAlarmMetrics)
			}
		}
	}
	template := loadTemplate(t)
	functions, machine := template.functions(t), template.Resources["BatchStateMachine"]
	substitutions, ok := at(&machine, "Properties", "DefinitionSubstitutions")
	if !ok || len(substitutions.Content) == 0 {
		t.Fatal("the template's BatchStateMachine has no DefinitionSubstitutions")
	}
	for i := 0; i < len(substitutions.Content); i += 2 { // keys and values take turns
		step, isFunction := strings.CutSuffix(substitutions.Content[i].Value, "FunctionArn")
		if step = strings.ToLower(step); !isFunction {
			continue
		}
		for _, place := range []string{
			"alarms", "Concurrent executions", "Throttled invocations", "Failed invocations",
		} {
			if !named[place+" "+ownNamespace+"-"+step] {
				t.Errorf("template.yaml, %s: the function %s is missing", place, step)
			}
		}
		main := "functions/" + functions[step].Program + "/main.go"
		if !strings.Contains(string(readFile(t, main)), "pipeline.Measured(") {
			t.Errorf("%s does not pass its handler through pipeline.Measured", main)
		}
	}
}

// The waiting batches of every pool of slots raise an alarm and are in the dashboard.
func TestPoolsOfSlotsAreWatched(t *testing.T) {
	named := map[string]bool{}
	for _, m := range namedMetrics(t) {
		named[m.place+" "+m.name+" "+m.dimensions["Stage"]] = true
	}
	for _, pool := range admission.Pools() {
		for _, place := range []string{"BatchesWaitLong OldestWaitSeconds", "Slots in use UsedSlots"} {
			if !named[place+" "+string(pool)] {
				t.Errorf("template.yaml, %s: the pool %s is missing", place, pool)
			}
		}
	}
}
