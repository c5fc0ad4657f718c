package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var testStart = time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)

func second(n float64) time.Time { return testStart.Add(time.Duration(n * float64(time.Second))) }

// logOf returns a log with what batches reached at which second: "BATCH STATUS SECOND".
func logOf(transitions ...string) string {
	var log strings.Builder
	for _, text := range transitions {
		var id, status string
		var at float64
		if _, err := fmt.Sscan(text, &id, &status, &at); err != nil {
			panic(err)
		}
		fmt.Fprintf(&log, `2026-11-26T09:00:00.000Z sluice-plan r {"record":"transition","batch":%q,"to":%q,"time":%q}`+
			"\n",
			id, status, second(at).Format(time.RFC3339Nano))
	}
	return log.String()
}

// ingestion is the record of a run that stored ten lines of a chunk within two seconds.
func ingestion(id string, chunk int, end float64) string {
	return fmt.Sprintf(`2026-11-26T09:00:00.000Z sluice-ingest r {"record":"step","Step":"ingest","Outcome":"ok",`+
		`"batch":%q,"chunk":%d,"Lines":10,"Milliseconds":2000,"time":%q}`+"\n", id, chunk,
		second(end).Format(time.RFC3339Nano))
}

// All wait from when the last tenant has a batch until the first one has none whose ingestion has not begun, and the
// lines of a run that was under way then count in part.
func TestHistoryMeasuresWhileAllWait(t *testing.T) {
	log := "a line of another kind\n" + logOf(
		"a1 UPLOADED 1", "b1 UPLOADED 2", "b2 UPLOADED 2",
		"a1 VALIDATION_STARTED 3", "a1 PENDING_INGESTION 4", "a1 INITIALIZED 5", // a has no other until 6
		"a2 UPLOADED 6", "b1 ERROR 7", "a2 INITIALIZED 10", "b2 INITIALIZED 12",
	) + ingestion("a1", 0, 7) + ingestion("a1", 1, 11) + ingestion("a1", 1, 9) + ingestion("b2", 0, 14) +
		`2026-11-26T09:00:00.000Z sluice-scan  {"type":"platform.throttled","reason":"x"}` + "\n"
	h, err := readHistory(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	tenants := [][]string{{"a1", "a2"}, {"b1", "b2"}}
	all := h.whileAllWait(tenants)
	want := []interval{{second(2), second(5)}, {second(6), second(10)}}
	if !slices.Equal(all, want) {
		t.Fatalf("all wait in %v, want %v", all, want)
	}
	// Of the runs from 5 to 7 and from 9 to 11; the repeated one is ignored.
	if got := h.stored(tenants[0], all); got != 5+5 {
		t.Errorf("%v lines of a were stored while all waited, want 10", got)
	}
	if got := h.stored(tenants[1], all); got != 0 {
		t.Errorf("%v lines of b were stored while all waited, want 0", got)
	}
	processed, err := readHistory(strings.NewReader(logOf("c UPLOADED 1", "c PROCESSED 3", "d UPLOADED 2",
		"d PROCESSED 6", "e UPLOADED 2")))
	if got, want := processed.times([]string{"c", "d", "e"}), "3.0 s and 4.0 s"; got != want || err != nil {
		t.Errorf("batches took %s, error %v, want %s", got, err, want)
	}
	if got := h.total("a1"); got != 20 {
		t.Errorf("%d lines of batch a1 were stored, want 20", got)
	}
	if got, want := h.throttles(), "1, sluice-scan 1"; got != want {
		t.Errorf("throttled are %q, want %q", got, want)
	}
}
