package entityhttp

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"sluice/shared/access"
	"sluice/shared/entity"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
	"sluice/shared/property"
)

// lower is how UUIDs are stored.
func lower(id string) string { return strings.ToLower(id) }

func lowers(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = lower(id)
	}
	return out
}

// Get reads an entity.
func (s *Entities) Get(ctx context.Context, c httpapi.Caller, r *http.Request) (Entity, error) {
	record, status, err := s.entity(ctx, c, r.PathValue("entityId"))
	return entityOf(record, status), err
}

// GetDraft reads a draft.
func (s *Entities) GetDraft(ctx context.Context, c httpapi.Caller, r *http.Request) (EntityDraft, error) {
	d, err := s.draft(ctx, c, r.PathValue("entityId"), lower(r.PathValue("id")))
	return draftOf(d), err
}

// PartialReply is some properties of some drafts.
type PartialReply struct {
	Items []Partial `json:"items"`
}

// Partial is some properties of a draft.
type Partial struct {
	DraftID           string                       `json:"draftId"`
	Type              string                       `json:"type"`
	PartialProperties map[string]property.Property `json:"partialProperties"`
}

// PartialProperties reads some properties of up to ten drafts. What is not there or out of reach is left out.
func (s *Entities) PartialProperties(ctx context.Context, c httpapi.Caller, _ *http.Request, in PartialRequest) (PartialReply, error) {
	drafts, err := s.Store.GetDrafts(ctx, c.Tenant, lowers(in.DraftIDs))
	reply := PartialReply{Items: []Partial{}}
	for _, d := range drafts {
		if !c.Layers.CanReach(d.Layers) {
			continue
		}
		p := Partial{d.ID, d.Type, map[string]property.Property{}}
		for _, key := range in.DataKeys {
			if value, ok := d.Properties[key]; ok {
				p.PartialProperties[key] = value
			}
		}
		reply.Items = append(reply.Items, p)
	}
	return reply, err
}

const (
	atOnce = 50   // drafts that are read and held together
	listed = 2000 // drafts of a journey that are looked at together
)

var errTooMany = fault.New(fault.TooLarge, "too_many_drafts",
	"The reply would be too large. Narrow the search by entityIds, or use search-entity-drafts-light.")

// each calls use with all drafts of a journey, in order of creation, that keep says yes to. It holds few of them at a time.
func (s *Entities) each(ctx context.Context, tenant, journey string, keep func(entity.DraftRef) bool, use func(entity.Draft) error) error {
	page := entity.DraftPage{JourneyID: lower(journey), Limit: listed}
	for {
		members, next, err := s.Store.ListDrafts(ctx, tenant, page)
		if err != nil {
			return err
		}
		var ids []string
		for _, m := range members {
			if keep(m) {
				ids = append(ids, m.DraftID)
			}
		}
		for some := range slices.Chunk(ids, atOnce) {
			drafts, err := s.Store.GetDrafts(ctx, tenant, some)
			if err != nil {
				return err
			}
			for _, d := range drafts {
				if err := use(d); err != nil {
					return err
				}
			}
		}
		if page.After = next; next == "" {
			return nil
		}
	}
}

// among returns a test for entity ids; a nil list lets all pass.
func among(ids []string) func(string) bool {
	if ids == nil {
		return func(string) bool { return true }
	}
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[lower(id)] = true
	}
	return func(id string) bool { return set[lower(id)] }
}

func (r SearchRequest) among() func(string) bool {
	if r.EntityID != "" {
		return among(append(slices.Clone(r.EntityIDs), r.EntityID))
	}
	return among(r.EntityIDs)
}

// SearchDrafts reads the drafts of a journey that are in reach.
func (s *Entities) SearchDrafts(ctx context.Context, c httpapi.Caller, _ *http.Request, in SearchRequest) ([]EntityDraft, error) {
	wanted, left := in.among(), platform.MaxReply
	out := []EntityDraft{}
	err := s.each(ctx, c.Tenant, in.JourneyID, func(m entity.DraftRef) bool { return wanted(m.EntityID) && c.Layers.CanReach(m.Layers) },
		func(d entity.Draft) error {
			out = append(out, draftOf(d))
			return left.Take(out[len(out)-1], errTooMany)
		})
	return out, err
}

// ReachReply is the drafts of a journey by how far the caller reaches them.
type ReachReply struct {
	Accessible   []EntityDraft  `json:"accessibleEntityDrafts"`
	Inaccessible []Inaccessible `json:"inaccessibleEntityDrafts"`
	Forbidden    []Forbidden    `json:"forbiddenEntityDrafts"`
}

// Inaccessible is a draft that the caller reaches in one of the two dimensions of access layers.
type Inaccessible struct {
	ID             string        `json:"id"`
	SourceEntityID string        `json:"sourceEntityId"`
	Name           string        `json:"name"`
	AccessLayers   access.Layers `json:"accessLayers"`
}

// Forbidden is a draft that the caller reaches in neither dimension.
type Forbidden struct {
	ID             string `json:"id"`
	SourceEntityID string `json:"sourceEntityId"`
}

// SearchByReach tells the drafts of a journey apart by the caller's access layers.
func (s *Entities) SearchByReach(ctx context.Context, c httpapi.Caller, _ *http.Request, in SearchRequest) (ReachReply, error) {
	wanted, left := in.among(), platform.MaxReply
	reply := ReachReply{[]EntityDraft{}, []Inaccessible{}, []Forbidden{}}
	err := s.each(ctx, c.Tenant, in.JourneyID, func(m entity.DraftRef) bool { return wanted(m.EntityID) }, func(d entity.Draft) error {
		geographic := c.Layers.CanReach(access.Layers{Geographic: d.Layers.Geographic})
		business := c.Layers.CanReach(access.Layers{BusinessRelated: d.Layers.BusinessRelated})
		switch {
		case geographic && business:
			reply.Accessible = append(reply.Accessible, draftOf(d))
			return left.Take(reply.Accessible[len(reply.Accessible)-1], errTooMany)
		case geographic || business:
			some := Inaccessible{d.ID, d.EntityID, nameOf(d.Properties), d.Layers}
			reply.Inaccessible = append(reply.Inaccessible, some)
			return left.Take(some, errTooMany)
		}
		reply.Forbidden = append(reply.Forbidden, Forbidden{d.ID, d.EntityID})
		return left.Take(reply.Forbidden[len(reply.Forbidden)-1], errTooMany)
	})
	return reply, err
}
