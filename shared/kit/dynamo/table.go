package dynamo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is the table of a store. In the expressions of its methods an attribute has its own name, with # before it if
// DynamoDB reserves the name; a value has a name with : before it, as in the values beside the expression.
type Table struct {
	DB   *dynamodb.Client
	Name string
}

// Conditions of writes to tables with the keys owner and part: that the key has no item, or that it has one.
const (
	Absent  = "attribute_not_exists(part)"
	Present = "attribute_exists(part)"
)

// Key returns a key of a table with the keys owner and part.
func Key(owner, part string) Item { return Item{"owner": String(owner), "part": String(part)} }

// Get reads the item of a key as of every write acknowledged before; nil if it does not exist.
func (t Table) Get(ctx context.Context, key Item) (Item, error) { return Get(ctx, t.DB, t.Name, key) }

// GetAll reads the items of distinct keys, as the function GetAll does.
func (t Table) GetAll(ctx context.Context, keys []Item, attributes ...string) ([]Item, error) {
	return GetAll(ctx, t.DB, t.Name, keys, attributes...)
}

// Select returns the query of the items whose keys meet a condition, as of every write acknowledged before.
func (t Table) Select(condition string, values Item) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName: &t.Name, ConsistentRead: aws.Bool(true), KeyConditionExpression: &condition,
		ExpressionAttributeNames: NamesIn(condition), ExpressionAttributeValues: values,
	}
}

// SelectIn is Select in an index, in which the latest writes may be missing.
func (t Table) SelectIn(index, condition string, values Item) *dynamodb.QueryInput {
	query := t.Select(condition, values)
	query.IndexName, query.ConsistentRead = &index, nil
	return query
}

// Query yields the items of a query, as the function Query does.
func (t Table) Query(ctx context.Context, query *dynamodb.QueryInput) iter.Seq2[Item, error] {
	return Query(ctx, t.DB, query)
}

// Shards are the ends of the partition keys of an index whose items are spread, so that no partition takes all writes.
const Shards = "0123456789abcdef"

// Due yields items of an index whose partition key has the index's name, and its sort key the name look_at: of each
// partition key that is a prefix and a shard, in random order, at most limit that are to be looked at before a time.
func (t Table) Due(ctx context.Context, index, prefix string, limit int32, before time.Time) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, i := range rand.Perm(len(Shards)) {
			query := t.SelectIn(index, index+" = :shard AND look_at < :before",
				Item{":shard": String(prefix + Shards[i:i+1]), ":before": String(FormatTime(before))})
			query.Limit = &limit
			out, err := t.DB.Query(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range out.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// Begins returns the query of the items of an owner whose parts begin with a prefix, in the order of the parts, for a
// table with the keys owner and part.
func (t Table) Begins(owner, prefix string) *dynamodb.QueryInput {
	return t.Select("#owner = :owner AND begins_with(part, :prefix)",
		Item{":owner": String(owner), ":prefix": String(prefix)})
}

// All yields the items that Begins queries.
func (t Table) All(ctx context.Context, owner, prefix string) iter.Seq2[Item, error] {
	return Query(ctx, t.DB, t.Begins(owner, prefix))
}

// Page reads at most limit of the items that Begins queries, after a part unless that is "", and returns the part after
// which the next page begins, "" after the last one. A page may be empty and have a next one.
func (t Table) Page(ctx context.Context, owner, prefix, after string, limit int, isBackward bool) ([]Item, string,
	error) {
	query := t.Begins(owner, prefix)
	query.ScanIndexForward, query.Limit = aws.Bool(!isBackward), aws.Int32(int32(limit))
	if after != "" {
		query.ExclusiveStartKey = Key(owner, after)
	}
	out, err := t.DB.Query(ctx, query)
	if err != nil {
		return nil, "", err
	}
	return out.Items, StringAttribute(out.LastEvaluatedKey, "part"), nil
}

// InOrder reads the items of distinct keys, each of an owner and a part, in the order of the keys; nil for a key that
// has none.
func (t Table) InOrder(ctx context.Context, keys []Item) ([]Item, error) {
	type place struct{ owner, part string }
	placeOf := func(item Item) place {
		return place{StringAttribute(item, "owner"), StringAttribute(item, "part")}
	}
	items, err := GetAll(ctx, t.DB, t.Name, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[place]Item, len(items))
	for _, item := range items {
		found[placeOf(item)] = item
	}
	ordered := make([]Item, len(keys))
	for i, k := range keys {
		ordered[i] = found[placeOf(k)]
	}
	return ordered, nil
}

// Write is a write of one item, alone or as a part of a transaction.
type Write struct {
	types.TransactWriteItem
	refused error
}

// ErrRefused is the error of a write whose condition does not hold, unless Or has given it another one.
var ErrRefused = errors.New("dynamo: the condition of a write does not hold")

// Or returns the write with the error that is returned if its condition does not hold; nil if that is no error.
func (w Write) Or(refused error) Write {
	w.refused = refused
	return w
}

// Put returns the write of an item on a condition, "" for none, with the values that the condition names.
func (t Table) Put(item Item, condition string, values Item) Write {
	return Write{types.TransactWriteItem{Put: &types.Put{
		TableName: &t.Name, Item: item, ConditionExpression: optional(condition),
		ExpressionAttributeNames: NamesIn(condition), ExpressionAttributeValues: values,
	}}, ErrRefused}
}

// Update returns the update of an item on a condition, "" for none, with the values that both name.
func (t Table) Update(key Item, update, condition string, values Item) Write {
	return Write{types.TransactWriteItem{Update: &types.Update{
		TableName: &t.Name, Key: key, UpdateExpression: &update, ConditionExpression: optional(condition),
		ExpressionAttributeNames: NamesIn(update, condition), ExpressionAttributeValues: values,
	}}, ErrRefused}
}

// Delete returns the deletion of an item on a condition, "" for none.
func (t Table) Delete(key Item, condition string, values Item) Write {
	return Write{types.TransactWriteItem{Delete: &types.Delete{
		TableName: &t.Name, Key: key, ConditionExpression: optional(condition),
		ExpressionAttributeNames: NamesIn(condition), ExpressionAttributeValues: values,
	}}, ErrRefused}
}

// Check returns the part of a transaction that requires a condition on an item which the transaction does not write.
func (t Table) Check(key Item, condition string, values Item) Write {
	return Write{types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &t.Name, Key: key, ConditionExpression: &condition,
		ExpressionAttributeNames: NamesIn(condition), ExpressionAttributeValues: values,
	}}, ErrRefused}
}

