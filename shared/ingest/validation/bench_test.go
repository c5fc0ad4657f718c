package validation_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/ingest/validation"
	"sluice/shared/kit/errtest"
)

// benchLine is a line of about 1.1 KB, as the lines of customers are. Its arguments are an ID, the ID of an entity, and
// a text.
const benchLine = `{"request_uuid":"%[1]s","payment_external_id":"%[1]s","transaction_external_id":"%[1]s",` +
	`"payment_source_country":"DE","payment_target_country":"FR","payment_method":"sepa_credit_transfer",` +
	`"payment_type":"payout","additional_fields":{"payment_category":"salary","purpose":"%[3]s"},` +
	`"sender":{"by_external_id":"%[2]s"},` +
	`"receiver":{"external_entity_type":"unknown","unknown":{"external_id":"%[1]s",` +
	`"full_name":"Jürgen Müller-Lüdenscheidt","risk_assessment":"low","email":"someone@example.org",` +
	`"addresses":[{"address":"Hauptstraße 1","postal_code":"10115","city":"Berlin","country_code":"DE"}]}},` +
	`"ip_address":"203.0.113.7","user_agent":"Mozilla/5.0 (X11; Linux x86_64)","description":"%[3]s",` +
	`"modification":{"external_id":"%[1]s","type":"settlement","amount":120.55,"currency":"EUR",` +
	`"created_at":"2026-03-01T10:20:30.123","monitoring_amount":120.55,"monitoring_currency":"EUR"}}` + "\n"

// benchFile returns a file of valid lines of at least size bytes.
func benchFile(size int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	uuid := func() string {
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x",
			rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Int64N(1<<48))
	}
	var entities []string
	for range 5000 {
		entities = append(entities, uuid())
	}
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, benchLine, uuid(), entities[rng.IntN(len(entities))], strings.Repeat("lorem ipsum ", 4))
	}
	return b.Bytes()
}

var rules = transaction.Rules{ReceivedAt: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour}

// BenchmarkFile measures ValidateFile, and for comparison the parts that it cannot do without.
func BenchmarkFile(b *testing.B) {
	file := benchFile(64 << 20)
	source := chunk.NewSource(bytes.NewReader(file))
	plan := chunk.NewPlan(int64(len(file)), 0)
	b.Run("split", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			eachLine(b, source, plan, func([]byte) {})
		}
	})
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		scanner := scanner.New(rules)
		for b.Loop() {
			eachLine(b, source, plan, func(line []byte) {
				if res := scanner.Line(line); len(res.Findings) > 0 {
					b.Fatalf("%v", res.Findings)
				}
			})
		}
	})
	b.Run("digest", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		key := duplicate.NewKey([16]byte{1})
		for b.Loop() {
			eachLine(b, source, plan, func(line []byte) { key.Digest(line[:36]) })
		}
	})
	// The first pass alone, without and with the identifiers by which lines are found.
	for name, key := range map[string]*lineindex.Key{"validate": nil, "validate and index": {1}} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			in := validation.ValidateInput{DigestKey: [16]byte{1}, IdentifiersKey: key, Identifiers: io.Discard,
				ChunkInput: validation.ChunkInput{Source: source, Plan: plan, Scanner: scanner.New(rules)}}
			for b.Loop() {
				for in.Chunk = range plan.Count() {
					if _, err := validation.ValidateChunk(b.Context(), in, io.Discard, io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("file/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				sum, err := validation.ValidateFile(b.Context(), validation.FileInput{
					Source: source, Plan: plan, DigestKey: [16]byte{1}, Workers: workers,
					NewScanner: func() validation.Scanner { return scanner.New(rules) },
				}, io.Discard)
				if err != nil || sum.Counts.Invalid > 0 {
					b.Fatal(err, sum)
				}
			}
		})
	}
}

// eachLine reads all lines of a file.
func eachLine(b *testing.B, source chunk.Source, plan chunk.Plan, f func([]byte)) {
	for i := range plan.Count() {
		r := chunk.NewReader(b.Context(), source, plan, i, chunk.Options{MaxLineBytes: transaction.MaxLineBytes})
		for r.Next() {
			f(r.Line().Text)
		}
		errtest.Fatal(b, r.Err())
		r.Close()
	}
}
