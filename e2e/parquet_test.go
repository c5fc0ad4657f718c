package e2e

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"sluice/client"
	"sluice/openapi/wire"
)

// readParquet waits for the Parquet file of a processed batch and returns the path of a copy of it.
func (s *session) readParquet(batchID string) string {
	s.t.Helper()
	var result client.ValidationResult
	eventually(s.t, "the Parquet file of batch "+batchID, func() bool {
		result = s.result(batchID)
		return result.ParquetURL != nil
	})
	where := ok(url.Parse(wire.OrZero(result.ParquetURL)))(s.t)
	// The test may begin before midnight.
	now := time.Now().UTC()
	key := func(at time.Time) string {
		return fmt.Sprintf("/parquet/tenant=%s/date=%s/%s.parquet", s.tenantID, at.Format(time.DateOnly), batchID)
	}
	assert(s.t, strings.HasSuffix(where.Path, key(now)) || strings.HasSuffix(where.Path, key(now.AddDate(0, 0, -1))),
		"the file is at %s, want %s", where.Path, key(now))
	text := ok(readFile(s.t.Context(), s.client.OpenReport, wire.OrZero(result.ParquetURL)))(s.t)
	return writeFile(s.t, batchID+".parquet", text)
}

// The accepted lines of a batch, and no others, are in its Parquet file, each with its number and its text as sent.
// The batch is packed: the lines are those of the unpacked copy. Batches processed before the setting, and rejected
// ones, have no file.
func TestParquet(t *testing.T) {
	api := beginBatchTenant(t)
	before := api.expectProcess(client.StatusProcessed, jsonLines(validLine()))
	api.setTenant("parquet=true")
	rejected, lines := validLine().withModification("currency", "E"), validLines(2)
	file := jsonLines[fmt.Stringer](lines[0], rawLine(""), rejected, lines[1], rawLine("not JSON"))
	last := api.expectProcessWith(client.StatusProcessed, client.UploadOptions{}, packGzip(t, file))
	type row struct {
		BatchID string `parquet:"batch_id"`
		Line    int64  `parquet:"line"`
		RawLine string `parquet:"raw_line"`
	}
	got := ok(parquet.ReadFile[row](api.readParquet(last.BatchID)))(t)
	equal(t, "the rows", []row{{last.BatchID, 1, lines[0].String()}, {last.BatchID, 4, lines[1].String()}}, got)
	t.Run("no file", func(t *testing.T) {
		refused := api.process(true, jsonLines(validLine(), rejected))
		for name, last := range map[string]client.Status{"before the setting": before, "rejected": refused} {
			if reply := api.result(last.BatchID).Reply; !bytes.Contains(reply, []byte(`"parquet_url":null`)) {
				t.Errorf("a batch that was %s has the result %s, want no Parquet file", name, reply)
			}
		}
	})
}
