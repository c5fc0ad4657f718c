// Package metric writes metrics as CloudWatch takes them from a log: JSON lines in the embedded metric format
// (docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
//
// Each line is also a record that people read and search: of one run of a step ("record": "step"), with its batch and
// tenant, or of the counts of the sweep ("record": "gauge"). A line holds figures, IDs and names of steps; never
// content of a line of a batch, a key or a secret.
//
// CloudWatch bills each combination of a name and the values of its dimensions. Dimensions are therefore few and
// bounded, those of this file; a batch or a tenant is never one. docs/operations/records.md, Metrics, has the cost.
package metric

// Name is the name of a metric.
type Name string

// The metrics of steps, by the dimension Step; Runs by Step and Outcome.
const (
	// Runs counts runs of steps. A run whose process was killed is not counted.
	Runs Name = "Runs"
	// Milliseconds is how long a run took.
	Milliseconds Name = "Milliseconds"
	// PeakMemory is the largest resident memory that the process of a run has ever had.
	PeakMemory Name = "PeakMemory"
	// Lines is the number of lines that a run has processed; a run that is repeated counts again.
	Lines Name = "Lines"
	// Bytes is the number of bytes of the file that a run has processed.
	Bytes Name = "Bytes"
	// Findings is the number of lines that a run has found to be invalid.
	Findings Name = "Findings"
	// Names is the number of distinct names that a run has compared with watchlists.
	Names Name = "Names"
)

// The metrics that the sweep measures.
const (
	// OpenBatches is the number of batches in a status, by the dimension Status.
	OpenBatches Name = "OpenBatches"
	// OldestBatchSeconds is how long the batch has been in its status that has been in it for longest, by the dimension
	// Status; without a dimension, over all statuses after AWAITING_UPLOAD.
	OldestBatchSeconds Name = "OldestBatchSeconds"
	// WaitingBatches is the number of batches that wait for a slot, by the dimension Stage.
	WaitingBatches Name = "WaitingBatches"
	// OldestWaitSeconds is the time since the receipt of the batch that was received first of those that wait, by the
	// dimension Stage.
	OldestWaitSeconds Name = "OldestWaitSeconds"
	// UsedSlots is the number of slots that batches have, by the dimension Stage.
	UsedSlots Name = "UsedSlots"
)

// Dimension is the name of a dimension.
type Dimension string

// The dimensions. Each has a few values, which do not depend on the input of clients.
const (
	// ByStep has the values of type Step.
	ByStep Dimension = "Step"
	// ByOutcome has the values of type Outcome.
	ByOutcome Dimension = "Outcome"
	// ByStatus has the statuses of batches that are not terminal.
	ByStatus Dimension = "Status"
	// ByStage has the stages for which batches wait: validation and ingestion.
	ByStage Dimension = "Stage"
)

// definition is the unit of a metric, as CloudWatch names it, and the sets of dimensions by which there are values.
type definition struct {
	unit string
	by   [][]Dimension
}

var (
	perStep   = [][]Dimension{{ByStep}}
	perStatus = [][]Dimension{{ByStatus}}
	perStage  = [][]Dimension{{ByStage}}
)

var definitions = map[Name]definition{
	Runs:               {"Count", [][]Dimension{{ByOutcome, ByStep}}},
	Milliseconds:       {"Milliseconds", perStep},
	PeakMemory:         {"Bytes", perStep},
	Lines:              {"Count", perStep},
	Bytes:              {"Bytes", perStep},
	Findings:           {"Count", perStep},
	Names:              {"Count", perStep},
	OpenBatches:        {"Count", perStatus},
	OldestBatchSeconds: {"Seconds", append([][]Dimension{{}}, perStatus...)},
	WaitingBatches:     {"Count", perStage},
	OldestWaitSeconds:  {"Seconds", perStage},
	UsedSlots:          {"Count", perStage},
}

// DimensionsOf returns the sets of dimensions by which there are values of a metric, each in alphabetical order; nil if
// there is no such metric.
func DimensionsOf(name Name) [][]Dimension { return definitions[name].by }

// Step is the name of a step, or of a task of the scan function.
type Step string

// The steps.
const (
	Plan      Step = "plan"
	Validate  Step = "validate"
	Digest    Step = "digest"
	Reconcile Step = "reconcile"
	Screen    Step = "screen"
	Settle    Step = "settle"
	Verdict   Step = "verdict"
	Admit     Step = "admit"
	Ingest    Step = "ingest"
	Close     Step = "close"
	Export    Step = "export"
	// Scan is the processing of one uploaded object.
	Scan Step = "scan"
	// Sweep is one run of the sweep.
	Sweep Step = "sweep"
)

// Outcome is how a run of a step has ended.
type Outcome string

// The outcomes.
const (
	// OK: the run did its work, or found it done.
	OK Outcome = "ok"
	// Failed: it returned an error. Mostly, it is run again.
	Failed Outcome = "failed"
	// Over: the batch had ended meanwhile.
	Over Outcome = "over"
	// Pending: nothing could be done yet; another event will come.
	Pending Outcome = "pending"
)
