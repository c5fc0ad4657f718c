package dynamo_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"sluice/shared/kit/difftest"
	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/dynamo/dynamotest"
	"sluice/shared/kit/errtest"
)

// The kit is tested on the table of documents, which has the keys owner and part.
const table = "test-documents"

func key(part string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String("owner"), "part": dynamo.String(part)}
}

// numbered returns n items with the parts "0" to n-1 and an attribute of a reserved name.
func numbered(n int) []dynamo.Item {
	items := make([]dynamo.Item, n)
	for i := range items {
		items[i] = key(fmt.Sprint(i))
		items[i]["status"], items[i]["other"] = dynamo.Number(int64(i)), dynamo.String("other")
	}
	return items
}

func TestGetAllAndPutAll(t *testing.T) {
	for _, n := range []int{0, 1, 24, 25, 26, 99, 100, 101, 250} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			db, faults := dynamotest.StartFaulty(t)
			errtest.Fatal(t, dynamo.PutAll(t.Context(), db, table, numbered(n)))
			keys := []dynamo.Item{key("missing")}
			for i := range n {
				keys = append(keys, key(fmt.Sprint(i)))
			}
			items := errtest.Must(dynamo.GetAll(t.Context(), db, table, keys, "part", "status"))(t)
			found := map[string]int64{}
			for _, item := range items {
				found[dynamo.StringAttribute(item, "part")] = dynamo.NumberAttribute(item, "status")
				difftest.Equal(t, fmt.Sprintf("attributes of item %v", item), 2, len(item))
			}
			want := map[string]int64{}
			for i := range n {
				want[fmt.Sprint(i)] = int64(i)
			}
			if diff := cmp.Diff(want, found); diff != "" || len(items) != n {
				t.Errorf("read %d items, want %d (-want +got)\n%s", len(items), n, diff)
			}
			if n > 1 && faults.Load() == 0 {
				t.Error("no fault was injected")
			}
			if whole, err := dynamo.GetAll(t.Context(), db, table, keys); err != nil || n > 0 && len(whole[0]) != 4 {
				t.Errorf("reading whole items: %v, %v", whole, err)
			}
		})
	}
}

func TestThrottledCallsEndWithTheContext(t *testing.T) {
	options := dynamotest.Start(t).Options()
	options.RetryMaxAttempts = 1
	options.HTTPClient = respondWith(func(*http.Request) (*http.Response, error) {
		return dynamotest.Respond(http.StatusBadRequest,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`), nil
	})
	db := dynamodb.New(options)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	errtest.Is(t, "PutAll returned", dynamo.PutAll(ctx, db, table, numbered(1)), context.DeadlineExceeded)
	errtest.Is(t, "GetAll returned", errtest.Of(dynamo.GetAll(ctx, db, table, []dynamo.Item{key("0")})),
		context.DeadlineExceeded)
}

func TestOtherErrorsAreNotRetried(t *testing.T) {
	db := dynamotest.Start(t)
	errtest.Fails(t, "PutAll into a missing table succeeded",
		dynamo.PutAll(t.Context(), db, "no-such-table", numbered(1)))
	errtest.Fails(t, "GetAll from a missing table succeeded",
		errtest.Of(dynamo.GetAll(t.Context(), db, "no-such-table", []dynamo.Item{key("0")})))
}

type respondWith func(*http.Request) (*http.Response, error)

func (f respondWith) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestTransactNamesTheFailedWrites(t *testing.T) {
	db := dynamotest.Start(t)
	put := func(part, condition string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String(table), Item: key(part), ConditionExpression: aws.String(condition),
		}}
	}
	failed, err := dynamo.Transact(t.Context(), db, []types.TransactWriteItem{
		put("0", "attribute_not_exists(part)"), put("1", "attribute_exists(part)"),
	})
	if diff := cmp.Diff([]bool{false, true}, failed); err == nil || diff != "" {
		t.Errorf("error %v, failed (-want +got)\n%s", err, diff)
	}
	failed, err = dynamo.Transact(t.Context(), db, []types.TransactWriteItem{put("0", "attribute_not_exists(part)")})
	errtest.Fatal(t, err)
	difftest.Equal(t, "after a transaction that was canceled: failed", []bool{false}, failed)
}

// Every first transaction is canceled. Those that meet another one, or a throttled table, are made again.
func TestConflictsAreWaitedFor(t *testing.T) {
	db := dynamotest.Start(t)
	for reasons, want := range map[string]int64{
		`{"Code":"TransactionConflict"}`: 2, `{"Code":"None"},{"Code":"ThrottlingError"}`: 2,
		`{"Code":"ProvisionedThroughputExceeded"}`:                     2,
		`{"Code":"ThrottlingError"},{"Code":"ConditionalCheckFailed"}`: 1, `{"Code":"ValidationError"}`: 1,
	} {
		var attempts atomic.Int64
		options := db.Options()
		options.HTTPClient = respondWith(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") && attempts.Add(1) == 1 {
				return dynamotest.Respond(http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#`+
					`TransactionCanceledException","CancellationReasons":[`+reasons+`]}`), nil
			}
			return http.DefaultClient.Do(r)
		})
		writes := []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String(table), Item: key("0")}},
			{Put: &types.Put{TableName: aws.String(table), Item: key("1")}},
		}
		_, err := dynamo.Transact(t.Context(), dynamodb.New(options), writes)
		if (err == nil) != (want == 2) || attempts.Load() != want {
			t.Errorf("canceled for %s: %d attempts, %v; want %d", reasons, attempts.Load(), err, want)
		}
	}
}

