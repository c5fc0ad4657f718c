package validation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
)

// exampleLine has the arguments modification ID, sender and amount.
const exampleLine = `{"request_uuid":"11111111-1111-4111-8111-111111111111","payment_external_id":"p1",` +
	`"transaction_external_id":"t1","payment_source_country":"DE","payment_target_country":"FR",` +
	`"payment_method":"sepa_credit_transfer","payment_type":"payout","sender":{"by_external_id":"%[2]s"},` +
	`"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"r1","full_name":"Ada Example"}},` +
	`"modification":{"external_id":"%[1]s","type":"settlement","amount":%[3]s,"currency":"EUR",` +
	`"created_at":"2026-03-01T10:20:30Z","monitoring_amount":1,"monitoring_currency":"EUR"}}` + "\n"

// ValidateFile validates a small batch with one valid line, the first.
func ExampleValidateFile() {
	batch := fmt.Sprintf(exampleLine, "m1", "acme", "120.55") +
		fmt.Sprintf(exampleLine, "m2", "acme", `"a lot"`) +
		fmt.Sprintf(exampleLine, "m3", "unheard-of", "7") +
		fmt.Sprintf(exampleLine, "m4", "acme", "8") +
		fmt.Sprintf(exampleLine, "m4", "acme", "9")
	entities := validation.NewDirectory()
	entities.Add("acme", validation.Onboarded)
	rules := transaction.Rules{ReceivedAt: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}

	var report bytes.Buffer
	summary, err := validation.ValidateFile(context.Background(), validation.FileInput{
		Source:     chunk.NewSource(strings.NewReader(batch)),
		Plan:       chunk.NewPlan(int64(len(batch)), 0),
		NewScanner: func() validation.Scanner { return scanner.New(rules) },
		Entities:   entities,
	}, &report)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d transactions, %d accepted, %d invalid\n",
		summary.Counts.Total, summary.Counts.Accepted, summary.Counts.Invalid)
	for lines := json.NewDecoder(&report); lines.More(); {
		var line struct {
			Line   int64
			Errors []struct{ Type, Pointer string }
		}
		if err := lines.Decode(&line); err != nil {
			log.Fatal(err)
		}
		for _, e := range line.Errors {
			fmt.Printf("line %d: %s at %s\n", line.Line, e.Type, e.Pointer)
		}
	}
	// Output:
	// 5 transactions, 1 accepted, 4 invalid
	// line 2: number_type at /modification/amount
	// line 3: entity_not_found at /sender/by_external_id
	// line 4: duplicate_modification_id at /modification/external_id
	// line 5: duplicate_modification_id at /modification/external_id
}

// The passes can run in different processes, which share nothing but the work files. Here they are in memory, and there
// is one chunk only.
func ExampleValidateChunk() {
	batch := fmt.Sprintf(exampleLine, "m1", "acme", "1") +
		fmt.Sprintf(exampleLine, "m1", "acme", "2") +
		fmt.Sprintf(exampleLine, "m2", "acme", "3")
	ctx, key := context.Background(), [16]byte{1, 2, 3}
	input := validation.ChunkInput{
		Source:  chunk.NewSource(strings.NewReader(batch)),
		Plan:    chunk.NewPlan(int64(len(batch)), 0),
		Chunk:   0,
		Scanner: scanner.New(transaction.Rules{ReceivedAt: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}),
	}

	var findings, index bytes.Buffer
	validated, err := validation.ValidateChunk(ctx, validation.ValidateInput{ChunkInput: input, DigestKey: key},
		&findings, &index)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("validated: %d lines, %d invalid\n", validated.Lines, validated.Invalid)

	rejections := make([]chunk.Source, validation.Partitions)
	for p := range rejections {
		var file bytes.Buffer
		reconciled, err := validation.ReconcilePartition(ctx, validation.ReconcileInput{
			Partition:  p,
			LineCounts: []int64{validated.Lines},
			Index:      func(int) chunk.Source { return chunk.NewSource(bytes.NewReader(index.Bytes())) },
			DigestKey:  key,
		}, &file)
		if err != nil {
			log.Fatal(err)
		}
		if reconciled.Duplicates > 0 {
			fmt.Printf("reconciled: %d duplicates in partition %d\n", reconciled.Duplicates, p)
			rejections[p] = chunk.NewSource(bytes.NewReader(file.Bytes()))
		}
	}

	var reportPart, accepted bytes.Buffer
	settled, err := validation.SettleChunk(ctx, validation.SettleInput{
		ChunkInput:   input,
		FirstLine:    1,
		LineCount:    validated.Lines,
		Transactions: validated.Transactions,
		Rejections:   rejections,
	}, &reportPart, &accepted)
	if err != nil {
		log.Fatal(err)
	}
	bitmap, err := validation.ReadBitmap(&accepted, validated.Lines)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("settled: %d invalid, %d accepted\n", settled.Summary.Counts.Invalid, settled.Summary.Counts.Accepted)
	for line := range validated.Lines {
		fmt.Printf("  line %d accepted: %v\n", line, bitmap.Accepted(line))
	}
	// Output:
	// validated: 3 lines, 0 invalid
	// reconciled: 2 duplicates in partition 1
	// settled: 2 invalid, 1 accepted
	//   line 0 accepted: false
	//   line 1 accepted: false
	//   line 2 accepted: true
}
