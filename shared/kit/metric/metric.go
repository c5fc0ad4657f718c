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

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

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
	// Oversized is the number of uploaded files that a run has refused because they are over the size limit.
	Oversized Name = "Oversized"
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
	// ByStage has the pools of slots for which batches wait; see admission.Pools.
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
	Oversized:          {"Count", perStep},
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
	Process   Step = "process"
	Ingest    Step = "ingest"
	Close     Step = "close"
	Export    Step = "export"
	Index     Step = "index"
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

// Log writes metrics. It is safe for concurrent use. A nil Log writes nothing.
type Log struct {
	mu        sync.Mutex
	out       io.Writer
	namespace string
	now       func() time.Time
	// requestID returns the ID of the request or invocation to which a context belongs, "" if it belongs to none.
	requestID func(context.Context) string
}

// New returns a log that writes each record as one line of JSON, in one Write. The metrics belong to a namespace; if it
// is "", the result is nil.
func New(out io.Writer, namespace string, now func() time.Time, requestID func(context.Context) string) *Log {
	if namespace == "" {
		return nil
	}
	return &Log{out: out, namespace: namespace, now: now, requestID: requestID}
}

// Record is one line. Its members must not share names: those of Properties begin with a small letter, those of
// dimensions and metrics with a capital one.
type Record struct {
	// Kind is "step" or "gauge".
	Kind string
	// Message explains the record to people.
	Message string
	// Properties are members that are searched, not counted: strings and numbers. Those with the value "" are left out.
	Properties map[string]any
	// Groups are the metrics.
	Groups []Group
}

// Group is metrics with the same dimensions.
type Group struct {
	// Dimensions are the values of the dimensions; empty for a metric without any.
	Dimensions map[Dimension]string
	Values     map[Name]float64
}

// directive is a MetricDirective of the format.
type directive struct {
	Namespace  string
	Dimensions [][]Dimension
	Metrics    []declaration
}

// declaration is a MetricDefinition of the format.
type declaration struct {
	Name Name
	Unit string
}

// metadata is the Metadata of the format.
type metadata struct {
	Timestamp         int64
	CloudWatchMetrics []directive
}

// Write writes a record.
func (l *Log) Write(ctx context.Context, r Record) {
	if l == nil {
		return
	}
	now := l.now()
	members := map[string]any{"record": r.Kind, "msg": r.Message, "time": now.UTC(), "request_id": l.requestID(ctx)}
	maps.Copy(members, r.Properties)
	maps.DeleteFunc(members, func(_ string, v any) bool { return v == "" })
	head := metadata{Timestamp: now.UnixMilli()}
	for _, g := range r.Groups {
		d := directive{Namespace: l.namespace, Dimensions: [][]Dimension{slices.Sorted(maps.Keys(g.Dimensions))}}
		if len(g.Dimensions) == 0 {
			d.Dimensions = [][]Dimension{{}}
		}
		for dimension, value := range g.Dimensions {
			members[string(dimension)] = value
		}
		for _, name := range slices.Sorted(maps.Keys(g.Values)) {
			members[string(name)] = g.Values[name]
			d.Metrics = append(d.Metrics, declaration{name, definitions[name].unit})
		}
		head.CloudWatchMetrics = append(head.CloudWatchMetrics, d)
	}
	members["_aws"] = head
	text, err := json.Marshal(members)
	if err != nil {
		return // records hold nothing that JSON does not
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(text, '\n')) // a line that cannot be written has no other place to go to
}
