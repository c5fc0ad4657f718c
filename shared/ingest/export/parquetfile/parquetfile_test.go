package parquetfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/duckdb"
	"sluice/shared/ingest/export"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
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

// store stores the bytes of a file and returns its path.
func store(t *testing.T, name string, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	errtest.Fatal(t, os.WriteFile(path, file, 0o600))
	return path
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

func TestDuckDBReadsEveryValue(t *testing.T) {
	t.Parallel()
	path := store(t, "a.parquet", write(t, lineTable, fileOf(lines[:2], nil, lines[2:]), 1, 3))
	rows := duckdb.Query(t, fmt.Sprintf("SELECT batch_id, line, received_at, main_entity, raw_line FROM '%s'", path))
	for i, row := range rows {
		want := map[string]any{
			"batch_id": batchID, "line": json.Number(fmt.Sprint(i + 1)), "received_at": "2026-11-26 08:15:00.123456+00",
			"main_entity": "sender", "raw_line": lines[i],
		}
		if diff := cmp.Diff(want, row); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i, diff)
		}
	}
	if len(rows) != len(lines) {
		t.Errorf("got %d rows, want %d", len(rows), len(lines))
	}
	rows = duckdb.Query(t, fmt.Sprintf(`SELECT * EXCLUDE (batch_id, line, received_at, main_entity, raw_line)
		FROM '%s' WHERE transaction_external_id = 't3'`, path))
	number := func(text string) any { return json.Number(text) }
	address := func(id any, city any) any {
		return map[string]any{"id": id, "label": nil, "first_name": nil, "last_name": nil, "name_prefix": nil,
			"address": nil, "postal_code": nil, "city": city, "state": nil, "country_code": nil, "company_name": nil,
			"company_tax_id": nil}
	}
	want := map[string]any{
		"request_uuid": "1F0A8F4E-6F54-4D0A-8C6B-0D9A5C7B4E15", "payment_external_id": "p",
		"transaction_external_id": "t3",
		"additional_fields":       map[string]any{},
		"sender": map[string]any{"by_external_id": nil, "external_entity_type": "unknown", "unknown": map[string]any{
			"external_id": "\"q\" \u00e9 \U0001f600 \x00", "full_name": nil, "risk_assessment": nil, "label": nil,
			"email":        nil,
			"phone_number": nil, "additional_fields": map[string]any{"k\n": "v", "empty": "", "a": "b"},
			"peer_group_external_id": nil, "payment_options": []any{}, "entity_groups_external": []any{"g1", "", "g3"},
			"addresses": []any{address(number("-2147483648"), "A"), address(nil, nil), address(nil, "B\tC")},
		}},
		"receiver": map[string]any{"by_external_id": "r", "external_entity_type": nil, "unknown": nil},
		"modification": map[string]any{
			"external_id": "m3", "type": "refund", "currency": "JPY", "monitoring_currency": nil,
			"original_currency": nil,
			"amount":            "-48.900", "amount_decimal": number("-48.900000000000000000"),
			"monitoring_amount":         "12345678901234567890.5",
			"monitoring_amount_decimal": number("12345678901234567890.500000000000000000"),
			"original_amount":           "123456789012345678901", "original_amount_decimal": nil,
			"created_at": "2026-11-26 08:15:00.123456+00", "reason": nil, "settled_at": "0001-01-01 (BC) 00:00:00+00",
		},
		"transaction_fee": "-1.5E-3", "transaction_fee_decimal": number("-0.001500000000000000"),
		"geo_latitude": "1e300", "geo_latitude_decimal": nil, "geo_longitude": "0.1234567890123456789",
		"geo_longitude_decimal": nil,
		"sender_payment_info": map[string]any{"id": number("7"), "account_number": nil, "sort_code": nil,
			"bank_account_number": nil, "bank_account_bic": nil, "bank_name": nil, "bank_country_code": nil,
			"card_token": nil, "card_bin": nil, "card_number": number("0")},
	}
	for i := range schema.Transaction.Fields {
		if name := schema.Transaction.Fields[i].Name; want[name] == nil {
			want[name] = nil
		}
	}
	if diff := cmp.Diff(want, rows[0]); diff != "" {
		t.Errorf("the row of %s\n(-want +got):\n%s", lines[2], diff)
	}
}

// A file has the same bytes however many row groups are made at once, and one without lines has all columns.
func TestFilesAreTheSame(t *testing.T) {
	t.Parallel()
	f := fileOf(lines[:1], lines[1:], lines, lines[:2])
	want := write(t, lineTable, f, 3000, 1)
	for _, workers := range []int{1, 2, 8} {
		if got := write(t, lineTable, f, 3000, workers); !bytes.Equal(got, want) {
			t.Errorf("%d row groups at once: the file differs", workers)
		}
	}
	none := store(t, "none.parquet", write(t, lineTable, fileOf(nil), 1, 1))
	rows := duckdb.Query(t, fmt.Sprintf(`SELECT (SELECT count(*) FROM '%s') AS lines, count(*) AS columns
		FROM (DESCRIBE SELECT * FROM '%[1]s')`, none))
	wantColumns := len(schema.Transaction.Fields) + 5 + 3 // three numbers have two columns each
	if diff := cmp.Diff([]map[string]any{{"lines": json.Number("0"), "columns": json.Number(fmt.Sprint(wantColumns))}},
		rows); diff != "" {
		t.Errorf("a file without lines (-want +got):\n%s", diff)
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
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: row groups end before the chunks (-want +got):\n%s", test.chunks, diff)
		}
	}
}

// Nothing is hidden: a line that cannot be divided, a reader and a writer that fail, and a context that ends.
func TestErrors(t *testing.T) {
	for _, line := range []string{``, `[]`, `{"request_uuid":1`, `{"sender":[]}`, `{"additional_fields":{"a":{}}}`,
		`{"modification":{"created_at":"today"}}`, `{"sender_payment_info":{"id":1.5}}`} {
		if err := lineTable.write(t.Context(), &bytes.Buffer{}, fileOf([]string{line}), 1, 1); err == nil {
			t.Errorf("%q: got no error", line)
		}
	}
	f, unread := fileOf(lines, lines), errors.New("unread")
	readable := f.Lines
	f.Lines = func(ctx context.Context, chunk int, visit func(export.Line) error) error {
		if chunk == 1 {
			return unread
		}
		return readable(ctx, chunk, visit)
	}
	if err := lineTable.write(t.Context(), &bytes.Buffer{}, f, 1, 2); !errors.Is(err, unread) {
		t.Errorf("a chunk that cannot be read: got %v", err)
	}
	if err := lineTable.write(t.Context(), failingWriter{}, fileOf(lines), 1, 1); !errors.Is(err, errWrite) {
		t.Errorf("a file that cannot be written: got %v", err)
	}
}

var errWrite = errors.New("no space")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errWrite }
