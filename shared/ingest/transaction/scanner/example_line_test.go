package scanner

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// The lines that documents show as examples are valid, so that a newcomer's first batch is.
func TestExampleLinesAreValid(t *testing.T) {
	page := errtest.Must(os.ReadFile("../../../../docs/ten-minutes.md"))(t)
	short := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	if short == nil {
		t.Fatal("docs/ten-minutes.md shows no line")
	}
	for name, example := range map[string][]byte{
		"schema/example.json": schema.ExampleLine, "docs/ten-minutes.md": short[1],
	} {
		t.Run(name, func(t *testing.T) {
			var line bytes.Buffer
			errtest.Fatal(t, json.Compact(&line, example))
			rules := transaction.Rules{
				ReceivedAt: time.Date(2025, 11, 25, 15, 0, 0, 0, time.UTC), MaxFuture: 720 * time.Hour,
			}
			r := New(rules).Line(line.Bytes())
			difftest.Len(t, "findings", 0, r.Findings)
			if len(r.References) != 1 || string(r.References[0].ID) != "customer-1001" {
				t.Errorf("got the references %v, want customer-1001, whom the documents have onboarded", r.References)
			}
		})
	}
}
