package validation

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/report"
	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/scanner"
	"sluice/shared/kit/errtest"
)

// everyName finds two entries for every name.
type everyName struct{}

func (everyName) Screen(_ context.Context, names []string, found func(int, []report.Hit)) error {
	for i := range names {
		found(i, []report.Hit{{List: "demo", Version: "v", EntryID: "1", EntryName: "n", Score: 99.5, Explanation: "e"},
			{}})
	}
	return nil
}

// screenedFiles returns a file of two chunks, its names, and the hits of all partitions.
func screenedFiles(t testing.TB) (file []byte, plan chunk.Plan, names [2][]byte, hits [Partitions][]byte) {
	t.Helper()
	for i := range 6 {
		file = fmt.Appendf(file, `{"sender":{"unknown":{"full_name":"Name %d"}},"receiver":{"unknown":{`+
			`"full_name":"Name %d"}}}`+"\n",
			i%3, i)
	}
	plan = chunk.NewPlan(int64(len(file)), int64(len(file)+1)/2)
	for i := range names {
		var out bytes.Buffer
		in := screenedChunk(file, plan, i)
		_, err := ValidateChunk(t.Context(), ValidateInput{ChunkInput: in, Names: &out}, new(bytes.Buffer),
			new(bytes.Buffer))
		errtest.Fatal(t, err)
		names[i] = out.Bytes()
	}
	for p := range hits {
		var out bytes.Buffer
		errtest.Fatal(t, errtest.Of(ScreenPartition(t.Context(), screenPartitionInput(p, names), &out)))
		hits[p] = out.Bytes()
	}
	return file, plan, names, hits
}

func screenedChunk(file []byte, plan chunk.Plan, i int) ChunkInput {
	return ChunkInput{Source: sourceOf(file), Plan: plan, Chunk: i,
		Scanner: scanner.New(transaction.Rules{CollectNames: true})}
}

func screenPartitionInput(p int, names [2][]byte) ScreenInput {
	return ScreenInput{Partition: p, Chunks: len(names), Names: func(i int) chunk.Source { return sourceOf(names[i]) },
		Screener: everyName{}}
}

// settleHits settles the first chunk with the hits of all partitions.
func settleHits(t testing.TB, file []byte, plan chunk.Plan, hits [Partitions][]byte) (SettleResult, string, error) {
	t.Helper()
	var alerts bytes.Buffer
	in := SettleInput{ChunkInput: screenedChunk(file, plan, 0), FirstLine: 1, LineCount: 3, Transactions: 3,
		Screening: &ScreeningInput{Hits: make([]chunk.Source, Partitions), Alerts: &alerts}}
	for p, h := range hits {
		if len(h) > 0 {
			in.Screening.Hits[p] = sourceOf(h)
		}
	}
	result, err := SettleChunk(t.Context(), in, new(bytes.Buffer), new(bytes.Buffer))
	return result, alerts.String(), err
}

// TestScreeningTwiceIsOnce repeats each pass: it must write the same bytes.
func TestScreeningTwiceIsOnce(t *testing.T) {
	t.Parallel()
	file, plan, names, hits := screenedFiles(t)
	_, _, namesAgain, hitsAgain := screenedFiles(t)
	for i := range names {
		if !bytes.Equal(names[i], namesAgain[i]) {
			t.Errorf("the names of chunk %d differ the second time", i)
		}
	}
	for p := range hits {
		if !bytes.Equal(hits[p], hitsAgain[p]) {
			t.Errorf("the hits of partition %d differ the second time", p)
		}
	}
	result, alerts, err := settleHits(t, file, plan, hits)
	if err != nil || result.Hits != 12 {
		t.Fatalf("got %d alerts, %v, want 12", result.Hits, err)
	}
	if _, again, _ := settleHits(t, file, plan, hits); again != alerts {
		t.Errorf("the alerts differ the second time:\n%s\n%s", alerts, again)
	}
}

// TestStoredScreeningFiles pins the formats of the work files of the screening, and of the alerts, as
// TestStoredWorkFiles does. Each pass reads the golden files of the pass before it.
func TestStoredScreeningFiles(t *testing.T) {
	file, plan, names, _ := screenedFiles(t)
	var storedNames [2][]byte
	for i := range names {
		name := fmt.Sprintf("screening-chunk-%d.names.hex", i)
		compareWithGolden(t, name, hex.Dump(names[i]))
		storedNames[i] = readHexDump(t, name)
	}
	var storedHits [Partitions][]byte
	for p := range Partitions {
		var out bytes.Buffer
		errtest.Fatal(t, errtest.Of(ScreenPartition(t.Context(), screenPartitionInput(p, storedNames), &out)))
		name := fmt.Sprintf("screening-partition-%d.hits.hex", p)
		compareWithGolden(t, name, hex.Dump(out.Bytes()))
		storedHits[p] = readHexDump(t, name)
	}
	_, alerts, err := settleHits(t, file, plan, storedHits)
	errtest.Fatal(t, err)
	compareWithGolden(t, "screening-chunk-0.alerts.jsonl", alerts)
}

// TestTruncatedScreeningFiles cuts the work files of the screening at every byte, and requires ErrCorrupt.
func TestTruncatedScreeningFiles(t *testing.T) {
	t.Parallel()
	file, plan, names, hits := screenedFiles(t)
	for p := range Partitions {
		_, from, to := sectionRange(names[0], p)
		for n := range len(names[0]) {
			if from == to || n >= to {
				continue // nothing of the rest is read
			}
			cut := [2][]byte{names[0][:n], names[1]}
			if _, err := ScreenPartition(t.Context(), screenPartitionInput(p, cut), new(bytes.Buffer)); !errors.Is(err,
				ErrCorrupt) {
				t.Fatalf("partition %d, names cut at %d: %v, want ErrCorrupt", p, n, err)
			}
		}
		_, from, to = sectionRange(hits[p], 0)
		for n := range len(hits[p]) {
			if from == to || n >= to {
				continue
			}
			cut := hits
			cut[p] = hits[p][:n]
			if n == 0 {
				continue // no file
			}
			if _, _, err := settleHits(t, file, plan, cut); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("partition %d, hits cut at %d: %v, want ErrCorrupt", p, n, err)
			}
		}
	}
}

// sectionRange returns the number of sections of a file, and the range of one of them.
func sectionRange(file []byte, i int) (count, from, to int) {
	if len(file) == 0 {
		return 0, 0, 0
	}
	d := decoder{b: file[4:]}
	le := func(b []byte) (n int) {
		for k, c := range b {
			n |= int(c) << (8 * k)
		}
		return n
	}
	count = le(d.bytes(4))
	d.bytes(8 * i)
	return count, le(d.bytes(8)), le(d.bytes(8))
}

// FuzzScreeningFiles reads damaged files: they may be refused, and must not make a pass fail otherwise.
func FuzzScreeningFiles(f *testing.F) {
	file, plan, names, hits := screenedFiles(f)
	f.Add(names[0], hits[0], uint8(0))
	f.Fuzz(func(t *testing.T, damagedNames, damagedHits []byte, p uint8) {
		partition := int(p) % Partitions
		_, err := ScreenPartition(t.Context(), screenPartitionInput(partition, [2][]byte{damagedNames, names[1]}),
			new(bytes.Buffer))
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("names: %v, want ErrCorrupt", err)
		}
		damaged := hits
		damaged[partition] = damagedHits
		if _, _, err := settleHits(t, file, plan, damaged); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("hits: %v, want ErrCorrupt", err)
		}
	})
}
