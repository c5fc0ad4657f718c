package entityhttp

import (
	"context"
	"slices"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access"
	"sluice/shared/access/httpapi"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/entityid"
	"sluice/shared/platform/entity"
)

// toLower writes an ID that is a UUID as it is stored.
func toLower(id string) string { return strings.ToLower(id) }

func toLowerAll(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = toLower(id)
	}
	return out
}

// normalizeIDs writes entity IDs as they are stored.
func normalizeIDs(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = entityid.Normalize(id)
	}
	return out
}

// Get returns an entity.
func (s *Entities) Get(ctx context.Context, r *platform.Request, _ platform.NoBody, m mask) (Entity, error) {
	p, status, err := s.findProfile(ctx, r, r.PathValue("entityId"))
	return entityOf(p, status, m), err
}

// GetDraft returns a draft.
func (s *Entities) GetDraft(ctx context.Context, r *platform.Request, _ platform.NoBody, m mask) (EntityDraft, error) {
	d, err := s.findDraftOfPath(ctx, r)
	return draftOf(d, m), err
}

// PartialProperties returns some properties of a few drafts. It leaves out those that do not exist or are out of reach.
func (s *Entities) PartialProperties(ctx context.Context, r *platform.Request,
	in PartialRequest) (wire.PartialProperties, error) {
	var m mask
	var err error
	if r.Attributes[attributeMaskPartial] == "true" {
		if m, err = s.maskFor(ctx, r); err != nil {
			return wire.PartialProperties{}, err
		}
	}
	drafts, err := s.Store.GetDrafts(ctx, r.Tenant, toLowerAll(in.DraftIDs))
	reply := wire.PartialProperties{Items: []wire.PartialDraft{}}
	for _, d := range drafts {
		if !r.Layers.CanReach(d.Layers) {
			continue
		}
		item := wire.PartialDraft{DraftID: d.ID, Type: d.Type, PartialProperties: map[string]any{},
			MaskedProperties: slices.DeleteFunc(slices.Clone(m.masked()),
				func(key string) bool { return !slices.Contains(in.DataKeys, key) })}
		properties := m.shown(d.Properties)
		for _, key := range in.DataKeys {
			if value, ok := properties[key]; ok {
				item.PartialProperties[key] = value
			}
		}
		reply.Items = append(reply.Items, item)
	}
	return reply, err
}

// SearchDrafts returns the drafts of a journey that the caller reaches.
func (s *Entities) SearchDrafts(ctx context.Context, r *platform.Request, in SearchRequest,
	m mask) ([]EntityDraft, error) {
	budget := httpapi.ListBudget
	out := []EntityDraft{}
	err := s.forEachDraft(ctx, r, in.JourneyID, inReach(r, in.entities()), func(d entity.Draft) error {
		item := draftOf(d, m)
		out = append(out, item)
		return budget.Reserve(item, errTooMany)
	})
	return out, err
}

// SearchByReach returns the drafts of a journey, divided by how far the caller's access layers reach them.
func (s *Entities) SearchByReach(ctx context.Context, r *platform.Request, in SearchRequest,
	m mask) (DraftsByReach, error) {
	budget := httpapi.ListBudget
	reply := DraftsByReach{AccessibleEntityDrafts: []EntityDraft{}, DraftsByReach: wire.DraftsByReach{
		InaccessibleEntityDrafts: []wire.InaccessibleDraft{}, ForbiddenEntityDrafts: []wire.ForbiddenDraft{},
	}}
	isWanted := in.entities()
	ofEntity := func(ref entity.DraftRef) bool { return isWanted(ref.EntityID) }
	err := s.forEachDraft(ctx, r, in.JourneyID, ofEntity, func(d entity.Draft) error {
		geographic := r.Layers.CanReach(access.Layers{Geographic: d.Layers.Geographic})
		business := r.Layers.CanReach(access.Layers{BusinessRelated: d.Layers.BusinessRelated})
		switch {
		case geographic && business:
			item := draftOf(d, m)
			reply.AccessibleEntityDrafts = append(reply.AccessibleEntityDrafts, item)
			return budget.Reserve(item, errTooMany)
		case geographic || business:
			item := wire.InaccessibleDraft{ID: d.ID, SourceEntityID: d.EntityID,
				Name: m.name(d.Properties), AccessLayers: wire.AccessLayers(d.Layers)}
			reply.InaccessibleEntityDrafts = append(reply.InaccessibleEntityDrafts, item)
			return budget.Reserve(item, errTooMany)
		}
		item := wire.ForbiddenDraft{ID: d.ID, SourceEntityID: d.EntityID}
		reply.ForbiddenEntityDrafts = append(reply.ForbiddenEntityDrafts, item)
		return budget.Reserve(item, errTooMany)
	})
	return reply, err
}

