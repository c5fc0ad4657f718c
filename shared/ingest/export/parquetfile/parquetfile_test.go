package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/shared/ingest/export"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var update = flag.Bool("update", false, "rewrite the files that are made from the columns")

var receivedAt = time.Date(2026, 11, 26, 8, 15, 0, 123456789, time.UTC)

const batchID = "0193a0b4-7c00-7000-8000-000000000001"

// fileOf returns a file of chunks of lines.
func fileOf(chunks ...[]string) export.File {
	f := export.File{Tenant: "a-tenant", Batch: batchID, ReceivedAt: receivedAt}
	var firsts []int64
	next := int64(1)
	for _, lines := range chunks {
		firsts, next = append(firsts, next), next+int64(len(lines))
		f.ChunkBytes = append(f.ChunkBytes, int64(len(strings.Join(lines, "\n"))+1))
	}
	f.Lines = func(_ context.Context, chunk int, visit func(export.Line) error) error {
		for i, text := range chunks[chunk] {
			buffer := []byte(text)
			err := visit(export.Line{Number: firsts[chunk] + int64(i), MainEntity: transaction.Sender, Text: buffer})
			if err != nil {
				return err
			}
			clear(buffer) // a line is valid until the next one
		}
		return nil
	}
	return f
}

// write writes a file and returns its bytes.
func write(t *testing.T, table *table, f export.File, groupBytes int64, workers int) []byte {
	t.Helper()
	var out bytes.Buffer
	errtest.Fatal(t, table.write(t.Context(), &out, f, groupBytes, workers))
	return out.Bytes()
}

// lines are accepted lines: a full one, one without optional fields, and one with values that are hard to write.
var lines = []string{
	strings.ReplaceAll(string(schema.ExampleLine), "\n", " "),
	`{"request_uuid":"1f0a8f4e-6f54-4d0a-8c6b-0d9a5c7b4e15","payment_external_id":"p","transaction_external_id":"t2",` +
		`"sender":{"by_external_id":"s"},"receiver":{"by_external_id":"r"},"modification":{"external_id":"m2",` +
		`"type":"capture","amount":0,"currency":"EUR","created_at":"2026-11-26T08:15:00"}}`,
	` { "\u0073ender" : {"external_entity_type":"unknown","unknown":{"external_id":"\"q\" \u00e9 \ud83d\ude00 ` +
		`\u0000","full_name":null,"addresses":[{"id":-2147483648,"city":"A"},{},{"city":"B\tC"}],` +
		`"payment_options":[],"entity_groups_external":["g1","","g\u0033"],"additional_fields":{"k\n":"v","empty":"",` +
		`"\u0061":"b"},"more":[{"deep":[1]}]}},"additional_fields":{},"receiver":{"by_external_id":"r"},` +
		`"payment_type":null,"sending_partner":null,"request_uuid":"1F0A8F4E-6F54-4D0A-8C6B-0D9A5C7B4E15",` +
		`"payment_external_id":"p","transaction_external_id":"t3","transaction_fee":-1.5E-3,"geo_latitude":1e300,` +
		`"geo_longitude":0.1234567890123456789,"sender_payment_info":{"id":7,"card_number":0},` +
		`"modification":{"external_id":"m3","type":"refund","amount":-48.900,` +
		`"monitoring_amount":12345678901234567890.5,"original_amount":123456789012345678901,"currency":"JPY",` +
		`"created_at":"2026-11-26T10:15:00.123456999+02:00","settled_at":"0000-01-01T00:00:00Z"}} `,
}

// A file has the same bytes however many row groups are made at once.
func TestFilesAreTheSame(t *testing.T) {
	t.Parallel()
	f := fileOf(lines[:1], lines[1:], lines, lines[:2])
	want := write(t, lineTable, f, 3000, 1)
	for _, workers := range []int{1, 2, 8} {
		if got := write(t, lineTable, f, 3000, workers); !bytes.Equal(got, want) {
			t.Errorf("%d row groups at once: the file differs", workers)
		}
	}
}

func TestRowGroupsAreBoundedByBytes(t *testing.T) {
	for _, test := range []struct {
		chunks []int64
		want   []int
	}{
		{nil, nil},
		{[]int64{500}, []int{1}},
		{[]int64{50, 50, 1}, []int{2, 3}},
		{[]int64{50, 51, 49, 50}, []int{1, 3, 4}},
		{[]int64{500, 1, 99, 500}, []int{1, 3, 4}},
	} {
		var got []int
		for first := 0; first < len(test.chunks); {
			first = endOfGroup(test.chunks, first, 100)
			got = append(got, first)
		}
		difftest.Equal(t, fmt.Sprintf("%v: row groups end before the chunks", test.chunks), test.want, got)
	}
}

// Nothing is hidden: a line that cannot be divided, a reader and a writer that fail, and a context that ends.
func TestErrors(t *testing.T) {
	for _, line := range []string{``, `[]`, `{"request_uuid":1`, `{"sender":[]}`, `{"additional_fields":{"a":{}}}`,
		`{"modification":{"created_at":"today"}}`, `{"sender_payment_info":{"id":1.5}}`} {
		errtest.Fails(t, line, lineTable.write(t.Context(), &bytes.Buffer{}, fileOf([]string{line}), 1, 1))
	}
	f, unread := fileOf(lines, lines), errors.New("unread")
	readable := f.Lines
	f.Lines = func(ctx context.Context, chunk int, visit func(export.Line) error) error {
		if chunk == 1 {
			return unread
		}
		return readable(ctx, chunk, visit)
	}
	errtest.Is(t, "a chunk that cannot be read", lineTable.write(t.Context(), &bytes.Buffer{}, f, 1, 2), unread)
	errtest.Is(t, "a file that cannot be written", lineTable.write(t.Context(), failingWriter{}, fileOf(lines), 1, 1),
		errWrite)
}

var errWrite = errors.New("no space")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errWrite }
