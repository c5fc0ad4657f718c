package entityhttp

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

// Light is a draft of an entity as the light search lists it, with keys in PascalCase (docs/contract/platform.md, Draft
// searches).
type Light struct {
	EntityID      string `json:"EntityId"`
	EntityDraftID string `json:"EntityDraftId"`
}

// SearchLight reads a page of the ids of the drafts of a journey that are in reach. What a page costs has a bound, however long
// the journey and however few of its drafts are wanted.
func (s *Entities) SearchLight(ctx context.Context, c httpapi.Caller, _ *http.Request, in LightRequest) (LightReply, error) {
	options := PageOptions{}
	if in.PageOptions != nil {
		options = *in.PageOptions
	}
	page := entity.DraftPage{JourneyID: lower(in.JourneyID), Limit: defaultPage, Descending: options.SortOrder == 1}
	if options.PageSize != nil {
		page.Limit = *options.PageSize
	}
	query := lightQuery(in, page)
	var err error
	if page.After, err = s.Paging.Open(c.Tenant, query, options.PaginationToken); err != nil {
		return LightReply{}, err
	}
	wanted := among(in.EntityIDs)
	items, next, err := s.some(ctx, c.Tenant, page, func(m entity.DraftRef) bool { return wanted(m.EntityID) && c.Layers.CanReach(m.Layers) })
	if err != nil {
		return LightReply{}, err
	}
	reply := LightReply{Items: items}
	if token := s.Paging.Seal(c.Tenant, query, next); token != "" {
		reply.PaginationToken = &token
	}
	return reply, nil
}

// maxLooked is about how many drafts one page looks at: after that it is sent as full as it is.
const maxLooked = 3 * listed

// some reads drafts that keep says yes to until a page is full, and the position after them; "" at the end.
func (s *Entities) some(ctx context.Context, tenant string, page entity.DraftPage, keep func(entity.DraftRef) bool) ([]Light, string, error) {
	items, size := []Light{}, page.Limit
	for looked := 0; ; page.Limit = listed {
		members, next, err := s.Store.ListDrafts(ctx, tenant, page)
		if err != nil {
			return nil, "", err
		}
		for i, m := range members {
			if !keep(m) {
				continue
			}
			items = append(items, Light{m.EntityID, m.DraftID})
			if len(items) == size && i < len(members)-1 {
				return items, m.Position, nil
			}
		}
		if looked += len(members); next == "" || len(items) == size || looked >= maxLooked {
			return items, next, nil
		}
		page.After = next
	}
}

// lightQuery names a search, whatever the size of its pages: a token counts for the same journey, entities and order only.
func lightQuery(in LightRequest, page entity.DraftPage) string {
	ids := "all"
	if in.EntityIDs != nil {
		sorted := slices.Sorted(slices.Values(lowers(in.EntityIDs)))
		sum := sha256.Sum256([]byte(strings.Join(sorted, " ")))
		ids = hex.EncodeToString(sum[:])
	}
	return strings.Join([]string{"light", page.JourneyID, strconv.FormatBool(page.Descending), ids}, " ")
}
