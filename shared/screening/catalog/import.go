package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// ErrTooManyLost means that a version has lost more than a tenth of the entries of the current one.
var ErrTooManyLost = errors.New("catalog: more than a tenth of the entries would be lost")

// Importer makes versions of lists and moves the pointers to them.
type Importer struct {
	Store Store
	Files Files
	Now   func() time.Time
	// By is the author of the import.
	By string
}

// Import is a list read from a file.
type Import struct {
	// Owner is Shared or a tenant.
	Owner string
	// List is the name of the list.
	List   string
	Format watchlist.Format
	// File is the name of the file.
	File    string
	Content *watchlist.List
}

// Plan is the effect of an import that has not been applied.
type Plan struct {
	// Before is the present pointer; its Revision is 0 if there is no such list yet.
	Before Pointer
	// Version would become current.
	Version Version
	// Changes are the changes of the current version; empty for a new list.
	Changes []Change
	// Counts counts them; for a new list, all entries are added.
	Counts Changes

	entries []watchlist.Entry
	index   *bytes.Buffer
	// isComplete reports that the version is current, and that its files are stored.
	isComplete bool
}

// IsUnchanged reports whether the import would change nothing: the version is current already.
func (p *Plan) IsUnchanged() bool { return p.isComplete }

// IsTooManyLost reports whether more than a tenth of the entries of the current version would be lost.
func (p *Plan) IsTooManyLost() bool { return p.Counts.Removed*10 > p.Before.Current.Entries }

// Plan prepares an import and changes nothing.
func (i *Importer) Plan(ctx context.Context, in Import) (*Plan, error) {
	if err := CheckListName(in.List); err != nil {
		return nil, err
	}
	p := &Plan{index: &bytes.Buffer{}}
	var err error
	if p.Before, err = i.Store.Pointer(ctx, in.Owner, in.List); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	// The index is made from the stored entries, so that it can be made again.
	var stored bytes.Buffer
	if err := writeEntries(&stored, in.Content.Entries); err != nil {
		return nil, err
	}
	if p.entries, err = readEntries(&stored); err != nil {
		return nil, err
	}
	p.Version = Version{
		VersionRef: VersionRef{Owner: in.Owner, List: in.List}, Format: in.Format, File: in.File,
		SourceDate: in.Content.SourceDate.UTC().Truncate(time.Second), ImportedAt: i.Now().UTC().Truncate(time.Second),
		ImportedBy: i.By, Problems: in.Content.ProblemCount,
	}
	if err := p.buildIndex(); err != nil {
		return nil, err
	}
	return p, i.compare(ctx, p)
}

// buildIndex makes the index of the plan's version, and names the version by it.
func (p *Plan) buildIndex() error {
	x, err := build(p.Version, p.entries)
	if err != nil {
		return err
	}
	if _, err := x.WriteTo(p.index); err != nil {
		return err
	}
	info, sum := x.Lists[0], sha256.Sum256(p.index.Bytes())
	v := &p.Version
	v.Version, v.Entries, v.Names, v.Unmatchable = info.Version, info.Entries, info.Names, info.Unmatchable
	v.Indexes = map[string]IndexFile{
		match.FileFormat(): {SHA256: hex.EncodeToString(sum[:]), Bytes: int64(p.index.Len())}}
	return nil
}

// compare compares the plan's version with the current one.
func (i *Importer) compare(ctx context.Context, p *Plan) error {
	current := p.Before.Current
	if p.Before.Revision == 0 {
		p.Counts = Changes{Added: p.Version.Entries}
		return nil
	}
	if current.Version == p.Version.Version {
		file, isIndexed := current.Indexes[match.FileFormat()]
		p.isComplete = isIndexed && i.isStored(ctx, current.entriesKey()) && i.isStored(ctx, current.indexKey(file))
		return nil
	}
	entries, err := ReadEntries(ctx, i.Files, current)
	if err != nil {
		return fmt.Errorf("reading the current version, to compare with it: %w", err)
	}
	p.Changes = Diff(entries, p.entries)
	p.Counts = CountChanges(p.Changes)
	return nil
}

