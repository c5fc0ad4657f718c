package documentdb

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"sluice/shared/kit/dynamo"
	"sluice/shared/platform/document"
)

// untilScanned is the time until which a file counts as open that is uploaded: it is later than all others.
const untilScanned = "9999"

// visitsPerShard is the number of files of one shard that one call of EachWaiting visits.
const visitsPerShard = 100

// waitingShard returns the partition key of the index waiting under which a file is, by a hash of its ID.
func waitingShard(id string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(id))
	return string(dynamo.Shards[sum.Sum32()%uint32(len(dynamo.Shards))])
}

// createFile returns the write that stores the new file of its first document, which expects it from now on. The client
// that may upload it is the one that has changed the document last.
func (s *Store) createFile(d document.Document, now time.Time) dynamo.Write {
	item := fileKey(d.Tenant, d.FileID)
	item["documents"], item["client"] = dynamo.Number(1), dynamo.String(d.UpdatedBy)
	item["waiting"], item["since"] = dynamo.String(waitingShard(d.FileID)), dynamo.String(dynamo.FormatTime(now))
	item["look_at"] = item["since"]
	item["unscanned"], item["bytes"] = dynamo.String(d.Tenant), dynamo.Number(d.FileLimit)
	item["open_until"] = dynamo.String(dynamo.FormatTime(now.Add(document.OpenFor)))
	return s.table.Put(item, dynamo.Absent, nil)
}

// shareFile returns the write by which one more document shares a file.
func (s *Store) shareFile(tenant, id string) dynamo.Write {
	return s.table.Update(fileKey(tenant, id), "SET documents = documents + :one",
		dynamo.Present+" AND attribute_not_exists(going)", dynamo.Item{":one": dynamo.Number(1)})
}

// removeReference returns the write by which one document fewer shares a file, or by which the file's record is deleted
// with its last document.
func (s *Store) removeReference(tenant, id string, last bool) dynamo.Write {
	if last {
		return s.table.Delete(fileKey(tenant, id), "attribute_exists(going)", nil).Or(document.ErrChanged)
	}
	return s.table.Update(fileKey(tenant, id), "SET documents = documents - :one", "documents > :one",
		dynamo.Item{":one": dynamo.Number(1)}).Or(document.ErrChanged)
}

// ReleaseFile implements document.Store.
func (s *Store) ReleaseFile(ctx context.Context, d document.Document) (bool, error) {
	if d.FileID == "" {
		return false, nil
	}
	err := s.table.Apply(ctx, "release file", s.table.Update(fileKey(d.Tenant, d.FileID),
		"SET going = :yes REMOVE waiting, look_at, unscanned", "documents = :one",
		dynamo.Item{":one": dynamo.Number(1), ":yes": dynamo.Bool(true)}))
	if errors.Is(err, dynamo.ErrRefused) {
		return false, nil
	}
	return err == nil, err
}

// ReplaceFile implements document.Store.
func (s *Store) ReplaceFile(ctx context.Context, d document.Document, previous string, last bool) (document.Document,
	error) {
	version := d.Version
	d.Version++
	item, err := marshalDocument(d)
	if err != nil {
		return document.Document{}, err
	}
	if err := s.table.Transact(ctx, "replace file", s.putChanged(item, version), s.createFile(d, d.UpdatedAt),
		s.removeReference(d.Tenant, previous, last)); err != nil {
		return document.Document{}, err
	}
	return d, nil
}

// RecordScan implements document.Store.
func (s *Store) RecordScan(ctx context.Context, tenant, file string, outcome document.State) error {
	body, err := marshalState(outcome)
	if err != nil {
		return err
	}
	current, err := s.table.Exchange(ctx, "record scan", s.table.Update(fileKey(tenant, file),
		"SET outcome = :outcome REMOVE waiting, look_at, unscanned", dynamo.Present+
			" AND attribute_not_exists(going) AND (attribute_not_exists(outcome) OR outcome = :outcome)",
		dynamo.Item{":outcome": dynamo.String(body)}).Or(document.ErrScanRecorded))
	if errors.Is(err, document.ErrScanRecorded) && (current == nil || current["going"] != nil) {
		return document.ErrNotFound
	}
	return err
}

// Measure implements document.Store.
func (s *Store) Measure(ctx context.Context, tenant, file string, bytes int64) error {
	return s.table.Apply(ctx, "measure file", s.table.Update(fileKey(tenant, file),
		"SET bytes = :bytes, open_until = :scan", "attribute_exists(unscanned)",
		dynamo.Item{":bytes": dynamo.Number(bytes), ":scan": dynamo.String(untilScanned)}).Or(nil))
}

// Uploader implements document.Store.
func (s *Store) Uploader(ctx context.Context, tenant, file string) (string, error) {
	item, err := s.table.Get(ctx, fileKey(tenant, file))
	if err != nil {
		return "", fmt.Errorf("read file: %w", err)
	}
	if item == nil {
		return "", document.ErrNotFound
	}
	return dynamo.StringAttribute(item, "client"), nil
}

// EachWaiting implements document.Store. It reads the index waiting, the shards in random order.
func (s *Store) EachWaiting(ctx context.Context, before time.Time, visit func(document.WaitingFile) error) error {
	for item, err := range s.table.Due(ctx, "waiting", "", visitsPerShard, before) {
		if err != nil {
			return fmt.Errorf("list waiting files: %w", err)
		}
		tenant, id, _ := strings.Cut(dynamo.StringAttribute(item, "owner"), "#file#")
		since, err := dynamo.ParseTime(dynamo.StringAttribute(item, "since"))
		if err != nil {
			return fmt.Errorf("read waiting file: %w", err)
		}
		if err := visit(document.WaitingFile{Tenant: tenant, ID: id, Since: since}); err != nil {
			return err
		}
	}
	return nil
}

// Postpone implements document.Store.
func (s *Store) Postpone(ctx context.Context, f document.WaitingFile, at time.Time) error {
	return s.table.Apply(ctx, "postpone file", s.table.Update(fileKey(f.Tenant, f.ID), "SET look_at = :at",
		"attribute_exists(waiting)", dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}).Or(nil))
}

// CountOpen implements document.Store. It reads the index open: there is no counter beside the files that could differ
// from them.
func (s *Store) CountOpen(ctx context.Context, tenant string, enough document.Open, now time.Time) (document.Open,
	error) {
	var found document.Open
	query := s.table.SelectIn("open", "unscanned = :tenant AND open_until > :now",
		dynamo.Item{":tenant": dynamo.String(tenant), ":now": dynamo.String(dynamo.FormatTime(now))})
	for item, err := range s.table.Query(ctx, query) {
		if err != nil {
			return document.Open{}, fmt.Errorf("count open files: %w", err)
		}
		found.Files++
		found.Bytes += dynamo.NumberAttribute(item, "bytes")
		if enough.Files > 0 && found.Files >= enough.Files || enough.Bytes > 0 && found.Bytes >= enough.Bytes {
			break
		}
	}
	return found, nil
}
