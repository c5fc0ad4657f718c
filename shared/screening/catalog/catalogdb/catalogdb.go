// Package catalogdb keeps versions and pointers of watchlists in DynamoDB.
package catalogdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

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
	table dynamo.Table
	// pinned are versions that are known to be pinned.
	pinned sync.Map
}

var (
	_ catalog.Store  = (*Store)(nil)
	_ catalog.Pinner = (*Store)(nil)
)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store {
	return &Store{table: dynamo.Table{DB: db, Name: table}}
}

const (
	listPart  = "list#"
	ownersKey = "owners"
	ownerPart = "owner#"
)

func versionKey(v catalog.VersionRef) dynamo.Item {
	return dynamo.Key(v.Owner, versionsPart(v.List)+v.Version)
}

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
	for item, err := range s.table.All(ctx, owner, prefix) {
		if err != nil {
			return nil, err
		}
		var row Row
		if err := attributevalue.UnmarshalMap(item, &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// get reads a row. It returns catalog.ErrNotFound if there is none.
func get[Row any](ctx context.Context, s *Store, owner, part string) (Row, error) {
	var row Row
	item, err := s.table.Get(ctx, dynamo.Key(owner, part))
	switch {
	case err != nil:
		return row, fmt.Errorf("read watchlist: %w", err)
	case item == nil:
		return row, catalog.ErrNotFound
	}
	return row, attributevalue.UnmarshalMap(item, &row)
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
	maps.Copy(item, dynamo.Key(p.Owner, listPart+p.List))
	put := s.table.Put(item, "revision = :previous", dynamo.Item{":previous": dynamo.Number(p.Revision - 1)})
	if p.Revision <= 1 {
		put = s.table.Put(item, dynamo.Absent, nil)
		owner := s.table.Put(dynamo.Key(ownersKey, ownerPart+p.Owner), "", nil)
		if err := s.table.Apply(ctx, "add the owner of a watchlist", owner); err != nil {
			return err
		}
	}
	return s.table.Apply(ctx, "move watchlist", put.Or(catalog.ErrChanged))
}

// AddVersion implements catalog.Store.
func (s *Store) AddVersion(ctx context.Context, v catalog.Version) error {
	item, err := attributevalue.MarshalMap(newVersionRow(v))
	if err != nil {
		return err
	}
	maps.Copy(item, versionKey(v.VersionRef))
	err = s.table.Apply(ctx, "add version of a watchlist", s.table.Put(item, dynamo.Absent, nil))
	if errors.Is(err, dynamo.ErrRefused) {
		err = s.importAgain(ctx, v)
	}
	return err
}

// importAgain records another import of a version, and its indexes.
func (s *Store) importAgain(ctx context.Context, v catalog.Version) error {
	update := "REMOVE condemned_at SET imported_at = :at, imported_by = :by, #file = :file"
	values := dynamo.Item{
		":at": dynamo.String(dynamo.FormatTime(v.ImportedAt)), ":by": dynamo.String(v.ImportedBy),
		":file": dynamo.String(v.File),
	}
	for i, format := range slices.Sorted(maps.Keys(v.Indexes)) {
		index, err := attributevalue.Marshal(indexRow(v.Indexes[format]))
		if err != nil {
			return err
		}
		values[fmt.Sprint(":f", i)] = index
		update += fmt.Sprintf(", #indexes.#%s = :f%d", format, i)
	}
	return s.table.Apply(ctx, "add version of a watchlist", s.table.Update(versionKey(v.VersionRef), update,
		dynamo.Present+" AND attribute_not_exists(removing)", values).Or(catalog.ErrChanged))
}
