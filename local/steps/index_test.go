package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/lineindex"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// Every line of an ended batch is found by each of its identifiers, with its number, however its lines end and whatever
// becomes of them.
func TestLinesAreIndexed(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	var lines []string
	for i := range 60 {
		text := line(fmt.Sprint("m", i))
		switch i % 6 {
		case 1:
			text = strings.ReplaceAll(text, "settlement", "no type")
		case 2:
			text = strings.TrimSuffix(text, "\n") + "\r\n"
		case 3:
			text = "\n" + text
		case 4:
			text = strings.ReplaceAll(text, fmt.Sprintf(`"m%d"`, i), `"twice"`)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		content.WriteString(text)
	}
	w := newTestBatch(t, content.String(), true)
	b := w.run()
	if b.Status != batch.ValidationFailed {
		t.Fatalf("the batch is %s", b.Status)
	}
	difftest.Equal(t, "receivers", batch.Receivers(), b.Unannounced)
	difftest.Equal(t, "chunks", true, b.Plan.Count() > 10)
	key, _, isFound, err := w.keys.Find(t.Context(), w.tenant)
	if err != nil || !isFound {
		t.Fatalf("key: %v, %v", isFound, err)
	}
	find := func(kind lineindex.Kind, id string) (numbers []int64) {
		hits, _, _, err := w.search.Search(context.Background(), lineindex.Query{Tenant: w.tenant, Key: key,
			IDs: []string{id}, Kinds: []lineindex.Kind{kind}, Limit: 100})
		errtest.Fatal(t, err)
		for _, h := range hits {
			difftest.Equal(t, "batch", lineindex.Batch{ID: b.ID, ReceivedAt: b.ReceivedAt}, h.Batch)
			numbers = append(numbers, h.Line)
			isRejected := lines[h.Line-1] == "" || strings.Contains(lines[h.Line-1], "no type") ||
				strings.Contains(lines[h.Line-1], "twice")
			difftest.Equal(t, fmt.Sprint("rejected, line ", h.Line), isRejected, h.Rejected)
		}
		return numbers
	}
	var all, twice []int64
	for i, text := range lines {
		if text == "" {
			continue
		}
		n := int64(i + 1)
		all = append(all, n)
		var ids struct {
			Request      string `json:"request_uuid"`
			Transaction  string `json:"transaction_external_id"`
			Modification struct {
				ID string `json:"external_id"`
			} `json:"modification"`
		}
		errtest.Fatal(t, json.Unmarshal([]byte(text), &ids))
		difftest.Equal(t, "lines of a request", []int64{n}, find(lineindex.Request, ids.Request))
		if id := ids.Modification.ID; id == "twice" {
			twice = append(twice, n)
		} else {
			difftest.Equal(t, "lines of a modification", []int64{n}, find(lineindex.Modification, id))
		}
	}
	difftest.Equal(t, "lines of a payment", all, find(lineindex.Payment, "p"))
	difftest.Equal(t, "lines of a duplicate", twice, find(lineindex.Modification, "twice"))
}
