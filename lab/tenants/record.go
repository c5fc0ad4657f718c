package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sluice/shared/ingest/batch"
	"sluice/shared/kit/metric"
)

// history is what the functions of a cloud have logged about batches. All times are theirs, to the microsecond, so
// nothing depends on how often somebody has looked.
type history struct {
	// reached has, for each batch and status, when the batch was first in the status.
	reached map[string]map[batch.Status]time.Time
	// ingested has the runs that have stored lines, each chunk of a batch once.
	ingested map[chunk]storing
	// throttled counts the requests to each function that the account had no room for.
	throttled map[string]int
}

// chunk names a chunk of a batch.
type chunk struct {
	batch string
	index int
}

// storing is a run that has stored lines.
type storing struct {
	lines      float64
	begin, end time.Time
}

// maxLogLine is the length of the longest line of a log that can be read.
const maxLogLine = 8 << 20

// readHistory reads the log of a cloud's functions.
func (c *cloud) readHistory() (*history, error) {
	file, err := os.Open(filepath.Join(c.Data, "logs", "functions.log"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readHistory(file)
}

// readHistory reads a log, each line of which has the time, the function, the request and the text.
func readHistory(log io.Reader) (*history, error) {
	h := &history{map[string]map[batch.Status]time.Time{}, map[chunk]storing{}, map[string]int{}}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, maxLogLine)
	for lines.Scan() {
		parts := bytes.SplitN(lines.Bytes(), []byte(" "), 4)
		if len(parts) == 4 && bytes.HasPrefix(parts[3], []byte("{")) {
			h.add(string(parts[1]), parts[3])
		}
	}
	return h, lines.Err()
}

// add adds one record. What is not about a batch is ignored.
func (h *history) add(function string, text []byte) {
	var r struct {
		Record, Type, Batch string
		Time                time.Time
		To                  batch.Status
		Chunk               int
		Step                metric.Step
		Outcome             metric.Outcome
		Lines, Milliseconds float64
	}
	if json.Unmarshal(text, &r) != nil {
		return
	}
	switch key := (chunk{r.Batch, r.Chunk}); {
	case r.Type == "platform.throttled":
		h.throttled[function]++
	case r.Batch == "":
	case r.Record == "transition":
		if h.reached[r.Batch] == nil {
			h.reached[r.Batch] = map[batch.Status]time.Time{}
		}
		if _, isKnown := h.reached[r.Batch][r.To]; !isKnown {
			h.reached[r.Batch][r.To] = r.Time
		}
	case r.Record == "step" && r.Step == metric.Ingest && r.Outcome == metric.OK:
		if _, isKnown := h.ingested[key]; !isKnown {
			length := time.Duration(r.Milliseconds * float64(time.Millisecond))
			h.ingested[key] = storing{r.Lines, r.Time.Add(-length), r.Time}
		}
	}
}

// backlog returns when a batch began and ceased to wait for being stored: from its receipt until its ingestion begins,
// or until it ends without. It waits for slots then, or is validated; it is not stored yet. One that still waits does
// so until the end of time.
func (h *history) backlog(id string) (interval, bool) {
	received, isReceived := h.reached[id][batch.Uploaded]
	if !isReceived {
		return interval{}, false
	}
	i := interval{received, received.Add(1000 * time.Hour)}
	for status, at := range h.reached[id] {
		if (status == batch.Initialized || status.IsTerminal()) && at.Before(i.to) {
			i.to = at
		}
	}
	return i, true
}

// interval is a span of time.
type interval struct{ from, to time.Time }

// overlap returns how long two intervals have in common.
func (i interval) overlap(other interval) time.Duration {
	from, to := i.from, i.to
	if other.from.After(from) {
		from = other.from
	}
	if other.to.Before(to) {
		to = other.to
	}
	return max(to.Sub(from), 0)
}

// whileAllWait returns the intervals in which every tenant has a batch that was received and is not being stored yet,
// in order. tenants are the IDs of the batches of each.
//
// Shares can be compared only then: a tenant without such a batch, because it has not uploaded one yet or because its
// last one has its slot, wants nothing more, and what it leaves goes to the others, as it should.
func (h *history) whileAllWait(tenants [][]string) []interval {
	type change struct {
		at     time.Time
		tenant int
		by     int
	}
	var changes []change
	for i, ids := range tenants {
		for _, id := range ids {
			if b, isReceived := h.backlog(id); isReceived {
				changes = append(changes, change{b.from, i, 1}, change{b.to, i, -1})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	var out []interval
	waiting, counts := 0, make([]int, len(tenants))
	for _, c := range changes {
		before := waiting
		if counts[c.tenant] == 0 {
			waiting++
		}
		if counts[c.tenant] += c.by; counts[c.tenant] == 0 {
			waiting--
		}
		switch {
		case before < len(tenants) && waiting == len(tenants):
			out = append(out, interval{from: c.at})
		case before == len(tenants) && waiting < len(tenants):
			out[len(out)-1].to = c.at
		}
	}
	return out
}

// stored returns how many lines of some batches were stored in some intervals. A run is taken to store its lines
// evenly.
func (h *history) stored(ids []string, in []interval) float64 {
	sum := 0.0
	for key, s := range h.ingested {
		if !slices.Contains(ids, key.batch) {
			continue
		}
		for _, i := range in {
			if length := s.end.Sub(s.begin); length > 0 {
				sum += s.lines * float64(i.overlap(interval{s.begin, s.end})) / float64(length)
			}
		}
	}
	return sum
}

// times describes how long batches took from their receipt to PROCESSED.
func (h *history) times(ids []string) string {
	sum, longest, n := time.Duration(0), time.Duration(0), 0
	for _, id := range ids {
		if at, isProcessed := h.reached[id][batch.Processed]; isProcessed {
			took := at.Sub(h.reached[id][batch.Uploaded])
			sum, longest, n = sum+took, max(longest, took), n+1
		}
	}
	return fmt.Sprintf("%.1f s and %.1f s", sum.Seconds()/float64(max(n, 1)), longest.Seconds())
}

// total returns how many lines of a batch were stored.
func (h *history) total(id string) int64 {
	sum := 0.0
	for key, s := range h.ingested {
		if key.batch == id {
			sum += s.lines
		}
	}
	return int64(sum)
}

// throttles describes how many requests to functions were throttled, those most often first.
func (h *history) throttles() string {
	var names []string
	sum := 0
	for name, n := range h.throttled {
		names, sum = append(names, name), sum+n
	}
	slices.SortFunc(names, func(a, b string) int { return h.throttled[b] - h.throttled[a] })
	text := fmt.Sprint(sum)
	for _, name := range names[:min(len(names), 8)] {
		text += fmt.Sprintf(", %s %d", name, h.throttled[name])
	}
	return text
}
