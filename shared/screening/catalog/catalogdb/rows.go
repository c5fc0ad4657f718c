package catalogdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/shared/kit/dynamo"
	"sluice/shared/screening/catalog"
	"sluice/shared/screening/watchlist"
)

// pointerRow is a catalog.Pointer without the keys of its item.
type pointerRow struct {
	Owner    string      `dynamodbav:"owner"`
	List     string      `dynamodbav:"list"`
	Current  versionRow  `dynamodbav:"current"`
	Previous *versionRow `dynamodbav:"previous,omitempty"`
	MovedAt  string      `dynamodbav:"moved_at"`
	MovedBy  string      `dynamodbav:"moved_by"`
	Revision int64       `dynamodbav:"revision"`
}

func newPointerRow(p catalog.Pointer) pointerRow {
	row := pointerRow{
		Owner: p.Owner, List: p.List, Current: newVersionRow(p.Current), MovedAt: dynamo.FormatTime(p.MovedAt),
		MovedBy: p.MovedBy, Revision: p.Revision,
	}
	if p.Previous != nil {
		previous := newVersionRow(*p.Previous)
		row.Previous = &previous
	}
	return row
}

func (r pointerRow) pointer() (catalog.Pointer, error) {
	p := catalog.Pointer{Owner: r.Owner, List: r.List, MovedBy: r.MovedBy, Revision: r.Revision}
	var err, err1, err2 error
	p.MovedAt, err = dynamo.ParseTime(r.MovedAt)
	p.Current, err1 = r.Current.version()
	if r.Previous != nil {
		var previous catalog.Version
		previous, err2 = r.Previous.version()
		p.Previous = &previous
	}
	return p, errors.Join(err, err1, err2)
}

// versionRow is a catalog.Version: an item of its own, and a part of a pointer's.
type versionRow struct {
	Owner       string              `dynamodbav:"owner"`
	List        string              `dynamodbav:"list"`
	Version     string              `dynamodbav:"version"`
	Format      string              `dynamodbav:"format"`
	File        string              `dynamodbav:"file"`
	SourceDate  string              `dynamodbav:"source_date,omitempty"`
	ImportedAt  string              `dynamodbav:"imported_at"`
	ImportedBy  string              `dynamodbav:"imported_by"`
	Entries     int                 `dynamodbav:"entries"`
	Names       int                 `dynamodbav:"names"`
	Unmatchable int                 `dynamodbav:"unmatchable"`
	Problems    int                 `dynamodbav:"problems"`
	Indexes     map[string]indexRow `dynamodbav:"indexes"`
	IsPinned    bool                `dynamodbav:"pinned,omitempty"`
	CondemnedAt string              `dynamodbav:"condemned_at,omitempty"`
}

// indexRow is a catalog.IndexFile.
type indexRow struct {
	SHA256 string `dynamodbav:"sha256"`
	Bytes  int64  `dynamodbav:"bytes"`
}

func newVersionRow(v catalog.Version) versionRow {
	row := versionRow{
		Owner: v.Owner, List: v.List, Version: v.Version, Format: string(v.Format), File: v.File,
		SourceDate: dynamo.FormatTime(v.SourceDate), ImportedAt: dynamo.FormatTime(v.ImportedAt),
		ImportedBy: v.ImportedBy,
		Entries:    v.Entries, Names: v.Names, Unmatchable: v.Unmatchable, Problems: v.Problems,
		Indexes:  map[string]indexRow{},
		IsPinned: v.IsPinned, CondemnedAt: dynamo.FormatTime(v.CondemnedAt),
	}
	for format, index := range v.Indexes {
		row.Indexes[format] = indexRow(index)
	}
	return row
}

func (r versionRow) version() (catalog.Version, error) {
	v := catalog.Version{
		VersionRef: catalog.VersionRef{Owner: r.Owner, List: r.List,
			Version: r.Version}, Format: watchlist.Format(r.Format),
		File: r.File, ImportedBy: r.ImportedBy, Entries: r.Entries, Names: r.Names, Unmatchable: r.Unmatchable,
		Problems: r.Problems, Indexes: map[string]catalog.IndexFile{}, IsPinned: r.IsPinned,
	}
	for format, index := range r.Indexes {
		v.Indexes[format] = catalog.IndexFile(index)
	}
	var err1, err2, err3 error
	v.SourceDate, err1 = dynamo.ParseTime(r.SourceDate)
	v.ImportedAt, err2 = dynamo.ParseTime(r.ImportedAt)
	v.CondemnedAt, err3 = dynamo.ParseTime(r.CondemnedAt)
	return v, errors.Join(err1, err2, err3)
}

// Owners implements catalog.Store.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	rows, err := query[struct {
		Part string `dynamodbav:"part"`
	}](ctx, s, ownersKey, ownerPart)
	if err != nil {
		return nil, fmt.Errorf("list owners of watchlists: %w", err)
	}
	owners := make([]string, len(rows))
	for i, row := range rows {
		owners[i] = strings.TrimPrefix(row.Part, ownerPart)
	}
	return owners, nil
}

// Pin implements catalog.Pinner. A version that this process has pinned is not written again.
func (s *Store) Pin(ctx context.Context, ref catalog.VersionRef) error {
	if _, isPinned := s.pinned.Load(ref); isPinned {
		return nil
	}
	if err := s.table.Apply(ctx, "pin a version of a watchlist", s.table.Update(versionKey(ref), "SET pinned = :true",
		dynamo.Present+" AND attribute_not_exists(condemned_at)",
		dynamo.Item{":true": dynamo.Bool(true)}).Or(catalog.ErrNotFound)); err != nil {
		return err
	}
	s.pinned.Store(ref, true)
	return nil
}

// Condemn implements catalog.Store.
func (s *Store) Condemn(ctx context.Context, v catalog.Version, at time.Time) error {
	return s.remove(ctx, s.table.Update(versionKey(v.VersionRef), "SET condemned_at = :at",
		"imported_at = :imported AND attribute_not_exists(pinned) AND attribute_not_exists(condemned_at)",
		dynamo.Item{
			":at": dynamo.String(dynamo.FormatTime(at)), ":imported": dynamo.String(dynamo.FormatTime(v.ImportedAt))}))
}

// BeginRemoval implements catalog.Store.
func (s *Store) BeginRemoval(ctx context.Context, v catalog.Version) error {
	return s.remove(ctx, s.table.Update(versionKey(v.VersionRef), "SET removing = :true",
		"condemned_at = :at AND attribute_not_exists(pinned)",
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(v.CondemnedAt)), ":true": dynamo.Bool(true)}))
}

// RemoveVersion implements catalog.Store.
func (s *Store) RemoveVersion(ctx context.Context, ref catalog.VersionRef) error {
	return s.remove(ctx, s.table.Delete(versionKey(ref), dynamo.Absent+" OR attribute_exists(removing)", nil))
}

// remove makes a step of the removal of a version.
func (s *Store) remove(ctx context.Context, w dynamo.Write) error {
	return s.table.Apply(ctx, "remove a version of a watchlist", w.Or(catalog.ErrChanged))
}
