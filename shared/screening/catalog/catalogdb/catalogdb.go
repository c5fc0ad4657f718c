// Package catalogdb keeps versions and pointers of watchlists in DynamoDB.
package catalogdb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening/catalog"
)

// Store is the catalog.Store. Its table has the keys owner and part, with the rows
//
//	<owner>  list#<list>               which version of a list is current
//	<owner>  version#<list>#<version>  a version
//	owners   owner#<owner>             an owner
type Store struct {
	db    *dynamodb.Client
	table string
	// pinned are versions that are known to be pinned.
	pinned sync.Map
}

var (
	_ catalog.Store  = (*Store)(nil)
	_ catalog.Pinner = (*Store)(nil)
)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{db: db, table: table} }

func key(owner, part string) dynamo.Item {
	return dynamo.Item{"owner": dynamo.String(owner), "part": dynamo.String(part)}
}

const (
	listPart  = "list#"
	ownersKey = "owners"
	ownerPart = "owner#"
)

func versionsPart(list string) string { return "version#" + list + "#" }

// Pointers implements catalog.Reader.
func (s *Store) Pointers(ctx context.Context, owner string) ([]catalog.Pointer, error) {
	rows, err := query[pointerRow](ctx, s, owner, listPart)
	if err != nil {
		return nil, fmt.Errorf("list watchlists: %w", err)
	}
	pointers := make([]catalog.Pointer, len(rows))
	for i, row := range rows {
		if pointers[i], err = row.pointer(); err != nil {
			return nil, err
		}
	}
	return pointers, nil
}

// Versions implements catalog.Store.
func (s *Store) Versions(ctx context.Context, owner, list string) ([]catalog.Version, error) {
	rows, err := query[versionRow](ctx, s, owner, versionsPart(list))
	if err != nil {
		return nil, fmt.Errorf("list versions of a watchlist: %w", err)
	}
	versions := make([]catalog.Version, len(rows))
	for i, row := range rows {
		if versions[i], err = row.version(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(versions, func(a, b catalog.Version) int { return b.ImportedAt.Compare(a.ImportedAt) })
	return versions, nil
}

// query reads all rows of an owner whose part begins with a prefix, in the order of their parts.
func query[Row any](ctx context.Context, s *Store, owner, prefix string) ([]Row, error) {
	rows := []Row{}
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String("#owner = :owner AND begins_with(part, :prefix)"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner"},
		ExpressionAttributeValues: dynamo.Item{":owner": dynamo.String(owner), ":prefix": dynamo.String(prefix)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var row Row
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// get reads a row. It returns catalog.ErrNotFound if there is none.
func get[Row any](ctx context.Context, s *Store, owner, part string) (Row, error) {
	var row Row
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: key(owner, part), ConsistentRead: aws.Bool(true),
	})
	switch {
	case err != nil:
		return row, fmt.Errorf("read watchlist: %w", err)
	case out.Item == nil:
		return row, catalog.ErrNotFound
	}
	return row, attributevalue.UnmarshalMap(out.Item, &row)
}

// Version implements catalog.Reader.
func (s *Store) Version(ctx context.Context, ref catalog.VersionRef) (catalog.Version, error) {
	row, err := get[versionRow](ctx, s, ref.Owner, versionsPart(ref.List)+ref.Version)
	if err != nil {
		return catalog.Version{}, err
	}
	return row.version()
}

// Pointer implements catalog.Store.
func (s *Store) Pointer(ctx context.Context, owner, list string) (catalog.Pointer, error) {
	row, err := get[pointerRow](ctx, s, owner, listPart+list)
	if err != nil {
		return catalog.Pointer{}, err
	}
	return row.pointer()
}

// SavePointer implements catalog.Store.
func (s *Store) SavePointer(ctx context.Context, p catalog.Pointer) error {
	item, err := attributevalue.MarshalMap(newPointerRow(p))
	if err != nil {
		return err
	}
	maps.Copy(item, key(p.Owner, listPart+p.List))
	put := &dynamodb.PutItemInput{
		TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
	}
	if p.Revision > 1 {
		put.ConditionExpression = aws.String("revision = :previous")
		put.ExpressionAttributeValues = dynamo.Item{":previous": dynamo.Number(p.Revision - 1)}
	} else if _, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table,
		Item: key(ownersKey, ownerPart+p.Owner)}); err != nil {
		return fmt.Errorf("add the owner of a watchlist: %w", err)
	}
	_, err = s.db.PutItem(ctx, put)
	if _, failed := dynamo.ConditionFailed(err); failed {
		return catalog.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("move watchlist: %w", err)
	}
	return nil
}

// AddVersion implements catalog.Store.
func (s *Store) AddVersion(ctx context.Context, v catalog.Version) error {
	part := versionsPart(v.List) + v.Version
	item, err := attributevalue.MarshalMap(newVersionRow(v))
	if err != nil {
		return err
	}
	maps.Copy(item, key(v.Owner, part))
	_, err = s.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table, Item: item, ConditionExpression: aws.String("attribute_not_exists(part)"),
	})
	if _, failed := dynamo.ConditionFailed(err); failed {
		err = s.importAgain(ctx, v, part)
	}
	if err != nil {
		return fmt.Errorf("add version of a watchlist: %w", err)
	}
	return nil
}

// importAgain records another import of a version, and its indexes.
func (s *Store) importAgain(ctx context.Context, v catalog.Version, part string) error {
	update := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: key(v.Owner, part),
		ConditionExpression: aws.String("attribute_exists(part) AND attribute_not_exists(removing)"),
		UpdateExpression: aws.String("REMOVE condemned_at SET imported_at = :at, imported_by = :by, " +
			"#file = :file"),
		ExpressionAttributeNames: map[string]string{"#file": "file"},
		ExpressionAttributeValues: dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(v.ImportedAt)), ":by": dynamo.String(v.ImportedBy),
			":file": dynamo.String(v.File),
		},
	}
	for i, format := range slices.Sorted(maps.Keys(v.Indexes)) {
		index, err := attributevalue.Marshal(indexRow(v.Indexes[format]))
		if err != nil {
			return err
		}
		name := fmt.Sprint("#f", i)
		update.ExpressionAttributeNames["#indexes"] = "indexes"
		update.ExpressionAttributeNames[name] = format
		update.ExpressionAttributeValues[fmt.Sprint(":f", i)] = index
		update.UpdateExpression = aws.String(fmt.Sprintf("%s, #indexes.%s = :f%d", *update.UpdateExpression, name, i))
	}
	_, err := s.db.UpdateItem(ctx, update)
	if _, failed := dynamo.ConditionFailed(err); failed {
		return catalog.ErrChanged
	}
	return err
}
