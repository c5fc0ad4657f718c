package rescreening

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"sluice/shared/screening"
	"sluice/shared/screening/lookup"
)

// candidate is a batch that is to be rescreened.
type candidate struct {
	screening.Batch
	// base is the version that the batch was last screened against; "" if there is none.
	base string
}

// findCandidate reads a batch. It returns nil if the batch is not to be rescreened.
func (r *run) findCandidate(ctx context.Context, id string) (*candidate, error) {
	b, err := r.Batches.Get(ctx, r.round.Tenant, id)
	if errors.Is(err, screening.ErrNotFound) {
		return nil, nil // its creation failed
	}
	if err != nil {
		return nil, err
	}
	base, isScreened := r.baseOf(b)
	if !isScreened || base == r.version.Version {
		return nil, nil
	}
	return &candidate{b, base}, nil
}

// rescreenBatch looks for the entities of a batch among the entries that are new to it.
func (r *run) rescreenBatch(ctx context.Context, b candidate) error {
	news, err := r.contents.newsSince(ctx, b.base, r.version)
	if err != nil || news.screener == nil {
		return err
	}
	entities, err := r.Batches.GetEntities(ctx, b.Tenant, b.ID, b.EntityIDs)
	if err != nil {
		return err
	}
	var affected []screening.Entity
	found := map[string][]lookup.Match{}
	for _, e := range entities {
		matches, err := r.search(ctx, news, b.Batch, e)
		if err != nil {
			return err
		}
		if len(matches) > 0 {
			affected = append(affected, e)
			found[e.ID] = matches
		}
	}
	// A batch has at most MaxMatches of an entity; the others are in further batches, so that none is left out.
	for part := 0; len(affected) > 0; part++ {
		if err := r.create(ctx, r.newBatch(b.Batch, part), affected, found); err != nil {
			return err
		}
		affected = slices.DeleteFunc(slices.Clone(affected), func(e screening.Entity) bool {
			found[e.ID] = found[e.ID][min(len(found[e.ID]), r.MaxMatches):]
			return len(found[e.ID]) == 0
		})
	}
	return nil
}

// search returns the new matches of an entity, best first.
func (r *run) search(ctx context.Context, news *news, b screening.Batch, e screening.Entity) ([]lookup.Match, error) {
	questions := lookup.Questions(e.Criteria, e.Aliases)
	r.round.Names += len(questions)
	found, err := lookup.Find(news.screener, questions, threshold(b))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	known, err := r.knownMatches(ctx, b.Tenant, e.ID)
	if err != nil {
		return nil, err
	}
	var matches []lookup.Match
	for _, f := range found {
		isKnown, err := known.has(ctx, f.Found.ID)
		if err != nil {
			return nil, err
		}
		if !isKnown {
			matches = append(matches, f)
		}
	}
	return matches, nil
}

func threshold(b screening.Batch) float64 {
	if b.Threshold == 0 {
		return screening.DefaultThreshold
	}
	return b.Threshold
}

// rescreenings is the namespace of the IDs of new batches.
var rescreenings = uuid.MustParse("6a3f5f57-5cf8-5d0f-9a53-3c6f0d1b7c52")

// newBatch returns a batch for new matches of another one, without them. It is the same whenever the round is. It
// belongs to the same journey, and to a process of its own: it takes no other batch's place.
func (r *run) newBatch(b screening.Batch, part int) screening.Batch {
	id := uuid.NewSHA1(rescreenings, fmt.Appendf(nil, "%q %q %q %q %q %d %d", b.Tenant, r.version.Owner, r.version.List,
		r.version.Version, b.ID, r.round.NextBeganAt.Unix(), part)).String()
	next := screening.Batch{
		ID: id, Tenant: b.Tenant, Status: screening.Open, Type: screening.TypeRescreening, JourneyID: b.JourneyID,
		JourneyType: b.JourneyType, MainEntityID: b.MainEntityID, MainEntityName: b.MainEntityName,
		CreatedAt: r.round.NextBeganAt, CreatedBy: screening.BuiltIn, Threshold: threshold(b), Version: 1,
		Lists: []screening.ListVersion{{List: r.version.List, Owner: r.version.Owner, Version: r.version.Version,
			SourceDate: r.version.SourceDate, ImportedAt: r.version.ImportedAt}},
	}
	if b.JourneyID != "" {
		next.ProcessID = "rescreening-" + id
	}
	return next
}

