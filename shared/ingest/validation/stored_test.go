package validation

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

var update = flag.Bool("update", false, "write the golden work files instead of comparing with them")

// storedBatch is a file with everything that a work file can hold, in chunks of storedChunkBytes: lines that are blank,
// too long or without identifiers, an ID that is empty, findings beyond the bound of a line, IDs that occur several
// times in one chunk or in several chunks, and references to entities of every state. The second of the four chunks has
// neither findings nor an index.
var storedBatch = "\xEF\xBB\xBF" + strings.Join([]string{
	"m=alpha u=11 t=21 s=ok1 r=ok2",
	"m=many u=12 t=22 s=no1 r=ok2",
	"",
	"  ",
	"m=many t=23 s=off1 p=no1 !enum !uuid",
	"m=beta u=14 r=ok1 !missing !enum !uuid !missing !enum",
	"m= u=15 t=25\r",
	"m=many u=16 t=26",
	"u=17 !json_invalid",
	"u=18 " + strings.Repeat("x", 95),
	"u=19 " + strings.Repeat("y", 90),
	"u=20 " + strings.Repeat("z", 85),
	"u=21 " + strings.Repeat("v", 80),
	"u=22 " + strings.Repeat("t", 75),
	"",
	"m=delta u=23 t=33 s=off2 r=no1",
	"m=gamma u=22 t=32 s=ok1 " + strings.Repeat("w", 90),
	"m=many u=24 t=34 s=ok3\nm=many u=25 t=35\nm=many u=26 t=36\nm=many u=27 t=37\nm=many u=28 t=38",
	"m=many u=29 t=39\nm=many u=30 t=40\nm=many u=31 t=41\nm=many u=32 t=42\nm=many u=33 t=43",
	"m=epsilon u=34 t=44 s=ok1",
	"m=alpha u=35 t=45",
	"m= u=36 t=46 r=off2 !enum",
	"m=omega u=37 t=47 s=ok2",
}, "\n")

const storedChunkBytes = 300

