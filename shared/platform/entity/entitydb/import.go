package entitydb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"sluice/shared/kit/dynamo"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
)

const (
	// importTogether is how many entities are read together: enough for reads of 100 keys, and for transactions that
	// are full but for the last one.
	importTogether = 330
	// importGroups is how many groups are imported at the same time, and importTransactions how many transactions of
	// each are under way.
	importGroups, importTransactions = 4, 4
	// importAttempts is how often an entity that others change at the same time is read anew.
	importAttempts = 8
	// maxTransactionBytes is below the 4 MB that the items of a transaction may have.
	maxTransactionBytes = 3 << 20
	// maxTransactionWrites is the largest number of writes in a transaction (a limit of DynamoDB).
	maxTransactionWrites = 100
)

// errImportBusy means that an entity was changed by others again and again.
var errImportBusy = errors.New("the entity is being changed by others")

// Import implements entity.Store. An entity that an earlier release has stored under a UUID in upper case keeps that
// ID, so that its profile and its drafts stay with it.
func (s *Profiles) Import(ctx context.Context, tenant string, entries []entity.Import, o entity.ImportOptions) (
	[]entity.ImportResult, error) {
	results := make([]entity.ImportResult, len(entries))
	entries, order := sortImport(entries)
	for start := 0; start < len(entries); {
		end := start + distinctIDs(entries[start:])
		g, groupCtx := errgroup.WithContext(ctx)
		g.SetLimit(importGroups)
		for first := start; first < end; first += importTogether {
			last := min(first+importTogether, end)
			g.Go(func() error { return s.importGroup(groupCtx, tenant, entries[first:last], results[first:last], o) })
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		start = end
	}
	asGiven := make([]entity.ImportResult, len(results))
	for i, given := range order {
		asGiven[given] = results[i]
	}
	return asGiven, nil
}

// sortImport returns entries in the order of their IDs, all that repeat an ID after those that have it first, and for
// each where it was given. A store that keeps items in the order of their keys then changes neighbours together: on the
// disk of the local cloud's server, an import writes a third of the bytes that it writes in a random order.
func sortImport(entries []entity.Import) (sorted []entity.Import, order []int) {
	order = make([]int, len(entries))
	repetition, seen := make([]int, len(entries)), make(map[string]int, len(entries))
	ids := make([]string, len(entries))
	for i, e := range entries {
		order[i], ids[i] = i, entityid.Normalize(e.ID)
		repetition[i] = seen[ids[i]]
		seen[ids[i]]++
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(repetition[a], repetition[b]), cmp.Compare(ids[a], ids[b]))
	})
	sorted = make([]entity.Import, len(entries))
	for i, given := range order {
		sorted[i] = entries[given]
	}
	return sorted, order
}

// distinctIDs returns how many entries there are before an ID is repeated.
func distinctIDs(entries []entity.Import) int {
	seen := make(map[string]bool, len(entries))
	for i, e := range entries {
		id := entityid.Normalize(e.ID)
		if seen[id] {
			return i
		}
		seen[id] = true
	}
	return len(entries)
}

// importGroup imports entries with distinct IDs. Entities that others change between reading and writing are read
// again: the platform wins, and the import finds its writes.
func (s *Profiles) importGroup(ctx context.Context, tenant string, entries []entity.Import,
	results []entity.ImportResult, o entity.ImportOptions) error {
	pending := make([]int, len(entries))
	for i := range entries {
		pending[i] = i
	}
	for range importAttempts {
		writes, err := s.planImport(ctx, tenant, entries, pending, results, o)
		if err != nil {
			return err
		}
		if pending, err = s.writeImport(ctx, writes); err != nil || len(pending) == 0 {
			return err
		}
	}
	return fmt.Errorf("import entity %q: %w", entries[pending[0]].ID, errImportBusy)
}

// importWrite changes one entity.
type importWrite struct {
	// entry is the index of the entry in its group.
	entry  int
	writes []dynamo.Write
	bytes  int
}

// newImportWrite returns the change of an entry by the given writes.
func newImportWrite(entry int, writes []dynamo.Write) importWrite {
	w := importWrite{entry: entry, writes: writes, bytes: 4 << 10}
	for _, write := range writes {
		if write.Put != nil {
			w.bytes += len(dynamo.BinaryAttribute(write.Put.Item, "body"))
		}
	}
	return w
}

