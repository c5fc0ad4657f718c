// Package documentdb keeps documents and their files in DynamoDB.
package documentdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"sluice/shared/kit/dynamo"
	"sluice/shared/platform/document"
)

// Store is the document.Store. Its table has the keys owner and part, with the rows
//
//	<tenant>#document#<id>      document              a document as JSON, its version
//	<tenant>#file#<id>          file                  a file: the outcome of its scan as JSON, how many documents
//	                                                  share it, and whether it is about to be deleted
//	                                                  ("going"). The index waiting (waiting / look_at) has
//	                                                  those whose scan has no outcome, and the index open
//	                                                  (unscanned / open_until) the same by tenant, with
//	                                                  their largest size
//	<tenant>#group#<n>#<scope>  <creation time>#<id>  the ID of a document: one row for each list that it belongs to
//	paging                      key                   the key that seals page tokens
//
// Lists are rows and not an index, because a read must see every acknowledged write.
type Store struct{ table dynamo.Table }

var _ document.Store = (*Store)(nil)

// New returns the store on the given table.
func New(db *dynamodb.Client, table string) *Store { return &Store{dynamo.Table{DB: db, Name: table}} }

// Create implements document.Store.
func (s *Store) Create(ctx context.Context, d document.Document, shared bool) error {
	d.Version = 1
	item, err := marshalDocument(d)
	if err != nil {
		return err
	}
	writes := []dynamo.Write{s.table.Put(item, dynamo.Absent, nil).Or(document.ErrExists)}
	for _, row := range listKeys(d) {
		row["document"] = dynamo.String(d.ID)
		writes = append(writes, s.table.Put(row, "", nil))
	}
	switch {
	case d.FileID != "" && shared:
		writes = append(writes, s.shareFile(d.Tenant, d.FileID).Or(document.ErrNotFound))
	case d.FileID != "":
		writes = append(writes, s.createFile(d, d.CreatedAt))
	}
	return s.table.Transact(ctx, "create document", writes...)
}

// Get implements document.Store.
func (s *Store) Get(ctx context.Context, tenant, id string) (document.Document, document.File, error) {
	found, err := s.read(ctx, tenant, []string{id})
	if err != nil {
		return document.Document{}, document.File{}, fmt.Errorf("get document: %w", err)
	}
	if len(found) == 0 {
		return document.Document{}, document.File{}, document.ErrNotFound
	}
	return found[0].Document, found[0].StoredFile, nil
}

// Save implements document.Store.
func (s *Store) Save(ctx context.Context, d document.Document) (document.Document, error) {
	previous := d.Version
	d.Version++
	item, err := marshalDocument(d)
	if err != nil {
		return document.Document{}, err
	}
	current, err := s.table.Exchange(ctx, "save document", s.putChanged(item, previous))
	switch {
	case errors.Is(err, document.ErrChanged) && current == nil:
		return document.Document{}, document.ErrNotFound
	case err != nil:
		return document.Document{}, err
	}
	return d, nil
}

// putChanged returns the write of a document, on the condition that it has the previous version.
func (s *Store) putChanged(item dynamo.Item, previous int64) dynamo.Write {
	return s.table.Put(item, "version = :version", dynamo.Item{":version": dynamo.Number(previous)}).
		Or(document.ErrChanged)
}

// Delete implements document.Store.
func (s *Store) Delete(ctx context.Context, d document.Document, last bool) error {
	writes := []dynamo.Write{s.table.Delete(documentKey(d.Tenant, d.ID), "version = :version",
		dynamo.Item{":version": dynamo.Number(d.Version)}).Or(document.ErrChanged)}
	for _, key := range listKeys(d) {
		writes = append(writes, s.table.Delete(key, "", nil))
	}
	if d.FileID != "" {
		writes = append(writes, s.removeReference(d.Tenant, d.FileID, last))
	}
	return s.table.Transact(ctx, "delete document", writes...)
}

