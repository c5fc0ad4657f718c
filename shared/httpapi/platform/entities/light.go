package entities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sluice/shared/entity"
	"sluice/shared/httpapi"
)

// LightReply is a page of the drafts of a journey. It may be short or empty before the end, which is where the token is null.
type LightReply struct {
	Items           []Light `json:"items"`
	PaginationToken *string `json:"paginationToken"`
}

// Light is a draft of an entity; its keys are in this case by contract.
type Light struct {
	EntityID      string `json:"EntityId"`
	EntityDraftID string `json:"EntityDraftId"`
}

// SearchLight reads a page of the ids of the drafts of a journey that are in reach. It looks at no more drafts than a page has.
func (s *Entities) SearchLight(ctx context.Context, c httpapi.Caller, _ *http.Request, in LightRequest) (LightReply, error) {
	options := PageOptions{}
	if in.PageOptions != nil {
		options = *in.PageOptions
	}
	page := entity.Page{Journey: lower(in.JourneyID), Limit: defaultPage, Descending: options.SortOrder == 1}
	if options.PageSize != nil {
		page.Limit = *options.PageSize
	}
	query := lightQuery(in, page)
	var err error
	if page.After, err = s.Paging.Open(c.Tenant, query, options.PaginationToken); err != nil {
		return LightReply{}, err
	}
	members, next, err := s.Store.Members(ctx, c.Tenant, page)
	if err != nil {
		return LightReply{}, err
	}
	wanted := among(in.EntityIDs)
	reply := LightReply{Items: []Light{}}
	for _, m := range members {
		if wanted(m.EntityID) && c.Layers.Reach(m.Layers) {
			reply.Items = append(reply.Items, Light{m.EntityID, m.DraftID})
		}
	}
	if token := s.Paging.Seal(c.Tenant, query, next); token != "" {
		reply.PaginationToken = &token
	}
	return reply, nil
}

// lightQuery names a search, whatever the size of its pages: a token counts for the same journey, entities and order only.
func lightQuery(in LightRequest, page entity.Page) string {
	ids := "all"
	if in.EntityIDs != nil {
		sorted := slices.Sorted(slices.Values(lowers(in.EntityIDs)))
		sum := sha256.Sum256([]byte(strings.Join(sorted, " ")))
		ids = hex.EncodeToString(sum[:])
	}
	return strings.Join([]string{"light", page.Journey, strconv.FormatBool(page.Descending), ids}, " ")
}
