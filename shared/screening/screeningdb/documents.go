package screeningdb

import (
	"context"
	"errors"
	"fmt"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
)

// documentPrefix begins the parts of the documents of an entity and its matches.
func documentPrefix(entityID string) string {
	return fmt.Sprintf("document#%d#%s#", len(entityID), entityID)
}

func documentKey(tenant string, d screening.Document) dynamo.Item {
	return key(tenant, "batch#"+d.BatchID, documentPrefix(d.EntityID)+d.MatchID+"#"+d.ID)
}

// documentCountKey is the key of the row that counts the documents of an entity and its matches in a batch. Documents
// that were stored by earlier versions of the service are counted from the next one on.
func documentCountKey(tenant string, d screening.Document) dynamo.Item {
	return key(tenant, "batch#"+d.BatchID, "documents#"+d.EntityID)
}

// AddDocument implements screening.Store.
func (s *Store) AddDocument(ctx context.Context, b screening.Batch, d screening.Document, stored int) error {
	if stored >= screening.MaxDocuments {
		return screening.ErrTooManyDocuments
	}
	item, err := marshal(documentKey(b.Tenant, d), d, 1, maxBodyBytes, errTooLarge)
	if err != nil {
		return err
	}
	return s.table.Transact(ctx, "add document",
		s.table.Put(item, dynamo.Absent, nil).Or(screening.ErrExists), s.requireVersion(b),
		s.table.Update(documentCountKey(b.Tenant, d), "SET documents = if_not_exists(documents, :stored) + :one",
			"attribute_not_exists(documents) OR documents < :most",
			dynamo.Item{":stored": dynamo.Number(int64(stored)), ":one": dynamo.Number(1),
				":most": dynamo.Number(screening.MaxDocuments)}).Or(screening.ErrTooManyDocuments))
}

// ListDocuments implements screening.Store.
func (s *Store) ListDocuments(ctx context.Context, tenant, batchID, entityID string) ([]screening.Document, error) {
	var all []screening.Document
	for item, err := range s.table.All(ctx, tenant+"#batch#"+batchID, documentPrefix(entityID)) {
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		d, err := unmarshalBody[screening.Document](item)
		if err != nil {
			return nil, err
		}
		_, d.IsBeingRemoved = item["removing"]
		all = append(all, d)
	}
	return all, nil
}

// BeginRemoval implements screening.Store.
func (s *Store) BeginRemoval(ctx context.Context, b screening.Batch, d screening.Document) error {
	return s.table.Transact(ctx, "begin removal of document",
		s.table.Update(documentKey(b.Tenant, d), "SET removing = :true", dynamo.Present,
			dynamo.Item{":true": dynamo.Bool(true)}).Or(screening.ErrNotFound),
		s.requireVersion(b))
}

// RemoveDocument implements screening.Store.
func (s *Store) RemoveDocument(ctx context.Context, tenant string, d screening.Document) error {
	err := s.table.Transact(ctx, "remove document",
		s.table.Delete(documentKey(tenant, d), dynamo.Present, nil).Or(errRemoved),
		s.table.Update(documentCountKey(tenant, d), "SET documents = documents - :one", "attribute_exists(documents)",
			dynamo.Item{":one": dynamo.Number(1)}).Or(errNotCounted))
	switch {
	case errors.Is(err, errRemoved):
		return nil
	case errors.Is(err, errNotCounted):
		return s.table.Apply(ctx, "remove document", s.table.Delete(documentKey(tenant, d), "", nil))
	}
	return err
}

// What RemoveDocument may find: that the document is not there any more, or that it was never counted.
var errRemoved, errNotCounted = errors.New("screeningdb: removed"), errors.New("screeningdb: not counted")

// GetEntities implements screening.Store.
func (s *Store) GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error) {
	keyOf := func(id string) dynamo.Item { return entityKey(tenant, batchID, id) }
	entities, err := readInOrder(ctx, s, ids, keyOf, unmarshalBody[screening.Entity])
	if err != nil {
		return nil, fmt.Errorf("read screened entities: %w", err)
	}
	return entities, nil
}

// requireVersion returns the part of a transaction that requires a batch to be as it was read.
func (s *Store) requireVersion(b screening.Batch) dynamo.Write {
	values := dynamo.Item{":version": dynamo.Number(b.Version)}
	return s.table.Check(batchKey(b.Tenant, b.ID), "version = :version", values).Or(screening.ErrChanged)
}

// SaveEntity implements screening.Store.
func (s *Store) SaveEntity(ctx context.Context, b screening.Batch, e screening.Entity) error {
	item, err := marshalEntity(b.Tenant, e)
	if err != nil {
		return err
	}
	put := s.table.Put(item, "version = :previous", dynamo.Item{":previous": dynamo.Number(e.Version - 1)})
	return s.table.Transact(ctx, "save screened entity", s.requireVersion(b), put.Or(screening.ErrChanged))
}
