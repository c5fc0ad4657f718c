package screeninghttp

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
)

// HistoryReply is the assessment of an entity in a batch that was closed.
type HistoryReply struct {
	BatchID                     string            `json:"batchId"`
	JourneyID                   *string           `json:"journeyId"`
	JourneyType                 *string           `json:"journeyType"`
	JourneyName                 *string           `json:"journeyName"`
	JourneyMainLegalEntityID    *string           `json:"journeyMainLegalEntityId"`
	JourneyMainLegalEntityName  *string           `json:"journeyMainLegalEntityName"`
	EntityMaterialityAssessment HistoryAssessment `json:"entityMaterialityAssessment"`
	JourneyAccessLayers         access.Layers     `json:"journeyAccessLayers"`
	EntityAccessLayers          access.Layers     `json:"entityAccessLayers"`
	// RestrictedFields are null because the caller lacks the access layers.
	RestrictedFields []string `json:"restrictedFields"`
}

// HistoryAssessment is an assessment with its true matches.
type HistoryAssessment struct {
	Assessment  *AssessmentReply `json:"assessment"`
	TrueMatches []TrueMatchReply `json:"trueMatches"`
}

// TrueMatchReply is a true match of the entity.
type TrueMatchReply struct {
	MatchID            string              `json:"matchId"`
	Name               string              `json:"name"`
	EntityUniqueID     string              `json:"entityUniqueId"`
	ClassificationData ClassificationReply `json:"classificationData"`
	ProviderID         string              `json:"providerId"`
}

var errTooMuchHistory = fault.New(fault.TooLarge, "too_much_history",
	"The reply would be too large. Read the entity in its batches one by one: "+
		"GET /batch/legalentity/{legalEntityId} lists them.")

// History returns the assessments of an entity in the batches that were closed, newest first. A closed batch never
// changes, so that they are as they were then.
func (s *Screenings) History(ctx context.Context, r *platform.Request, _ platform.NoBody) ([]HistoryReply, error) {
	id := entityID(r.PathValue("entityId"))
	if len(id) > platform.MaxID {
		return nil, errNoEntity
	}
	layers, err := s.layersOf(ctx, r.Tenant, id)
	if err != nil {
		return nil, err
	}
	if !r.Layers.CanReach(layers) {
		return nil, errNoEntity
	}
	isKnown, budget, items := false, httpapi.ListBudget, []HistoryReply{}
	err = s.forEachPartOf(ctx, r.Tenant, id, func(batches []screening.Batch) error {
		isKnown = isKnown || len(batches) > 0
		part, err := s.historiesOf(ctx, r, batches, id)
		if err != nil {
			return err
		}
		for _, item := range part {
			item.EntityAccessLayers = layers
			items = append(items, *item)
			if err := budget.Reserve(item, errTooMuchHistory); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !isKnown {
		err = errNoEntity
	}
	return items, err
}

// historiesAtOnce is the number of batches read at the same time for an entity and its matches.
const historiesAtOnce = 8

// historiesOf returns the assessments of an entity in the closed ones of the batches, in their order. Batches without
// an assessment are left out.
func (s *Screenings) historiesOf(ctx context.Context, r *platform.Request, batches []screening.Batch, id string) (
	[]*HistoryReply, error) {
	items := make([]*HistoryReply, len(batches))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(historiesAtOnce)
	for i, b := range batches {
		if !b.ClosedAt.IsZero() {
			g.Go(func() (err error) {
				items[i], err = s.historyOf(ctx, r, b, id)
				return err
			})
		}
	}
	err := g.Wait()
	return slices.DeleteFunc(items, func(item *HistoryReply) bool { return item == nil }), err
}

// historyOf returns the assessment of an entity in a closed batch, nil if nobody assessed it there.
func (s *Screenings) historyOf(ctx context.Context, r *platform.Request, b screening.Batch, id string) (*HistoryReply,
	error) {
	found, err := s.Store.GetEntities(ctx, b.Tenant, b.ID, []string{id})
	if err != nil || len(found) == 0 || found[0].Assessment == nil {
		return nil, err
	}
	item := &HistoryReply{BatchID: b.ID, JourneyID: platform.OrNull(b.JourneyID),
		JourneyType: platform.OrNull(b.JourneyType), JourneyMainLegalEntityID: platform.OrNull(b.MainEntityID),
		JourneyMainLegalEntityName:  platform.OrNull(b.MainEntityName),
		EntityMaterialityAssessment: HistoryAssessment{assessmentReplyOf(found[0].Assessment), []TrueMatchReply{}},
		RestrictedFields:            []string{}}
	if item.JourneyAccessLayers, err = s.layersOf(ctx, b.Tenant, b.MainEntityID); err != nil {
		return nil, err
	}
	if !r.Layers.CanReach(item.JourneyAccessLayers) && b.MainEntityName != "" {
		item.JourneyMainLegalEntityName = nil
		item.RestrictedFields = []string{"journeyMainLegalEntityName"}
	}
	if b.TrueMatches == 0 {
		return item, nil
	}
	trueMatches := &item.EntityMaterialityAssessment.TrueMatches
	err = s.forEachMatch(ctx, b, id, "", func(m screening.Match) (bool, error) {
		if m.Resolution.Status == screening.TrueMatch {
			*trueMatches = append(*trueMatches, TrueMatchReply{m.ID, m.Data.Name, m.UniqueID,
				matchReplyOf(m).ClassificationData, m.Data.ProviderID})
		}
		return true, nil
	})
	return item, err
}

// layersOf returns the access layers of an entity in the entity data; Global and Enterprise if it is not there.
func (s *Screenings) layersOf(ctx context.Context, tenant, id string) (access.Layers, error) {
	if id == "" {
		return access.Layers{}.OrDefault(), nil
	}
	profiles, err := s.Entities.GetProfiles(ctx, tenant, []string{id})
	if err != nil || len(profiles) == 0 {
		return access.Layers{}.OrDefault(), err
	}
	return profiles[0].Layers.OrDefault(), nil
}
