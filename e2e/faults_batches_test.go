//go:build verify

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"sluice/client"
	"sluice/shared/access/auth"
	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
)

// maxFaultTransactions is how many transactions a batch of TestFaults may have.
const maxFaultTransactions = 60

// faultPlan is a plan of faults (local/faults.Plan).
type faultPlan struct {
	Seed               uint64
	Name, Match        string
	Clients            bool
	OneIn, EventsOneIn int
	Kinds              []string
}

// key tells the plan from all others.
func (p faultPlan) key() string { return fmt.Sprint(p.Seed, p.Name) }

// faultBatch is a batch of a seed, with what must become of it.
type faultBatch struct {
	seed    uint64
	kind    string
	tenant  int
	options client.UploadOptions
	file    []byte
	// transactionID is that of all valid lines, which are its modifications.
	transactionID string
	plan          faultPlan

	// want is the status in which it ends, summary and report what its validation finds, accepted the lines that are
	// stored by their numbers.
	want     string
	summary  report.Summary
	report   []byte
	accepted map[int64]string
	problem  error

	// id is the batch's ID, "" until its file is uploaded.
	id string
	// last is the status at the end.
	last client.Status
}

func (b *faultBatch) String() string { return fmt.Sprintf("seed %d, %s", b.seed, b.plan.Name) }

// faultKinds are the kinds of batches.
var faultKinds = []string{"valid", "dropped", "rejected", "duplicates", "screened", "too many", "empty"}

// newFaultBatches returns the batches of a seed: a valid one and two of other kinds.
func newFaultBatches(seed uint64, tenants int) []*faultBatch {
	r := rand.New(rand.NewPCG(seed, 1))
	first := r.IntN(len(faultKinds))
	kinds := []string{faultKinds[0], faultKinds[first], faultKinds[(first+1+r.IntN(len(faultKinds)-1))%len(faultKinds)]}
	var batches []*faultBatch
	for i, kind := range kinds {
		b := &faultBatch{seed: seed, kind: kind, tenant: r.IntN(tenants)}
		b.plan = faultPlan{
			Seed: seed, Name: fmt.Sprintf("batch %d (%s)", i+1, kind), OneIn: []int{20, 40, 80}[r.IntN(3)],
			EventsOneIn: 3,
		}
		if r.IntN(24) == 0 {
			b.plan.OneIn = 20
			b.plan.Kinds = []string{"stop", "kill-before", "kill-after", "throttle", "drop", "event-twice",
				"event-late", "event-lost"}
		}
		b.fill(r)
		b.judge()
		batches = append(batches, b)
	}
	return batches
}

// fill makes the file of a batch.
func (b *faultBatch) fill(r *rand.Rand) {
	newID := func() string {
		var raw [16]byte
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		id, _ := uuid.FromBytes(raw[:])
		return id.String()
	}
	b.transactionID = newID()
	valid := func() line {
		return validLine().with("request_uuid", newID()).with("payment_external_id", newID()).
			with("transaction_external_id", b.transactionID).withModification("external_id", newID())
	}
	lines := make([]fmt.Stringer, 25+r.IntN(20))
	for i := range lines {
		lines[i] = valid()
	}
	switch b.kind {
	case "valid":
		b.options.RejectOnInvalid = r.IntN(2) == 0
	case "dropped", "rejected":
		b.options.RejectOnInvalid = b.kind == "rejected"
		for range 6 {
			lines[r.IntN(len(lines))] = []fmt.Stringer{
				valid().withModification("amount", "12"), valid().with("colour", "green"), valid().withSender("nobody"),
				rawLine(`{"request_uuid": nope}`), rawLine(`   `), rawLine("[]"),
			}[r.IntN(6)]
		}
	case "duplicates":
		for range 4 { // in other chunks, as they are random
			same := valid()
			lines[r.IntN(len(lines))] = same
			lines[r.IntN(len(lines))] = valid().withModification("external_id", same.modificationID())
		}
	case "screened":
		b.options.Screening = &client.Screening{Lists: []string{"faults"}}
		for i := range 8 {
			name := fmt.Sprintf("Quiet Person %c", 'A'+i)
			if i%3 == 0 {
				name = wantedName
			}
			lines[r.IntN(len(lines))] = valid().withUnknown("receiver",
				map[string]any{"external_id": "u", "full_name": name})
		}
	case "too many":
		for len(lines) <= maxFaultTransactions {
			lines = append(lines, valid())
		}
	case "empty":
		lines = []fmt.Stringer{rawLine(" ")}[:r.IntN(2)]
	}
	b.file = jsonLines(lines...)
}

// judge finds out by the offline validation what must become of the batch.
func (b *faultBatch) judge() {
	known := validation.NewDirectory()
	known.Add(senderID, validation.Onboarded)
	known.Add(receiverID, validation.Onboarded)
	settings := auth.DefaultSettings()
	// All lines are older than this, so that none is too far in the future.
	receivedAt := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rules := transaction.Rules{ReceivedAt: receivedAt, MaxPast: settings.MaxPast, MaxFuture: settings.MaxFuture}
	size := int64(len(b.file))
	var out bytes.Buffer
	b.summary, b.problem = validation.ValidateFile(context.Background(), validation.FileInput{
		Source: chunk.NewSource(bytes.NewReader(b.file)), Plan: chunk.NewPlan(size, 0),
		NewScanner: func() validation.Scanner { return scanner.New(rules) }, Entities: known,
		MaxReportBytes: report.DefaultMaxBytes,
	}, &out)
	b.report = out.Bytes()
	counts := b.summary.Counts
	switch {
	case counts.Total > maxFaultTransactions, counts.Accepted == 0, counts.Invalid > 0 && b.options.RejectOnInvalid:
		b.want = "VALIDATION_FAILED"
		return
	}
	b.want = "PROCESSED"
	rejected := map[int64]bool{}
	for decoder := json.NewDecoder(bytes.NewReader(b.report)); ; {
		var entry client.ReportLine
		if decoder.Decode(&entry) != nil {
			break
		}
		rejected[entry.Line] = true
	}
	b.accepted = map[int64]string{}
	var number int64
	for text := range strings.Lines(string(b.file)) {
		number++
		if text = strings.TrimSuffix(text, "\n"); strings.TrimSpace(text) != "" && !rejected[number] {
			b.accepted[number] = text
		}
	}
}

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
