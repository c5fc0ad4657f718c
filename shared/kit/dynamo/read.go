package dynamo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

// Get reads the item of a key as of every write acknowledged before; nil if it does not exist.
func Get(ctx context.Context, db *dynamodb.Client, table string, key Item) (Item, error) {
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// Query yields all items of a query in their order. It reads a page when the items of the one before it are used up,
// and ends after an error.
func Query(ctx context.Context, db *dynamodb.Client, query *dynamodb.QueryInput) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		pages := dynamodb.NewQueryPaginator(db, query)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

const (
	// MaxGetKeys is the largest number of keys in one BatchGetItem call (a limit of DynamoDB).
	MaxGetKeys = 100
	// MaxPutItems is the largest number of items in one BatchWriteItem call (a limit of DynamoDB).
	MaxPutItems = 25
	// Concurrency is how many batch calls one GetAll or PutAll has under way at once.
	Concurrency = 8
)

// GetAll reads the items of the given keys, which must be distinct, as of every write acknowledged before. Keys without
// an item are left out; the result is not in the order of the keys. It reads only the named attributes, or whole items
// if none is named. It asks again for items that a throttled table leaves unprocessed, until the context ends.
func GetAll(ctx context.Context, db *dynamodb.Client, table string, keys []Item, attributes ...string) ([]Item, error) {
	pages := slices.Collect(slices.Chunk(keys, MaxGetKeys))
	results := make([][]Item, len(pages))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Concurrency)
	for i, page := range pages {
		g.Go(func() (err error) {
			results[i], err = getPage(ctx, db, table, page, attributes)
			return err
		})
	}
	err := g.Wait()
	return slices.Concat(results...), err
}

// getPage is GetAll for at most MaxGetKeys keys.
func getPage(ctx context.Context, db *dynamodb.Client, table string, keys []Item, attributes []string) ([]Item, error) {
	request := types.KeysAndAttributes{Keys: keys, ConsistentRead: aws.Bool(true)}
	if len(attributes) > 0 {
		request.ProjectionExpression, request.ExpressionAttributeNames = projection(attributes)
	}
	var items []Item
	err := retry(ctx, func() (bool, error) {
		out, err := db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{table: request},
		})
		if err != nil {
			return isThrottled(err), err
		}
		items = append(items, out.Responses[table]...)
		request.Keys = out.UnprocessedKeys[table].Keys
		return len(request.Keys) > 0, nil
	})
	return items, err
}

// projection names attributes by placeholders, because some of their names are words that DynamoDB reserves.
func projection(attributes []string) (*string, map[string]string) {
	names := make(map[string]string, len(attributes))
	placeholders := make([]string, len(attributes))
	for i, name := range attributes {
		placeholders[i] = "#a" + strconv.Itoa(i)
		names[placeholders[i]] = name
	}
	return aws.String(strings.Join(placeholders, ", ")), names
}

// PutAll stores items whose keys are distinct, replacing those that exist. It sends again the items that a throttled
// table leaves unprocessed, until the context ends. After an error any of the items may be stored; repeating the call
// is safe.
func PutAll(ctx context.Context, db *dynamodb.Client, table string, items []Item) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Concurrency)
	for page := range slices.Chunk(items, MaxPutItems) {
		g.Go(func() error {
			_, err := PutPage(ctx, db, table, page)
			return err
		})
	}
	return g.Wait()
}

// PutPage is PutAll for at most MaxPutItems items. It returns how many times the table refused an item.
func PutPage(ctx context.Context, db *dynamodb.Client, table string, items []Item) (refused int, err error) {
	requests := make([]types.WriteRequest, len(items))
	for i, item := range items {
		requests[i].PutRequest = &types.PutRequest{Item: item}
	}
	err = retry(ctx, func() (bool, error) {
		out, err := db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{table: requests},
		})
		if err == nil {
			requests = out.UnprocessedItems[table]
			refused += len(requests)
			return len(requests) > 0, nil
		}
		if !isThrottled(err) {
			return false, err
		}
		refused += len(requests)
		return true, err
	})
	return refused, err
}

// LoadPagingKey returns the key that seals page tokens, from a table whose key is owner and part. If the table has none
// yet, the candidate is stored: of callers at the same time one's candidate becomes the key, and all get that one.
func LoadPagingKey(ctx context.Context, db *dynamodb.Client, table string, candidate []byte) ([]byte, error) {
	return LoadPagingKeyAt(ctx, db, table, "owner", candidate)
}

// LoadPagingKeyAt is LoadPagingKey for a table whose partition key has another name.
func LoadPagingKeyAt(ctx context.Context, db *dynamodb.Client, table, partitionKey string, candidate []byte) ([]byte,
	error) {
	t := Table{db, table}
	key := Item{partitionKey: String("paging"), "part": String("key")}
	item, err := t.Get(ctx, key)
	if err == nil && item == nil {
		row := maps.Clone(key)
		row["body"] = Binary(candidate)
		err = t.Apply(ctx, "store", t.Put(row, "attribute_not_exists(#"+partitionKey+")", nil).Or(nil))
		if err == nil {
			item, err = t.Get(ctx, key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load paging key: %w", err)
	}
	body := BinaryAttribute(item, "body")
	if body == nil {
		return nil, errors.New("load paging key: the row has no body")
	}
	return body, nil
}
