package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// faultRecord is a fault that has struck (local/faults.Record).
type faultRecord struct {
	Time                       time.Time
	Seed                       uint64
	Plan, Function, Part, Kind string
	Operation                  string
	Call                       int
}

// faultRecords reads the faults that have struck since the first start of the cloud.
func (c *faultCloud) faultRecords() (records []faultRecord, err error) {
	err = eachLine(filepath.Join(c.Data, "logs", "faults.jsonl"), func(line []byte) error {
		var r faultRecord
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		records = append(records, r)
		return nil
	})
	return records, err
}

// recordsOf returns the faults of a batch.
func recordsOf(records []faultRecord, b *faultBatch) (found []faultRecord) {
	for _, r := range records {
		if r.Seed == b.seed && r.Plan == b.plan.Name {
			found = append(found, r)
		}
	}
	return found
}

// listRecords returns a line for each fault.
func listRecords(records []faultRecord) string {
	var text strings.Builder
	for _, r := range records {
		fmt.Fprintf(&text, "  %s %-12s %s %s call %d, %s\n", r.Time.Format("15:04:05.000"), r.Kind, r.Function, r.Part,
			r.Call, r.Operation)
	}
	return text.String()
}

// faultSummary counts ends.
type faultSummary struct {
	mu      sync.Mutex
	batches int
	// ends are the numbers of batches by their statuses.
	ends map[string]int
}

func (s *faultSummary) add(b *faultBatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = map[string]int{}
	}
	s.batches++
	s.ends[cmp.Or(b.last.Status, "none")]++
}

// table returns what the runs add up to.
func (s *faultSummary) table(records []faultRecord, seeds int, took time.Duration) string {
	struck, byFunction := map[string]int{}, map[string]int{}
	for _, r := range records {
		struck[r.Kind]++
		byFunction[r.Function]++
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d seeds, %d batches, %d faults struck, %.0f s\n", seeds, s.batches, len(records),
		took.Seconds())
	for _, counts := range []map[string]int{s.ends, struck, byFunction} {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&text, "  %s %d", name, counts[name])
		}
		text.WriteByte('\n')
	}
	return text.String()
}
