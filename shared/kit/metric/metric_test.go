package metric_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
	"sluice/shared/kit/metric"
	"sluice/shared/kit/metric/metrictest"
)

var start = time.Date(2026, 11, 26, 8, 15, 0, 0, time.UTC)

// newLog returns a log with a clock that advances by 1.5 seconds at each look, and the output of the log.
func newLog() (*metric.Log, *bytes.Buffer) {
	var out bytes.Buffer
	now := start
	return metric.New(&out, "sluice", func() time.Time {
		now = now.Add(1500 * time.Millisecond)
		return now
	}, func(context.Context) string { return "request" }), &out
}

// readLine returns the members of the only line of a log and its metrics.
func readLine(t *testing.T, text []byte) (map[string]any, []metrictest.Metric) {
	t.Helper()
	line, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || len(rest) > 0 {
		t.Fatalf("got %q, want one line", text)
	}
	metrics, err := metrictest.Read(line, start)
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	var members map[string]any
	errtest.Fatal(t, json.Unmarshal(line, &members))
	return members, metrics
}

// The record of a run has the added amounts, and CloudWatch takes its amounts by step and its outcome by both.
func TestRun(t *testing.T) {
	log, out := newLog()
	ctx, run := log.Begin(t.Context(), metric.Validate)
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() { metric.Add(ctx, metric.Lines, 7) })
	}
	group.Wait()
	metric.Add(ctx, metric.Bytes, 0)
	metric.SetProperty(ctx, "batch", "0199")
	metric.SetProperty(ctx, "tenant", "t")
	metric.SetProperty(ctx, "attempt", "")
	metric.SetProperty(ctx, "chunk", 0)
	run.End(ctx, metric.Failed)
	members, metrics := readLine(t, out.Bytes())
	if memory, _ := members["PeakMemory"].(float64); runtime.GOOS == "linux" && (memory < 1<<20 || memory > 1<<30) {
		t.Errorf("got a peak memory of %v bytes, want that of this process", memory)
	}
	delete(members, "_aws")
	delete(members, "PeakMemory")
	want := map[string]any{
		"record": "step", "msg": "step ended", "time": "2026-11-26T08:15:04.5Z", "request_id": "request",
		"batch": "0199", "tenant": "t", "chunk": 0.,
		"Step": "validate", "Outcome": "failed", "Lines": 70., "Milliseconds": 1500., "Runs": 1.,
	}
	difftest.Equal(t, "members of the record", want, members)
	var got []string
	for _, m := range metrics {
		if m.Name != "PeakMemory" {
			got = append(got, fmt.Sprintln(m.Namespace, m.Name, m.Unit, m.Value, m.Dimensions))
		}
	}
	wantMetrics := []string{
		"sluice Lines Count 70 map[Step:validate]\n",
		"sluice Milliseconds Milliseconds 1500 map[Step:validate]\n",
		"sluice Runs Count 1 map[Outcome:failed Step:validate]\n",
	}
	difftest.Equal(t, "metrics of the record", wantMetrics, got)
}

// Without a log, and outside of runs, nothing happens.
func TestNothingIsWrittenWithoutANamespace(t *testing.T) {
	log := metric.New(nil, "", nil, nil)
	if log != nil {
		t.Errorf("got a log without a namespace: %v", log)
	}
	ctx, run := log.Begin(t.Context(), metric.Scan)
	for _, ctx := range []context.Context{ctx, t.Context()} {
		metric.Add(ctx, metric.Bytes, 1)
		metric.SetProperty(ctx, "batch", "b")
	}
	run.End(ctx, metric.OK)
	log.Write(ctx, metric.Record{Kind: "gauge"})
}

// A metric may have no dimensions, and each group has its own.
func TestGroups(t *testing.T) {
	log, out := newLog()
	log.Write(t.Context(), metric.Record{Kind: "gauge", Groups: []metric.Group{
		{Values: map[metric.Name]float64{metric.OldestBatchSeconds: 3}},
		{Dimensions: map[metric.Dimension]string{metric.ByStage: "ingestion"},
			Values: map[metric.Name]float64{metric.UsedSlots: 0, metric.WaitingBatches: 2}},
	}})
	_, metrics := readLine(t, out.Bytes())
	want := []metrictest.Metric{
		{Namespace: "sluice", Name: "OldestBatchSeconds", Unit: "Seconds", Value: 3, Dimensions: map[string]string{}},
		{Namespace: "sluice", Name: "UsedSlots", Unit: "Count", Dimensions: map[string]string{"Stage": "ingestion"}},
		{Namespace: "sluice", Name: "WaitingBatches", Unit: "Count", Value: 2,
			Dimensions: map[string]string{"Stage": "ingestion"}},
	}
	difftest.Equal(t, "metrics", want, metrics)
}

// The check of the format finds lines that break one of its rules.
func TestTheCheckOfTheFormat(t *testing.T) {
	directive := func(part string) string {
		return `{"_aws":{"Timestamp":1795680900000,"CloudWatchMetrics":[` + part + `]},"S":"s","N":1,"L":[1],"E":""}`
	}
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	valid := directive(`{"Namespace":"x","Dimensions":[["S"],[]],"Metrics":[{"Name":"N","Unit":"Count"}]}`)
	difftest.Equal(t, valid, 2, len(errtest.Must(metrictest.Read([]byte(valid), start))(t)))
	for name, line := range map[string]string{
		"no JSON":            `{`,
		"no _aws":            `{"N":1}`,
		"no timestamp":       `{"_aws":{"CloudWatchMetrics":[]}}`,
		"no directives":      `{"_aws":{"Timestamp":1795680900000}}`,
		"an old timestamp":   strings.Replace(valid, "17956", "17900", 1),
		"a later timestamp":  strings.Replace(valid, "17956", "17957", 1),
		"an unknown member":  strings.Replace(valid, `"Namespace"`, `"Else":1,"Namespace"`, 1),
		"no namespace":       strings.Replace(valid, `"Namespace":"x",`, "", 1),
		"a namespace of AWS": strings.Replace(valid, `"x"`, `"AWS/x"`, 1),
		"no metrics":         strings.Replace(valid, `{"Name":"N","Unit":"Count"}`, "", 1),
		"101 metrics": directive(`{"Namespace":"x","Dimensions":[[]],"Metrics":[` +
			many(101, `{"Name":"N"}`) + `]}`),
		"no set of dimensions": strings.Replace(valid, `[["S"],[]]`, `[]`, 1),
		"31 dimensions": directive(`{"Namespace":"x","Dimensions":[[` + many(31, `"S"`) +
			`]],"Metrics":[{"Name":"N"}]}`),
		"a missing dimension":   strings.Replace(valid, `["S"]`, `["T"]`, 1),
		"a number as dimension": strings.Replace(valid, `["S"]`, `["N"]`, 1),
		"an empty dimension":    strings.Replace(valid, `["S"]`, `["E"]`, 1),
		"a missing metric":      strings.Replace(valid, `"Name":"N"`, `"Name":"M"`, 1),
		"a string as metric":    strings.Replace(valid, `"Name":"N"`, `"Name":"S"`, 1),
		"an unknown unit":       strings.Replace(valid, `"Count"`, `"Lines"`, 1),
		"an unknown resolution": strings.Replace(valid, `"Unit":"Count"`, `"StorageResolution":5`, 1),
		"too long":              valid + strings.Repeat(" ", 256<<10),
	} {
		t.Run(name, func(t *testing.T) {
			errtest.Fails(t, fmt.Sprintf("and no error: %.300s", line),
				errtest.Of(metrictest.Read([]byte(line), start)))
		})
	}
}