func TestConditionFailed(t *testing.T) {
	db := dynamotest.Start(t)
	put := func(condition string) error {
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String(table), Item: key("0"), ConditionExpression: aws.String(condition),
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	}
	if current, failed := dynamo.ConditionFailed(put("attribute_exists(part)")); !failed || current != nil {
		t.Errorf("write to a missing item: current %v, failed %t; want no item and true", current, failed)
	}
	if _, failed := dynamo.ConditionFailed(put("attribute_not_exists(part)")); failed {
		t.Error("a write that succeeded is reported as failed")
	}
	if current, failed := dynamo.ConditionFailed(put("attribute_not_exists(part)")); !failed || len(current) != 2 {
		t.Errorf("write to an existing item: current %v, failed %t; want the item and true", current, failed)
	}
}

// A caller that found no key, and whose candidate comes after that of another caller, gets the other one's.
func TestLatePagingKeyIsNotTaken(t *testing.T) {
	var reads atomic.Int64
	options := dynamotest.Start(t).Options()
	first, err := dynamo.LoadPagingKey(t.Context(), dynamodb.New(options), table, []byte("first"))
	if err != nil || string(first) != "first" {
		t.Fatalf("the key is %q, %v, want the first candidate", first, err)
	}
	options.HTTPClient = respondWith(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "GetItem") && reads.Add(1) == 1 {
			return dynamotest.Respond(http.StatusOK, "{}"), nil
		}
		return http.DefaultClient.Do(r)
	})
	late, err := dynamo.LoadPagingKey(t.Context(), dynamodb.New(options), table, []byte("late"))
	if err != nil || string(late) != "first" || reads.Load() != 2 {
		t.Errorf("after %d reads the key is %q, %v, want 2 and the first candidate", reads.Load(), late, err)
	}
}

func TestTimes(t *testing.T) {
	for _, want := range []time.Time{{}, time.Date(2026, 11, 26, 8, 15, 0, 1, time.UTC),
		time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} {
		got, err := dynamo.ParseTime(dynamo.FormatTime(want))
		if err != nil || !got.Equal(want) {
			t.Errorf("%v became %q and then %v, %v", want, dynamo.FormatTime(want), got, err)
		}
	}
	errtest.Fails(t, "ParseTime accepted a text that is not a time", errtest.Of(dynamo.ParseTime("yesterday")))
}
