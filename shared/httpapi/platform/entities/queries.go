package entities

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"sluice/shared/access"
	"sluice/shared/entity"
	"sluice/shared/fault"
	"sluice/shared/httpapi"
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
	drafts, err := s.Store.Drafts(ctx, c.Tenant, lowers(in.DraftIDs))
	reply := PartialReply{Items: []Partial{}}
	for _, d := range drafts {
		if !c.Layers.Reach(d.Layers) {
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

// maxWhole is how many drafts a search answers with at once: what is beyond is for the light search and its pages.
const maxWhole = 200

var errTooMany = fault.Newf(fault.TooLarge, "too_many_drafts",
	"More than %d drafts match. Narrow the search by entityIds, or use search-entity-drafts-light.", maxWhole)

// whole reads all drafts of a journey, in order of creation, that keep says yes to.
func (s *Entities) whole(ctx context.Context, tenant, journey string, keep func(entity.Member) bool) ([]entity.Draft, error) {
	var ids []string
	page := entity.Page{Journey: lower(journey), Limit: maxWhole}
	for {
		members, next, err := s.Store.Members(ctx, tenant, page)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if keep(m) {
				ids = append(ids, m.DraftID)
			}
		}
		if len(ids) > maxWhole {
			return nil, errTooMany
		}
		if page.After = next; next == "" {
			return s.Store.Drafts(ctx, tenant, ids)
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
	wanted := in.among()
	drafts, err := s.whole(ctx, c.Tenant, in.JourneyID, func(m entity.Member) bool { return wanted(m.EntityID) && c.Layers.Reach(m.Layers) })
	out := make([]EntityDraft, len(drafts))
	for i, d := range drafts {
		out[i] = draftOf(d)
	}
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
	wanted := in.among()
	drafts, err := s.whole(ctx, c.Tenant, in.JourneyID, func(m entity.Member) bool { return wanted(m.EntityID) })
	reply := ReachReply{[]EntityDraft{}, []Inaccessible{}, []Forbidden{}}
	for _, d := range drafts {
		geographic := c.Layers.Reach(access.Layers{Geographic: d.Layers.Geographic})
		business := c.Layers.Reach(access.Layers{BusinessRelated: d.Layers.BusinessRelated})
		switch {
		case geographic && business:
			reply.Accessible = append(reply.Accessible, draftOf(d))
		case geographic || business:
			reply.Inaccessible = append(reply.Inaccessible, Inaccessible{d.ID, d.EntityID, nameOf(d.Properties), d.Layers})
		default:
			reply.Forbidden = append(reply.Forbidden, Forbidden{d.ID, d.EntityID})
		}
	}
	return reply, err
}

// NamesReply is names of drafts.
type NamesReply struct {
	EntityDraftNames []DraftName `json:"entityDraftNames"`
}

// DraftName is what a draft calls its entity.
type DraftName struct {
	EntityID      string `json:"entityId"`
	EntityDraftID string `json:"entityDraftId"`
	Type          string `json:"type"`
	Name          string `json:"name"`
	Version       int64  `json:"version"`
}

// Names reads the names that the drafts of a journey give to entities.
func (s *Entities) Names(ctx context.Context, c httpapi.Caller, _ *http.Request, in NamesRequest) (NamesReply, error) {
	wanted := among(in.EntityIDs)
	drafts, err := s.whole(ctx, c.Tenant, in.JourneyID, func(m entity.Member) bool { return wanted(m.EntityID) && c.Layers.Reach(m.Layers) })
	reply := NamesReply{[]DraftName{}}
	for _, d := range drafts {
		reply.EntityDraftNames = append(reply.EntityDraftNames, DraftName{d.EntityID, d.ID, d.Type, nameOf(d.Properties), d.Version})
	}
	return reply, err
}
