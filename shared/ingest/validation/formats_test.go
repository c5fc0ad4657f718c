package validation

import (
	"bytes"
	"encoding/binary"
	"testing"

	"sluice/shared/ingest/chunk"
	"sluice/shared/ingest/duplicate"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/errtest"
)

// These tests show each format in one small file, byte by byte, as the comments of the formats describe it.

// compareBytes fails if a file has other bytes than wanted.
func compareBytes(t *testing.T, want, got string) {
	t.Helper()
	difftest.Equal(t, "bytes", []byte(want), []byte(got))
}

func TestFindingsFormat(t *testing.T) {
	var file bytes.Buffer
	var w findingsWriter
	w.reset(&file)
	res := &transaction.Result{
		ModificationID:     []byte("m1"),
		ModificationOffset: 3,
		Dropped:            1,
		Findings:           []transaction.Finding{{Code: "enum", Pointer: "/x", Message: "No.", Offset: 5}},
	}
	for _, add := range []func() error{
		func() error { return w.addBlank(4) },
		func() error { return w.addBlank(5) },
		func() error { return w.addLine(&chunk.Line{Number: 7, Offset: 10}, res) },
		func() error { return w.addLine(&chunk.Line{Number: 8, Offset: 300}, res) },
		w.close,
	} {
		errtest.Fatal(t, add())
	}
	compareBytes(t, "SLF2"+
		"\x03"+ // bytes of the record
		"\x01"+ // blank lines
		"\x04"+ // 4 after line 0
		"\x02"+ // two lines
		"\x19"+ // bytes of the record
		"\x02"+ // line with findings
		"\x01"+ // 1 after line 6
		"\x00"+ // no request_uuid
		"\x00"+ // no transaction_external_id
		"\x03m1"+ // modification.external_id
		"\x0a"+ // offset of the line in the file
		"\x03"+ // its offset in the line
		"\x01"+ // findings dropped
		"\x01"+ // findings
		"\x00"+ // a kind without a number
		"\x04enum"+ // code
		"\x02/x"+ // pointer
		"\x03No."+ // message
		"\x05"+ // offset in the line
		"\x0e"+ // bytes of the record
		"\x02"+ // line with findings
		"\x00"+ // the next one
		"\x00\x00\x03m1"+ // IDs
		"\xac\x02\x03"+ // offset of the line, and in the line that of the ID
		"\x01\x01"+ // findings dropped, and findings
		"\x01"+ // the first kind
		"\x05"+ // offset in the line
		"\x02"+ // bytes of the record
		"\x00"+ // end
		"\x03", // records
		file.String())
}

func TestIndexFormat(t *testing.T) {
	var file bytes.Buffer
	var x indexWriter
	x.reset(testDigestKey)
	x.addID([]byte("single"), 258)
	x.addID([]byte("repeated"), 300)
	x.addID([]byte("repeated"), 301)
	x.addReference([]byte("entity"), 258, 20, transaction.Sender)
	x.addReference([]byte("entity"), 260, 90, transaction.Receiver)
	errtest.Fatal(t, errtest.Of(x.writeTo(&file)))
	key := duplicate.NewKey(testDigestKey)
	digest := func(id string) string { return string(key.Digest([]byte(id)).AppendTo(nil)) }
	sections := map[string]string{
		"single": "\x01\x00\x00\x00" + // IDs that occur once
			digest("single") +
			"\x02\x01\x00\x00" + // line
			"\x00" + // IDs that occur more often
			"\x00", // entities
		"repeated": "\x00\x00\x00\x00" + // IDs that occur once
			"\x01" + // IDs that occur more often
			digest("repeated") +
			"\x02" + // lines
			"\x03" + // bytes of the lines
			"\xac\x02" + // 300 after line 0
			"\x01" + // 1 after line 300
			"\x00", // entities
		"entity": "\x00\x00\x00\x00" + // IDs that occur once
			"\x00" + // IDs that occur more often
			"\x01" + // entities
			"\x06entity" +
			"\x02" + // references
			"\x07" + // bytes of the references
			"\x82\x02" + // 258 after line 0
			"\x01" + // sender
			"\x14" + // 20 after the start of the chunk
			"\x02" + // 2 after line 258
			"\x02" + // receiver
			"\x46", // 70 after offset 20
	}
	byPartition := map[int]string{}
	for id, section := range sections {
		byPartition[key.Digest([]byte(id)).Partition(Partitions)] = section
	}
	if len(byPartition) != len(sections) {
		t.Fatalf("the IDs are in %d partitions, want %d different ones", len(byPartition), len(sections))
	}
	compareBytes(t, sectionedFile("SLX1", Partitions, byPartition), file.String())
}

