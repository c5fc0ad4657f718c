package entitydb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"sluice/shared/dynamo"
	"sluice/shared/entity"
)

const (
	// importTogether is how many entities are read and written together. An entity takes at most four writes, and a
	// transaction has at most 100.
	importTogether = 24
	// importConcurrency is how many groups are imported at the same time.
	importConcurrency = 8
	// importAttempts is how often an entity that others change at the same time is read anew.
	importAttempts = 8
	// maxTransactionBytes is below the 4 MB that the items of a transaction may have.
	maxTransactionBytes = 3 << 20
)

// errImportBusy means that an entity was changed by others again and again.
var errImportBusy = errors.New("the entity is being changed by others")

// Import implements entity.Store. An entity that an earlier release has stored under a UUID in upper case keeps that ID,
// so that its profile and its drafts stay with it.
func (s *Profiles) Import(ctx context.Context, tenant string, entries []entity.Import, o entity.ImportOptions) (
	[]entity.ImportResult, error) {
	results := make([]entity.ImportResult, len(entries))
	for start := 0; start < len(entries); {
		end := start + distinctIDs(entries[start:])
		g, groupCtx := errgroup.WithContext(ctx)
		g.SetLimit(importConcurrency)
		for first := start; first < end; first += importTogether {
			last := min(first+importTogether, end)
			g.Go(func() error { return s.importGroup(groupCtx, tenant, entries[first:last], results[first:last], o) })
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		start = end
	}
	return results, nil
}

// distinctIDs returns how many entries there are before an ID is repeated.
func distinctIDs(entries []entity.Import) int {
	seen := make(map[string]bool, len(entries))
	for i, e := range entries {
		id := entity.NormalizeID(e.ID)
		if seen[id] {
			return i
		}
		seen[id] = true
	}
	return len(entries)
}

// importGroup imports entries with distinct IDs. What others change between reading and writing is read again: the
// platform wins, and the import finds what it made.
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

// importWrite is what changes one entity.
type importWrite struct {
	// entry is the index of the entry in its group.
	entry  int
	writes []types.TransactWriteItem
	bytes  int
}

// newImportWrite returns the change of an entry by the writes of entityWrites.
func newImportWrite(entry int, writes []types.TransactWriteItem) importWrite {
	return importWrite{entry, writes, len(dynamo.BinaryAttribute(writes[0].Put.Item, "body")) + 4<<10}
}

// planImport reads the pending entities, sets their results, and returns what is to be written.
func (s *Profiles) planImport(ctx context.Context, tenant string, entries []entity.Import, pending []int,
	results []entity.ImportResult, o entity.ImportOptions) ([]importWrite, error) {
	ids := make([]string, len(pending))
	for i, entry := range pending {
		ids[i] = entries[entry].ID
	}
	stored, err := s.statuses().find(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if ids[i] = stored[id].ID; ids[i] == "" {
			ids[i] = entity.NormalizeID(id)
		}
	}
	profiles, err := s.storedProfiles(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	var plan []importWrite
	for i, entry := range pending {
		e := entries[entry]
		current := stored[e.ID].LifecycleStatus
		e.ID = ids[i]
		result := entity.ImportResult{ID: e.ID, Outcome: entity.ImportCreated, PreviousStatus: current, Status: e.Status}
		p := e.New(o)
		if current != "" {
			old, ok := profiles[e.ID]
			if !ok {
				old = entity.Profile{ID: e.ID, BaseStatus: current}
			}
			p, result.Outcome = e.Apply(old, current, o)
		}
		results[entry] = result
		if result.Outcome == entity.ImportUnchanged || result.Outcome == entity.ImportRefused {
			continue
		}
		writes, err := s.entityWrites(tenant, p, e.Status, current)
		if err != nil {
			return nil, fmt.Errorf("import entity %q: %w", e.ID, err)
		}
		plan = append(plan, newImportWrite(entry, writes))
	}
	return plan, nil
}

// storedProfiles reads the profiles that are stored under exactly the given IDs.
func (s *Profiles) storedProfiles(ctx context.Context, tenant string, ids []string) (map[string]entity.Profile, error) {
	read, err := getAll(ctx, s, ids, func(id string) dynamo.Item { return profileKey(tenant, id) }, unmarshalProfile,
		func(p entity.Profile) string { return p.ID })
	profiles := make(map[string]entity.Profile, len(read))
	for _, p := range read {
		profiles[p.ID] = p
	}
	return profiles, err
}

// statuses returns the store of the statuses of these entities.
func (s *Profiles) statuses() *Statuses { return &Statuses{s.db, s.statusesTable} }

// writeImport writes the entities in as few transactions as can hold them, and returns the entries that others have
// changed since they were read. Of a transaction in which one was changed, the others are written one by one.
func (s *Profiles) writeImport(ctx context.Context, plan []importWrite) (changed []int, err error) {
	for len(plan) > 0 {
		n, size := 0, 0
		for n < len(plan) && (n == 0 || size+plan[n].bytes <= maxTransactionBytes) {
			size += plan[n].bytes
			n++
		}
		err := s.transactImport(ctx, plan[:n])
		if errors.Is(err, entity.ErrChanged) && n > 1 {
			for _, w := range plan[:n] {
				if err = s.transactImport(ctx, []importWrite{w}); errors.Is(err, entity.ErrChanged) {
					changed = append(changed, w.entry)
				} else if err != nil {
					return nil, err
				}
			}
		} else if errors.Is(err, entity.ErrChanged) {
			changed = append(changed, plan[0].entry)
		} else if err != nil {
			return nil, err
		}
		plan = plan[n:]
	}
	return changed, nil
}

func (s *Profiles) transactImport(ctx context.Context, group []importWrite) error {
	var writes []types.TransactWriteItem
	for _, w := range group {
		writes = append(writes, w.writes...)
	}
	return s.transact(ctx, slices.Clip(writes))
}
