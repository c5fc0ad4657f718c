package screeninghttp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/entity"
	"sluice/shared/platform/property"
	"sluice/shared/screening"
)

// entityData reads profiles, and reads and writes drafts, in the entity data.
type entityData interface {
	GetProfiles(ctx context.Context, tenant string, ids []string) ([]entity.Profile, error)
	ListDrafts(ctx context.Context, tenant string, p entity.DraftPage) ([]entity.DraftRef, string, error)
	GetDrafts(ctx context.Context, tenant string, ids []string) ([]entity.Draft, error)
	UpdateDraft(ctx context.Context, tenant string, d entity.Draft) error
}

var (
	errNoMainEntity = fault.New(fault.BadRequest, "no_main_legal_entity",
		"The batch has no main legal entity, whose draft would get the result. "+
			"Give journeyMainLegalEntityId when you create it.")
	errNoMainDraft = fault.New(fault.BadRequest, "no_main_draft",
		"The main legal entity has no draft in progress in the journey of the batch. Begin one first.")
	errOverridden = fault.New(fault.BadRequest, "screening_batch_not_open",
		"A newer batch of the same journey and process has overridden this one.")
)

// editEntity changes the entity of an open batch that the path names, and stores it.
func (s *Screenings) editEntity(ctx context.Context, r *platform.Request,
	change func(*screening.Entity) error) (platform.NoData, error) {
	return platform.NoData{}, retryIfChanged(func() error {
		b, err := s.findBatch(ctx, r, "id")
		if err != nil {
			return err
		}
		e, err := s.findEntity(ctx, r, b)
		switch {
		case err != nil:
			return err
		case b.Status != screening.Open:
			return errNotOpen
		}
		if err := change(&e); err != nil {
			return err
		}
		e.Version++
		return s.Store.SaveEntity(ctx, b, e)
	})
}

// UpdateEntity records the assessment of an entity and its impacted clients. Absent values stay as they are.
func (s *Screenings) UpdateEntity(ctx context.Context, r *platform.Request,
	in UpdateEntityRequest) (platform.NoData, error) {
	return s.editEntity(ctx, r, func(e *screening.Entity) error {
		if in.EntityMaterialityAssessment != nil {
			assessment := in.EntityMaterialityAssessment.apply(e.Assessment)
			assessment.By, assessment.ByType, assessment.At = r.Client, screening.ActorClient, s.Now().UTC()
			e.Assessment = &assessment
		}
		if in.ImpactedClients != nil {
			e.ImpactedClients = make([]screening.ImpactedClient, len(in.ImpactedClients))
			for i, c := range in.ImpactedClients {
				e.ImpactedClients[i] = screening.ImpactedClient{LegalEntityID: entityID(c.LegalEntityID),
					IsSelected: *c.IsSelected, ReasonForNoFollowUp: c.ReasonForNoFollowUp}
			}
		}
		return nil
	})
}

// UpdateMateriality merges properties into the properties of an entity or a related party.
func (s *Screenings) UpdateMateriality(ctx context.Context, r *platform.Request,
	in UpdateMaterialityRequest) (platform.NoData, error) {
	return s.editEntity(ctx, r, func(e *screening.Entity) error {
		id := e.ID
		if in.RelatedPartyEntityID != "" {
			id = entityID(in.RelatedPartyEntityID)
		}
		all := map[string]map[string]property.Property{}
		maps.Copy(all, e.Materiality)
		all[id] = in.Properties.Normalized().Apply(all[id])
		if e.Materiality = all; len(all) > screening.MaxRelatedParties {
			return errTooManyParties
		}
		return nil
	})
}

var errTooManyParties = fault.Newf(fault.BadRequest, "too_many_related_parties",
	"An entity has materiality properties of at most %d parties.", screening.MaxRelatedParties)

// Escalate hands the materiality task of an entity over to a team or a user.
func (s *Screenings) Escalate(ctx context.Context, r *platform.Request, in EscalateRequest) (platform.NoData, error) {
	return s.editEntity(ctx, r, func(e *screening.Entity) error {
		e.Escalation = &screening.Escalation{TeamID: strings.ToLower(in.TeamID), UserID: in.UserID, Comment: in.Comment,
			By: r.Client, At: s.Now().UTC()}
		return nil
	})
}

// Deescalate takes an escalation back. Doing it again succeeds.
func (s *Screenings) Deescalate(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	return s.editEntity(ctx, r, func(e *screening.Entity) error {
		e.Escalation = nil
		return nil
	})
}

// Aggregate writes the materiality of all entities of a batch to the draft of the journey's main legal entity, and
// returns it. Repeating it writes the same.
func (s *Screenings) Aggregate(ctx context.Context, r *platform.Request, _ platform.NoBody) (AggregateReply, error) {
	b, err := s.findBatch(ctx, r, "id")
	switch {
	case err != nil:
		return AggregateReply{}, err
	case b.Status == screening.Overridden:
		return AggregateReply{}, errOverridden
	case b.MainEntityID == "":
		return AggregateReply{}, errNoMainEntity
	}
	entities, err := s.Store.GetEntities(ctx, r.Tenant, b.ID, b.EntityIDs)
	if err != nil {
		return AggregateReply{}, err
	}
	reply := aggregateReplyOf(screening.Aggregate(entities))
	for range maxAttempts {
		d, err := s.findMainDraft(ctx, r, b)
		if err != nil {
			return AggregateReply{}, err
		}
		d, err = d.WithAuthor(r.Client).WithProperties(reply.properties())
		if errors.Is(err, entity.ErrDraftEnded) {
			return AggregateReply{}, errNoMainDraft
		}
		if err != nil {
			return AggregateReply{}, err
		}
		if err = s.Entities.UpdateDraft(ctx, r.Tenant, d); !errors.Is(err, entity.ErrChanged) {
			return reply, err
		}
	}
	return AggregateReply{}, errBusy
}

// findMainDraft finds the newest draft in progress of the main legal entity in the journey of a batch. One out of the
// caller's reach is not found.
func (s *Screenings) findMainDraft(ctx context.Context, r *platform.Request, b screening.Batch) (entity.Draft, error) {
	if b.JourneyID == "" {
		return entity.Draft{}, errNoMainDraft
	}
	for after := ""; ; {
		refs, next, err := s.Entities.ListDrafts(ctx, r.Tenant, entity.DraftPage{JourneyID: b.JourneyID, After: after,
			Limit: readTogether, Descending: true})
		if err != nil {
			return entity.Draft{}, err
		}
		refs = slices.DeleteFunc(refs, func(ref entity.DraftRef) bool {
			return entityID(ref.EntityID) != b.MainEntityID || !r.Layers.CanReach(ref.Layers)
		})
		for _, ref := range refs {
			drafts, err := s.Entities.GetDrafts(ctx, r.Tenant, []string{ref.DraftID})
			if err != nil {
				return entity.Draft{}, err
			}
			if len(drafts) == 1 && drafts[0].Status == entity.InProgress {
				return drafts[0], nil
			}
		}
		if after = next; after == "" {
			return entity.Draft{}, errNoMainDraft
		}
	}
}