// sectionedFile returns a sectioned file of count sections; those that are not given are empty.
func sectionedFile(magic string, count int, sections map[int]string) string {
	header, body := binary.LittleEndian.AppendUint32([]byte(magic), uint32(count)), ""
	bodyOffset := 4 + 4 + 8*(count+1)
	for i := range count {
		header = binary.LittleEndian.AppendUint64(header, uint64(bodyOffset+len(body)))
		body += sections[i]
	}
	header = binary.LittleEndian.AppendUint64(header, uint64(bodyOffset+len(body)))
	return string(header) + body
}

func TestRejectionsFormat(t *testing.T) {
	// Of two chunks, of 10 and of 20 lines, the first has the ID on line 4, and the second on lines 0 and 3. The second
	// also refers to an entity that does not exist.
	var indexes [2]bytes.Buffer
	for i, lines := range [][]int64{{4}, {0, 3}} {
		var x indexWriter
		x.reset(testDigestKey)
		for _, line := range lines {
			x.addID([]byte("id"), line)
		}
		if i == 1 {
			x.addReference([]byte("no id"), 5, 99, transaction.Receiver)
		}
		errtest.Fatal(t, errtest.Of(x.writeTo(&indexes[i])))
	}
	key := duplicate.NewKey(testDigestKey)
	partition := func(id string) int { return key.Digest([]byte(id)).Partition(Partitions) }
	for name, c := range map[string]struct {
		partition int
		sections  map[int]string
	}{
		"duplicate": {partition("id"), map[int]string{
			0: "\x01" + // duplicate IDs
				"\x03" + // lines of the file that have it
				"\x03" + // lines that follow
				"\x05" + // line 5 of the file
				"\x06" + // line 11
				"\x03" + // line 14
				"\x01" + // lines of the chunk
				"\x04" + // line 4 of the chunk
				"\x00", // entities
			1: "\x01\x03\x03\x05\x06\x03" + // as in chunk 0
				"\x02" + // lines of the chunk
				"\x00" + // line 0 of the chunk
				"\x03" + // line 3
				"\x00", // entities
		}},
		"entity": {partition("no id"), map[int]string{
			1: "\x00" + // duplicate IDs
				"\x01" + // entities
				"\x00" + // missing
				"\x01" + // references
				"\x03" + // bytes of the references
				"\x05" + // line 5 of the chunk
				"\x02" + // receiver
				"\x63", // offset 99 in the chunk
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			_, err := ReconcilePartition(t.Context(), ReconcileInput{
				Partition:  c.partition,
				LineCounts: []int64{10, 20},
				Index:      func(i int) chunk.Source { return sourceOf(indexes[i].Bytes()) },
				Entities:   statesByID{},
				DigestKey:  testDigestKey,
			}, &file)
			errtest.Fatal(t, err)
			compareBytes(t, sectionedFile("SLM1", 2, c.sections), file.String())
		})
	}
}

func TestBitmapFormat(t *testing.T) {
	var file bytes.Buffer
	var w bitmapWriter
	w.reset(&file, 11)
	w.fillUntil(2, false)
	w.fillUntil(10, true)
	w.fillUntil(11, false)
	errtest.Fatal(t, w.close())
	compareBytes(t, "SLA1"+
		"\x0b\x00\x00\x00\x00\x00\x00\x00"+ // lines
		"\xfc"+ // lines 7 to 0
		"\x03", // lines 10 to 8
		file.String())
}