// List implements document.Store.
func (s *Store) List(ctx context.Context, tenant string, scope document.Scope, after string, limit int) (
	[]document.Entry, string, error) {
	limit = min(limit, dynamo.MaxGetKeys)
	query := s.listQuery(tenant, scope, after)
	query.Limit = aws.Int32(int32(limit + 1)) // one more than the page has shows whether there is another page
	out, err := s.table.DB.Query(ctx, query)
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", err)
	}
	rows := out.Items[:min(limit, len(out.Items))]
	ids, positions := make([]string, len(rows)), map[string]string{}
	for i, row := range rows {
		ids[i] = dynamo.StringAttribute(row, "document")
		positions[ids[i]] = dynamo.StringAttribute(row, "part")
	}
	page, err := s.read(ctx, tenant, ids)
	if err != nil {
		return nil, "", fmt.Errorf("list documents: %w", err)
	}
	for i := range page {
		page[i].Position = positions[page[i].ID]
	}
	next := ""
	if (out.LastEvaluatedKey != nil || len(rows) < len(out.Items)) && len(ids) > 0 {
		next = positions[ids[len(ids)-1]]
	}
	return page, next, nil
}

// Count implements document.Store.
func (s *Store) Count(ctx context.Context, tenant string, scope document.Scope, after string, limit int) (
	count int, next string, err error) {
	query := s.listQuery(tenant, scope, after)
	query.Select = types.SelectCount
	for count < limit {
		query.Limit = aws.Int32(int32(min(limit-count, math.MaxInt32)))
		out, err := s.table.DB.Query(ctx, query)
		if err != nil {
			return 0, "", fmt.Errorf("count documents: %w", err)
		}
		count += int(out.Count)
		if next = dynamo.StringAttribute(out.LastEvaluatedKey, "part"); next == "" {
			break
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return count, next, nil
}

// listQuery returns the query for the rows of a list after a position.
func (s *Store) listQuery(tenant string, scope document.Scope, after string) *dynamodb.QueryInput {
	return s.table.Select("#owner = :owner AND part > :after", dynamo.Item{
		":owner": dynamo.String(scopeOwner(tenant, scope)),
		// A key must not be empty. A space sorts before every part, and directly after the part to which it is
		// appended.
		":after": dynamo.String(after + " "),
	})
}

// PagingKey returns the key that seals page tokens, storing the candidate if no key is stored yet.
func (s *Store) PagingKey(ctx context.Context, candidate []byte) ([]byte, error) {
	return dynamo.LoadPagingKey(ctx, s.table.DB, s.table.Name, candidate)
}

// read reads documents and their files in the order of the IDs, leaving out those that do not exist.
func (s *Store) read(ctx context.Context, tenant string, ids []string) ([]document.Entry, error) {
	items, err := s.getAll(ctx, ids, func(id string) dynamo.Item { return documentKey(tenant, id) })
	if err != nil {
		return nil, err
	}
	documents := make(map[string]document.Document, len(items))
	var fileIDs []string
	for _, item := range items {
		d, err := unmarshalDocument(item)
		if err != nil {
			return nil, err
		}
		if documents[d.ID] = d; d.FileID != "" {
			fileIDs = append(fileIDs, d.FileID)
		}
	}
	slices.Sort(fileIDs)
	items, err = s.getAll(ctx, slices.Compact(fileIDs), func(id string) dynamo.Item { return fileKey(tenant, id) })
	if err != nil {
		return nil, err
	}
	files := make(map[string]document.File, len(items))
	for _, item := range items {
		f, err := unmarshalFile(item, tenant)
		if err != nil {
			return nil, err
		}
		files[f.ID] = f
	}
	entries := make([]document.Entry, 0, len(documents))
	for _, id := range ids {
		if d, ok := documents[id]; ok {
			entries = append(entries, document.Entry{Document: d, StoredFile: files[d.FileID]})
		}
	}
	return entries, nil
}

func (s *Store) getAll(ctx context.Context, ids []string, keyOf func(id string) dynamo.Item) ([]dynamo.Item, error) {
	keys := make([]dynamo.Item, len(ids))
	for i, id := range ids {
		keys[i] = keyOf(id)
	}
	return s.table.GetAll(ctx, keys)
}
