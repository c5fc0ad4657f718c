package lineindexdb_test

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"sluice/shared/ingest/lineindex"
	"sluice/shared/ingest/lineindex/lineindexdb"
	"sluice/shared/ingest/lineindex/lineindextest"
	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

const table = "test-index"

func TestConformance(t *testing.T) {
	lineindextest.Conform(t, lineindexdb.New(dynamotest.Start(t), table))
}

// TestStored pins the stored items: segments of one batch and of several, a merge, a key and a tenant, with every
// attribute set.
func TestStored(t *testing.T) {
	ctx, at := t.Context(), time.Date(2026, 11, 26, 8, 15, 0, 123000000, time.UTC)
	const tenant = "7c2f1a52-3f6e-4b1e-9d0a-000000000001"
	one := lineindex.Segment{ID: "1795680900123000000-a", Entries: []int64{4000}, PageBits: 4, Batches: 1,
		Only: lineindex.Batch{ID: "0193a0b4-7c00-7000-8000-000000000001", ReceivedAt: at,
			Expires: at.Add(time.Hour).Truncate(time.Second)},
		FirstExpiry: at.Add(time.Hour).Truncate(time.Second)}
	several := lineindex.Segment{ID: "1795680900123000001-b", Entries: []int64{1 << 24, 0, 127, 128}, PageBits: 16,
		Batches: 300, FirstExpiry: at.Add(time.Minute)}
	m := lineindex.Merge{At: at, Inputs: []lineindex.Segment{one, several},
		Output: lineindex.Segment{ID: "1795680900123000002-c", Entries: []int64{5, 0, 0, 0}, PageBits: 16,
			Batches: 301}}
	db := dynamotest.Start(t)
	s := lineindexdb.New(db, table)
	for _, segment := range m.Inputs {
		errtest.Fatal(t, s.Register(ctx, tenant, segment))
	}
	errtest.Fatal(t, s.BeginMerge(ctx, tenant, m))
	errtest.Fatal(t, errtest.Of(s.ClaimMerge(ctx, tenant, m.Output.ID, "worker", at, at.Add(time.Minute))))
	m.Done = 2
	errtest.Fatal(t, s.SaveMerge(ctx, tenant, "worker", m, at.Add(time.Minute)))
	errtest.Fatal(t, s.PublishMerge(ctx, tenant, "worker", m))
	m.IsPublished = true
	box := &fixedBox{}
	key := errtest.Must(lineindexdb.NewKeys(s, box, "purpose", func() time.Time { return at }).Make(ctx, tenant))(t)
	dynamotest.CompareStored(t, db, table, "index")

	db = dynamotest.Start(t)
	dynamotest.LoadStored(t, db, table, "index")
	s = lineindexdb.New(db, table)
	segments, merges, err := s.Segments(ctx, tenant)
	errtest.Fatal(t, err)
	difftest.Equal(t, "segments", []lineindex.Segment{one, several, m.Output}, segments)
	difftest.Equal(t, "merges", []lineindex.Merge{m}, merges)
	difftest.Equal(t, "tenants", []string{tenant}, errtest.Must(s.Tenants(ctx))(t))
	stored, since, isFound, err := lineindexdb.NewKeys(s, box, "purpose", time.Now).Find(ctx, tenant)
	errtest.Fatal(t, err)
	difftest.Equal(t, "key", key, stored)
	if !isFound || !since.Equal(at) {
		t.Errorf("the key is found: %v, since %v", isFound, since)
	}
}

// Items that this package does not write are errors, whatever they would make of the files of a segment.
func TestMalformedItems(t *testing.T) {
	db := dynamotest.Start(t)
	s, items := lineindexdb.New(db, table), dynamo.Table{DB: db, Name: table}
	whole := func() dynamo.Item {
		item := dynamo.Key("t1", "segment#1")
		item["id"], item["entries"] = dynamo.String("1"), dynamo.Binary([]byte{1})
		item["page_bits"], item["batches"] = dynamo.Number(0), dynamo.Number(1)
		return item
	}
	read := func(change func(dynamo.Item)) error {
		item := whole()
		change(item)
		errtest.Fatal(t, items.Apply(t.Context(), "put", items.Put(item, "", nil)))
		_, _, err := s.Segments(t.Context(), "t1")
		return err
	}
	errtest.Fatal(t, read(func(dynamo.Item) {}))
	for name, change := range map[string]func(dynamo.Item){
		"no files":      func(i dynamo.Item) { delete(i, "entries") },
		"three files":   func(i dynamo.Item) { i["entries"] = dynamo.Binary([]byte{1, 1, 1}) },
		"half a number": func(i dynamo.Item) { i["entries"] = dynamo.Binary([]byte{0x80}) },
		"too many entries": func(i dynamo.Item) {
			i["entries"] = dynamo.Binary(binary.AppendUvarint(nil, math.MaxUint64))
		},
		"too many pages":         func(i dynamo.Item) { i["page_bits"] = dynamo.Number(64) },
		"a negative page":        func(i dynamo.Item) { i["page_bits"] = dynamo.Number(-1) },
		"a time that is no time": func(i dynamo.Item) { i["first_expiry"] = dynamo.String("tomorrow") },
	} {
		errtest.Fails(t, name, read(change))
	}
}
