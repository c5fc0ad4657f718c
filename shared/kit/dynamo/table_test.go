package dynamo_test

import (
	"errors"
	"fmt"
	"testing"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

var errOwn = errors.New("own")

// newTable returns a table with the keys owner and part, whose items have the attribute count, a reserved word.
func newTable(t *testing.T) dynamo.Table {
	return dynamo.Table{DB: dynamotest.Start(t), Name: "test-documents"}
}

func counted(part string, count int64) dynamo.Item {
	item := dynamo.Key("o", part)
	item["count"] = dynamo.Number(count)
	return item
}

// A write whose condition does not hold returns the error that it was given, and Exchange the item that it met.
func TestApplyAndExchange(t *testing.T) {
	t.Parallel()
	table, ctx := newTable(t), t.Context()
	put := table.Put(counted("a", 1), dynamo.Absent, nil)
	errtest.Fatal(t, table.Apply(ctx, "put", put))
	next := table.Update(dynamo.Key("o", "a"), "SET #count = :next", "#count = :was",
		dynamo.Item{":next": dynamo.Number(2), ":was": dynamo.Number(1)})
	for _, test := range []struct {
		name  string
		write dynamo.Write
		want  error
		// count is that of the item which Exchange returns, 0 for none.
		count int64
	}{
		{"another put", put, dynamo.ErrRefused, 1},
		{"another put with an error", put.Or(errOwn), errOwn, 1},
		{"another put that is none", put.Or(nil), nil, 1},
		{"update", next, nil, 2},
		{"update of another item", next, dynamo.ErrRefused, 2},
		{"update of no item", table.Update(dynamo.Key("o", "b"), "SET #count = :next", dynamo.Present,
			dynamo.Item{":next": dynamo.Number(2)}), dynamo.ErrRefused, 0},
	} {
		item, err := table.Exchange(ctx, "write", test.write)
		if !errors.Is(err, test.want) || dynamo.NumberAttribute(item, "count") != test.count {
			t.Errorf("%s: %v, %v; want the count %d and %v", test.name, item, err, test.count, test.want)
		}
	}
	errtest.Fatal(t, table.Apply(ctx, "delete", table.Delete(dynamo.Key("o", "a"), "", nil)))
	if item, err := table.Get(ctx, dynamo.Key("o", "a")); item != nil || err != nil {
		t.Errorf("after the deletion: %v, %v; want nothing", item, err)
	}
	other := dynamo.Table{DB: table.DB, Name: "missing"}
	if err := other.Apply(ctx, "put", other.Put(counted("a", 1), "", nil)); err == nil || errors.Is(err,
		dynamo.ErrRefused) {
		t.Errorf("a write to no table: %v, want the error of DynamoDB", err)
	}
}

// A transaction returns the error of its first write whose condition does not hold, and makes none.
func TestTransact(t *testing.T) {
	t.Parallel()
	table, ctx := newTable(t), t.Context()
	errtest.Fatal(t, table.Transact(ctx, "put both", table.Put(counted("a", 1), dynamo.Absent, nil),
		table.Put(counted("b", 2), dynamo.Absent, nil)))
	err := table.Transact(ctx, "write", table.Put(counted("c", 3), "", nil),
		table.Check(dynamo.Key("o", "a"), "#count = :two", dynamo.Item{":two": dynamo.Number(2)}).Or(errOwn),
		table.Delete(dynamo.Key("o", "b"), dynamo.Absent, nil))
	errtest.Is(t, "error", err, errOwn)
	var parts []string
	for item, err := range table.All(ctx, "o", "") {
		errtest.Fatal(t, err)
		parts = append(parts, dynamo.StringAttribute(item, "part"))
	}
	difftest.Equal(t, "items", []string{"a", "b"}, parts)
}

func TestPagesAndOrder(t *testing.T) {
	t.Parallel()
	table, ctx := newTable(t), t.Context()
	errtest.Fatal(t, dynamo.PutAll(ctx, table.DB, table.Name,
		[]dynamo.Item{counted("x#1", 1), counted("x#2", 2), counted("x#3", 3), counted("y", 4)}))
	for _, isBackward := range []bool{false, true} {
		var counts []int64
		for after, pages := "", 0; ; pages++ {
			items, next, err := table.Page(ctx, "o", "x#", after, 2, isBackward)
			errtest.Fatal(t, err)
			for _, item := range items {
				counts = append(counts, dynamo.NumberAttribute(item, "count"))
			}
			if after = next; after == "" || pages > 3 {
				break
			}
		}
		want := map[bool][]int64{false: {1, 2, 3}, true: {3, 2, 1}}[isBackward]
		difftest.Equal(t, fmt.Sprintf("backward %v", isBackward), want, counts)
	}
	items, err := table.InOrder(ctx, []dynamo.Item{dynamo.Key("o", "y"), dynamo.Key("o", "z"), dynamo.Key("o", "x#2")})
	errtest.Fatal(t, err)
	if len(items) != 3 || dynamo.NumberAttribute(items[0], "count") != 4 || items[1] != nil ||
		dynamo.NumberAttribute(items[2], "count") != 2 {
		t.Errorf("got %v, want y, nothing and x#2", items)
	}
}