// DraftNames returns the names of entities in a journey: of their drafts, or of the entities if the journey has no
// draft of them. It leaves out those that do not exist, are out of reach, or have no profile.
func (s *Entities) DraftNames(ctx context.Context, r *platform.Request, in NamesRequest,
	m mask) (wire.DraftNames, error) {
	budget, isNamed := httpapi.ListBudget, map[string]bool{}
	reply := wire.DraftNames{EntityDraftNames: []wire.DraftName{}}
	add := func(n wire.DraftName) error {
		isNamed[entityid.Normalize(n.EntityID)] = true
		reply.EntityDraftNames = append(reply.EntityDraftNames, n)
		return budget.Reserve(n, errTooMany)
	}
	err := s.forEachDraft(ctx, r, in.JourneyID, inReach(r, entityFilter(in.EntityIDs)), func(d entity.Draft) error {
		return add(wire.DraftName{EntityID: d.EntityID, EntityDraftID: &d.ID, Type: d.Type,
			Name: m.name(d.Properties), Version: d.Version})
	})
	if err != nil {
		return wire.DraftNames{}, err
	}
	unnamed := slices.DeleteFunc(normalizeIDs(in.EntityIDs), func(id string) bool { return isNamed[id] })
	for ids := range slices.Chunk(unnamed, readTogether) {
		profiles, err := s.Store.GetProfiles(ctx, r.Tenant, ids)
		if err != nil {
			return wire.DraftNames{}, err
		}
		for _, p := range profiles {
			if isNamed[entityid.Normalize(p.ID)] || !r.Layers.CanReach(p.Layers) {
				continue
			}
			err := add(wire.DraftName{EntityID: p.ID, Type: p.Type, Name: m.name(p.Properties),
				Version: p.Version})
			if err != nil {
				return wire.DraftNames{}, err
			}
		}
	}
	return reply, nil
}

const (
	// readTogether is how many drafts or entities are read and held at a time.
	readTogether = 50
	// listedTogether is how many drafts of a journey are listed at a time.
	listedTogether = 2000
)

// forEachDraft calls use with each draft of a journey that filter accepts, in order of creation. It holds few of them
// at a time.
func (s *Entities) forEachDraft(ctx context.Context, r *platform.Request, journeyID string,
	filter func(entity.DraftRef) bool, use func(entity.Draft) error) error {
	page := entity.DraftPage{JourneyID: toLower(journeyID), Limit: listedTogether}
	for {
		refs, next, err := s.Store.ListDrafts(ctx, r.Tenant, page)
		if err != nil {
			return err
		}
		var ids []string
		for _, ref := range refs {
			if filter(ref) {
				ids = append(ids, ref.DraftID)
			}
		}
		for chunk := range slices.Chunk(ids, readTogether) {
			drafts, err := s.Store.GetDrafts(ctx, r.Tenant, chunk)
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

// entityFilter returns a filter for entity IDs, UUIDs in any case; nil accepts all.
func entityFilter(ids []string) func(id string) bool {
	if ids == nil {
		return func(string) bool { return true }
	}
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[entityid.Normalize(id)] = true
	}
	return func(id string) bool { return set[entityid.Normalize(id)] }
}

// entities returns the filter for the entities whose drafts are searched for.
func (in SearchRequest) entities() func(id string) bool {
	if in.EntityID != "" {
		return entityFilter(append(slices.Clone(in.EntityIDs), in.EntityID))
	}
	return entityFilter(in.EntityIDs)
}

// inReach returns a filter for drafts that the caller reaches and whose entity isWanted accepts.
func inReach(r *platform.Request, isWanted func(entityID string) bool) func(entity.DraftRef) bool {
	return func(ref entity.DraftRef) bool { return isWanted(ref.EntityID) && r.Layers.CanReach(ref.Layers) }
}