// create stores a new batch of entities with the first matches of each. If it is stored already, it stays as it is.
func (r *run) create(ctx context.Context, next screening.Batch, affected []screening.Entity,
	found map[string][]lookup.Match) error {
	var entities []screening.Entity
	var matches []screening.Match
	for _, e := range affected {
		next.EntityIDs = append(next.EntityIDs, e.ID)
		entities = append(entities, screening.Entity{ID: e.ID, BatchID: next.ID, LegalEntityID: e.LegalEntityID,
			Criteria: e.Criteria, Aliases: e.Aliases, Version: 1})
		for _, m := range found[e.ID][:min(len(found[e.ID]), r.MaxMatches)] {
			matches = append(matches, r.newMatch(next, e, m))
		}
	}
	next.Providers = []screening.ProviderRun{{
		ID: screening.BuiltIn, Status: screening.SearchComplete, Run: 1, Matches: len(matches), AnswerID: next.ID}}
	next.Runs, next.StartedAt, next.Matches, next.Unresolved = 1, next.CreatedAt, len(matches), len(matches)
	if err := r.Lists.Pin(ctx, r.version.VersionRef); err != nil {
		return err
	}
	if err := r.Batches.AddMatches(ctx, next.Tenant, matches); err != nil {
		return err
	}
	if err := r.createUnlessStored(ctx, next, entities); err != nil {
		return err
	}
	r.Log.InfoContext(ctx, "a change of a watchlist has new matches", "tenant", next.Tenant, "list", r.version.List,
		"version", r.version.Version, "batch", next.ID, "matches", len(matches))
	r.round.Matches += len(matches)
	r.round.BatchCount++
	if len(r.round.Batches) < maxNamedBatches {
		r.round.Batches = append(r.round.Batches, next.ID)
	}
	return nil
}

// createUnlessStored stores a batch, unless an earlier attempt has, or one at the same time.
func (r *run) createUnlessStored(ctx context.Context, b screening.Batch, entities []screening.Entity) error {
	_, err := r.Batches.Get(ctx, b.Tenant, b.ID)
	if !errors.Is(err, screening.ErrNotFound) {
		return err
	}
	if _, err = r.Batches.Create(ctx, b, entities); err != nil {
		if _, readErr := r.Batches.Get(ctx, b.Tenant, b.ID); readErr == nil {
			return nil
		}
	}
	return err
}

func (r *run) newMatch(b screening.Batch, e screening.Entity, m lookup.Match) screening.Match {
	uniqueID, data := lookup.UniqueID(m.Found), lookup.DataOf(m.Found, r.Now())
	data.ProviderID = screening.BuiltIn
	return screening.Match{
		ID: screening.NewMatchID(b.ID, e.ID, uniqueID), BatchID: b.ID, EntityID: e.ID, AnswerID: b.ID,
		AliasIDs: m.AliasIDs, UniqueID: uniqueID, Data: data,
		Resolution: screening.Resolution{Status: screening.Unresolved}, Version: 1,
	}
}

// maxEarlierBatches is the number of an entity's newest batches that are searched for known matches.
const maxEarlierBatches = 100

// knownMatches reads the resolved matches of an entity in its batches.
func (r *run) knownMatches(ctx context.Context, tenant, entityID string) (*known, error) {
	k := &known{run: r, entityID: entityID}
	ids, _, err := r.Batches.ListBatchesOf(ctx, tenant, entityID, "", maxEarlierBatches)
	if err != nil {
		return nil, err
	}
	batches, err := r.Batches.GetBatches(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		p, isBuiltIn := b.Provider(screening.BuiltIn)
		i := r.indexOfList(b)
		isOfThisRound := b.Type == screening.TypeRescreening && b.CreatedAt.Equal(r.round.NextBeganAt)
		if isBuiltIn && p.Status == screening.SearchComplete && i >= 0 && !isOfThisRound {
			k.batches = append(k.batches, earlier{batch: b, answerID: p.AnswerID, version: b.Lists[i].Version})
		}
	}
	return k, nil
}

// known are the earlier batches of an entity.
type known struct {
	*run
	entityID string
	batches  []earlier
}

type earlier struct {
	batch    screening.Batch
	answerID string
	version  string
}

// has reports whether people know a match of the entity with an entry, in one of three ways: they have cleared it, and
// nothing by which the entry is recognised has changed since; they have found it to be true; or it is unresolved in an
// open batch. An entry whose ID has changed, or that was merged into another one, is looked up under its earlier ID.
func (k *known) has(ctx context.Context, entryID string) (bool, error) {
	for _, e := range k.batches {
		origins, err := k.contents.originsOf(ctx, entryID, e.version, k.version)
		if err != nil {
			return false, err
		}
		var refs []screening.MatchRef
		for _, o := range origins {
			refs = append(refs, screening.MatchRef{EntityID: k.entityID,
				MatchID: screening.NewMatchID(e.answerID, k.entityID, k.version.List+":"+o.id)})
		}
		matches, err := k.Batches.GetMatches(ctx, e.batch, refs)
		if err != nil {
			return false, err
		}
		for _, m := range matches {
			i := slices.IndexFunc(refs, func(ref screening.MatchRef) bool { return ref.MatchID == m.ID })
			switch {
			case m.Resolution.Status == screening.NoMatch && !origins[i].isNews,
				m.Resolution.Status == screening.TrueMatch,
				m.Resolution.Status == screening.Unresolved && e.batch.Status == screening.Open:
				return true, nil
			}
		}
	}
	return false, nil
}
