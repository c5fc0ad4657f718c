package screeninghttp

import (
	"context"
	"math"
	"slices"
	"strings"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
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
	journey := entityID(r.PathValue("journeyId"))
	if len(journey) > platform.MaxID {
		return BatchReply{}, errNoBatch
	}
	id, err := s.Store.FindNewest(ctx, r.Tenant, journey)
	return s.getFound(ctx, r, id, err)
}

// GetActive returns the active batch of a journey and process.
func (s *Screenings) GetActive(ctx context.Context, r *platform.Request, _ platform.NoBody) (BatchReply, error) {
	id, err := s.findActive(ctx, r, r.PathValue("processId"))
	return s.getFound(ctx, r, id, err)
}

// findActive returns the ID of the active batch of the journey that the path names and of a process. It returns
// screening.ErrNotFound if there is none, also for an ID that is too long for any batch.
func (s *Screenings) findActive(ctx context.Context, r *platform.Request, process string) (id string, err error) {
	journey, process := entityID(r.PathValue("journeyId")), entityID(process)
	if len(journey) > platform.MaxID || len(process) > platform.MaxID {
		return "", screening.ErrNotFound
	}
	return s.Store.FindActive(ctx, r.Tenant, journey, process)
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

// maxLimit is the largest limit in a request. Without a limit the reply is the whole list, if it fits.
const maxLimit = 500

// listPart is the requested part of a list.
type listPart struct {
	// limit is the largest number of items; math.MaxInt if the request has none.
	limit int
	// after is the ID of the item before the part; "" for the first part.
	after string
	// flags are the boolean parameters that are true.
	flags map[string]bool
}

// readPart reads the parameters limit and after of a part of a list, and boolean ones.
func readPart(r *platform.Request, flags ...string) (listPart, error) {
	p := listPart{flags: map[string]bool{}}
	err := r.Validate(func(v *platform.ValidationErrors) {
		v.CheckRepeated(append([]string{"limit", "after"}, flags...)...)
		if values := r.Query("limit"); len(values) == 0 || values[0] == "" {
			p.limit = math.MaxInt
		} else {
			p.limit = v.CheckQueryInt("limit", maxLimit, 1, maxLimit)
		}
		for _, name := range flags {
			p.flags[name] = v.CheckQueryBool(name)
		}
		if values := r.Query("after"); len(values) > 0 {
			p.after = values[0]
		}
	})
	return p, err
}

// badAfter returns the error of a request whose parameter after is not the ID of an item of the list. An empty part
// would pass for the end of the list.
func badAfter(r *platform.Request) error {
	return r.InvalidParameter(fault.InQuery, "after",
		"The list has no item of this ID. Send the ID of the last item of the part before.", platform.CodePageToken)
}

// ListEntities returns the entities of a batch, or a part of them.
func (s *Screenings) ListEntities(ctx context.Context, r *platform.Request, _ platform.NoBody) ([]EntityReply, error) {
	part, err := readPart(r)
	if err != nil {
		return nil, err
	}
	b, err := s.findBatch(ctx, r, "batchId")
	if err != nil {
		return nil, err
	}
	ids := b.EntityIDs
	if part.after != "" {
		i := slices.Index(ids, entityID(part.after))
		if i < 0 {
			return nil, badAfter(r)
		}
		ids = ids[i+1:]
	}
	entities, err := s.Store.GetEntities(ctx, r.Tenant, b.ID, ids[:min(part.limit, len(ids))])
	if err != nil {
		return nil, err
	}
	return entityReplies(entities, errTooManyEntities)
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
	part, err := readPart(r, materialOnly)
	if err != nil {
		return nil, err
	}
	if part.after != "" && !platform.IsUUID(part.after) {
		return nil, badAfter(r)
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
	err = s.forEachMatch(ctx, b, id, strings.ToLower(part.after), func(m screening.Match) (bool, error) {
		if part.flags[materialOnly] && m.Resolution.Status != screening.TrueMatch {
			return true, nil
		}
		items = append(items, matchReplyOf(m))
		return len(items) < part.limit, budget.Reserve(items[len(items)-1], errTooManyMatches)
	})
	return items, err
}

// readTogether is the number of matches or batches that are read and held at a time.
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
	ref := screening.MatchRef{EntityID: entityID(r.PathValue("entityId")),
		MatchID: strings.ToLower(r.PathValue("matchId"))}
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
