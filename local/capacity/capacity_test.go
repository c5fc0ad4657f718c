package capacity

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// The table of documents has the keys owner and part, and the index waiting with the keys waiting and look_at.
const documents = "test-documents"

// testTable is a table of a real server whose writes are limited, at a time that the test sets.
type testTable struct {
	*dynamodb.Client
	limiter *Limiter
	now     time.Time
	t       *testing.T
}

func newTestTable(t *testing.T, limits ...Table) *testTable {
	t.Helper()
	direct := dynamotest.Start(t).Options()
	target := errtest.Must(url.Parse(aws.ToString(direct.BaseEndpoint)))(t)
	table := &testTable{now: time.Unix(1_800_000_000, 0), t: t}
	table.limiter = New(func() time.Time { return table.now }, func(table, operation string) {
		if table != limits[0].Name || operation == "" {
			t.Errorf("%s of %s was throttled, want only %s", operation, table, limits[0].Name)
		}
	}, limits...)
	server := httptest.NewServer(table.limiter.Limit(httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(server.Close)
	direct.BaseEndpoint, direct.RetryMaxAttempts = aws.String(server.URL), 1
	table.Client = dynamodb.New(direct)
	return table
}

// item returns an item of about a number of KB, a little less.
func item(part string, kb int) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String("o"), "part": dynamo.String(part),
		"text": dynamo.String(strings.Repeat("x", kb*1024-100))}
}

// advance moves the time of the limiter, which reads it under its lock.
func (tt *testTable) advance(d time.Duration) {
	tt.limiter.mu.Lock()
	defer tt.limiter.mu.Unlock()
	tt.now = tt.now.Add(d)
}

// put stores an item and returns the code of the error.
func (tt *testTable) put(part string, kb int) string {
	tt.t.Helper()
	_, err := tt.PutItem(tt.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(documents), Item: item(part, kb)})
	return tt.codeOf(err)
}

// codeOf returns the code of an error, after checking that the SDK retries it.
func (tt *testTable) codeOf(err error) string {
	tt.t.Helper()
	if err == nil {
		return ""
	}
	var failure smithy.APIError
	if !errors.As(err, &failure) {
		tt.t.Fatal(err)
	}
	if _, retried := awsretry.DefaultThrottleErrorCodes[failure.ErrorCode()]; !retried {
		tt.t.Errorf("the SDK does not retry %v", err)
	}
	return failure.ErrorCode()
}

// left returns what is left of the table or of an index.
func (tt *testTable) left(index string) float64 {
	tt.limiter.mu.Lock()
	defer tt.limiter.mu.Unlock()
	return tt.limiter.tables[documents].left[index].units
}

func TestWritesConsumeUnits(t *testing.T) {
	t.Parallel()
	tt := newTestTable(t, Table{Name: documents, Units: 1000})
	ctx := t.Context()
	name := aws.String(documents)
	for _, test := range []struct {
		name  string
		units float64
		write func() error
	}{
		{"put", 3, func() error {
			_, err := tt.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: item("a", 3)})
			return err
		}},
		{"put of a smaller item over a larger one", 3, func() error {
			_, err := tt.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: item("a", 1)})
			return err
		}},
		{"update", 1, func() error {
			_, err := tt.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: name,
				Key:              dynamo.Item{"owner": dynamo.String("o"), "part": dynamo.String("a")},
				UpdateExpression: aws.String("SET n = :n"), ExpressionAttributeValues: dynamo.Item{":n": dynamo.Number(
					1)}})
			return err
		}},
		{"condition that fails", 1, func() error {
			_, err := tt.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: item("a", 1),
				ConditionExpression: aws.String("attribute_not_exists(part)")})
			if _, failed := dynamo.ConditionFailed(err); !failed {
				return errors.Join(errors.New("the condition held"), err)
			}
			return nil
		}},
		{"batch", 2 + 4, func() error {
			return dynamo.PutAll(ctx, tt.Client, documents, []dynamo.Item{item("b", 2), item("c", 4)})
		}},
		{"transaction", 2 * (2 + 1), func() error {
			_, err := dynamo.Transact(ctx, tt.Client, []types.TransactWriteItem{
				{Put: &types.Put{TableName: name, Item: item("d", 2)}},
				{Put: &types.Put{TableName: name, Item: item("e", 1)}}})
			return err
		}},
		{"deletion", 4, func() error {
			_, err := tt.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: name,
				Key: dynamo.Item{"owner": dynamo.String("o"), "part": dynamo.String("c")}})
			return err
		}},
		{"read", 0, func() error {
			out, err := tt.GetItem(ctx, &dynamodb.GetItemInput{TableName: name,
				Key: dynamo.Item{"owner": dynamo.String("o"), "part": dynamo.String("b")}})
			if err == nil && len(out.Item) == 0 {
				err = errors.New("the item is missing")
			}
			return err
		}},
	} {
		before := tt.left("")
		if err := test.write(); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		difftest.Equal(t, test.name+" consumed: units", test.units, before-tt.left(""))
	}
	out, err := tt.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: item("f", 2),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil || out.ConsumedCapacity == nil || aws.ToFloat64(out.ConsumedCapacity.CapacityUnits) != 2 {
		t.Errorf("a put that asks for what it consumes: %+v, %v; want 2 units", out, err)
	}
	if out, err := tt.PutItem(ctx, &dynamodb.PutItemInput{TableName: name, Item: item("f", 2)}); err != nil ||
		out.ConsumedCapacity != nil {
		t.Errorf("a put that does not ask: %+v, %v; want nothing of what it consumes", out.ConsumedCapacity, err)
	}
}

