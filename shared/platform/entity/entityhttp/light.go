package entityhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/platform/entity"
)

// SearchLight returns a page of the IDs of the drafts of a journey that the caller reaches. The work for a page is
// bounded, however long the journey is and however few of its drafts are wanted.
func (s *Entities) SearchLight(ctx context.Context, r *platform.Request, in LightRequest) (wire.LightPage, error) {
	options := PageOptions{}
	if in.PageOptions != nil {
		options = *in.PageOptions
	}
	page := entity.DraftPage{JourneyID: toLower(in.JourneyID), Limit: defaultPage,
		Descending: options.SortOrder == descending}
	if options.PageSize != nil {
		page.Limit = *options.PageSize
	}
	query := lightQuery(in, page)
	var err error
	if page.After, err = r.OpenPageToken(s.Paging, query, "pageOptions.paginationToken",
		options.PaginationToken); err != nil {
		return wire.LightPage{}, err
	}
	items, next, err := s.fillPage(ctx, r, page, inReach(r, entityFilter(in.EntityIDs)))
	if err != nil {
		return wire.LightPage{}, err
	}
	reply := wire.LightPage{Items: items}
	if token := s.Paging.Seal(r.Tenant, query, next); token != "" {
		reply.PaginationToken = &token
	}
	return reply, nil
}

// maxListed is about how many drafts one page inspects; after that it is returned as full as it is.
const maxListed = 3 * listedTogether

// fillPage lists drafts that filter accepts until a page is full. It also returns the position after them, "" at the
// end.
func (s *Entities) fillPage(ctx context.Context, r *platform.Request, page entity.DraftPage,
	filter func(entity.DraftRef) bool) ([]wire.LightItem, string, error) {
	items, size := []wire.LightItem{}, page.Limit
	for listed := 0; ; page.Limit = listedTogether {
		refs, next, err := s.Store.ListDrafts(ctx, r.Tenant, page)
		if err != nil {
			return nil, "", err
		}
		for i, ref := range refs {
			if !filter(ref) {
				continue
			}
			items = append(items, wire.LightItem{EntityID: ref.EntityID, EntityDraftID: ref.DraftID})
			if len(items) == size && i < len(refs)-1 {
				return items, ref.Position, nil
			}
		}
		if listed += len(refs); next == "" || len(items) == size || listed >= maxListed {
			return items, next, nil
		}
		page.After = next
	}
}

// lightQuery identifies a search, without the size of its pages: a page token is valid only for the same journey,
// entities and order.
func lightQuery(in LightRequest, page entity.DraftPage) string {
	ids := "all"
	if in.EntityIDs != nil {
		sorted := slices.Sorted(slices.Values(normalizeIDs(in.EntityIDs)))
		sum := sha256.Sum256(fmt.Appendf(nil, "%q", sorted)) // quoted: an ID may contain anything
		ids = hex.EncodeToString(sum[:])
	}
	return strings.Join([]string{"light", page.JourneyID, strconv.FormatBool(page.Descending), ids}, " ")
}
