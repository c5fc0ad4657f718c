package screeningdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// visitsPerShard is the number of batches of one shard that one call of EachSearching visits.
const visitsPerShard = 100

// shard returns the partition key of the index searching under which a batch is: the last digit of its ID, which is
// random.
func shard(id string) string {
	if id == "" {
		return dynamo.Shards[:1]
	}
	return id[len(id)-1:]
}

// EachSearching implements screening.Store. It reads the shards of the index in random order.
func (s *Store) EachSearching(ctx context.Context, before time.Time, visit func(tenant, batchID string) error) error {
	for item, err := range s.table.Due(ctx, "searching", "", visitsPerShard, before) {
		if err != nil {
			return fmt.Errorf("list searching batches: %w", err)
		}
		owner := dynamo.StringAttribute(item, "owner")
		tenant, id, ok := strings.Cut(owner, "#batch#")
		if !ok {
			return fmt.Errorf("list searching batches: the key %q is not a batch's", owner)
		}
		if err := visit(tenant, id); err != nil {
			return err
		}
	}
	return nil
}

// Postpone implements screening.Store. It sets look_at, on the condition that the batch is in the index.
func (s *Store) Postpone(ctx context.Context, tenant, id string, at time.Time) error {
	err := s.table.Apply(ctx, "postpone screening batch", s.table.Update(batchKey(tenant, id), "SET look_at = :at",
		"attribute_exists(searching)", dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}))
	if errors.Is(err, dynamo.ErrRefused) {
		return nil // it has ended
	}
	return err
}

// GetSearch implements screening.Store.
func (s *Store) GetSearch(ctx context.Context, tenant, batchID, provider string) (screening.Search, error) {
	row, err := s.read(ctx, searchKey(tenant, batchID, provider))
	if err == nil && row == nil {
		err = screening.ErrNotFound
	}
	if err != nil {
		return screening.Search{}, err
	}
	search := screening.Search{BatchID: batchID, ProviderID: provider, Run: int(dynamo.NumberAttribute(row, "run")),
		Token: dynamo.StringAttribute(row, "token")}
	if text := dynamo.StringAttribute(row, "asked_at"); text != "" {
		search.AskedAt, err = dynamo.ParseTime(text)
	}
	return search, err
}

// SaveSearch implements screening.Store.
func (s *Store) SaveSearch(ctx context.Context, tenant string, search screening.Search) error {
	item := searchKey(tenant, search.BatchID, search.ProviderID)
	item["run"], item["token"] = dynamo.Number(int64(search.Run)), dynamo.String(search.Token)
	if !search.AskedAt.IsZero() {
		item["asked_at"] = dynamo.String(dynamo.FormatTime(search.AskedAt))
	}
	put := s.table.Put(item, dynamo.Absent+" OR #run <= :run", dynamo.Item{":run": dynamo.Number(int64(search.Run))})
	return s.table.Apply(ctx, "save search", put.Or(screening.ErrChanged))
}

var _ adapter.UploadStore = (*Store)(nil)

// uploadRetention is how long the row of an upload is kept after the upload has expired.
const uploadRetention = 24 * time.Hour

func uploadKey(tenant, id string) dynamo.Item { return key(tenant, "uploads", "upload#"+id) }

// CreateUpload implements adapter.UploadStore.
func (s *Store) CreateUpload(ctx context.Context, u adapter.Upload) error {
	item := uploadKey(u.Tenant, u.ID)
	item["created_at"], item["created_by"] = dynamo.String(dynamo.FormatTime(u.CreatedAt)), dynamo.String(u.CreatedBy)
	item["valid_until"] = dynamo.String(dynamo.FormatTime(u.Expires))
	item["expires"] = dynamo.Number(u.Expires.Add(uploadRetention).Unix())
	item["unused"] = dynamo.String(u.Tenant)
	return s.table.Apply(ctx, "create upload of a response", s.table.Put(item, dynamo.Absent, nil))
}

// CountOpenUploads implements adapter.UploadStore. It reads the index open, which has those that no message has used.
func (s *Store) CountOpenUploads(ctx context.Context, tenant string, enough int64, now time.Time) (int64, error) {
	var found int64
	query := s.table.SelectIn("open", "unused = :tenant AND valid_until > :now",
		dynamo.Item{":tenant": dynamo.String(tenant), ":now": dynamo.String(dynamo.FormatTime(now))})
	for _, err := range s.table.Query(ctx, query) {
		if err != nil {
			return 0, fmt.Errorf("count open uploads of responses: %w", err)
		}
		if found++; found >= enough {
			break
		}
	}
	return found, nil
}

// GetUpload implements adapter.UploadStore.
func (s *Store) GetUpload(ctx context.Context, tenant, id string) (adapter.Upload, error) {
	row, err := s.read(ctx, uploadKey(tenant, id))
	if err == nil && row == nil {
		err = adapter.ErrNoUpload
	}
	if err != nil {
		return adapter.Upload{}, err
	}
	u := adapter.Upload{Tenant: tenant, ID: id, CreatedBy: dynamo.StringAttribute(row, "created_by"),
		UsedBy: dynamo.StringAttribute(row, "used_by")}
	if u.CreatedAt, err = dynamo.ParseTime(dynamo.StringAttribute(row, "created_at")); err != nil {
		return adapter.Upload{}, fmt.Errorf("read upload of a response: %w", err)
	}
	if u.Expires, err = dynamo.ParseTime(dynamo.StringAttribute(row, "valid_until")); err != nil {
		return adapter.Upload{}, fmt.Errorf("read upload of a response: %w", err)
	}
	return u, nil
}

// UseUpload implements adapter.UploadStore.
func (s *Store) UseUpload(ctx context.Context, tenant, id, message string) error {
	stored, err := s.table.Exchange(ctx, "use upload of a response", s.table.Update(uploadKey(tenant, id),
		"SET used_by = :message REMOVE unused",
		dynamo.Present+" AND (attribute_not_exists(used_by) OR used_by = :message)",
		dynamo.Item{":message": dynamo.String(message)}).Or(adapter.ErrUploadUsed))
	if errors.Is(err, adapter.ErrUploadUsed) && len(stored) == 0 {
		return adapter.ErrNoUpload
	}
	return err
}