// Apply makes a write by itself, after the transactions of others on the item. Other errors than that of a condition
// say what was done, such as "create provider".
func (t Table) Apply(ctx context.Context, doing string, w Write) error {
	_, err := t.apply(ctx, doing, w, false)
	return err
}

// Exchange is Apply for a caller who needs the item: the one after an update or, if the condition does not hold, the
// one that the write met, nil if there was none.
func (t Table) Exchange(ctx context.Context, doing string, w Write) (Item, error) {
	return t.apply(ctx, doing, w, true)
}

func (t Table) apply(ctx context.Context, doing string, w Write, needsItem bool) (item Item, err error) {
	var after types.ReturnValue
	var met types.ReturnValuesOnConditionCheckFailure
	if needsItem {
		after, met = types.ReturnValueAllNew, types.ReturnValuesOnConditionCheckFailureAllOld
	}
	err = RetryConflicts(ctx, func() (err error) {
		switch {
		case w.Put != nil:
			_, err = t.DB.PutItem(ctx, &dynamodb.PutItemInput{
				TableName: w.Put.TableName, Item: w.Put.Item, ConditionExpression: w.Put.ConditionExpression,
				ExpressionAttributeNames:            w.Put.ExpressionAttributeNames,
				ExpressionAttributeValues:           w.Put.ExpressionAttributeValues,
				ReturnValuesOnConditionCheckFailure: met,
			})
		case w.Update != nil:
			var out *dynamodb.UpdateItemOutput
			if out, err = t.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: w.Update.TableName, Key: w.Update.Key, UpdateExpression: w.Update.UpdateExpression,
				ConditionExpression:       w.Update.ConditionExpression,
				ExpressionAttributeNames:  w.Update.ExpressionAttributeNames,
				ExpressionAttributeValues: w.Update.ExpressionAttributeValues,
				ReturnValues:              after, ReturnValuesOnConditionCheckFailure: met,
			}); err == nil {
				item = out.Attributes
			}
		default:
			_, err = t.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: w.Delete.TableName, Key: w.Delete.Key, ConditionExpression: w.Delete.ConditionExpression,
				ExpressionAttributeNames:  w.Delete.ExpressionAttributeNames,
				ExpressionAttributeValues: w.Delete.ExpressionAttributeValues,
			})
		}
		return err
	})
	if item, failed := ConditionFailed(err); failed {
		return item, w.refused
	}
	return item, during(doing, err)
}

// Transact makes all writes or none, as the function Transact does. If conditions do not hold, the error is that of the
// first of their writes.
func (t Table) Transact(ctx context.Context, doing string, writes ...Write) error {
	items := make([]types.TransactWriteItem, len(writes))
	for i, w := range writes {
		items[i] = w.TransactWriteItem
	}
	failed, err := Transact(ctx, t.DB, items)
	for i, w := range writes {
		if failed[i] {
			return w.refused
		}
	}
	return during(doing, err)
}

func during(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// optional returns nil for "".
func optional(expression string) *string {
	if expression == "" {
		return nil
	}
	return &expression
}

// placeholder matches the name of an attribute that DynamoDB reserves.
var placeholder = regexp.MustCompile(`#\w+`)

// NamesIn returns the names of attributes by their placeholders in expressions, nil if they have none.
func NamesIn(expressions ...string) (names map[string]string) {
	for _, expression := range expressions {
		for _, name := range placeholder.FindAllString(expression, -1) {
			if names == nil {
				names = map[string]string{}
			}
			names[name] = name[1:]
		}
	}
	return names
}
