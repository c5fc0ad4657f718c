package admin

import (
	"context"
	"fmt"
	"math"
	"time"

	"sluice/shared/screening/catalog"
	"sluice/shared/screening/watchlist"
)

// importedList is how the outcome of an import is printed.
type importedList struct {
	List string `json:"list"`
	// TenantID is left out for a shared list.
	TenantID string `json:"tenant_id,omitempty"`
	// Outcome is imported, unchanged or dry_run.
	Outcome string        `json:"outcome"`
	Version versionOutput `json:"version"`
	// Previous is the version that was current before; it is left out for a new list.
	Previous string          `json:"previous,omitempty"`
	Counts   catalog.Changes `json:"changes"`
	// Differences has the first entries of each kind of change.
	Differences map[catalog.ChangeKind][]differenceOutput `json:"differences,omitempty"`
	// ProblemRows says which rows could not be read, and why.
	ProblemRows []string `json:"problem_rows,omitempty"`
}

// differenceOutput is an entry that has changed.
type differenceOutput struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// NewID is the ID of the entry that it is, or is part of, now.
	NewID string `json:"new_id,omitempty"`
}

// maxDifferences is how many entries of each kind are named.
const maxDifferences = 100

func newImportedList(p *catalog.Plan, now time.Time) importedList {
	out := importedList{
		List: p.Version.List, Version: newVersionOutput(p.Version, now), Counts: p.Counts,
		Differences: map[catalog.ChangeKind][]differenceOutput{},
	}
	if p.Version.Owner != catalog.Shared {
		out.TenantID = p.Version.Owner
	}
	if p.IsUnchanged() {
		out.Version = newVersionOutput(p.Before.Current, now)
	} else if p.Before.Revision > 0 {
		out.Previous = p.Before.Current.Version
	}
	for _, c := range p.Changes {
		kind := c.Kind
		if kind == catalog.Amended {
			kind = catalog.Changed
		}
		if len(out.Differences[kind]) < maxDifferences {
			out.Differences[kind] = append(out.Differences[kind], newDifferenceOutput(c))
		}
	}
	return out
}

func newDifferenceOutput(c catalog.Change) differenceOutput {
	e := c.Before
	if e == nil {
		e = c.After
	}
	out := differenceOutput{ID: e.ID, Name: primaryName(e)}
	if c.After != nil && c.After.ID != e.ID {
		out.NewID = c.After.ID
	}
	return out
}

func primaryName(e *watchlist.Entry) string {
	if len(e.Names) == 0 {
		return ""
	}
	return e.Names[0].Text
}

// versionOutput is how a version of a list is printed.
type versionOutput struct {
	Version    string     `json:"version"`
	IsCurrent  bool       `json:"current,omitempty"`
	SourceDate *time.Time `json:"source_date"`
	AgeDays    float64    `json:"age_days"`
	ImportedAt time.Time  `json:"imported_at"`
	ImportedBy string     `json:"imported_by"`
	Format     string     `json:"format"`
	File       string     `json:"file"`
	// Entries counts entries, Names the names that can match, Unmatchable those that cannot, Problems the rows that
	// could not be read.
	Entries     int `json:"entries"`
	Names       int `json:"names"`
	Unmatchable int `json:"unmatchable"`
	Problems    int `json:"problems"`
}

func newVersionOutput(v catalog.Version, now time.Time) versionOutput {
	out := versionOutput{
		Version: v.Version, AgeDays: math.Round(v.Age(now).Hours()/2.4) / 10, ImportedAt: v.ImportedAt,
		ImportedBy: v.ImportedBy,
		Format:     string(v.Format), File: v.File, Entries: v.Entries, Names: v.Names, Unmatchable: v.Unmatchable,
		Problems: v.Problems,
	}
	if !v.SourceDate.IsZero() {
		out.SourceDate = &v.SourceDate
	}
	return out
}

// rolledBackList is how the outcome of a rollback is printed.
type rolledBackList struct {
	List     string `json:"list"`
	TenantID string `json:"tenant_id,omitempty"`
	// Outcome is rolled_back or unchanged.
	Outcome string        `json:"outcome"`
	Version versionOutput `json:"version"`
	// Previous is the version that was current before; it is left out if nothing has changed.
	Previous string `json:"previous,omitempty"`
}

// listOutput is how a list is printed.
type listOutput struct {
	List     string    `json:"list"`
	TenantID string    `json:"tenant_id,omitempty"`
	Current  string    `json:"current"`
	AgeDays  float64   `json:"age_days"`
	MovedAt  time.Time `json:"moved_at"`
	MovedBy  string    `json:"moved_by"`
	// Versions are those that are stored, the last import first.
	Versions []versionOutput `json:"versions"`
}

// listLists returns the lists that a tenant sees, or the shared ones.
func (w *watchlistAdmin) listLists(ctx context.Context, only string) (any, error) {
	lists := []listOutput{}
	owners := []string{catalog.Shared}
	if w.owner != catalog.Shared {
		owners = append(owners, w.owner)
	}
	for _, owner := range owners {
		pointers, err := w.Store.Pointers(ctx, owner)
		if err != nil {
			return nil, err
		}
		for _, p := range pointers {
			if only != "" && p.List != only {
				continue
			}
			l, err := w.describeList(ctx, p)
			if err != nil {
				return nil, err
			}
			lists = append(lists, l)
		}
	}
	if only != "" && len(lists) == 0 {
		return nil, fmt.Errorf("there is no list %q%s", only, w.ownerText())
	}
	return lists, nil
}

func (w *watchlistAdmin) describeList(ctx context.Context, p catalog.Pointer) (listOutput, error) {
	current := newVersionOutput(p.Current, w.admin.now)
	out := listOutput{List: p.List, Current: current.Version, AgeDays: current.AgeDays, MovedAt: p.MovedAt,
		MovedBy: p.MovedBy}
	if p.Owner != catalog.Shared {
		out.TenantID = p.Owner
	}
	versions, err := w.Store.Versions(ctx, p.Owner, p.List)
	for _, v := range versions {
		o := newVersionOutput(v, w.admin.now)
		o.IsCurrent = v.Version == p.Current.Version
		out.Versions = append(out.Versions, o)
	}
	return out, err
}
