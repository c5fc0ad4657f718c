//go:build verify

package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"sluice/client"
	"sluice/internal/duckdb"
)

// DuckDB reads the accepted lines of a batch, and no others, in its Parquet file as they can be read back, with money
// and times exact. The batch is packed: the lines are those of the unpacked copy.
func TestDuckDBReadsParquet(t *testing.T) {
	api := beginBatchTenant(t)
	api.setTenant("parquet=true")
	rejected, lines := validLine().withModification("currency", "E"), validLines(3)
	lines[0].withModification("amount", json.RawMessage("48.90")).withModification("settled_at",
		"2026-11-26T10:15:00.123456789+02:00")
	lines[1].withModification("amount", json.RawMessage("0.10000000000000000555"))
	lines[2].withModification("amount", json.RawMessage("1.5e3")).withUnknown("receiver", map[string]any{
		"external_id": "u-1", "full_name": "Librairie du Coin", "addresses": []any{map[string]any{"city": "Paris"}}})
	file := jsonLines[fmt.Stringer](lines[0], rawLine(""), rejected, lines[1], rawLine("not JSON"), lines[2])
	last := api.expectProcessWith(client.StatusProcessed, client.UploadOptions{}, packGzip(t, file))
	path := api.readParquet(last.BatchID)
	rows := duckdb.Query(t, fmt.Sprintf(`SELECT batch_id, line,
		strftime(received_at, '%%xT%%H:%%M:%%S.%%fZ') AS received_at, main_entity, raw_line,
		modification.amount AS amount, modification.amount_decimal AS amount_decimal,
		modification.settled_at AS settled_at, receiver.unknown.addresses[1].city AS city FROM '%s'`, path))
	var want []map[string]any
	for i, rest := range []map[string]any{
		{"line": "1", "amount": "48.90", "amount_decimal": json.Number("48.900000000000000000"),
			"settled_at": "2026-11-26 08:15:00.123456+00"},
		{"line": "4", "amount": "0.10000000000000000555"},
		{"line": "6", "amount": "1.5e3", "amount_decimal": json.Number("1500.000000000000000000"), "city": "Paris"},
	} {
		got, err := api.client.Transaction(t.Context(), lines[i].transactionID())
		require(t, err == nil && len(got.Modifications) == 1, "reading line %d back: %+v, %v", i, got, err)
		m := got.Modifications[0]
		row := map[string]any{
			"batch_id": *m.BatchID, "line": json.Number(fmt.Sprint(*m.Line)), "main_entity": m.MainEntity.Role,
			"received_at": m.ReceivedAt.UTC().Format("2006-01-02T15:04:05.000000Z"), "raw_line": string(m.Transaction),
			"amount_decimal": nil, "settled_at": nil, "city": nil,
		}
		for name, value := range rest {
			if name == "line" {
				value = json.Number(value.(string))
			}
			row[name] = value
		}
		want = append(want, row)
	}
	equal(t, "the rows", want, rows)
}