// isStored reports whether an object can be read.
func (i *Importer) isStored(ctx context.Context, key string) bool {
	body, err := i.Files.Open(ctx, key, "", 0, 1)
	return err == nil && body.Close() == nil
}

// Apply makes the version of a plan current. It returns ErrTooManyLost unless that is forced, and ErrChanged if another
// import has moved the pointer since the plan was made, which then counts, or if the version is being removed. Applying
// a plan again is success.
func (i *Importer) Apply(ctx context.Context, p *Plan, force bool) error {
	if p.isComplete {
		return nil
	}
	if p.IsTooManyLost() && !force {
		return ErrTooManyLost
	}
	v := p.Version
	// The row goes first: it keeps the objects from being removed.
	if err := i.Store.AddVersion(ctx, v); err != nil {
		return err
	}
	err := i.Files.WriteObject(ctx, v.entriesKey(), func(w io.Writer) error { return writeEntries(w, p.entries) })
	if err != nil {
		return err
	}
	err = i.Files.WriteObject(ctx, v.indexKey(v.Indexes[match.FileFormat()]), func(w io.Writer) error {
		_, err := w.Write(p.index.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	return i.makeCurrent(ctx, p.Before, v)
}

// makeCurrent makes a version that is stored current.
func (i *Importer) makeCurrent(ctx context.Context, before Pointer, ref Version) error {
	v, err := i.Store.Version(ctx, ref.VersionRef)
	if err != nil {
		return err
	}
	next := Pointer{Owner: v.Owner, List: v.List, Current: v, Previous: before.Previous,
		MovedAt: i.Now().UTC().Truncate(time.Second), MovedBy: i.By, Revision: before.Revision + 1}
	if before.Revision > 0 && before.Current.Version != v.Version {
		next.Previous = &before.Current
	}
	err = i.Store.SavePointer(ctx, next)
	if errors.Is(err, ErrChanged) {
		if now, readErr := i.Store.Pointer(ctx, v.Owner, v.List); readErr == nil && now.Current.Version == v.Version {
			return nil // another import, or an attempt whose reply was lost, has made the same version current
		}
	}
	return err
}

// ErrNoPrevious means that a list has had no other version.
var ErrNoPrevious = errors.New("catalog: there is no previous version")

// Rollback makes a stored version of a list current: the one with the given digest, or the previous one if the digest
// is "". It returns the pointer before and after, which are the same if the version is current already. It returns
// ErrNotFound if there is no such list or version, ErrNoPrevious, and ErrChanged as Apply does.
func (i *Importer) Rollback(ctx context.Context, owner, list, version string) (before, after Pointer, err error) {
	before, err = i.Store.Pointer(ctx, owner, list)
	if err != nil {
		return before, before, err
	}
	if version == "" {
		if before.Previous == nil {
			return before, before, ErrNoPrevious
		}
		version = before.Previous.Version
	}
	if version == before.Current.Version {
		return before, before, nil
	}
	v, err := i.Store.Version(ctx, VersionRef{Owner: owner, List: list, Version: version})
	if err != nil {
		return before, before, err
	}
	if !v.CondemnedAt.IsZero() || !i.isStored(ctx, v.entriesKey()) {
		return before, before, fmt.Errorf("%w: the entries of %s are gone", ErrNotFound, v)
	}
	if err := i.makeCurrent(ctx, before, v); err != nil {
		return before, before, err
	}
	after, err = i.Store.Pointer(ctx, owner, list)
	return before, after, err
}

// ReadEntries reads the entries of a version.
func ReadEntries(ctx context.Context, files Opener, v Version) ([]watchlist.Entry, error) {
	body, err := files.Open(ctx, v.entriesKey(), "", 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readEntries(body)
}
