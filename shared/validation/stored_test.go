package validation

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/shared/chunk"
	"sluice/shared/report"
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
	results := make([]ValidateResult, plan.Count())
	var lineCounts []int64
	for i := range results {
		t.Run(fmt.Sprintf("validate chunk %d", i), func(t *testing.T) {
			var findings, index bytes.Buffer
			var err error
			results[i], err = ValidateChunk(t.Context(), ValidateInput{chunkInput(file, plan, i), key}, &findings, &index)
			if err != nil {
				t.Fatal(err)
			}
			compareWithGolden(t, fmt.Sprintf("chunk-%d.findings.hex", i), hexDump(findings.Bytes()))
			compareWithGolden(t, fmt.Sprintf("chunk-%d.index.hex", i), hexDump(index.Bytes()))
		})
		lineCounts = append(lineCounts, results[i].Lines)
	}
	for p := range Partitions {
		t.Run(fmt.Sprintf("reconcile partition %d", p), func(t *testing.T) {
			var rejections bytes.Buffer
			_, err := ReconcilePartition(t.Context(), ReconcileInput{
				Partition:  p,
				LineCounts: lineCounts,
				Index:      func(i int) chunk.Source { return source(readHexDump(t, fmt.Sprintf("chunk-%d.index.hex", i))) },
				Entities:   plainStates{},
				DigestKey:  key,
			}, &rejections)
			if err != nil {
				t.Fatal(err)
			}
			compareWithGolden(t, fmt.Sprintf("partition-%02d.rejections.hex", p), hexDump(rejections.Bytes()))
		})
	}
	firstLine := int64(1)
	for i, result := range results {
		t.Run(fmt.Sprintf("settle chunk %d", i), func(t *testing.T) {
			in := SettleInput{
				ChunkInput: chunkInput(file, plan, i), FirstLine: firstLine, LineCount: result.Lines, Transactions: result.Transactions,
			}
			if findings := readHexDump(t, fmt.Sprintf("chunk-%d.findings.hex", i)); findings != nil {
				in.Findings = bytes.NewReader(findings)
			}
			for p := range Partitions {
				in.Rejections = append(in.Rejections, source(readHexDump(t, fmt.Sprintf("partition-%02d.rejections.hex", p))))
			}
			var part, accepted, summary bytes.Buffer
			settled, err := SettleChunk(t.Context(), in, &part, &accepted)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.NewEncoder(&summary).Encode(settled.Summary); err != nil {
				t.Fatal(err)
			}
			compareWithGolden(t, fmt.Sprintf("chunk-%d.report.jsonl", i), part.String())
			compareWithGolden(t, fmt.Sprintf("chunk-%d.accepted.hex", i), hexDump(accepted.Bytes()))
			compareWithGolden(t, fmt.Sprintf("chunk-%d.summary.json", i), summary.String())
		})
		firstLine += result.Lines
	}
	t.Run("read accepted lines and summaries", func(t *testing.T) {
		want := oracle(file, limit, true)
		var accepted []bool
		var sum report.Summary
		for i, result := range results {
			name := fmt.Sprintf("chunk-%d.accepted.hex", i)
			bitmap, err := ReadBitmap(bytes.NewReader(readHexDump(t, name)), result.Lines)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for line := range result.Lines {
				accepted = append(accepted, bitmap.Accepted(line))
			}
			var part report.Summary
			if err := json.Unmarshal(readGolden(t, fmt.Sprintf("chunk-%d.summary.json", i)), &part); err != nil {
				t.Fatal(err)
			}
			sum.Add(part)
		}
		if diff := cmp.Diff(want.accepted, accepted); diff != "" {
			t.Errorf("accepted lines (-want +got):\n%s", diff)
		}
		compareSummaries(t, "golden summaries", want.summary, sum)
	})
}

func goldenPath(name string) string { return filepath.Join("testdata", "stored", name) }

// compareWithGolden compares a text with a golden file. A text that is empty has no golden file.
func compareWithGolden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := writeGolden(name, got); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(string(readGolden(t, name)), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", goldenPath(name), diff)
	}
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
func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(goldenPath(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return content
}

func hexDump(file []byte) string { return hex.Dump(file) }

// readHexDump returns the bytes of a golden file that hexDump wrote, nil if there is no such file.
func readHexDump(t *testing.T, name string) []byte {
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
