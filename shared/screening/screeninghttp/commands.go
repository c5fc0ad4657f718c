package screeninghttp

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/entityid"
	"sluice/shared/screening"
)

// entityID returns an entity's ID as it is stored: a UUID counts in any case.
func entityID(id string) string { return entityid.Normalize(id) }

// Create stores a new batch and starts its searches. A batch of the same journey and process that is there already is
// overridden.
func (s *Screenings) Create(ctx context.Context, r *platform.Request, in CreateRequest) (Created, error) {
	b := screening.Batch{
		ID: s.NewID(), Tenant: r.Tenant, Status: screening.Open, Type: screening.TypeScreening,
		JourneyID: entityID(in.JourneyID), ProcessID: entityID(in.ProcessID), JourneyType: in.JourneyType,
		MainEntityID: entityID(in.JourneyMainLegalEntityID), MainEntityName: in.JourneyMainLegalEntityName,
		CreatedAt: s.Now().UTC(), CreatedBy: r.Client, CorrelationID: r.CorrelationID(), Version: 1,
	}
	entities := make([]screening.Entity, len(in.Entities))
	for i, e := range in.Entities {
		legalID := entityID(e.LegalEntityID)
		entities[i] = screening.Entity{ID: cmp.Or(legalID, s.NewID()), BatchID: b.ID, LegalEntityID: legalID,
			Criteria: *e.SearchCriteria, Aliases: e.EntityAliases, Version: 1}
		b.EntityIDs = append(b.EntityIDs, entities[i].ID)
	}
	audit.AddObject(ctx, "batchId", b.ID)
	b, err := s.addSearches(ctx, r, b, in.Providers)
	if err != nil {
		return Created{}, err
	}
	if b, err = s.Store.Create(ctx, b, entities); err != nil {
		return Created{}, faultOf(err)
	}
	s.start(ctx, b)
	for _, id := range b.OverriddenIDs {
		recordTransition(ctx, id, "", screening.Overridden)
	}
	recordTransition(ctx, b.ID, "", b.Status)
	return Created{b.ID}, nil
}

// Complete closes a batch that is resolved. Closing a closed one again succeeds.
func (s *Screenings) Complete(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	return platform.NoData{}, retryIfChanged(func() error {
		b, err := s.findBatch(ctx, r, "id")
		if err != nil || b.Status == screening.Closed {
			return err
		}
		err = r.RequireOther("A client must not close a batch with a match that it has resolved (four eyes). "+
			"Let another client close it.", slices.Collect(maps.Keys(b.Resolvers))...)
		if err != nil {
			return err
		}
		closed, err := b.Close(s.Now().UTC())
		if err != nil {
			return faultOf(err)
		}
		if err := s.Store.Save(ctx, closed); err != nil {
			return err
		}
		recordTransition(ctx, b.ID, b.Status, closed.Status)
		return nil
	})
}

// Resolve records resolutions of matches, all of them or none.
func (s *Screenings) Resolve(ctx context.Context, r *platform.Request, in ResolveRequest) (platform.NoData, error) {
	return platform.NoData{}, retryIfChanged(func() error {
		b, err := s.findBatch(ctx, r, "id")
		if err != nil {
			return err
		}
		refs, updates := in.refs()
		for _, ref := range refs {
			if !b.HasEntity(ref.EntityID) {
				return errNoEntity
			}
		}
		matches, err := s.Store.GetMatches(ctx, b, refs)
		if err != nil {
			return err
		}
		if len(matches) < len(refs) {
			return errNoMatch
		}
		resolutions := map[string]screening.Resolution{}
		for i, m := range matches {
			resolutions[m.ID] = updates[i].apply(m.Resolution, screening.MatchAction{
				By: r.Client, Type: screening.ActorClient, At: s.Now().UTC()})
		}
		b, matches, err = b.Resolve(matches, resolutions)
		if err != nil {
			return faultOf(err)
		}
		// The notices of adapters are started first: if this request ends here, they find nothing to report.
		if err := s.Resolutions.Start(ctx, b, matches); err != nil {
			return err
		}
		return s.Store.Resolve(ctx, b, matches)
	})
}

// recordTransition writes a change of a batch's status to the audit trail; from is "" if it is not known or new.
func recordTransition(ctx context.Context, id string, from, to screening.Status) {
	audit.RecordTransition(ctx, audit.Transition{
		Message: "screening batch transition", Batch: id, From: string(from), To: string(to),
	})
}
