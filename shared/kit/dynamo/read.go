package dynamo

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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