// TestStoredWorkFiles pins the format of every work file, of the report and of its summary, because a batch that is
// being processed while a new release arrives has work files of the release before. Each pass reads the golden files of
// the pass before it, as an earlier release wrote them, and must write exactly the golden files of its own.
func TestStoredWorkFiles(t *testing.T) {
	file := []byte(storedBatch)
	plan := chunk.NewPlan(int64(len(file)), storedChunkBytes)
	stored := &workFiles{}
	for i := range plan.Count() {
		findingsName, indexName := fmt.Sprintf("chunk-%d.findings.hex", i), fmt.Sprintf("chunk-%d.index.hex", i)
		t.Run(fmt.Sprintf("validate chunk %d", i), func(t *testing.T) {
			var findings, index bytes.Buffer
			result, err := ValidateChunk(t.Context(), validateInput(file, plan, i), &findings, &index)
			errtest.Fatal(t, err)
			compareWithGolden(t, findingsName, hex.Dump(findings.Bytes()))
			compareWithGolden(t, indexName, hex.Dump(index.Bytes()))
			stored.results = append(stored.results, result)
		})
		stored.findings = append(stored.findings, readHexDump(t, findingsName))
		stored.index = append(stored.index, readHexDump(t, indexName))
	}
	for p := range Partitions {
		name := fmt.Sprintf("partition-%02d.rejections.hex", p)
		t.Run(fmt.Sprintf("reconcile partition %d", p), func(t *testing.T) {
			var rejections bytes.Buffer
			errtest.Fatal(t, errtest.Of(ReconcilePartition(t.Context(), reconcileInput(stored, p), &rejections)))
			compareWithGolden(t, name, hex.Dump(rejections.Bytes()))
		})
		stored.rejections = append(stored.rejections, readHexDump(t, name))
	}
	for i := range plan.Count() {
		t.Run(fmt.Sprintf("settle chunk %d", i), func(t *testing.T) {
			var part, csv, rejected, accepted bytes.Buffer
			in := settleInput(file, plan, stored, i)
			in.CSV, in.Rejected = &csv, &rejected
			settled, err := SettleChunk(t.Context(), in, &part, &accepted)
			errtest.Fatal(t, err)
			summary, err := json.Marshal(settled.Summary)
			errtest.Fatal(t, err)
			compareWithGolden(t, fmt.Sprintf("chunk-%d.report.jsonl", i), part.String())
			compareWithGolden(t, fmt.Sprintf("chunk-%d.csv", i), csv.String())
			compareWithGolden(t, fmt.Sprintf("chunk-%d.rejected.jsonl", i), rejected.String())
			compareWithGolden(t, fmt.Sprintf("chunk-%d.accepted.hex", i), hex.Dump(accepted.Bytes()))
			compareWithGolden(t, fmt.Sprintf("chunk-%d.summary.json", i), string(summary)+"\n")
		})
	}
	// Findings of version SLF1 are settled alike.
	for i := range plan.Count() {
		t.Run(fmt.Sprintf("settle chunk %d of an earlier release", i), func(t *testing.T) {
			stored.findings[i] = readHexDump(t, fmt.Sprintf("chunk-%d.findings-1.hex", i))
			var part, rejected bytes.Buffer
			in := settleInput(file, plan, stored, i)
			in.Rejected = &rejected
			errtest.Fatal(t, errtest.Of(SettleChunk(t.Context(), in, &part, io.Discard)))
			report := string(readGolden(t, fmt.Sprintf("chunk-%d.report.jsonl", i)))
			report = strings.ReplaceAll(report, " (byte 6 of the line)", "") // such findings do not say it
			difftest.Equal(t, "report", report, part.String())
			want := string(readGolden(t, fmt.Sprintf("chunk-%d.rejected.jsonl", i)))
			difftest.Equal(t, "rejected lines", want, rejected.String())
		})
	}
	t.Run("read what was settled", func(t *testing.T) {
		want := oracle(file, testLineBytes, true)
		var got outcome
		for i, result := range stored.results {
			name := fmt.Sprintf("chunk-%d.accepted.hex", i)
			bitmap, err := ReadBitmap(bytes.NewReader(readHexDump(t, name)), result.Lines)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for line := range result.Lines {
				got.accepted = append(got.accepted, bitmap.Accepted(line))
			}
			var summary report.Summary
			errtest.Fatal(t, json.Unmarshal(readGolden(t, fmt.Sprintf("chunk-%d.summary.json", i)), &summary))
			got.summary.Add(summary)
			got.report += string(readGolden(t, fmt.Sprintf("chunk-%d.report.jsonl", i)))
			got.csv += string(readGolden(t, fmt.Sprintf("chunk-%d.csv", i)))
			got.rejected += string(readGolden(t, fmt.Sprintf("chunk-%d.rejected.jsonl", i)))
		}
		got.csv = report.CSVHeader + got.csv
		compareOutcomes(t, "golden files", want, got)
	})
}

func goldenPath(name string) string { return filepath.Join("testdata", "stored", name) }

// compareWithGolden compares a text with a golden file. There is no golden file of an empty text.
func compareWithGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		errtest.Fatal(t, writeGolden(name, got))
		return
	}
	difftest.Equal(t, goldenPath(name), strings.Split(string(readGolden(t, name)), "\n"),
		strings.Split(got, "\n"))
}

func writeGolden(name, text string) error {
	if text == "" {
		if err := os.Remove(goldenPath(name)); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(goldenPath(name)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(goldenPath(name), []byte(text), 0o644)
}

// readGolden returns the content of a golden file, nil if there is no such file.
func readGolden(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(goldenPath(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return content
}

// readHexDump returns the bytes of a golden file in the form of hex.Dump, nil if there is no such file.
func readHexDump(t testing.TB, name string) []byte {
	t.Helper()
	var file []byte
	for line := range strings.Lines(string(readGolden(t, name))) {
		digits, _, hasText := strings.Cut(line, "|")
		if !hasText {
			continue // the offset of the end
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(digits)[1:], ""))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file = append(file, b...)
	}
	return file
}
