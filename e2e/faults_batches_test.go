package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
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

// faultPlans are those that are followed.
type faultPlans struct {
	mu    sync.Mutex
	plans []faultPlan
}

func (f *faultPlans) add(plans []faultPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plans = append(f.plans, plans...)
}

func (f *faultPlans) remove(p faultPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plans = slices.DeleteFunc(f.plans, func(other faultPlan) bool {
		return other.Seed == p.Seed && other.Name == p.Name
	})
}

func (f *faultPlans) all() []faultPlan {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.plans)
}

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

// newReader returns a reader of a file for the client.
func newReader(file []byte) io.ReaderAt { return bytes.NewReader(file) }