// planImport reads the pending entities, sets their results, and returns the writes.
func (s *Profiles) planImport(ctx context.Context, tenant string, entries []entity.Import, pending []int,
	results []entity.ImportResult, o entity.ImportOptions) ([]importWrite, error) {
	ids := make([]string, len(pending))
	for i, entry := range pending {
		ids[i] = entries[entry].ID
	}
	stored, err := s.statuses().find(ctx, tenant, ids, profileAttribute)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if ids[i] = stored[id].ID; ids[i] == "" {
			ids[i] = entityid.Normalize(id)
		}
	}
	profiles, err := s.findProfiles(ctx, tenant, stored)
	if err != nil {
		return nil, err
	}
	var plan []importWrite
	for i, entry := range pending {
		e := entries[entry]
		current := stored[e.ID].LifecycleStatus
		e.ID = ids[i]
		result := entity.ImportResult{ID: e.ID, Outcome: entity.ImportCreated, PreviousStatus: current,
			Status: e.Status}
		p := e.New(o)
		old, hasProfile := profiles[e.ID]
		if current != "" {
			if !hasProfile {
				old = entity.Profile{ID: e.ID, BaseStatus: current}
			}
			p, result.Outcome = e.Apply(old, current, o)
		}
		results[entry] = result
		if result.Outcome == entity.ImportUnchanged || result.Outcome == entity.ImportRefused {
			continue
		}
		var writes []dynamo.Write
		switch {
		case result.Outcome == entity.ImportCreated:
			writes, err = s.createWrites(tenant, p)
		case result.Outcome == entity.ImportStatusChanged && old.Revision == 0:
			writes = s.changeStatusWrites(tenant, p, e.Status, current)
		default:
			writes, err = s.entityWrites(tenant, p, e.Status, current)
		}
		if err != nil {
			return nil, fmt.Errorf("import entity %q: %w", e.ID, err)
		}
		plan = append(plan, newImportWrite(entry, writes))
	}
	return plan, nil
}

// statuses returns the store of the statuses of these entities.
func (s *Profiles) statuses() *Statuses { return &Statuses{s.statusTable} }

// writeImport writes the entities in as few transactions as can hold them, several at the same time, and returns the
// entries that others have changed since they were read.
func (s *Profiles) writeImport(ctx context.Context, plan []importWrite) (changed []int, err error) {
	groups := splitImport(plan)
	changedOf := make([][]int, len(groups))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(importTransactions)
	for i, group := range groups {
		g.Go(func() (err error) {
			changedOf[i], err = s.writeGroup(ctx, group)
			return err
		})
	}
	err = g.Wait()
	return slices.Concat(changedOf...), err
}

// splitImport divides a plan into parts that fit into one transaction each.
func splitImport(plan []importWrite) (groups [][]importWrite) {
	for len(plan) > 0 {
		n, size, writes := 0, 0, 0
		for n < len(plan) && (n == 0 ||
			size+plan[n].bytes <= maxTransactionBytes && writes+len(plan[n].writes) <= maxTransactionWrites) {
			size, writes = size+plan[n].bytes, writes+len(plan[n].writes)
			n++
		}
		groups, plan = append(groups, plan[:n]), plan[n:]
	}
	return groups
}

// writeGroup writes the entities of a group in one transaction. If one of them was changed by others since it was read,
// the others are written one by one. It returns the entries that were changed.
func (s *Profiles) writeGroup(ctx context.Context, group []importWrite) (changed []int, err error) {
	err = s.transactImport(ctx, group)
	switch {
	case !errors.Is(err, entity.ErrChanged):
		return nil, err
	case len(group) == 1:
		return []int{group[0].entry}, nil
	}
	for _, w := range group {
		err := s.transactImport(ctx, []importWrite{w})
		if errors.Is(err, entity.ErrChanged) {
			changed = append(changed, w.entry)
		} else if err != nil {
			return nil, err
		}
	}
	return changed, nil
}

func (s *Profiles) transactImport(ctx context.Context, group []importWrite) error {
	var writes []dynamo.Write
	for _, w := range group {
		writes = append(writes, w.writes...)
	}
	return s.transact(ctx, slices.Clip(writes))
}
