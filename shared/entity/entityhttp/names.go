package entityhttp

import (
	"context"
	"net/http"
	"slices"

	"sluice/shared/entity"
	"sluice/shared/httpapi"
	"sluice/shared/httpapi/platform"
)

// NamesReply is names of entities.
type NamesReply struct {
	EntityDraftNames []DraftName `json:"entityDraftNames"`
}

// DraftName is what an entity is called: by a draft, or by itself if the journey has no draft of it.
type DraftName struct {
	EntityID      string  `json:"entityId"`
	EntityDraftID *string `json:"entityDraftId"` // null: the name is the entity's own
	Type          string  `json:"type"`
	Name          string  `json:"name"`
	Version       int64   `json:"version"` // of what gives the name
}

// Names reads what entities are called in a journey. What is not there, out of reach or only imported is left out.
func (s *Entities) Names(ctx context.Context, c httpapi.Caller, _ *http.Request, in NamesRequest) (NamesReply, error) {
	wanted, left, named := among(in.EntityIDs), platform.MaxReply, map[string]bool{}
	reply := NamesReply{[]DraftName{}}
	add := func(n DraftName) error {
		reply.EntityDraftNames, named[lower(n.EntityID)] = append(reply.EntityDraftNames, n), true
		return left.Take(n, errTooMany)
	}
	err := s.each(ctx, c.Tenant, in.JourneyID, func(m entity.DraftRef) bool { return wanted(m.EntityID) && c.Layers.CanReach(m.Layers) },
		func(d entity.Draft) error {
			return add(DraftName{d.EntityID, &d.ID, d.Type, nameOf(d.Properties), d.Version})
		})
	if err != nil {
		return NamesReply{}, err
	}
	rest := slices.DeleteFunc(lowers(in.EntityIDs), func(id string) bool { return named[id] })
	for some := range slices.Chunk(rest, atOnce) {
		records, err := s.Store.GetProfiles(ctx, c.Tenant, some)
		if err != nil {
			return NamesReply{}, err
		}
		for _, r := range records {
			if named[r.ID] || !c.Layers.CanReach(r.Layers) {
				continue
			}
			if err := add(DraftName{r.ID, nil, r.Type, nameOf(r.Properties), r.Version}); err != nil {
				return NamesReply{}, err
			}
		}
	}
	return reply, nil
}
