// Package materiality reads the assessment of an entity in the screening of its journey: the data source
// screeningMateriality of policies, if the request does not give it.
package materiality

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"sluice/shared/access"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
	"sluice/shared/policy/evaluate"
	"sluice/shared/screening"
)

// Screenings reads screening batches. It is a part of screening.Store, which documents the errors of its methods.
type Screenings interface {
	// Get reads a batch.
	Get(ctx context.Context, tenant, id string) (screening.Batch, error)
	// FindNewest returns the ID of the newest batch of a journey.
	FindNewest(ctx context.Context, tenant, journeyID string) (id string, err error)
	// ListBatchesOf reads a part of the IDs of the batches that have an entity, newest first.
	ListBatchesOf(ctx context.Context, tenant, entityID, after string, limit int) (ids []string, next string, err error)
	// GetEntities reads the given entities of a batch.
	GetEntities(ctx context.Context, tenant, batchID string, ids []string) ([]screening.Entity, error)
}

// Entities reads the profiles of entities. It is a part of entity.Store.
type Entities interface {
	// GetProfiles reads the profiles of the given entities.
	GetProfiles(ctx context.Context, tenant string, ids []string) ([]entity.Profile, error)
}

// Reader reads the materiality of a tenant's entities.
type Reader struct {
	Screenings Screenings
	Entities   Entities
	Tenant     string
}

var _ evaluate.MaterialityReader = Reader{}

// batchesAtOnce is how many IDs of an entity's batches are read together.
const batchesAtOnce = 50

// ReadMateriality implements evaluate.MaterialityReader. It reads the newest batch of a journey that has the entity. An
// overridden batch does not count, nor does a rescreening in which nobody has assessed the entity yet: until then, the
// earlier assessment holds. Without an entity ID it is the main legal entity of the newest batch. An entity beyond the
// caller's access layers has no materiality.
func (r Reader) ReadMateriality(ctx context.Context, journeyID, entityID string, layers access.Layers) (
	*evaluate.Materiality, error) {
	journeyID, entityID = entityid.Normalize(journeyID), entityid.Normalize(entityID)
	newestID, err := r.Screenings.FindNewest(ctx, r.Tenant, journeyID)
	if errors.Is(err, screening.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	newest, err := r.get(ctx, newestID)
	if err != nil {
		return nil, err
	}
	if entityID == "" {
		entityID = newest.MainEntityID
	}
	if entityID == "" {
		return nil, nil
	}
	if isReached, err := r.isReached(ctx, entityID, layers); err != nil || !isReached {
		return nil, err
	}
	if m, err := r.materialityIn(ctx, newest, journeyID, entityID); m != nil || err != nil {
		return m, err
	}
	return r.findOlder(ctx, newestID, journeyID, entityID)
}

// isReached reports whether a caller with layers reaches an entity. All callers reach entities outside the entity data.
func (r Reader) isReached(ctx context.Context, entityID string, layers access.Layers) (bool, error) {
	profiles, err := r.Entities.GetProfiles(ctx, r.Tenant, []string{entityID})
	if err != nil || len(profiles) == 0 {
		return err == nil, err
	}
	return layers.CanReach(profiles[0].Layers), nil
}

// get reads a batch. One whose creation failed, which lists may name, is empty.
func (r Reader) get(ctx context.Context, id string) (screening.Batch, error) {
	b, err := r.Screenings.Get(ctx, r.Tenant, id)
	if errors.Is(err, screening.ErrNotFound) {
		return screening.Batch{}, nil
	}
	return b, err
}

// findOlder looks for the batch that counts among all batches of the entity, except one that was looked at already.
func (r Reader) findOlder(ctx context.Context, except, journeyID, entityID string) (*evaluate.Materiality, error) {
	for after := ""; ; {
		ids, next, err := r.Screenings.ListBatchesOf(ctx, r.Tenant, entityID, after, batchesAtOnce)
		if err != nil {
			return nil, err
		}
		for _, id := range slices.DeleteFunc(ids, func(id string) bool { return id == except }) {
			b, err := r.get(ctx, id)
			if err != nil {
				return nil, err
			}
			if m, err := r.materialityIn(ctx, b, journeyID, entityID); m != nil || err != nil {
				return m, err
			}
		}
		if after = next; after == "" {
			return nil, nil
		}
	}
}

// materialityIn returns the materiality of an entity in a batch, nil if the batch does not count.
func (r Reader) materialityIn(ctx context.Context, b screening.Batch, journeyID, entityID string) (
	*evaluate.Materiality, error) {
	if b.JourneyID != journeyID || b.Status == screening.Overridden || !b.HasEntity(entityID) {
		return nil, nil
	}
	found, err := r.Screenings.GetEntities(ctx, r.Tenant, b.ID, []string{entityID})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	a := found[0].Assessment
	if a == nil && b.Type == screening.TypeRescreening {
		return nil, nil
	}
	m := &evaluate.Materiality{MainEntity: entityID == b.MainEntityID}
	if a != nil {
		setAssessment(m, *a)
	}
	return m, nil
}

// setAssessment sets the assessed categories. A category that nobody has assessed stays empty.
func setAssessment(m *evaluate.Materiality, a screening.Assessment) {
	m.MaterialityOutcome = string(a.Outcome())
	for category, to := range map[screening.Category]struct {
		status        *string
		jurisdictions *[]string
	}{
		screening.PEP:          {&m.PEPMaterialityStatus, &m.PEPMaterialityJurisdictions},
		screening.Sanctions:    {&m.SanctionsMaterialityStatus, &m.SanctionsMaterialityJurisdictions},
		screening.AdverseMedia: {&m.AdverseMediaMaterialityStatus, &m.AdverseMediaMaterialityJurisdictions},
		screening.Enforcements: {&m.EnforcementsMaterialityStatus, &m.EnforcementsMaterialityJurisdictions},
		screening.Other:        {&m.OtherMaterialityStatus, &m.OtherMaterialityJurisdictions},
	} {
		assessed := a.Categories[category]
		*to.status, *to.jurisdictions = string(assessed.Status), assessed.Jurisdictions
	}
	if ok := a.Categories[screening.Sanctions].OKToProceed; ok != nil {
		m.SanctionsProceedDecision = strconv.FormatBool(*ok)
	}
}
