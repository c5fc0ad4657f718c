package rescreening

import (
	"context"
	"errors"

	"sluice/shared/screening/catalog"
	"sluice/shared/screening/watchlist"
)

// contents reads the entries of versions of one list, and remembers the changes from each to the present one.
type contents struct {
	files    catalog.Opener
	versions catalog.Reader
	// entries are the entries of the present version.
	entries []watchlist.Entry
	// since has the changes since each earlier version, by the digests of the versions.
	since map[string]*news
}

// news are the changes since a version.
type news struct {
	changes []catalog.Change
	// screener finds the entries that are new or changed in anything: other countries, for example, may make an entry
	// match that did not. It is nil if there are none.
	screener *catalog.Screener
	// origins are what entries were before, by their IDs; entries that are as they were are not there.
	origins map[string][]origin
	// isEmpty reports that there was no entry before, or that nobody knows which.
	isEmpty bool
}

// origin is an entry that has become another one, or a part of it.
type origin struct {
	id string
	// isNews reports that resolutions of it may not hold for its new form.
	isNews bool
}

func newContents(files catalog.Opener, versions catalog.Reader) *contents {
	return &contents{files: files, versions: versions, since: map[string]*news{}}
}

// newsSince returns the changes from a version to the present one. Without a version, or if it is stored no
// longer, all entries are new.
func (c *contents) newsSince(ctx context.Context, base string, present catalog.Version) (*news, error) {
	if n := c.since[base]; n != nil {
		return n, nil
	}
	if c.entries == nil {
		entries, err := catalog.ReadEntries(ctx, c.files, present)
		if err != nil {
			return nil, err
		}
		c.entries = entries
	}
	n := &news{origins: map[string][]origin{}}
	var before []watchlist.Entry
	if base != "" {
		v, err := c.versions.Version(ctx, catalog.VersionRef{Owner: present.Owner, List: present.List, Version: base})
		if err == nil {
			before, err = catalog.ReadEntries(ctx, c.files, v)
		}
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return nil, err
		}
	}
	n.isEmpty = before == nil
	n.changes = catalog.Diff(before, c.entries)
	var entries []watchlist.Entry
	seen := map[*watchlist.Entry]bool{}
	for _, change := range n.changes {
		if change.After == nil {
			continue
		}
		if change.Before != nil {
			id := change.After.ID
			n.origins[id] = append(n.origins[id], origin{change.Before.ID, change.IsNews})
		}
		if !seen[change.After] {
			seen[change.After] = true
			entries = append(entries, *change.After)
		}
	}
	if len(entries) > 0 {
		var err error
		if n.screener, err = catalog.NewPartScreener(present, entries); err != nil {
			return nil, err
		}
	}
	c.since[base] = n
	return n, nil
}

// originsOf returns the entries of another version that became an entry of the present one.
func (c *contents) originsOf(ctx context.Context, id, version string, present catalog.Version) ([]origin, error) {
	if version == present.Version {
		return []origin{{id, false}}, nil
	}
	n, err := c.newsSince(ctx, version, present)
	if err != nil {
		return nil, err
	}
	if n.isEmpty {
		return []origin{{id, true}}, nil
	}
	if origins := n.origins[id]; len(origins) > 0 {
		return origins, nil
	}
	return []origin{{id, false}}, nil
}