func TestTheErrorsOfDynamoDB(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provisioned         bool
		code, inTransaction string
	}{
		{false, "ThrottlingException", "ThrottlingError"},
		{true, "ProvisionedThroughputExceededException", "ProvisionedThroughputExceeded"},
	} {
		tt := newTestTable(t, Table{Name: documents, Units: 1, Provisioned: test.provisioned})
		difftest.Equal(t, "the first write", "", tt.put("a", 1))
		if code := tt.put("b", 1); code != test.code {
			t.Errorf("the second write: %q, want %s", code, test.code)
		}
		_, err := tt.BatchWriteItem(t.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
				documents: {{PutRequest: &types.PutRequest{Item: item("c", 1)}}}}})
		if code := tt.codeOf(err); code != test.code {
			t.Errorf("a batch of which nothing can be written: %q, want %s", code, test.code)
		}
		_, err = tt.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: aws.String("test-batches"), Item: dynamo.Item{"id": dynamo.String("b")}}},
				{Put: &types.Put{TableName: aws.String(documents), Item: item("c", 1)}}}})
		var canceled *types.TransactionCanceledException
		if !errors.As(err, &canceled) || len(canceled.CancellationReasons) != 2 ||
			aws.ToString(canceled.CancellationReasons[0].Code) != "None" ||
			aws.ToString(canceled.CancellationReasons[1].Code) != test.inTransaction {
			t.Errorf("a transaction: %v with %+v, want None and %s", err, canceled, test.inTransaction)
		}
		tt.advance(time.Second)
		difftest.Equal(t, "a second later", "", tt.put("b", 1))
	}
}

// A part of a batch that cannot be written comes back, and nothing is lost or written twice.
func TestPartsOfBatches(t *testing.T) {
	t.Parallel()
	tt := newTestTable(t, Table{Name: documents, Units: 5})
	requests := []types.WriteRequest{}
	for _, part := range []string{"a", "b", "c", "d"} {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(part, 2)}})
	}
	out := errtest.Must(tt.BatchWriteItem(t.Context(),
		&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{documents: requests}}))(t)
	// Of 5 units, the third item of 2 takes one that is not there yet.
	if back := out.UnprocessedItems[documents]; len(back) != 1 || dynamo.StringAttribute(back[0].PutRequest.Item,
		"part") != "d" {
		t.Errorf("%d items came back, want the last one", len(back))
	}
	difftest.Equal(t, "units are left", float64(-1), tt.left(""))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tt.advance(time.Minute)
	errtest.Fatal(t, dynamo.PutAll(ctx, tt.Client, documents, []dynamo.Item{item("d", 2)}))
	found, err := dynamo.GetAll(ctx, tt.Client, documents, []dynamo.Item{key("a"), key("b"), key("c"), key("d")})
	errtest.Fatal(t, err)
	difftest.Equal(t, "items are stored", 4, len(found))
}

func key(part string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String("o"), "part": dynamo.String(part)}
}

// Unused units are kept for 300 seconds, and a write that consumes more than is left delays the next ones.
func TestBurst(t *testing.T) {
	t.Parallel()
	tt := newTestTable(t, Table{Name: documents, Units: 2})
	tt.advance(time.Hour)
	difftest.Equal(t, "a write of 300 units of 600", "", tt.put("a", 300))
	difftest.Equal(t, "a write of the other 300 units", "", tt.put("b", 300))
	for _, second := range []struct {
		kb   int
		code string
	}{{1, "ThrottlingException"}, {20, ""}, {1, "ThrottlingException"}} {
		if code := tt.put("c", second.kb); code != second.code {
			t.Errorf("%d KB with %v units left: %q, want %q", second.kb, tt.left(""), code, second.code)
		}
		tt.advance(time.Second)
	}
	tt.advance(8 * time.Second) // since the write of 20 units that had 2: 10 seconds
	difftest.Equal(t, "after the units of the large write have come", "", tt.put("d", 1))
}

