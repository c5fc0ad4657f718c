package screeninghttp

import (
	"context"
	"errors"

	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/screening"
)

// Get returns a batch with its entities.
func (s *Screenings) Get(ctx context.Context, r *platform.Request, _ platform.NoBody) (BatchReply, error) {
	b, err := s.findBatch(ctx, r, "batchId")
	if err != nil {
		return BatchReply{}, err
	}
	return s.reply(ctx, b)
}

// GetNewest returns the newest batch of a journey.
func (s *Screenings) GetNewest(ctx context.Context, r *platform.Request, _ platform.NoBody) (BatchReply, error) {
	id, err := s.Store.FindNewest(ctx, r.Tenant, entityID(r.PathValue("journeyId")))
	return s.getFound(ctx, r, id, err)
}

// GetActive returns the active batch of a journey and process.
func (s *Screenings) GetActive(ctx context.Context, r *platform.Request, _ platform.NoBody) (BatchReply, error) {
	id, err := s.Store.FindActive(ctx, r.Tenant, entityID(r.PathValue("journeyId")), entityID(r.PathValue("processId")))
	return s.getFound(ctx, r, id, err)
}

func (s *Screenings) getFound(ctx context.Context, r *platform.Request, id string, err error) (BatchReply, error) {
	if err != nil {
		return BatchReply{}, faultOf(err)
	}
	b, err := s.Store.Get(ctx, r.Tenant, id)
	if err != nil {
		return BatchReply{}, faultOf(err)
	}
	return s.reply(ctx, b)
}

// reply returns a batch with its entities, within the budget of a reply.
func (s *Screenings) reply(ctx context.Context, b screening.Batch) (BatchReply, error) {
	entities, err := s.Store.GetEntities(ctx, b.Tenant, b.ID, b.EntityIDs)
	if err != nil {
		return BatchReply{}, err
	}
	items, err := entityReplies(entities, errBatchTooLarge)
	return batchReplyOf(b, items), err
}

