//go:build verify

package parquetfile

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/duckdb"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// keep is for make test-parquet, which reads the file of a later version, too.
var keep = flag.String("keep", "", "store the file of a later version in a `folder`")

// store stores the bytes of a file and returns its path.
func store(t *testing.T, name string, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	errtest.Fatal(t, os.WriteFile(path, file, 0o600))
	return path
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
		difftest.Equal(t, fmt.Sprintf("row %d", i), want, row)
	}
	difftest.Equal(t, "rows", len(lines), len(rows))
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
	difftest.Equal(t, fmt.Sprintf("the row of %s\n", lines[2]), want, rows[0])
}

// A file without lines has all columns.
func TestDuckDBReadsAFileWithoutLines(t *testing.T) {
	t.Parallel()
	none := store(t, "none.parquet", write(t, lineTable, fileOf(nil), 1, 1))
	rows := duckdb.Query(t, fmt.Sprintf(`SELECT (SELECT count(*) FROM '%s') AS lines, count(*) AS columns
		FROM (DESCRIBE SELECT * FROM '%[1]s')`, none))
	wantColumns := len(schema.Transaction.Fields) + 5 + 3 // three numbers have two columns each
	difftest.Equal(t, "a file without lines",
		[]map[string]any{{"lines": json.Number("0"), "columns": json.Number(fmt.Sprint(wantColumns))}}, rows)
}

// futureTable is a table of the next version, which has a field more at the beginning of a line, in a struct, and in
// the items of a list.
func futureTable() *table {
	address := &schema.Object{Name: "Address", Fields: append([]schema.Field{{Name: "district",
		Kind: schema.KindString}}, schema.Address.Fields...)}
	unknown := &schema.Object{Name: "Unknown"}
	for _, f := range schema.Unknown.Fields {
		if f.Name == "addresses" {
			f.Object = address
		}
		unknown.Fields = append(unknown.Fields, f)
	}
	entity := &schema.Object{Name: "Entity"}
	for _, f := range schema.Entity.Fields {
		if f.Name == "unknown" {
			f.Object = unknown
		}
		entity.Fields = append(entity.Fields, f)
	}
	line := &schema.Object{Name: "Transaction", Fields: []schema.Field{{Name: "channel", Kind: schema.KindString}}}
	for _, f := range schema.Transaction.Fields {
		if f.Name == "sender" {
			f.Object = entity
		}
		line.Fields = append(line.Fields, f)
	}
	return newTable(line, Version+1)
}

// A file that version 1 wrote is read beside one of a later version: columns that it does not have are null.
func TestVersionsSideBySide(t *testing.T) {
	t.Parallel()
	first := filepath.Join("testdata", "version-1.parquet")
	if _, err := os.Stat(first); os.IsNotExist(err) && *update && Version == 1 {
		errtest.Fatal(t, os.WriteFile(first, write(t, lineTable, fileOf(lines), 1, 1), 0o644))
	}
	written := write(t, futureTable(), fileOf([]string{strings.Replace(lines[2], `"city":"A"`,
		`"city":"A","district":"D"`, 1)}, []string{strings.Replace(lines[1], "{", `{"channel":"web",`, 1)}), 1, 1)
	next := store(t, "next.parquet", written)
	if *keep != "" {
		errtest.Fatal(t, os.WriteFile(filepath.Join(*keep, "next.parquet"), written, 0o644))
	}
	rows := duckdb.Query(t, fmt.Sprintf(`
		SELECT m.value::VARCHAR AS version, f.* EXCLUDE (file_name) FROM (
			SELECT filename AS file_name, line, channel, transaction_external_id, modification.amount AS amount,
				sender.unknown.addresses[1].district AS district, sender.unknown.addresses[1].city AS city
			FROM read_parquet(['%s', '%s'], union_by_name = true, filename = true)) f
		JOIN parquet_kv_metadata(['%[1]s', '%[2]s']) m ON m.file_name = f.file_name AND m.key::VARCHAR = '%[3]s'
		ORDER BY version, line`, first, next, VersionKey))
	row := func(version string, line int, channel any, id, amount string, district, city any) map[string]any {
		return map[string]any{"version": version, "line": json.Number(fmt.Sprint(line)), "channel": channel,
			"transaction_external_id": id, "amount": amount, "district": district, "city": city}
	}
	later := fmt.Sprint(Version + 1)
	want := []map[string]any{
		row("1", 1, nil, "tx-20251125-0042-1", "48.90", nil, nil),
		row("1", 2, nil, "t2", "0", nil, nil),
		row("1", 3, nil, "t3", "-48.900", nil, "A"),
		row(later, 1, nil, "t3", "-48.900", "D", "A"),
		row(later, 2, "web", "t2", "0", nil, nil),
	}
	difftest.Equal(t, "rows of both versions", want, rows)
}