// An index has as many units as its table, and throttles its writes.
func TestIndexesThrottleTheirTable(t *testing.T) {
	t.Parallel()
	tt := newTestTable(t, Table{Name: documents, Units: 3})
	for _, second := range []string{"1", "2"} { // the other time, the index loses an entry and gets one
		waiting := item("a", 1)
		waiting["waiting"], waiting["look_at"] = dynamo.String("w"), dynamo.String(second)
		errtest.Fatal(t, errtest.Of(tt.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(documents),
			Item: waiting})))
	}
	difftest.Equal(t, "result", []any{float64(1), float64(0)}, []any{tt.left(""), tt.left("waiting")})
	difftest.Equal(t, "a write while nothing is left of the index", "ThrottlingException", tt.put("b", 1))
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{
		`{"S":"é"}`: 2, `{"N":"123"}`: 3, `{"B":"AAAA"}`: 3, `{"BOOL":true}`: 1, `{"NULL":true}`: 1,
		`{"SS":["a","bc"]}`: 3,
		`{"NS":["12"]}`:     2, `{"BS":["AAAA"]}`: 3, `{"L":[{"S":"a"},{"S":"b"}]}`: 7, `{"M":{"k":{"S":"ab"}}}`: 7,
		`x`: 1,
	} {
		difftest.Equal(t, "bytes of "+value, want, sizeOf([]byte(value)))
	}
	for n, want := range map[int]float64{1: 1, 1022: 1, 1023: 1, 1024: 2, 2047: 2, 2048: 3} {
		// the name has one byte
		difftest.Equal(t, fmt.Sprintf("units of an item of %d bytes", n+1), want,
			unitsOf([]byte(`{"a":{"S":"`+strings.Repeat("x", n)+`"}}`)))
	}
	difftest.Equal(t, "what cannot be read is not one unit", float64(1), unitsOf(nil))
}

// Items that share a partition key share its units, in every kind of write; other keys and other tables have their own.
func TestUnitsOfAPartitionKey(t *testing.T) {
	t.Parallel()
	tt := newTestTable(t, Table{Name: documents, PartitionUnits: 4, PartitionKey: "owner"})
	name := aws.String(documents)
	put := func(owner string, kb int) dynamo.Item {
		i := item("p", kb)
		i["owner"] = dynamo.String(owner)
		return i
	}
	batch := func(owners ...string) (unprocessed int, code string) {
		var writes []types.WriteRequest
		for n, owner := range owners {
			i := put(owner, 1)
			i["part"] = dynamo.String(fmt.Sprint(n))
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
		}
		out, err := tt.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{documents: writes}})
		if err != nil {
			return 0, tt.codeOf(err)
		}
		return len(out.UnprocessedItems[documents]), ""
	}
	unprocessed, code := batch("a", "b", "a", "a", "a", "a", "b", "a")
	difftest.Equal(t, "of six writes to a key that has four units", []any{2, ""}, []any{unprocessed, code})
	_, code = batch("a")
	difftest.Equal(t, "a batch to an exhausted key", "ThrottlingException", code)
	difftest.Equal(t, "another key", "", tt.codeOf(errtest.Of(tt.PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: name, Item: put("c", 7)})))) // three more than it has
	key := func(owner string) dynamo.Item {
		return dynamo.Item{"owner": dynamo.String(owner), "part": dynamo.String("p")}
	}
	remove := func(owner string) string {
		return tt.codeOf(errtest.Of(tt.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: name,
			Key: key(owner)})))
	}
	transact := func(owners ...string) string {
		var parts []types.TransactWriteItem
		for _, owner := range owners {
			parts = append(parts, types.TransactWriteItem{Delete: &types.Delete{TableName: name, Key: key(owner)}})
		}
		_, err := tt.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: parts})
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) {
			return aws.ToString(cancelled.CancellationReasons[0].Code)
		}
		return tt.codeOf(err)
	}
	difftest.Equal(t, "deletion and transaction of an exhausted key",
		[]string{"ThrottlingException", "ThrottlingError"}, []string{remove("c"), transact("c", "d")})
	tt.advance(999 * time.Millisecond)
	difftest.Equal(t, "the key that took three more has", []string{"ThrottlingException", ""},
		[]string{remove("c"), remove("a")})
	tt.advance(time.Second)
	// The deleted item has seven units.
	difftest.Equal(t, "after two seconds", []string{"", "ThrottlingException"}, []string{remove("c"), remove("c")})
	tt.advance(time.Second)
	difftest.Equal(t, "after three seconds", "", transact("c", "d"))
	tt.advance(time.Hour)
	unprocessed, _ = batch("a", "a", "a", "a", "a")
	difftest.Equal(t, "units that nobody used are kept for a second", 1, unprocessed)
}