// entityReplies returns entities within the budget of a reply, or tooLarge.
func entityReplies(entities []screening.Entity, tooLarge error) ([]EntityReply, error) {
	budget := httpapi.ListBudget
	items := make([]EntityReply, len(entities))
	for i, e := range entities {
		items[i] = entityReplyOf(e)
		if err := budget.Reserve(items[i], tooLarge); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// maxListed is the largest part of a list that one request may ask for, and what it gets if it does not ask.
const maxListed = screening.MaxEntities

// part reads the parameters limit and after, by which a list is read in parts.
func part(r *platform.Request, flags ...string) (limit int, after string, given map[string]bool, err error) {
	limit, given = maxListed, map[string]bool{}
	err = r.Validate(func(v *platform.ValidationErrors) {
		v.CheckQueryNames(append([]string{"limit", "after"}, flags...)...)
		limit = v.CheckQueryInt("limit", maxListed, 1, maxListed)
		for _, name := range flags {
			given[name] = v.CheckQueryBool(name)
		}
		if values := r.Query("after"); len(values) > 0 {
			if after = values[0]; len(after) > platform.MaxID {
				v.AddParameter(fault.InQuery, "after", "The value must be an ID of the list.", platform.CodeLength)
			}
		}
	})
	return limit, after, given, err
}

// ListEntities returns the entities of a batch, or a part of them.
func (s *Screenings) ListEntities(ctx context.Context, r *platform.Request, _ platform.NoBody) ([]EntityReply, error) {
	limit, after, _, err := part(r)
	if err != nil {
		return nil, err
	}
	b, err := s.findBatch(ctx, r, "batchId")
	if err != nil {
		return nil, err
	}
	ids := b.EntityIDs
	if after != "" {
		ids = idsAfter(ids, entityID(after))
	}
	entities, err := s.Store.GetEntities(ctx, r.Tenant, b.ID, ids[:min(limit, len(ids))])
	if err != nil {
		return nil, err
	}
	return entityReplies(entities, errTooManyEntities)
}

// idsAfter returns the IDs of a list that come after one of it.
func idsAfter(ids []string, id string) []string {
	for i := range ids {
		if ids[i] == id {
			return ids[i+1:]
		}
	}
	return nil
}

// GetEntity returns one entity of a batch.
func (s *Screenings) GetEntity(ctx context.Context, r *platform.Request, _ platform.NoBody) (EntityReply, error) {
	b, err := s.findBatch(ctx, r, "batchId")
	if err != nil {
		return EntityReply{}, err
	}
	e, err := s.findEntity(ctx, r, b)
	if err != nil {
		return EntityReply{}, err
	}
	return entityReplyOf(e), nil
}

// ListMatches returns the matches of an entity, or a part of them.
func (s *Screenings) ListMatches(ctx context.Context, r *platform.Request, _ platform.NoBody) ([]MatchReply, error) {
	const materialOnly = "returnMaterialMatches"
	limit, after, flags, err := part(r, materialOnly)
	if err != nil {
		return nil, err
	}
	b, err := s.findBatch(ctx, r, "batchId")
	if err != nil {
		return nil, err
	}
	id := entityID(r.PathValue("entityId"))
	if !b.HasEntity(id) {
		return nil, errNoEntity
	}
	budget, items := httpapi.ListBudget, []MatchReply{}
	err = s.forEachMatch(ctx, b, id, toLower(after), func(m screening.Match) (bool, error) {
		if flags[materialOnly] && m.Resolution.Status != screening.TrueMatch {
			return true, nil
		}
		items = append(items, matchReplyOf(m))
		return len(items) < limit, budget.Reserve(items[len(items)-1], errTooManyMatches)
	})
	return items, err
}

// readTogether is how many matches or batches of a list are read and held at a time.
const readTogether = 50

// forEachMatch calls use with the matches of an entity after one of them, until use returns false or an error.
func (s *Screenings) forEachMatch(ctx context.Context, b screening.Batch, entityID, after string,
	use func(screening.Match) (more bool, err error)) error {
	for {
		page, next, err := s.Store.ListMatches(ctx, b, entityID, after, readTogether)
		if err != nil {
			return err
		}
		for _, m := range page {
			if more, err := use(m); err != nil || !more {
				return err
			}
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// GetMatch returns one match of an entity.
func (s *Screenings) GetMatch(ctx context.Context, r *platform.Request, _ platform.NoBody) (MatchReply, error) {
	b, err := s.findBatch(ctx, r, "batchId")
	if err != nil {
		return MatchReply{}, err
	}
	m, err := s.findMatch(ctx, r, b)
	if err != nil {
		return MatchReply{}, err
	}
	return matchReplyOf(m), nil
}

// findMatch reads the match of a batch that the path names.
func (s *Screenings) findMatch(ctx context.Context, r *platform.Request, b screening.Batch) (screening.Match, error) {
	ref := screening.MatchRef{EntityID: entityID(r.PathValue("entityId")), MatchID: toLower(r.PathValue("matchId"))}
	if !b.HasEntity(ref.EntityID) {
		return screening.Match{}, errNoEntity
	}
	if !platform.IsUUID(ref.MatchID) {
		return screening.Match{}, errNoMatch
	}
	found, err := s.Store.GetMatches(ctx, b, []screening.MatchRef{ref})
	if err == nil && len(found) == 0 {
		err = errNoMatch
	}
	if err != nil {
		return screening.Match{}, err
	}
	return found[0], nil
}

// ListOfLegalEntity returns the batches that have an entity, newest first.
func (s *Screenings) ListOfLegalEntity(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]EntityBatchReply, error) {
	const trueOnly = "onlyWithTrueMatches"
	var onlyTrue bool
	err := r.Validate(func(v *platform.ValidationErrors) {
		v.CheckQueryNames(trueOnly)
		onlyTrue = v.CheckQueryBool(trueOnly)
	})
	if err != nil {
		return nil, err
	}
	id, budget, items := entityID(r.PathValue("legalEntityId")), httpapi.ListBudget, []EntityBatchReply{}
	if len(id) > platform.MaxID {
		return items, nil
	}
	err = s.forEachBatchOf(ctx, r.Tenant, id, func(b screening.Batch) error {
		count, err := s.countTrueMatches(ctx, b, id)
		if err != nil || onlyTrue && count == 0 {
			return err
		}
		items = append(items, entityBatchReplyOf(b, count))
		return budget.Reserve(items[len(items)-1], errTooManyBatches)
	})
	return items, err
}

// forEachBatchOf calls use with the batches that have an entity, newest first, until it returns an error.
func (s *Screenings) forEachBatchOf(ctx context.Context, tenant, entityID string,
	use func(screening.Batch) error) error {
	for after := ""; ; {
		ids, next, err := s.Store.ListBatchesOf(ctx, tenant, entityID, after, readTogether)
		if err != nil {
			return err
		}
		for _, id := range ids {
			b, err := s.Store.Get(ctx, tenant, id)
			if errors.Is(err, screening.ErrNotFound) {
				continue // its creation has failed, or is not done yet
			}
			if err == nil {
				err = use(b)
			}
			if err != nil {
				return err
			}
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// countTrueMatches counts the matches of an entity that people found to be the entity.
func (s *Screenings) countTrueMatches(ctx context.Context, b screening.Batch, entityID string) (int, error) {
	count := 0
	if b.TrueMatches == 0 {
		return 0, nil
	}
	err := s.forEachMatch(ctx, b, entityID, "", func(m screening.Match) (bool, error) {
		if m.Resolution.Status == screening.TrueMatch {
			count++
		}
		return true, nil
	})
	return count, err
}
