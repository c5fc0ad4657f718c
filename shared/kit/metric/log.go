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
