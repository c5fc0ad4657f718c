package screeninghttp

import (
	"context"

	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/screening"
)

// ListOfLegalEntity returns the batches that have an entity, newest first.
func (s *Screenings) ListOfLegalEntity(ctx context.Context, r *platform.Request, _ platform.NoBody) (
	[]EntityBatchReply, error) {
	const trueOnly = "onlyWithTrueMatches"
	var onlyTrue bool
	err := r.Validate(func(v *platform.ValidationErrors) {
		v.CheckRepeated(trueOnly)
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
	return s.forEachPartOf(ctx, tenant, entityID, func(batches []screening.Batch) error {
		for _, b := range batches {
			if err := use(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// forEachPartOf calls use with the batches that have an entity, newest first and readTogether at a time, until it
// returns an error.
func (s *Screenings) forEachPartOf(ctx context.Context, tenant, entityID string,
	use func([]screening.Batch) error) error {
	for after := ""; ; {
		ids, next, err := s.Store.ListBatchesOf(ctx, tenant, entityID, after, readTogether)
		if err != nil {
			return err
		}
		batches, err := s.Store.GetBatches(ctx, tenant, ids) // without those whose creation has failed, or is not done
		if err != nil {
			return err
		}
		if err := use(batches); err != nil {
			return err
		}
		if after = next; after == "" {
			return nil
		}
	}
}

// countTrueMatches counts the true matches of an entity.
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
